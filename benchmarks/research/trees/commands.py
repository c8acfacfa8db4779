"""The command line in this process, with what each command prints and writes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from trees.sizes import Size

HELP = re.compile(r"^│ ([a-z]+) ", re.MULTILINE)
"""The name of a command in the help of the group that has it."""


BAR = "━━"
"""What stands in every line of a progress bar, which tells time."""


def run(name: str, *arguments: str) -> str:
    """Run `agentworld` with arguments; `cli/NAME.txt` then holds the exit status and what it printed.

    What a command prints to standard error is kept only where it failed: elsewhere that is progress, which tells time.
    """
    out, err = io.StringIO(), io.StringIO()
    before, code = sys.argv, 0
    sys.argv = ["agentworld", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("agentworld_gym", run_name="__main__", alter_sys=False)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        sys.argv = before
    said = "".join(line for line in err.getvalue().splitlines(keepends=True) if BAR not in line) if code else ""
    path = Path("cli", f"{name}.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"$ agentworld {' '.join(arguments)}\n[exit status {code}]\n{out.getvalue()}{said}"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return out.getvalue()


def describe(size: Size) -> None:
    """The lists, the schema, the specs, the checks, the help and some refusals."""
    run("envs", "envs")
    run("envs_plain", "envs", "--plain")
    run("version", "--version")
    run("schema", "specs", "schema")
    run("check", "specs", "check")
    for domain in size.domains:
        run(f"spec_{domain}", "specs", "show", domain)
    run("no_such_domain", "specs", "show", "nothing")
    run("no_such_world", "rollout", "terminal", "--world", "nowhere")
    run("no_such_family", "rollout", "mcp", "--family", "nothing")
    run("no_such_rows", "samples", "nowhere.jsonl", "--out", "s.jsonl")
    run("no_such_trace", "trace", "show", "nowhere")
    for words in _commands() if size.everything else ():
        run("_".join(("help", *words)), *words, "--help")


def _commands(*group: str) -> Iterator[tuple[str, ...]]:
    """The words of every command, groups included, as the help lists them."""
    yield group
    text = run("listed", *group, "--help")
    if "╭─ Commands" in text:
        for name in HELP.findall(text[text.index("╭─ Commands") :]):
            yield from _commands(*group, name)


def collect(size: Size) -> None:
    """Rows of all domains in turn: in the full profile with a data card, and as small models use them."""
    count = str(size.rows * len(size.domains))
    many = ("--card", "--format", "parquet") if size.models else ("--no-card",)
    common = ("-n", count, "--seed", "3", "--controls-share", "0.4")
    run("collect", "collect", *size.domains, "--out", "rows", *common, *many)
    run("collect_small", "collect", *size.domains, "--out", "rows/small.jsonl", *common, "--config", "mcp-state")
    if size.models:
        run("collect_test", "collect", *size.domains, "--out", "rows", *common, "--split", "test", "--no-card")


def samples(size: Size) -> None:
    """Samples of these rows: profiles and forms, by session and by turn; thinking by the engines; an index."""
    for profile in ("full", "compact"):
        for form in ("full", "change"):
            for each in ("session", "turn"):
                name = f"samples/{profile}-{form}-{each}"
                how = (
                    "--profile",
                    profile,
                    "--form",
                    form,
                    "--each",
                    each,
                    "--stage",
                    "all",
                    "--context-weight",
                    "0.1",
                )
                run(name, "samples", "rows/train.jsonl", "--out", f"{name}.jsonl", *how)
            name = f"thinking/{profile}-{form}"
            how = ("--profile", profile, "--form", form, "--stage", "all", "--turns", "2")
            run(name, "think", "engine", "rows/train.jsonl", "--out", f"{name}.jsonl", *how)
    run("samples/as_recorded", "samples", "rows/small.jsonl", "--out", "samples/small.jsonl", "--stage", "all")
    for weights in ("draw", "equal"):
        how = ("--weights", weights, "--stage", "post", "--post-share", "0.5")
        run(f"samples/{weights}", "samples", "rows/train.jsonl", "--out", f"samples/{weights}.jsonl", *how)
    run(
        "thinking/as_written",
        "think",
        "engine",
        "rows",
        "--out",
        "thinking/own.jsonl",
        "--as-written",
        "--stage",
        "all",
    )
    run("index", "index", "rows/train.jsonl", "--out", "index")


def rollouts(size: Size) -> None:
    """Traces of the expert and of a random menu agent in the grounded worlds, and of one in a scripted world."""
    for domain in size.domains:
        for policy, world in (("menu", "grounded"), ("expert", "grounded"), ("menu", "scripted")):
            name = f"traces/{domain}-{policy}-{world}"
            count = "9" if size.models else "3"
            rollout(name, domain, "--policy", policy, "--world", world, "-n", count, "--level", "1", "--level", "2")
        run(f"{name}-shown", "trace", "show", name, "--system", "--limit", "2")
        run(
            f"traces/{domain}-diff", "trace", "diff", f"traces/{domain}-menu-grounded", f"traces/{domain}-menu-scripted"
        )


def rollout(name: str, *arguments: str) -> None:
    """Run `agentworld rollout` with its traces in the folder `name`."""
    run(name, "rollout", *arguments, "--out", name)
    rename(Path(name))


def rename(traces: Path) -> None:
    """Give the files of a run's traces names without the time and the process."""
    for path in traces.glob("*.jsonl"):
        path.rename(path.with_name("run." + path.name.partition(".")[2]))


def go_on(size: Size) -> None:
    """Go on with the other tree's recordings of rows, and play its traces again."""
    Path("longer").mkdir()
    shutil.copy("given/rows/train.jsonl", "longer/train.jsonl")
    count = str(size.rows * len(size.domains) + 2)
    common = ("-n", count, "--seed", "3", "--controls-share", "0.4", "--no-card")
    run("go_on", "collect", *size.domains, "--out", "longer", *common)
    for domain in size.domains:
        run(f"replay_{domain}", "trace", "replay", f"given/traces/{domain}-expert-grounded", "--world", "grounded")


TRAINING = """\
name: two-trees
data: {rows: [rows/small.jsonl], max_tokens: 2048, validation: 0}
preparation: {pool: null, context_weight: 0.1, profile: compact, form: change}
model: {shape: {hidden_size: 64, intermediate_size: 192, num_hidden_layers: 2, head_dim: 16, vocab_size: 700}}
train: {seed: 0, threads: 1, max_steps: 4, batch_tokens: 2048, short_tokens: 600, bfloat16: false, tensorboard: false}
"""
"""A model is trained for four steps."""


def models(size: Size) -> None:
    """A short training, and what the bundled models and that one predict."""
    if not size.models:
        return
    Path("training.yaml").write_text(TRAINING, encoding="utf-8")
    run("train_cpt", "train", "cpt", "training.yaml", "--out", "training")
    for timely in ("checkpoints", "metrics.jsonl"):
        path = Path("training", timely)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for domain, extra in (("terminal", ()), ("mcp", ()), ("android", ("--sampling", "max_tokens=200"))):
        common = ("--policy", "expert", "--world", "tiny", "-n", "2", "--split", "test", *extra)
        rollout(f"dreamt/{domain}", domain, *common)
    common = ("--tasks", "3", "--nearest", "3", "--plans", "2", "--width", "4")
    run("fidelity", "eval", "fidelity", "terminal", "--world", "tiny", "--out", "eval/fidelity.json", *common)
    common = ("--policy", "expert", "--world", "tiny", "--tasks", "3", "--out", "eval/transfer.json")
    run("transfer", "eval", "transfer", "terminal", *common)
    for folder in Path("eval/transfer-traces").iterdir():
        rename(folder)
    common = ("--model", "tiny-search", "--domain", "search", "--limit", "3", "--out", "eval/bench")
    run("bench", "eval", "bench", "rows/test.jsonl", *common)


def environment() -> None:
    """Make what is printed the same everywhere: the width of the terminal, no colours, no world of the user's."""
    for name in ("AGENTWORLD_WORLD", "FORCE_COLOR", "CLICOLOR_FORCE"):
        os.environ.pop(name, None)
    os.environ.update(COLUMNS="120", NO_COLOR="1", TERM="dumb", OMP_NUM_THREADS="1")

"""The pipeline of tool worlds from end to end: ten worlds of a scripted author, in both forms, each played afterwards.

    python benchmarks/research/synth.py [--backend declarative] [--generator HANDLE --worlds 2] [--out FOLDER]

The author answers well in half of its worlds. In the others it answers one to four times wrongly before it answers
well, and two of its twelve worlds never hold. Each world that was made is played by `gym.make`: its solution must be
paid, and doing nothing must not. With `--generator` a language model is asked instead of the author.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import gymnasium as gym

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))

import synth_author  # noqa: E402
from synth_author import Author, Fault, instead, nothing, prose, refusal, replaced  # noqa: E402

import agentworld_gym  # noqa: E402, F401
from agentworld_gym.cli.common import tokens_text  # noqa: E402
from agentworld_gym.core.domain.sampling import Sampling  # noqa: E402
from agentworld_gym.domains.mcp.synth.backends.awm import AwmBackend  # noqa: E402
from agentworld_gym.domains.mcp.synth.backends.awm_files import recorded_solutions  # noqa: E402
from agentworld_gym.domains.mcp.synth.backends.declarative import DeclarativeBackend  # noqa: E402
from agentworld_gym.domains.mcp.synth.config import SynthConfig  # noqa: E402
from agentworld_gym.domains.mcp.synth.pipeline import WORLDS, Synthesis  # noqa: E402
from agentworld_gym.domains.mcp.synth.report import PAPER, SynthReport  # noqa: E402
from agentworld_gym.llm.generators import open_generator  # noqa: E402

SPOILED = ("glass_works", "dog_school")
"""The two worlds that never hold: the author has no sheet of them."""

SHARED: Mapping[tuple[str, str], Sequence[Fault]] = {
    ("tool_library", "schema"): [replaced("REFERENCES members (member_id)", "REFERENCES people (person_id)")],
    ("vet_clinic", "tasks"): [nothing, prose],
    ("vet_clinic", "sample data"): [replaced("(3, 3, '2026-01-05'", "(3, 33, '2026-01-05'"), refusal, nothing],
    ("cinema_box_office", "interface"): [replaced("name: set_price", "name: sell_ticket")],
    ("beekeeping_log", "schema"): [refusal, instead("```sql\nCREATE TABLE hives (\n```"), nothing, refusal],
}
"""Faults that both forms have in common."""

DECLARATIVE: Mapping[tuple[str, str], Sequence[Fault]] = {
    ("print_queue", "implementation"): [replaced("FROM papers WHERE", "FROM paper WHERE"), nothing],
    ("marathon_entries", "verifier"): [
        instead(
            "```yaml\nsolution: [{name: withdraw_entry, arguments: {start_number: 102}}]\n"
            "success: [{probe: {name: list_races}, expect: {contains: races}}]\n```"
        )
    ],
}

AWM: Mapping[tuple[str, str], Sequence[Fault]] = {
    ("print_queue", "implementation"): [
        replaced("import os\n", "import os\nos.system('id')\n"),
        replaced("import os\n", "import os\nHOSTS = open('/etc/hosts').read()\n"),
    ],
    ("marathon_entries", "verifier"): [replaced('"complete" if held and answered else "others"', '"complete"')],
}


class Spoiled(Author):
    """An author who also names two worlds that it cannot write."""

    def __init__(self, faults: Mapping[tuple[str, str], Sequence[Fault]]) -> None:
        super().__init__(synth_author.names(), faults)

    def _right(self, stage: str, world: str, text: str, task: str) -> str:
        if world in SPOILED:
            return "That is more difficult than I thought."
        if stage == "scenario":
            briefs = [synth_author.brief(name) for name in self.worlds]
            others = [
                {"name": name, "title": name.replace("_", " "), "description": "A service that is too hard."}
                for name in SPOILED
            ]
            return synth_author.dumped({"scenarios": [*briefs, *others]})
        return super()._right(stage, world, text, task)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", choices=["declarative", "awm", "both"], default="both")
    parser.add_argument("--generator", help="a language model instead of the scripted author")
    parser.add_argument("--worlds", type=int, default=12)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=4096)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    forms = ["declarative", "awm"] if asked.backend == "both" else [asked.backend]
    with tempfile.TemporaryDirectory() as temporary:
        for form in forms:
            folder = (asked.out or Path(temporary)) / form
            began = time.process_time()
            report = made(form, folder, asked)
            seconds = time.process_time() - began
            print(f"\n## {form}\n\n{table(report)}\n\n{sizes(report)}\n")
            print(
                f"{len(report.made)} of {report.begun} worlds made, in {seconds:.1f} s of CPU time beside the sandboxes"
            )
            for name, reason in {**report.given_up, **report.unfinished}.items():
                print(f"- {name}: {reason.splitlines()[0][:160]}")
            if report.made:
                print(f"played by gym.make: {played(form, folder / WORLDS, report)}")


def made(form: str, folder: Path, asked: argparse.Namespace) -> SynthReport:
    """Run the pipeline."""
    backend = AwmBackend() if form == "awm" else DeclarativeBackend()
    author = Spoiled({**SHARED, **(AWM if form == "awm" else DECLARATIVE)})
    generator = open_generator(asked.generator) if asked.generator else author.generator()
    config = SynthConfig(backend=form, worlds=asked.worlds, tasks=asked.tasks, batch=12)
    with closing(backend), closing(generator):
        return Synthesis(generator, backend, folder, config, Sampling(max_tokens=asked.max_tokens)).run()


def played(form: str, folder: Path, report: SynthReport) -> str:
    """Play every task of every world twice: its solution, and nothing at all."""
    options = {"world_options": {"scenario": str(folder)}} if form == "declarative" else {"world": f"awm:{folder}"}
    env = gym.make("AgentWorld/MCP-v0", **options)
    paid = unpaid = count = 0
    for task, actions in solutions(form, folder, report, env):
        count += 1
        env.reset(seed=0, options={"task": task})
        rewards = [float(env.step(action)[1]) for action in actions]
        paid += rewards[-1] == 1.0
        env.reset(seed=0, options={"task": task})
        unpaid += env.step("finish")[1] == 0.0
    env.close()
    return f"{paid} of {count} solutions are paid, and nothing is paid for doing nothing in {unpaid} of {count}"


def solutions(
    form: str, folder: Path, report: SynthReport, env: gym.Env[str, str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the id of each task with the actions that solve it."""
    if form == "declarative":
        pool = env.unwrapped.runner.source.pool  # type: ignore[attr-defined]
        yield from ((task, pool.find(task).expert) for task in pool.ids)
        return
    for name in report.made:
        for number, one in recorded_solutions(folder, name).items():
            calls = [json.dumps(call.model_dump()) for call in one.solution]
            yield f"{name}-{number}", [*calls, finish(one.answer)]


def finish(answer: str | None) -> str:
    return "finish" if answer is None else f"finish: {answer}"


def table(report: SynthReport) -> str:
    """Return the table of tries."""
    lines = [
        "| stage | made | at the first try | tries each | tokens in | tokens out | checks (s) |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in report.stages:
        counts = f"{one.made} of {one.asked} | {one.first} | {one.mean_tries:.2f}"
        lines.append(
            f"| {one.stage} | {counts} | {tokens_text(one.prompt_tokens)} | {tokens_text(one.completion_tokens)} "
            f"| {one.seconds:.1f} |"
        )
    return "\n".join(lines)


def sizes(report: SynthReport) -> str:
    """Return what the worlds are like, beside those of the paper."""
    here = {"worlds": len(report.made), "tables": report.tables, "tools": report.tools, "tasks": report.tasks}
    lines = ["| a world has | here | in the paper |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| {name} | {value:g} | {PAPER[name]:g} |" for name, value in here.items() if name != "worlds")]
    )


if __name__ == "__main__":
    main()

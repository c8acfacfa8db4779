"""A user's own sessions: from recordings of other systems to rows, to a trained model that is measured and served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from agentworld_gym.cli.app import app
from agentworld_gym.llm.bundled_models import carded_model
from agentworld_gym.llm.rows.pools import PostPool, SessionPool
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.data.preparation import Preparation, prepare

REAL = Path(__file__).resolve().parents[4] / "shared/data"
TRAIN = {"max_steps": 3, "batch_tokens": 4096, "short_tokens": 1024, "bfloat16": False, "tensorboard": False}
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 600,
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def said(result: Result) -> str:
    return " ".join(result.output.split())


def session(number: int, turns: int = 3, words: int = 3) -> dict[str, Any]:
    """A session of a tool server, as the API of OpenAI's responses records it."""
    output: list[dict[str, Any]] = []
    for turn in range(turns):
        call = {"name": "shelf_count", "arguments": json.dumps({"shelf": number, "row": turn}), "call_id": f"c{turn}"}
        told = json.dumps({"books": number + turn, "titles": ["a title"] * words})
        output += [
            {"type": "function_call", **call},
            {"type": "function_call_output", "call_id": call["call_id"], "output": told},
        ]
    tool = {"type": "function", "name": "shelf_count", "description": "Counts books.", "parameters": {"type": "object"}}
    asked = {"input": [{"role": "user", "content": f"How many books has shelf {number}?"}], "tools": [tool]}
    return {"responses_create_params": asked, "response": {"output": output}, "reward": 1.0}


def recorded(folder: Path, *sessions: dict[str, Any]) -> Path:
    """A file of recordings, imported."""
    raw, rows = folder / "mine.jsonl", folder / "rows.jsonl"
    raw.write_text("".join(f"{json.dumps(one)}\n" for one in sessions))
    result = run("import", raw, "--out", rows)
    assert result.exit_code == 0, result.output
    return rows


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return recorded(tmp_path, *(session(number) for number in range(12)))


def config(path: Path, rows: Path, **parts: Any) -> Path:
    data = {"rows": [str(rows)], "max_tokens": 4096, **parts.pop("data", {})}
    path.write_text(yaml.safe_dump({"name": "own", "data": data, "model": {"shape": SHAPE}, "train": TRAIN, **parts}))
    return path


# Which sessions are learned from


def test_imported_sessions_belong_to_every_stage(rows: Path) -> None:
    own = list(read_rows(rows))
    assert len(own) == 12
    for pool in (SessionPool(), PostPool(), Preparation().pool):
        assert pool is not None and [row for row in own if pool.holds(row)] == own
    made, account = prepare(own, Preparation())
    assert len(list(made)) == 12 and not account.other_pools


@pytest.mark.parametrize("stated", [{"stage": "cpt"}, {"split": "train"}, {"post_share": 0.3}, {"imported": "drawn"}])
def test_a_user_who_states_a_pool_splits_them(rows: Path, stated: dict[str, Any]) -> None:
    pool = SessionPool(**stated)
    held = sum(map(pool.holds, read_rows(rows)))
    assert 0 < held < 12
    assert SessionPool.model_validate(pool.model_dump()) == pool
    assert (
        sum(map(SessionPool(**stated, imported="every").holds, read_rows(rows))) == 12
        if "imported" not in stated
        else True
    )


def test_pools_that_are_stated_share_no_imported_session(rows: Path) -> None:
    pools = [
        SessionPool(split=split, stage=stage) for split in ("train", "validation", "test") for stage in ("cpt", "post")
    ]  # type: ignore[arg-type]
    for row in read_rows(rows):
        assert sum(pool.holds(row) for pool in pools) == 1


def test_recorded_sessions_and_those_of_the_benchmark_stay_where_they_are(rows: Path) -> None:
    row: Row = next(iter(read_rows(rows)))
    official = row.model_copy(update={"provenance": RowProvenance(source="agentworldbench")})
    drawn = [row.model_copy(update={"seed": seed, "provenance": RowProvenance(source="collect")}) for seed in range(50)]
    assert not SessionPool().holds(official) and not PostPool().holds(official)
    assert 0 < sum(map(SessionPool().holds, drawn)) < 50


def test_samples_takes_all_of_them_or_what_its_options_state(rows: Path, tmp_path: Path) -> None:
    assert "12 samples" in said(run("samples", rows, "--out", tmp_path / "all.jsonl"))
    parts = [
        run("samples", rows, "--out", tmp_path / f"{split}.{stage}.jsonl", "--split", split, "--stage", stage)
        for split in ("train", "validation", "test")
        for stage in ("cpt", "post")
    ]
    counts = [
        len((tmp_path / name).read_text().splitlines()) for name in sorted(p.name for p in tmp_path.glob("*.*.jsonl"))
    ]
    assert all(part.exit_code == 0 for part in parts) and sum(counts) == 12 and max(counts) < 12


# What is said of those that are not


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    rows = recorded(tmp_path, *(session(n) for n in range(3)), session(0), session(7, turns=1), session(8, turns=1))
    _, account = result = prepare(read_rows(rows), Preparation())
    list(result[0])
    assert account.summary() == "6 sessions read, 3 kept; left out: 2 with fewer than 2 turns, 1 repeated"
    drawn, account = prepare(read_rows(rows), Preparation(pool=SessionPool(split="validation", stage="post")))
    list(drawn)
    assert "of other pools (preparation.pool)" in account.summary()


def test_sessions_that_no_world_can_replay_are_sent_to_the_benchmark(rows: Path, tmp_path: Path) -> None:
    def refused(*domains: str) -> str:
        result = run("eval", "fidelity", *domains, "--data", rows, "--out", tmp_path / "fidelity.json")
        assert result.exit_code == 2
        return said(result)

    assert "`agentworld eval bench" in refused() and "`agentworld eval bench" in refused("mcp")
    assert "expected whole recorded sessions of terminal, and not of mcp" in refused("terminal")


def coding(*commands: str) -> dict[str, Any]:
    """A session of a coding agent whose shell is a tool of its own."""
    output: list[dict[str, Any]] = []
    for turn, command in enumerate(commands):
        call = {"name": "my_shell", "arguments": json.dumps({"command": command}), "call_id": f"c{turn}"}
        output += [
            {"type": "function_call", **call},
            {"type": "function_call_output", "call_id": call["call_id"], "output": f"done {turn}"},
        ]
    return {"responses_create_params": {"input": []}, "response": {"output": output}}


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_calls_of_own_tools_are_kept_in_either_profile(tmp_path: Path, profile: str) -> None:
    """Compact prompts list no tools, so that nothing says which ones were declared."""
    raw, rows = tmp_path / "mine.jsonl", tmp_path / "rows.jsonl"
    raw.write_text(json.dumps(coding("ls", "cat a", "make")))
    assert run("import", raw, "--domain", "swe", "--profile", profile, "--out", rows).exit_code == 0
    samples, account = prepare(read_rows(rows), Preparation())
    assert len(list(samples)) == 1 and account.summary() == "1 sessions read, 1 kept"


def test_what_is_left_out_of_sessions_is_told_too(tmp_path: Path) -> None:
    raw, rows = tmp_path / "mine.jsonl", tmp_path / "rows.jsonl"
    raw.write_text(json.dumps(coding("ls", "cat a", "make")))
    assert run("import", raw, "--domain", "swe", "--out", rows).exit_code == 0
    bare = [row.model_copy(update={"system_str": ""}) for row in read_rows(rows)]
    samples, account = prepare(bare, Preparation())
    assert not list(samples)
    reasons = "left out: 1 with fewer than 2 turns; turns left out: 3 undeclared_tool"
    assert account.summary() == f"1 sessions read, 0 kept; {reasons}"


torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")


def test_a_run_that_has_nothing_to_learn_from_says_why(tmp_path: Path) -> None:
    short = recorded(tmp_path, *(session(n, turns=1) for n in range(3)))
    result = run("train", "cpt", config(tmp_path / "short.yaml", short), "--out", tmp_path / "short")
    assert result.exit_code == 2
    assert "3 sessions read, 0 kept; left out: 3 with fewer than 2 turns" in said(result)
    (tmp_path / "long").mkdir()
    long = recorded(tmp_path / "long", *(session(n, words=400) for n in range(3)))
    file = config(tmp_path / "long.yaml", long, data={"rows": [str(long)], "max_tokens": 1024})
    result = run("train", "cpt", file, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "3 samples have no turn within 1024 tokens" in said(result) and "data.max_tokens" in said(result)
    shortest = int(said(result).partition("the shortest needs ")[2].split()[0].rstrip(",;.)"))
    file = config(tmp_path / "fits.yaml", long, data={"rows": [str(long)], "max_tokens": shortest})
    file.write_text(file.read_text().replace("batch_tokens: 4096", f"batch_tokens: {shortest}"))
    assert run("train", "cpt", file, "--out", tmp_path / "fits").exit_code == 0


def test_a_run_says_what_it_learns_from(rows: Path, tmp_path: Path) -> None:
    file = config(tmp_path / "own.yaml", rows, preparation={"filters": {"min_turns": 3}})
    result = run("train", "cpt", file, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert said(result).count("rows.jsonl: 12 sessions read, 12 kept") == 1


def test_sessions_that_are_held_out_are_measured_on_and_not_learned_from(rows: Path, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    others = recorded(tmp_path / "others", *(session(number) for number in range(100, 104)))

    def counts(name: str, held_out: Path) -> list[int]:
        file = config(tmp_path / f"{name}.yaml", rows, data={"held_out": [str(held_out)]})
        result = run("train", "cpt", file, "--out", tmp_path / name)
        assert result.exit_code == 0, result.output
        stores = [tmp_path / name / store / "meta.json" for store in ("tokens", "held_out")]
        return [json.loads(path.read_text())["samples"] if path.is_file() else 0 for path in stores]

    assert counts("apart", others) == [12, 4], "files of imported sessions are what the user says they are"
    learned, watched = counts("same", rows)
    assert 0 < learned < 12 and watched <= 12 - learned, "of one file that is named twice, no session is in both"


# From recordings to a served model


@pytest.mark.parametrize("source", ["own", "real"])
def test_own_recordings_become_a_model_that_is_measured_and_served(source: str, tmp_path: Path, rows: Path) -> None:
    if source == "real":
        if not REAL.is_dir():
            pytest.skip("no real recordings beside the repository")
        rows = tmp_path / "real.jsonl"
        assert run("import", REAL / "tools.responses.jsonl", "--out", rows).exit_code == 0
    file = config(tmp_path / "own.yaml", rows, data={"rows": [str(rows)], "max_tokens": 16384})
    file.write_text(file.read_text().replace("batch_tokens: 4096", "batch_tokens: 16384"))
    trained = run("train", "cpt", file, "--out", tmp_path / "run")
    assert trained.exit_code == 0, trained.output
    model = tmp_path / "run" / "model"
    assert f'world="transformers:{model}")' in said(trained)
    card = carded_model(f"transformers:{model}")
    assert card is not None and card.profile == "full", "the prompts of imported sessions are whole"
    measured = run(
        *("eval", "bench", rows, "--model", f"transformers:{model}", "--limit", "2", "--out", tmp_path / "bench"),
        *("--sampling", "max_tokens=8", "--sampling", "thinking=false"),
    )
    assert (tmp_path / "bench" / "result.json").is_file(), measured.output
    assert json.loads((tmp_path / "bench" / "result.json").read_text())["rows"]["count"] == 2
    served = run("serve", model, "--dry-run")
    assert served.exit_code == 0 and "vllm serve" in served.stdout

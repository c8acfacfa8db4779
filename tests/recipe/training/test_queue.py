"""The command `agentworld train queue`: runs that are worked off one after the other, whenever there is time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from training_run import SHAPE, samples  # noqa: E402

from agentworld_gym.base.errors import SpecError  # noqa: E402
from agentworld_gym.cli.app import app  # noqa: E402
from agentworld_gym.llm.rows.samples import write_samples  # noqa: E402
from agentworld_gym.recipe.run_folder import sole_process  # noqa: E402
from agentworld_gym.recipe.training.metrics import read_metrics  # noqa: E402
from agentworld_gym.recipe.training.queue import QueueWorker, load_queue, state_of  # noqa: E402


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """A queue of two short runs on made-up sessions; the second takes a longer budget by its changes."""
    write_samples(tmp_path / "samples.jsonl", samples())
    config = {
        "name": "copying",
        "data": {"samples": [str(tmp_path / "samples.jsonl")], "validation": 0, "max_tokens": 512},
        "model": {"shape": SHAPE},
        "train": {"max_steps": 2, "batch_tokens": 1024, "bfloat16": False, "tensorboard": False},
    }
    (tmp_path / "copying.yaml").write_text(yaml.safe_dump(config))
    return write(tmp_path, [{"name": "first"}, {"name": "second", "changes": {"train.max_steps": 3}}])


def write(folder: Path, runs: list[dict[str, Any]]) -> Path:
    path = folder / "queue.yaml"
    path.write_text(yaml.safe_dump({"runs": [{"config": str(folder / "copying.yaml"), **run} for run in runs]}))
    return path


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "agentworld_gym", "train", "queue", *map(str, arguments)]


def invoked(*arguments: str | Path) -> Result:
    """What the command does in this process; every run is a process of its own."""
    return CliRunner().invoke(app, ["train", "queue", *map(str, arguments)])


@pytest.mark.slow
def test_runs_are_worked_off_in_order_past_one_that_fails_and_finished_ones_are_passed_over(
    queue: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    broken = {"name": "broken", "changes": {"model.path": str(tmp_path)}}
    write(tmp_path, [{"name": "first"}, broken, {"name": "second", "changes": {"train.max_steps": 3}}])
    done = invoked(queue, "--out", runs)
    assert done.exit_code == 1, done.output
    said = ["first: finished", "broken: failed", "second: finished"]
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == said
    assert "a shape or a path, not both" in (runs / "broken.log").read_text()
    assert [read_metrics(runs / name)[-1]["step"] for name in ("first", "second")] == [2, 3]
    trained = {path: path.stat().st_mtime_ns for path in runs.glob("*/model/*")}
    write(tmp_path, [{"name": "first"}, {"name": "second", "changes": {"train.max_steps": 3}}])
    assert invoked(queue, "--out", runs).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in runs.glob("*/model/*")} == trained


def test_a_stopped_queue_goes_on_where_it_was(queue: Path, tmp_path: Path) -> None:
    runs, changes = tmp_path / "runs", {"train.max_steps": 400, "train.log_seconds": 0}
    write(tmp_path, [{"name": "long", "changes": changes}])
    worker = subprocess.Popen(command(queue, "--out", runs), stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not read_metrics(runs / "long") and time.monotonic() < deadline:
        time.sleep(0.2)
    worker.send_signal(signal.SIGINT)
    out, _ = worker.communicate(timeout=60)
    assert worker.returncode == 130
    assert out.startswith("long: begun")
    stopped = read_metrics(runs / "long")[-1]["step"]
    assert 0 < stopped < 400
    write(tmp_path, [{"name": "long", "changes": {**changes, "train.max_steps": stopped + 2}}])
    assert invoked(queue, "--out", runs).exit_code == 0
    assert read_metrics(runs / "long")[-1]["step"] == stopped + 2
    assert f"going on after step {stopped}" in (runs / "long.log").read_text()


def test_the_state_of_the_runs_is_told_without_beginning_one(queue: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    (runs / "first").mkdir(parents=True)
    lines = [
        {"step": 5, "tokens": 2_000_000, "progress": 0.1},
        {"step": 5, "tokens": 2_000_000, "progress": 0.1, "validation_exact": 0.5},
    ]
    (runs / "first" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = invoked(queue, "--out", runs, "--status")
    assert told.exit_code == 0
    assert told.stdout.splitlines() == [
        "first: begun, 2.0 million tokens, validation exact 0.500",
        "second: waiting, 0.0 million tokens",
    ]
    assert not (runs / "second").exists()


def test_two_processes_never_work_off_the_same_folder(queue: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with sole_process(runs):
        refused = subprocess.run(command(queue, "--out", runs), capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1
    assert "another process works off a queue in this folder" in refused.stderr


def test_time_that_is_up_stops_the_queue(queue: Path, tmp_path: Path) -> None:
    states = QueueWorker(load_queue(queue), tmp_path / "runs", None, lambda _: None).run(seconds=0.05)
    assert {state.status for state in states} <= {"begun", "waiting"}
    assert all(state.status == "waiting" for state in states[1:])


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system binds no process to a core")
def test_a_core_that_is_not_there_is_named(queue: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="core: got 4096, expected one of the cores"):
        QueueWorker(load_queue(queue), tmp_path / "runs", 4096, lambda _: None).run()


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], "runs"),
        ([{"name": "a"}, {"name": "a"}], "names that differ"),
        ([{"name": "../a"}], "name"),
        ([{"name": "a", "stage": "warm-up"}], "stage"),
    ],
)
def test_a_wrong_queue_is_named(queue: Path, runs: list[dict[str, Any]], expected: str) -> None:
    write(queue.parent, runs)
    with pytest.raises(SpecError, match=expected):
        load_queue(queue)


def test_a_finished_run_is_one_whose_model_is_there(queue: Path, tmp_path: Path) -> None:
    first = load_queue(queue).runs[0]
    assert state_of(first, tmp_path / "first").status == "waiting"
    (tmp_path / "first" / "model").mkdir(parents=True)
    assert state_of(first, tmp_path / "first").status == "finished"

"""One class counts a run, and two show it: on a terminal, in plain lines, and in TensorBoard."""

from __future__ import annotations

import gc
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from rich.console import Console
from typer.testing import CliRunner
from worlds import dream, make, predicted

from agentworld_gym.agents.progress import Meter, Tally, TerminalProgress, live
from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import Completion, Failure, FailureKind, Usage


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def agentworld(*arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder)).Reload()
    return {tag: [(point.step, point.value) for point in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def test_a_tally_counts_what_an_environment_hands_out() -> None:
    env = make(world=dream("counted", lambda _: Completion(predicted("x"), usage=Usage(40, 2))))
    with live("run", terminal=False) as tally:
        tally.watch(env.runner)
        env.reset(seed=1)
        gained = sum(env.step(action)[1] for action in ("ls", "finish"))
    assert (tally.episodes, tally.steps, tally.success) == (1, 2, 0.0)
    assert tally.gain == pytest.approx(gained)
    assert sum(tally.parts.values()) == pytest.approx(gained)
    assert tally.tokens >= 42


def test_a_vector_environment_is_watched_in_the_same_way() -> None:
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=3, world="grounded")
    tally = Tally()
    tally.watch(envs.unwrapped.runner)  # type: ignore[attr-defined]
    envs.reset(seed=1)
    envs.step(["ls", "finish", "finish"])
    envs.close()
    assert (tally.episodes, tally.steps, tally.tested) == (2, 3, 2)


def test_a_failure_counts_by_its_kind_and_says_nothing_of_the_agent() -> None:
    env = make(world=dream("failing", lambda _: Failure(FailureKind.TIMEOUT, "late")))
    tally = Tally()
    tally.watch(env.runner)
    env.reset(seed=1)
    env.step("ls")
    assert (tally.episodes, dict(tally.failures)) == (1, {"timeout": 1})
    assert tally.success is None and tally.gain is None


@pytest.mark.parametrize("many", [False, True])
def test_an_episode_that_is_left_in_the_middle_is_forgotten(many: bool) -> None:
    made = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2) if many else gym.make("AgentWorld/Terminal-v0")
    env: Any = made.unwrapped
    tally = Tally()
    tally.watch(env.runner)
    for seed in range(20):
        env.reset(seed=seed)
        env.step(["ls", "pwd"] if many else "ls")
    gc.collect()
    assert tally.episodes == 0 and len(tally._running) == (2 if many else 1)
    env.close()


def test_one_tally_watches_several_environments() -> None:
    one, other = make(world="grounded"), make(world="grounded")
    tally = Tally()
    for env in (one, other):
        tally.watch(env.runner)
        env.reset(seed=1)
        env.step("ls")
    gained = one.step("finish")[1]
    assert (tally.episodes, tally.length) == (1, 2) and gained < 0
    one.close()
    other.close()


def test_means_are_over_the_last_episodes_where_a_run_learns() -> None:
    tally = Tally(window=2)
    for success in (False, True, True):
        tally.ended(success, float(success))
    assert (tally.episodes, tally.success, tally.gain) == (3, 1.0, 1.0)


def test_rates_are_those_of_the_last_half_minute() -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    for second in range(100):
        clock.now = float(second)
        tally.ended(True, 1.0, steps=1 if second < 60 else 10)
    assert tally.rates()[0] == pytest.approx(10.0, rel=0.1)


def test_what_a_run_had_done_before_does_not_enter_the_rates() -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    tally.reached(1000, 50_000, {"failed": 0})
    clock.now = 2.0
    tally.reached(1004, 50_200, {"failed": 1})
    assert tally.rates() == (2.0, 100.0)
    assert dict(tally.failures) == {"failed": 1}


def test_a_terminal_shows_a_bar_and_figures() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100)
    tally = Tally(total=4)
    with TerminalProgress("run", tally, console):
        tally.ended(True, 1.0, parts={"checks": 1.0})
    assert "1 of 4 episodes" in shown.getvalue()
    assert "success 1.00 of 1, return +1.00 (checks +1.00)" in shown.getvalue()


def test_without_a_terminal_there_are_plain_lines() -> None:
    shown = io.StringIO()
    tally = Tally(total=4)
    with TerminalProgress("run", tally, Console(file=shown), seconds=0) as view:
        tally.views.append(view)
        tally.ended(True, 1.0)
        tally.ended(False, 0.0)
    lines = shown.getvalue().splitlines()
    assert [line.partition(",")[0] for line in lines] == [f"run: {done} of 4 episodes" for done in (1, 2, 2)]
    assert "\x1b" not in shown.getvalue()


def test_the_time_left_leaves_out_what_was_done_before_the_run() -> None:
    shown, clock, meter = io.StringIO(), Clock(), Meter(total=100, unit="worlds")
    with TerminalProgress("growing", meter, Console(file=shown), seconds=0, clock=clock) as view:
        for second, done in enumerate((60, 70, 80)):
            clock.now = float(10 * second)
            meter.reached(done)
            view.show()
    lines = shown.getvalue().splitlines()
    assert lines[0] == "growing: 60 of 100 worlds"
    assert lines[1:3] == ["growing: 70 of 100 worlds, left 0:00:30", "growing: 80 of 100 worlds, left 0:00:20"]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_run_that_breaks_before_anything_is_over_leaves_no_line_of_itself(terminal: bool) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, width=80)
    with pytest.raises(SpecError), TerminalProgress("run", Tally(total=4), console):
        raise SpecError("options", "world", "x", "a world")
    assert shown.getvalue() == "" if not terminal else shown.getvalue().endswith("\x1b[1A\x1b[2K")


def test_tensorboard_holds_the_curves(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    done = agentworld("rollout", "terminal", "-n", "5", "--tensorboard", str(tmp_path))
    assert done.exit_code == 0, done.stderr
    curves = scalars(tmp_path)
    assert {"success", "return", "reward/checks", "reward/step_cost", "episodes", "tokens_per_second"} <= set(curves)
    assert curves["episodes"][-1][1] == 5.0 and curves["success"][-1][1] == 1.0


class TestWeightsAndBiases:
    """They follow what is written for TensorBoard; offline a run lies in a file on this machine."""

    @pytest.fixture
    def runs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[bytes]]]:
        """What the runs hold."""
        wandb = pytest.importorskip("wandb")
        for name, value in {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}.items():
            monkeypatch.setenv(name, value)
        yield lambda: [file.read_bytes() for file in tmp_path.glob("wandb/offline-run-*/*.wandb")]
        wandb.teardown()  # It reads its variables once in a process.

    def test_all_domains_of_an_evaluation_are_one_run(self, runs: Callable[[], list[bytes]], tmp_path: Path) -> None:
        evaluated = ["eval", "agent", "--agent", "expert", "--domains", "terminal,mcp", "--tasks", "1", "--level", "1"]
        done = agentworld(*evaluated, "--out", str(tmp_path / "a.json"), "--wandb", "agents")
        assert done.exit_code == 0, done.output
        [run] = runs()
        assert b"terminal/success" in run and b"mcp/success" in run

    def test_the_metrics_of_training_are_curves_too(self, runs: Callable[[], list[bytes]], tmp_path: Path) -> None:
        from agentworld_gym.agents.progress.wandb import followed
        from agentworld_gym.recipe.training.metrics import TENSORBOARD, MetricsLog

        with followed("models", "cpt", tmp_path / "run" / TENSORBOARD):
            (tmp_path / "run").mkdir()
            with MetricsLog(tmp_path / "run", 0) as log:
                log.write({"step": 1, "observed_loss": 2.5})
        [run] = runs()
        assert b"observed_loss" in run and b"2.5" in run

    def test_a_project_that_cannot_be_reached_is_named(
        self, runs: Callable[[], list[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("WANDB_MODE", "online")
        monkeypatch.setenv("NETRC", str(tmp_path / "none"))
        monkeypatch.delenv("WANDB_API_KEY", raising=False)
        done = agentworld("rollout", "terminal", "-n", "1", "--wandb", "agents")
        assert done.exit_code == 2 and "--wandb: got 'agents', expected a project that can be reached" in done.stderr

    def test_without_them_the_error_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "wandb", None)
        monkeypatch.delitem(sys.modules, "agentworld_gym.agents.progress.wandb", raising=False)
        done = agentworld("rollout", "terminal", "-n", "1", "--wandb", "agents")
        assert done.exit_code == 1 and "[wandb]" in done.stderr


def test_without_tensorboard_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [
        name for name in sys.modules if name.startswith(("tensorboard.", "agentworld_gym.agents.progress.tensor"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    done = agentworld("rollout", "terminal", "-n", "1", "--tensorboard", str(tmp_path))
    assert done.exit_code == 1 and "[tensorboard]" in done.stderr


def test_a_folder_that_cannot_be_written_and_a_window_of_nothing_are_named(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match=r"tensorboard: got .*, expected a folder that can be written"):
        live("demo", tensorboard=tmp_path / "file" / "board", terminal=False).__enter__()
    with pytest.raises(SpecError, match="window: got 0, expected at least one episode"):
        live("demo", window=0, terminal=False).__enter__()


def test_commands_say_how_the_run_went(tmp_path: Path) -> None:
    out = str(tmp_path / "rows.jsonl")
    collected = agentworld("collect", "terminal", "--out", out, "-n", "3")
    assert re.search(r"terminal, train: 3 of 3 episodes, .*steps/s", collected.stderr)
    more = agentworld("collect", "terminal", "--out", out, "-n", "5")
    assert re.search(r"5 of 5 episodes, success \d\.\d\d of 2", more.stderr), "three were there before"
    board = str(tmp_path / "board")
    found = agentworld(
        *("eval", "transfer", "terminal", "--policy", "expert", "--world", "grounded", "--tasks", "3"),
        *("--out", str(tmp_path / "t.json"), "--tensorboard", board),
    )
    assert found.exit_code == 0, found.stderr
    for side in ("grounded", "dream"):
        assert f"transfer, {side}: 3 of 3 episodes, success 1.00 of 3" in found.stderr
        assert scalars(Path(board) / side)["success"][-1][1] == 1.0
    true = agentworld(
        *("eval", "fidelity", "terminal", "--world", "grounded", "--tasks", "2", "--nearest", "0", "--plans", "1"),
        *("--out", str(tmp_path / "f.json"), "--tensorboard", board),
    )
    assert true.exit_code == 0, true.stderr
    assert re.search(r"fidelity, terminal: own history: (\d+) of \1 steps, exact 1.00 of", true.stderr)
    assert re.search(r"fidelity, terminal: replaying: (\d+) of \1 sessions, [\d,.]+ sessions/s", true.stderr)
    assert "fidelity, terminal: plans: 4 of 4 plans" in true.stderr
    assert scalars(Path(board) / "terminal-plans")["episodes"][-1][1] == 4.0

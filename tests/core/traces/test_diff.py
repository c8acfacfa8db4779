"""Two logs of the same actions, and a log played again in another world."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner
from worlds import dream, make, predicted

from agentworld_gym.base.errors import MissingFile
from agentworld_gym.cli.app import app
from agentworld_gym.core.traces import diff_traces, read_trace
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions

ACTIONS = ("ls", "cat missing.txt", "echo hi > made.txt", "cat made.txt", "finish")


def played(
    folder: Path, *, seeds: tuple[int, ...] = (3, 4), actions: tuple[str, ...] = ACTIONS, **options: object
) -> Path:
    env = make(traces=str(folder), **{"world": "grounded", **options})
    for seed in seeds:
        env.reset(seed=seed)
        for action in actions:
            env.step(action)
    env.close()
    return folder


def test_equal_worlds_have_no_departures(tmp_path: Path) -> None:
    left, right = played(tmp_path / "a"), played(tmp_path / "b")
    found = list(diff_traces(left, right))
    assert [episode.same for episode in found] == [True, True]
    assert [episode.turns for episode in found] == [len(ACTIONS), len(ACTIONS)]


def test_a_dream_departs_where_it_answers_otherwise(tmp_path: Path) -> None:
    left = played(tmp_path / "a", seeds=(3,))
    right = played(tmp_path / "b", seeds=(3,), world=dream("wrong", lambda request: predicted("nothing here")))
    [episode] = diff_traces(left, right)
    assert not episode.same
    first = episode.departures[0]
    assert (first.number, first.part) == (1, "observation")
    assert first.left is not None
    assert first.left.action == "ls"
    assert "+nothing here" in first.lines()


def test_other_actions_end_the_comparison(tmp_path: Path) -> None:
    left = played(tmp_path / "a", seeds=(3,))
    right = played(tmp_path / "b", seeds=(3,), actions=("ls", "pwd", "finish"))
    [episode] = diff_traces(left, right)
    assert [(d.number, d.part) for d in episode.departures] == [(2, "action")]
    assert (episode.turns, episode.agreed) == (5, 1)


def test_an_episode_of_one_side_only_is_told(tmp_path: Path) -> None:
    left, right = played(tmp_path / "a", seeds=(3,)), played(tmp_path / "b", seeds=(3, 4))
    both, alone = diff_traces(left, right)
    assert both.same
    assert (alone.left, alone.same, alone.agreed) == ("", False, 0)
    assert not next(diff_traces(tmp_path / "b", tmp_path / "a")).departures


def test_a_replay_in_the_same_world_agrees_forks_and_controls_included(tmp_path: Path) -> None:
    env = make(world="grounded", traces=str(tmp_path))
    env.reset(seed=3, options={"controls": {"intermittent-errors": 0.5}, "control_seed": 9})
    env.step("echo a > a.txt")
    twin = env.fork()
    twin.step("cat a.txt")
    env.step("rm a.txt")
    env.close()
    runner = EnvOptions(spec="terminal", world="grounded").runner()
    found = list(replay(tmp_path, runner))
    assert [(episode.turns, episode.same) for episode in found] == [(2, True), (2, True)]
    runner.close()


def test_a_replay_of_a_dream_shows_what_the_real_terminal_would_have_said(tmp_path: Path) -> None:
    played(tmp_path, seeds=(3,), world=dream("cheerful", lambda request: predicted("all is well")))
    runner = EnvOptions(spec="terminal", world="grounded").runner()
    [episode] = replay(tmp_path, runner)
    assert [departure.number for departure in episode.departures] == [1, 2, 3, 4]
    assert any("No such file or directory" in line for line in episode.departures[1].lines())
    runner.close()


def test_inline_tasks_are_in_the_log(tmp_path: Path) -> None:
    task = {
        "instruction": "Say hi.",
        "success": [{"answer": {"equals": "hi"}}],
        "state": {"files": {"/home/dev/x": "1\n"}},
    }
    env = make(world="grounded", traces=str(tmp_path))
    env.reset(seed=1, options={"task": task})
    env.step("cat x")
    env.close()
    [episode] = read_trace(tmp_path)
    assert episode.start["task"]["instruction"] == "Say hi."
    runner = EnvOptions(spec="terminal", world="grounded").runner()
    assert [found.same for found in replay(tmp_path, runner)] == [True]
    runner.close()


def test_the_command_line_tells_and_exits(tmp_path: Path) -> None:
    left, right = (
        played(tmp_path / "a", seeds=(3,)),
        played(tmp_path / "b", seeds=(3,), actions=("ls", "pwd", "finish")),
    )
    same = CliRunner().invoke(app, ["trace", "replay", str(left), "--world", "grounded"])
    assert (same.exit_code, "1 of 1 episodes are the same; 5 of 5 turns (100.0%) agree" in same.output) == (0, True)
    other = CliRunner().invoke(app, ["trace", "diff", str(left), str(right)])
    assert other.exit_code == 1
    assert "departs at turn 2 of 5 (action)" in other.output
    assert "1 of 5 turns (20.0%) agree" in other.output


def test_an_id_names_one_episode_and_its_beginning_all_that_begin_so(tmp_path: Path) -> None:
    left = played(tmp_path, seeds=tuple(range(12)), actions=("ls",))
    ids = [episode.id for episode in read_trace(left)]
    one, *more = sorted((name for name in ids if name.startswith(ids[1])), key=len)
    assert more, f"another id begins like {one}"
    named = CliRunner().invoke(app, ["trace", "show", str(left), "--episode", one])
    assert named.exit_code == 0 and named.output.count("episode ") == 1
    begun = CliRunner().invoke(app, ["trace", "show", str(left), "--episode", one[:-1]])
    assert begun.output.count("episode ") == len(ids)
    assert CliRunner().invoke(app, ["trace", "show", str(left), "--episode", "nobody"]).exit_code == 1


def test_a_folder_without_a_trace_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="no such trace"):
        list(diff_traces(tmp_path, tmp_path))
    assert CliRunner().invoke(app, ["trace", "replay", str(tmp_path)]).exit_code == 2

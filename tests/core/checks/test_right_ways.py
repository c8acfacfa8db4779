"""Every way of `benchmarks/research/right_ways.py` wins; tasks of one seed here, and the benchmark itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.options import EnvOptions

sys.path.append(str(Path(__file__).parents[3] / "benchmarks" / "research"))

import right_ways
from ways.composed_places import PLACES
from ways.playing import fixed, play, read


@pytest.fixture(scope="module")
def terminal() -> Iterator[EpisodeRunner]:
    runner = EnvOptions(spec="terminal").runner()
    yield runner
    runner.close()


@pytest.mark.parametrize("domain", sorted(right_ways.DOMAINS))
def test_every_way_wins_and_every_level_has_three(domain: str) -> None:
    tally = right_ways.run([domain], seeds=(1,))
    assert [(task.id, played.way, played.refused, played.actions) for _, task, played in tally.lost] == []
    assert tally.few == {}
    assert tally.plays[domain] > (30 if domain == "work" else 100)


@pytest.mark.parametrize("domain", sorted(PLACES))
def test_ways_of_the_families_win_in_composed_tasks(domain: str) -> None:
    family = sorted(families(domain))[2]
    tally = right_ways.run([domain], names=[family], levels=(4 + (family < "e"),), seeds=(1,))
    assert [(task.id, played.way, played.refused, played.actions) for _, task, played in tally.lost] == []
    assert tally.few == {} and tally.plays[domain] == 3


def test_a_way_that_a_check_refuses_is_named_with_the_check(terminal: EpisodeRunner) -> None:
    task = generate("terminal", "count_lines", 1, 0)
    played = play(terminal, task, fixed("does nothing", "ls"))
    assert played.actions == ("ls", "finish")
    assert len(played.refused) == len(task.success)
    assert task.success[0].probes[0] in played.refused[0]


def test_a_way_that_changes_more_is_named_with_what_it_changed(terminal: EpisodeRunner) -> None:
    task = generate("terminal", "count_lines", 1, 0)
    played = play(terminal, task, fixed("leaves a file", *task.expert[:-1], "touch more"))
    assert [line.rpartition("/")[2] for line in played.refused] == ["more"]


def test_a_way_that_cannot_go_on_or_does_not_end_is_refused(terminal: EpisodeRunner) -> None:
    task = generate("terminal", "count_lines", 1, 0)

    def lost(instruction: str, screen: str) -> ActionStream:
        yield read("no such words", (yield "ls"))

    def endless(instruction: str, screen: str) -> ActionStream:
        while True:
            yield "ls"

    assert "cannot go on" in play(terminal, task, lost).refused[0]
    assert "step limit" in play(terminal, task, endless).refused[0]


def test_a_way_is_played_once_more_where_the_world_failed(
    terminal: EpisodeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = generate("terminal", "copy_move", 1, 0)
    advance, failing = terminal.advance, ["finish", "finish"]

    def busy(episodes: list[Episode], actions: list[str]) -> list[Transition]:
        steps = advance(episodes, actions)
        if actions == failing[-1:]:
            failing.pop()
            steps[0].info.pop("success", None)
            steps[0].info["failure"] = {"kind": "engine", "message": "too slow"}
        return steps

    monkeypatch.setattr(terminal, "advance", busy)
    right = fixed("does the work", *task.expert)
    assert play(terminal, task, right).refused == ("the world failed: {'kind': 'engine', 'message': 'too slow'}",)
    failing.append("finish")
    assert play(terminal, task, right).refused == ()


def test_a_way_that_is_none_for_a_task_counts_neither_as_played_nor_as_lost(terminal: EpisodeRunner) -> None:
    def none(instruction: str, screen: str) -> ActionStream:
        yield from ()

    task = generate("terminal", "count_lines", 1, 0)
    played = play(terminal, task, none)
    assert not played.applies and not played.refused
    tally = right_ways.Tally()
    tally.add("terminal", "count_lines", task, [played])
    assert tally.plays.total() == 0 and tally.few == {"terminal count_lines level 1": 0}


def test_the_exit_status_tells_whether_a_way_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = [fixed("wins", "mkdir logs; mv app.log logs/app.1.log; touch app.log")] * 3
    monkeypatch.setitem(right_ways.DOMAINS, "terminal", {"rotate-log": ways})
    monkeypatch.setattr(sys, "argv", ["right_ways.py", "--domains", "terminal", "--families", "rotate-log"])
    assert right_ways.main() == 0
    monkeypatch.setitem(right_ways.DOMAINS, "terminal", {"rotate-log": [*ways, fixed("loses", "ls")]})
    assert right_ways.main() == 1
    assert "loses does not win" in capsys.readouterr().out

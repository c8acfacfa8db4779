"""The game of the playground: what a person and agents do in one world or two, steps back, and what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from worlds import dream, predicted

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.core.contracts import Completion, Failure, FailureKind, Usage
from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.traces import read_trace
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.playground import GameChoice, PlayedGame
from agentworld_gym.evaluation.playground.game import AgentFailed
from agentworld_gym.evaluation.playground.records import record

Begin = Callable[..., PlayedGame]


def opened(domain: str, world: str, split: str) -> EpisodeRunner:
    return EnvOptions(spec=domain, world=world, split=split).runner()


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Begins a game in a domain and some worlds."""
    games: list[PlayedGame] = []

    def begun(domain: str, *worlds: str, **choice: Any) -> PlayedGame:
        games.append(PlayedGame(opened))
        games[-1].begin(GameChoice(domain, worlds, **choice))
        return games[-1]

    yield begun
    for game in games:
        game.close()


def shown(game: PlayedGame) -> list[str]:
    return [side.now.shown for side in game.sides]


def test_both_worlds_get_every_action(begin: Begin) -> None:
    game = begin("terminal", "grounded", "scripted", seed=3)
    game.act("echo hello")
    assert shown(game) == ["dev@box:~/work$ echo hello\nhello\ndev@box:~/work$", "[1] echo hello"]


def test_a_step_back_is_exact(begin: Begin) -> None:
    game = begin("terminal", "grounded", task="rotate-log")
    game.act("echo one > new.txt")
    for text in ("two", "three"):
        game.back(1)
        game.act(f"echo {text} >> new.txt")
    game.act("cat new.txt")
    assert "one\nthree\n" in shown(game)[0]
    assert game.turn == 3


def test_the_expert_plays_to_the_end_and_goes_on_behind_what_a_person_did(begin: Begin) -> None:
    game = begin("terminal", "grounded", task="rotate-log")
    game.act("pwd")
    game.agent("expert")
    game.act("ls")
    game.back(2)
    while not game.over:
        game.agent("expert")
    [side] = game.sides
    expert = side.now.episode.task.expert
    assert [moment.by for moment in side.line[1:]] == ["you", *["expert"] * len(expert)]
    assert side.now.step is not None and side.now.step.info["success"]


def test_an_agent_without_anything_to_do_says_so(begin: Begin) -> None:
    game = begin("terminal", "grounded", seed=3)
    with pytest.raises(SpecError, match="policy"):
        game.agent("nobody")
    assert game.turn == 0


def test_a_failure_of_an_agents_server_is_an_error_and_no_turn(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    game = begin("terminal", "grounded", seed=3)
    game.agent_options = {"deadline_s": 1, "retries": 0}
    with pytest.raises((AgentFailed, AgentWorldError)):
        game.agent("http://127.0.0.1:9/v1")
    assert game.turn == 0


def test_a_failed_world_can_be_asked_again_and_the_other_has_gone_on(begin: Begin) -> None:
    answers = iter([Failure(FailureKind.TIMEOUT, "no answer within 1 s", retryable=True), predicted("there")])
    game = begin("terminal", "grounded", dream("late", lambda request: next(answers)), seed=3)
    game.act("ls")
    turn = record(game, 1)["game"]["sides"][1]["turns"][1]
    assert turn["failure"]["kind"] == "timeout"
    assert not turn["grounds"]
    game.again()
    assert shown(game)[1] == "there"
    with pytest.raises(AgentWorldError, match="no world failed"):
        game.again()


def test_confidence_tells_what_a_guard_would_ground(begin: Begin) -> None:
    answer = Completion(predicted("maybe"), usage=Usage(10, 5), logprob=-0.1)
    game = begin("terminal", dream("unsure", lambda request: answer), seed=3)
    game.act("ls")
    [side] = record(game, 1)["game"]["sides"]
    assert side["turns"][1]["probability"] == pytest.approx(0.6065, abs=1e-4)
    assert side["turns"][1]["completion"] == predicted("maybe")


def test_an_unreadable_answer_is_one_that_a_guard_would_ground(begin: Begin) -> None:
    game = begin("terminal", dream("mute", lambda request: ""), seed=3)
    game.act("ls")
    turn = record(game, 1)["game"]["sides"][0]["turns"][1]
    assert turn["grounds"]
    assert game.over


def test_a_choice_that_does_not_fit_leaves_the_game_as_it_is(begin: Begin) -> None:
    game = begin("terminal", "grounded", seed=3)
    game.act("pwd")
    with pytest.raises(SpecError, match="task"):
        game.begin(GameChoice("terminal", ("grounded",), task="no-such-task"))
    with pytest.raises(AgentWorldError):
        game.begin(GameChoice("terminal", ("grounded", "no-such-world")))
    assert game.turn == 1
    game.act("ls")


@pytest.mark.parametrize("domain", ["web", "desktop", "android"])
def test_a_click_on_the_picture_is_the_domains_own_action(domain: str, begin: Begin) -> None:
    """An element in the middle of what can be pointed at is clicked, and the engine takes it as its own."""
    pytest.importorskip("PIL")
    game = begin(domain, "grounded", seed=3)
    now, screen = game.sides[0].now, screen_of(domain)
    assert screen is not None
    place = now.places[len(now.places) // 2]
    game.point(0, screen.gestures[0], *place.box.centre)
    [action] = game.sides[0].now.episode.taken
    assert action.error is None
    assert game.sides[0].now.shown != now.shown


@pytest.mark.parametrize(("domain", "opening"), [("web", None), ("desktop", "click"), ("android", None)])
def test_a_text_is_written_where_one_points(domain: str, opening: str | None, begin: Begin) -> None:
    pytest.importorskip("PIL")
    game = begin(domain, "grounded", seed=3)
    if domain == "android":
        game.act('{"action_type": "open_app", "app_name": "Contacts"}')
        game.act('{"action_type": "click", "index": @{~\'Search\'}}')
    elif domain == "desktop":
        game.act("pyautogui.click(@{push-button 'Text Editor'})")
    places = game.sides[0].now.places
    [number, *_] = [number for number, place in enumerate(places) if place.writes]
    game.write(0, number, 'it\'s "so"')
    assert game.sides[0].now.episode.taken[-1].error is None
    assert "it's" in "".join(game.sides[0].now.shown.replace("\\'", "'"))


def test_nothing_is_done_where_nothing_is(begin: Begin) -> None:
    pytest.importorskip("PIL")
    game = begin("web", "grounded", seed=3)
    for wrong in (lambda: game.point(0, "click", 1279, 10), lambda: game.point(0, "lick", 60, 110)):
        with pytest.raises(SpecError, match="something on the screen"):
            wrong()
    with pytest.raises(SpecError, match="a place"):
        game.write(0, 10**6, "x")
    assert game.turn == 0


def test_what_is_saved_is_the_line_that_was_played_and_opens_in_the_viewer(begin: Begin, tmp_path: Path) -> None:
    game = begin("terminal", "grounded", "scripted", task="rotate-log")
    game.act("ls")
    game.act("rm -r .")
    game.back(1)
    game.act("pwd")
    folder = game.save(tmp_path)
    for side in ("left", "right"):
        [episode] = read_trace(folder / side)
        assert [step.action for step in episode.steps] == ["ls", "pwd"]
        assert episode.start["task_id"] == "rotate-log"
    assert "<script" in (folder / "episode.html").read_text()
    assert game.save(tmp_path) != folder

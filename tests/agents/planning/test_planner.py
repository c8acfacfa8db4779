"""The planner: it plays forks alone, follows its plan while it comes true, and imagines in any world."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from worlds import dream, predicted

from agentworld_gym.agents.planning.imagination import OtherWorld
from agentworld_gym.agents.planning.planner import Planner, PolicyProposer
from agentworld_gym.agents.planning.search import BeamSearch, BestOfN, TreeSearch
from agentworld_gym.agents.policies.playing import FunctionPolicy, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import ChatRequest, Failure, FailureKind
from agentworld_gym.core.engines import InexactFork
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.prompting.state_changes import SAME
from agentworld_gym.worlds.grounded import GroundedSession

TASK = {
    "id": "two-files",
    "instruction": "Make the files a and b.",
    "state": {"cwd": "/srv", "files": {}},
    "success": [
        {"probe": "ls a", "expect": {"equals": "a"}, "weight": 0.5},
        {"probe": "ls b", "expect": {"equals": "b"}, "weight": 0.5},
    ],
    "menu": ["touch a", "touch b", "ls", "rm a", "pwd", "finish"],
    "expert": ["touch a", "touch b", "finish"],
}


@pytest.fixture
def runner() -> Iterator[EpisodeRunner]:
    opened = EnvOptions(spec="terminal", world="grounded", task=TASK).runner()
    yield opened
    opened.close()


def test_planning_solves_what_chance_does_not(runner: EpisodeRunner) -> None:
    tools = EnvOptions(spec="mcp", world="grounded", levels=(1,)).runner()
    chance = [played.success for played in play(tools, open_policy("menu", tools.spec), range(4))]
    planned = [played.success for played in play(tools, Planner(tools, TreeSearch(simulations=96)), range(4))]
    tools.close()
    assert planned == [True] * 4
    assert sum(map(bool, chance)) <= 1


def test_an_episode_is_not_touched_by_what_is_imagined(runner: EpisodeRunner) -> None:
    [(episode, _, _)] = runner.start([0], {})
    planner = Planner(runner, BeamSearch(width=2, depth=3))
    plan = planner.begin(episode)
    [action] = planner.act([episode], [plan])
    assert action in ("touch a", "touch b")
    assert episode.actions == []
    [listing] = runner.advance([episode], ["ls -A"])
    assert "a" not in listing.observation.splitlines()


def test_a_plan_that_comes_true_is_followed_without_another_search(runner: EpisodeRunner) -> None:
    [(episode, _, _)] = runner.start([0], {})
    planner = Planner(runner, BeamSearch(width=4, depth=4))
    plan, calls = planner.begin(episode), []
    while not episode.over:
        [action] = planner.act([episode], [plan])
        calls.append(planner.calls)
        [transition] = runner.advance([episode], [action])
    assert transition.info["success"]
    assert calls[0] > 0
    assert set(calls) == {calls[0]}


def test_a_plan_that_does_not_come_true_is_made_again(runner: EpisodeRunner) -> None:
    [(episode, _, _)] = runner.start([0], {})
    planner = Planner(runner, BeamSearch(width=4, depth=4))
    plan = planner.begin(episode)
    planner.act([episode], [plan])
    before = planner.calls
    runner.advance([episode], ["ls --colour"])
    planner.act([episode], [plan])
    assert planner.calls > before


def test_a_policy_can_propose_what_a_menu_lacks(runner: EpisodeRunner) -> None:
    script = ("touch a b", "finish")
    writer = FunctionPolicy("writer", lambda episode: script[min(len(episode.actions), 1)])
    planner = Planner(runner, BestOfN(n=2, depth=3), proposer=PolicyProposer(writer, draws=2))
    [played] = play(runner, planner, [0])
    assert played.success
    assert played.actions[0] == "touch a b"


def grounded_answer(request: ChatRequest) -> str:
    """A dream of the two files: it knows `touch`, `rm` and `ls`."""
    there: set[str] = set()
    shown = ""
    for message in request.messages:
        for verb, name in re.findall(
            r"\b(touch|rm|ls)(?: ([ab]))?\b", message["content"] * (message["role"] == "user")
        ):
            there = there | {name} if verb == "touch" else there - {name} if verb == "rm" else there
            listed = sorted(there & {name} if name else there) if verb == "ls" else []
            shown = "\n".join([f"{verb} {name}".strip(), *listed])
    return predicted(f"dev@box:/srv$ {shown}\ndev@box:/srv$")


def test_a_planner_imagines_in_a_dream_and_acts_in_the_grounded_world(runner: EpisodeRunner) -> None:
    dreamt = EnvOptions(spec="terminal", world=dream("two_files", grounded_answer), task=TASK).runner()
    planner = Planner(runner, BeamSearch(width=4, depth=3), imagination=OtherWorld(dreamt))
    [played] = play(runner, planner, [0])
    assert played.success
    assert set(played.actions[:2]) == {"touch a", "touch b"}
    dreamt.close()


def test_a_judge_values_states_where_the_task_has_one() -> None:
    def model(request: ChatRequest) -> str:
        told = "\n".join(message["content"] for message in request.messages)
        if "Was the file b made?" not in told:
            return grounded_answer(request)
        made = "touch b" in told
        return json.dumps({"strengths": "", "weaknesses": "", "scores": {"1": 5 if made else 1}})

    judged = {**TASK, "success": [{"rubric": "Was the file b made?"}], "menu": ["touch a", "touch b", "pwd"]}
    runner = EnvOptions(spec="terminal", world=dream("judged", model), judge="same", task=judged).runner()
    [played] = play(runner, Planner(runner, BeamSearch(width=3, depth=1)), [0])
    runner.close()
    assert played.success and played.actions == ("touch b", "finish")


def test_a_dream_that_always_fails_is_no_reason_to_finish(runner: EpisodeRunner) -> None:
    broken = dream("broken", lambda request: Failure(FailureKind.CONNECTION, "gone"))
    dreamt = EnvOptions(spec="terminal", world=broken, task=TASK).runner()
    planner = Planner(runner, BestOfN(n=2, depth=2), imagination=OtherWorld(dreamt))
    [(episode, _, _)] = runner.start([0], {})
    [action] = planner.act([episode], [planner.begin(episode)])
    assert action in TASK["menu"]
    dreamt.close()


def test_the_other_world_knows_what_happened(runner: EpisodeRunner) -> None:
    prompts: list[str] = []

    def noted(request: ChatRequest) -> str:
        prompts.append("\n".join(message["content"] for message in request.messages))
        return grounded_answer(request)

    dreamt = EnvOptions(spec="terminal", world=dream("noted", noted), task=TASK).runner()
    planner = Planner(runner, BestOfN(n=1, depth=1), imagination=OtherWorld(dreamt))
    [(episode, _, _)] = runner.start([0], {})
    plan = planner.begin(episode)
    runner.advance([episode], ["echo the truth"])
    planner.act([episode], [plan])
    assert "the truth\ndev@box:/srv$" in prompts[-1]
    assert plan.twin.observations[1:] == episode.observations[1:]
    dreamt.close()


def test_a_world_of_structured_states_knows_the_state_that_the_grounded_world_is_in(runner: EpisodeRunner) -> None:
    still = dream("still", lambda request: SAME)
    dreamt = EnvOptions(spec="terminal", world=still, language={"form": "state"}, task=TASK).runner()
    planner = Planner(runner, BestOfN(n=1, depth=1), imagination=OtherWorld(dreamt))
    [(episode, _, _)] = runner.start([0], {})
    plan = planner.begin(episode)
    for action in ("touch a", "echo done"):
        runner.advance([episode], [action])
        planner.act([episode], [plan])
        assert plan.twin.session.screen == episode.session.visible_state
    dreamt.close()


def test_a_world_that_cannot_be_told_is_refused(runner: EpisodeRunner) -> None:
    with pytest.raises(SpecError, match="can be told what happened"):
        OtherWorld(runner)


def test_every_imagined_session_is_freed(runner: EpisodeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentworld_gym.worlds.grounded import GroundedSession

    alive: list[int] = []
    fork, close = GroundedSession.fork, GroundedSession.close

    def counted_fork(session: GroundedSession) -> GroundedSession:
        twin = fork(session)
        alive.append(id(twin))
        return twin

    def counted_close(session: GroundedSession) -> None:
        if id(session) in alive:
            alive.remove(id(session))
        close(session)

    monkeypatch.setattr(GroundedSession, "fork", counted_fork)
    monkeypatch.setattr(GroundedSession, "close", counted_close)
    [(episode, _, _)] = runner.start([0], {})
    planner = Planner(runner, TreeSearch(simulations=12))
    planner.act([episode], [planner.begin(episode)])
    assert alive == []


def test_where_a_system_gives_no_further_fork_those_before_are_closed(
    runner: EpisodeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((episode, _, _),) = runner.start([0], {})
    planner = Planner(runner, TreeSearch(simulations=8))
    plan = planner.begin(episode)
    forks, closed, fork_of, close = list[Episode](), set[int](), Episode.fork, GroundedSession.close

    def forked(self: Episode, name: str) -> Episode:
        if len(forks) == 5:
            raise InexactFork("it does not repeat itself")
        forks.append(fork_of(self, name))
        return forks[-1]

    def closing(self: GroundedSession) -> None:
        closed.add(id(self))
        close(self)

    monkeypatch.setattr(Episode, "fork", forked)
    monkeypatch.setattr(GroundedSession, "close", closing)
    with pytest.raises(InexactFork):
        planner.act([episode], [plan])
    assert len(forks) == 5 and {id(one.session) for one in forks} <= closed

"""An episode by calls of tools: the expert wins so in every domain, and what is wrong gets the domain's own error."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from agentworld_gym.agents.policies.playing import next_action
from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.core.actions.finish import read_finish
from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.contracts import ActionKind, Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens.sight import on_screen
from agentworld_gym.core.traces import episodes_of
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.mcp import EpisodeHost, ToolEpisode
from agentworld_gym.worlds.scripted import ScriptedWorld

Open = Callable[..., EpisodeRunner]


@pytest.fixture
def opened() -> Iterator[Open]:
    """A function that opens runners, which are closed in the end."""
    runners: list[EpisodeRunner] = []

    def open_runner(spec: str, world: Any = None, **options: Any) -> EpisodeRunner:
        runners.append(EnvOptions(spec=spec, **options).runner(world))
        return runners[-1]

    yield open_runner
    for runner in runners:
        runner.close()


def as_call(runner: EpisodeRunner, played: ToolEpisode, text: str) -> tuple[str, dict[str, Any]]:
    """The call that stands for an action of the first dialect."""
    if (finish := read_finish(text)) is not None:
        return "finish", {} if finish.answer is None else {"answer": finish.answer}
    if played.acts:
        return "act", {"action": text}
    parsed = runner.parser.parse(text, played.episode.task.tools).parsed
    return parsed["name"], parsed["arguments"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_expert_wins_by_calling_tools_and_the_trace_says_so(domain: str, opened: Open, tmp_path: Path) -> None:
    runner = opened(domain, traces=tmp_path)
    with EpisodeHost(runner, first_seed=3) as host:
        played = host.begin().result()
        episode, steps = played.episode, 0
        script = on_screen(expert_policy(episode.task), domain, episode.observations[-1])
        while not played.over:
            answer = host.call(played, *as_call(runner, played, next_action(episode, script))).result()
            assert not answer.refused
            steps += 1
        assert answer.texts[-1] == "The episode has ended."
        assert host.call(played, "finish", {}).result().refused
        host.leave(played).result()
    (result,) = episodes_of(tmp_path)
    assert (result.success, result.score, result.ending, result.steps) == (True, 1.0, "finish", steps)
    assert (result.seed, result.task_id, result.refused) == (3, episode.task.id, 0)


@pytest.mark.parametrize(
    ("domain", "dialect"),
    [(name, one.dialect) for name in DOMAINS for one in load_spec(name).in_every_dialect()],
)
def test_every_tool_that_is_offered_can_be_called_in_every_dialect(domain: str, dialect: str, opened: Open) -> None:
    runner = opened(domain, dialect=dialect or None)
    played = ToolEpisode(runner, seed=0)
    names = [tool["name"] for tool in played.tools]
    assert len(set(names)) == len(names) and names[-2:] == ["finish", "observe"]
    assert played.brief.endswith(played.shown().texts[0])
    if played.acts:
        return
    for tool in played.tools[:-2]:
        call = json.loads(example_call(tool))
        text = played.action(call["name"], call["arguments"])
        assert isinstance(text, str)
        action = runner.reader.parse(text, played.episode.task.tools)
        assert action.parsed["name"] if action.error is None else "Unknown" not in action.error
    unknown = runner.reader.parse(str(played.action("nothing", {})), played.episode.task.tools)
    assert unknown.error is not None and unknown.kind is ActionKind.ACT


def test_a_wrong_call_gets_the_error_of_the_domain_and_is_counted_and_replays(opened: Open, tmp_path: Path) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("act", {"command": "ls"}),
        ("act", {}),
        ("run", {"action": "ls"}),
        ("finish", {"result": 3}),
        ("act", {"action": "I will now list the files."}),
    ]
    runner = opened("terminal", traces=tmp_path)
    with EpisodeHost(runner) as host:
        played = host.begin().result()
        for name, arguments in wrong:
            (text,), refused = host.call(played, name, arguments).result()
            assert refused and text.startswith("Previous response had parsing errors:")
        assert not host.call(played, "act", {"action": [{"keystrokes": "pwd\n"}]}).result().refused
        assert host.call(played, "observe", {}).result().texts[0].startswith(played.episode.task.instruction)
        assert host.call(played, "finish", {"answer": 3}).result() == (("The episode has ended.",), False)
        assert [action.answer for action in played.episode.taken[-1:]] == ["3"]
    (result,) = episodes_of(tmp_path)
    assert (result.refused, result.steps, result.ending) == (len(wrong), len(wrong) + 2, "finish")
    assert all(difference.same for difference in replay(tmp_path, opened("terminal")))


def test_a_dead_world_is_an_error_that_says_so_and_no_verdict(opened: Open, tmp_path: Path) -> None:
    dead = Failure(FailureKind.SERVER, "connection refused", retryable=False)
    world = ScriptedWorld(lambda task, actions: dead if len(actions) > 1 else "$")
    with EpisodeHost(opened("terminal", world, traces=tmp_path)) as host:
        played = host.begin().result()
        assert host.call(played, "act", {"action": "ls"}).result() == (("$",), False)
        (text,), failed = host.call(played, "act", {"action": "ls"}).result()
        assert failed and text.startswith("The world failed") and text.endswith("connection refused")
        assert host.call(played, "act", {"action": "ls"}).result().refused
        host.leave(played).result()
    (result,) = episodes_of(tmp_path)
    assert (result.ending, result.success, result.score) == ("failure", None, None)
    assert result.failure == "connection refused"


def test_who_leaves_is_scored_on_what_is_there_unless_no_tool_was_called(opened: Open, tmp_path: Path) -> None:
    with EpisodeHost(opened("terminal", traces=tmp_path)) as host:
        leaver, looker, lister = [host.begin().result() for _ in range(3)]
        host.call(leaver, "act", {"action": "ls"}).result()
        host.call(looker, "observe", {}).result()
        for played in (leaver, looker, lister):
            host.leave(played).result()
    found = [(one.ending, one.success, one.steps) for one in episodes_of(tmp_path)]
    assert found == [("left", False, 2), ("left", False, 1), ("open", None, 0)]


def test_who_only_lists_tools_leaves_the_seed_to_the_next_client(opened: Open) -> None:
    with EpisodeHost(opened("terminal"), first_seed=7) as host:
        lister, player = host.begin().result(), host.begin().result()
        host.call(player, "act", {"action": "ls"}).result()
        for played in (lister, player):
            host.leave(played).result()
        assert [host.begin().result().episode.seed for _ in range(2)] == [7, 9]


def test_calls_that_wait_together_are_one_wave_and_those_of_one_episode_keep_their_order(opened: Open) -> None:
    waves: list[int] = []

    class Counted(ScriptedWorld):
        def step(self, sessions: Any, actions: Any) -> Any:
            waves.append(len(actions))
            return super().step(sessions, actions)

    with EpisodeHost(opened("terminal", Counted())) as host:
        episodes = [host.begin().result() for _ in range(3)]
        held = threading.Event()
        host._thread.submit(held.wait)
        calls = [host.call(one, "act", {"action": f"echo {n}"}) for n in range(2) for one in episodes]
        held.set()
        assert [call.result().texts[0] for call in calls] == ["[1] echo 0"] * 3 + ["[2] echo 1"] * 3
    assert waves == [3, 3]


def test_a_call_that_is_cancelled_before_its_turn_is_not_done_and_holds_up_no_other(opened: Open) -> None:
    with EpisodeHost(opened("terminal", ScriptedWorld())) as host:
        one, other = host.begin().result(), host.begin().result()
        held = threading.Event()
        host._thread.submit(held.wait)
        calls = [host.call(played, "act", {"action": "ls"}) for played in (one, other, one)]
        assert calls[0].cancel()
        held.set()
        assert [call.result().texts[0] for call in calls[1:]] == ["[1] ls", "[1] ls"]
        assert one.episode.actions == ["ls"]


def test_at_the_step_limit_the_agent_reads_that_the_episode_has_ended(opened: Open, tmp_path: Path) -> None:
    with EpisodeHost(opened("terminal", max_steps=1, traces=tmp_path)) as host:
        played = host.begin().result()
        shown, ended = host.call(played, "act", {"action": "pwd"}).result().texts
        assert "pwd" in shown and ended == "The episode has ended."
    assert [result.ending for result in episodes_of(tmp_path)] == ["limit"]

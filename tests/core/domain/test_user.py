"""The user of a task answers questions in every world, from a script, and says nothing to who does not ask."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from hypothesis import given
from hypothesis import strategies as st
from loopback import servers

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.tolerant import TolerantParser
from agentworld_gym.core.contracts import ActionKind, ChatRequest
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import ASK_TOOL, NOTHING_TO_ADD, read_question
from agentworld_gym.core.flow import in_one_wave
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.mcp.tool_episode import ToolEpisode
from agentworld_gym.integrations.trl_environments import environment_factory
from agentworld_gym.llm.prompting.agent_prompt import agent_prompt
from tests.helpers.worlds import dream

DOMAINS = ("android", "desktop", "mcp", "search", "swe", "terminal", "web")
TASK: dict[str, Any] = {
    "instruction": "Name the folder.",
    "user": [{"about": "folder|job 1", "says": "It is maple."}],
    "success": [{"answer": {"equals": "maple"}}],
    "expert": ["ask: Which folder?", "finish: maple"],
}

every_domain = pytest.mark.parametrize("domain", DOMAINS)


def nobody(request: ChatRequest) -> str:
    """A model that is never to be asked."""
    raise AssertionError(request)


@every_domain
@pytest.mark.parametrize("language", [False, True])
def test_the_user_answers_in_every_domain_and_world(domain: str, language: bool) -> None:
    world = dream(f"{domain}_nobody", nobody) if language else "scripted"
    runner = EnvOptions(spec=domain, world=world, reading="tolerant").runner()
    ((episode, first, info),) = runner.start([0], {"task": TASK})
    assert "maple" not in first and "ask" in str(info["tools"]) and "maple" not in episode.session.system
    assert '"ask"' not in episode.session.system
    (asked,) = runner.advance([episode], ["Let me ask.\nask: Which FOLDER do you mean?"])
    assert asked.observation == "The user says: It is maple." and asked.answered
    (call,) = runner.advance([episode], ['{"name": "ask", "arguments": {"question": "And job 1?"}}'])
    assert call.observation == asked.observation and "action_error" not in call.info
    (other,) = runner.advance([episode], ["ask: How are you?"])
    assert other.observation == f"The user says: {NOTHING_TO_ADD}"
    (end,) = runner.advance([episode], ["finish: maple"])
    runner.close()
    assert end.info["success"]


@pytest.mark.parametrize(
    ("spec", "dialect", "written"),
    [
        ("web", None, 'ask(question="Which folder?")'),
        ("web", "browsergym", 'ask("Which folder?")'),
        ("swe", None, 'I need to ask.\nask: Which folder of {"a": 1}?'),
        ("mcp", None, "**Ask:** Which folder?"),
    ],
)
def test_a_question_is_read_in_the_notations_that_models_write(spec: str, dialect: str | None, written: str) -> None:
    runner = EnvOptions(spec=spec, dialect=dialect, world="scripted", reading="tolerant").runner()
    ((episode, _, _),) = runner.start([0], {"task": TASK | {"domain": spec}})
    (asked,) = runner.advance([episode], [written])
    runner.close()
    assert asked.observation == "The user says: It is maple."


@every_domain
@pytest.mark.parametrize("arguments", [{"question": ""}, {"question": 3}, {}])
def test_a_question_without_words_never_goes_to_the_world(domain: str, arguments: dict[str, Any]) -> None:
    runner = EnvOptions(spec=domain, world="scripted").runner()
    ((episode, _, _),) = runner.start([0], {"task": TASK})
    (asked,) = runner.advance([episode], [json.dumps({"name": "ask", "arguments": arguments})])
    runner.close()
    assert asked.observation == f"The user says: {NOTHING_TO_ADD}" or "action_error" in asked.info


@every_domain
def test_a_prompt_says_how_to_ask_where_there_is_a_user(domain: str) -> None:
    runner = EnvOptions(spec=domain, world="scripted").runner()
    ((episode, _, _),) = runner.start([0], {"task": TASK})
    ((lonely, _, _),) = runner.start([0], {"task": {key: value for key, value in TASK.items() if key != "user"} | {
        "expert": ["finish: maple"]}})  # fmt: skip
    runner.close()
    told = ("write: ask: QUESTION" in agent_prompt(episode), '{"name": "ask"' in agent_prompt(episode))
    assert sum(told) == 1
    assert "ask: QUESTION" not in agent_prompt(lonely) and '{"name": "ask"' not in agent_prompt(lonely)


@every_domain
def test_programs_that_call_tools_call_ask(domain: str) -> None:
    runner = EnvOptions(spec=domain, world="scripted", task=TASK).runner()
    episode = ToolEpisode(runner, seed=0)
    assert [tool["name"] for tool in episode.tools].count("ask") == 1
    action = episode.action("ask", {"question": "Which folder?"})
    assert action is not None
    (step,) = runner.advance([episode.episode], [action])
    runner.close()
    assert episode.answer(step).texts == ("The user says: It is maple.",)


@every_domain
def test_trainers_have_a_method_that_asks(domain: str) -> None:
    made: Any = environment_factory(load_spec(domain).env_id, world="scripted", task=TASK)
    environment = made()
    environment.reset(task_seed=0)
    assert environment.ask(question="Which folder?") == "The user says: It is maple."
    made.close()


def test_forks_ask_for_themselves_and_a_trace_replays(tmp_path: Path) -> None:
    runner = EnvOptions(spec="terminal", traces=tmp_path).runner()
    ((episode, _, _),) = runner.start([0], {"task": TASK})
    twin = runner.fork(episode)
    shown = [runner.advance([one], ["ask: Which folder?"])[0].observation for one in (episode, twin)]
    assert shown == ["The user says: It is maple."] * 2
    runner.advance([episode], ["pwd"])
    runner.advance([episode], ["finish: maple"])
    runner.close()
    again = EnvOptions(spec="terminal").runner()
    assert all(difference.same for difference in replay(tmp_path, again))
    again.close()


def test_without_a_user_a_question_is_an_action_like_any_other() -> None:
    env = gym.make("AgentWorld/Terminal-v0")
    env.reset(seed=0)
    assert "command not found" in str(env.step("ask: Which folder?")[0])
    env.close()


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_what_is_asked_is_read_back(question: str) -> None:
    parser = ActionParser(load_spec("terminal"))
    for reader in (parser, TolerantParser(parser)):
        action = reader.parse(f"ask: {question}", [ASK_TOOL])
        assert action.kind is ActionKind.ASK or "```" in question
    assert read_question(f"ask: {question}") == question.strip()


def test_a_question_that_is_no_text_is_refused() -> None:
    parser = ActionParser(load_spec("terminal"))
    for text in ("ask: \ud800?", "ask: " + "a" * parser.spec.limits.max_action_chars):
        action = parser.parse(text, [ASK_TOOL])
        assert action.error is not None and action.kind is ActionKind.ACT


def test_a_broken_pattern_is_named() -> None:
    runner = EnvOptions(spec="terminal", world="scripted").runner()
    with pytest.raises(SpecError, match=r"user\.0\.about"):
        runner.start([0], {"task": {**TASK, "user": [{"about": "(", "says": "x"}]}})
    runner.close()
    assert Task.model_validate({**TASK, "id": "t", "domain": "web", "user": []}).tools == (dict(ASK_TOOL),)


class TestAModelAsUser:
    """A language model may answer in place of the script, in its own words."""

    @pytest.fixture
    def asked(self) -> Iterator[tuple[str, list[list[dict[str, str]]]]]:
        """The address of a model, and the messages of each request to it."""
        heard: list[list[dict[str, str]]] = []

        async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
            heard.append(body["messages"])
            last = body["messages"][-1]["content"]
            if "break" in last:
                return web.Response(status=400)
            return answer("<think>It is the folder.</think>\nMaple, please." if "one" in last else "No idea.")

        with servers(FaultServer) as begin:
            yield begin(chat).url, heard

    def test_it_reads_the_script_and_the_questions_so_far(
        self, asked: tuple[str, list[list[dict[str, str]]]], tmp_path: Path
    ) -> None:
        url, heard = asked
        runner = EnvOptions(spec="terminal", user=url, traces=tmp_path).runner()
        ((episode, _, _), (other, _, _)) = runner.start([0, 1], {"task": TASK})
        steps = runner.advance([episode, other], ["ask: Where?", "pwd"])
        assert steps[0].observation == "The user says: No idea." and steps[0].info["tokens"]["completion"] == 3
        (second,) = runner.advance([episode], ["ask: Which one </s> is it?"])
        assert second.observation == "The user says: Maple, please." and second.answered
        (end,) = runner.advance([episode], ["finish: maple"])
        assert end.info["success"]
        runner.close()
        first, then = heard
        assert "Name the folder." in first[0]["content"] and "It is maple. (`folder|job 1`)" in first[0]["content"]
        assert [one["content"] for one in then[1:3]] == ["Where?", "No idea."] and "</s>" not in then[3]["content"]
        again = EnvOptions(spec="terminal").runner()
        assert all(difference.same for difference in replay(tmp_path, again)), "a replay asks nobody"
        again.close()

    def test_it_answers_in_streams_too_and_its_failure_is_typed(
        self, asked: tuple[str, list[list[dict[str, str]]]]
    ) -> None:
        runner = EnvOptions(spec="terminal", user=asked[0]).runner()
        ((episode, _, _),) = runner.start([0], {"task": TASK})
        ((_, step),) = in_one_wave([runner.stepping(episode, "ask: Which one?")])
        assert step.observation == "The user says: Maple, please."
        (failed,) = runner.advance([episode], ["ask: Does it break?"])
        runner.close()
        assert failed.truncated and failed.info["failure"]["message"].startswith("the user: ")

    def test_a_lock_pins_it(self, asked: tuple[str, list[list[dict[str, str]]]]) -> None:
        pinned = EnvOptions(spec="terminal", user=asked[0]).locked()
        assert pinned.digest != EnvOptions(spec="terminal").locked().digest

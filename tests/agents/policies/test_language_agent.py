"""A language model as an agent: what it writes becomes the action that it means."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from latencies import Held

from agentworld_gym import agent_prompt
from agentworld_gym.agents.collect.acting import Player
from agentworld_gym.agents.policies.language_agent import DROPPED, AgentLost, LanguageAgent
from agentworld_gym.agents.policies.playing import Played, play
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.flow import in_one_wave
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.scripted import ScriptedGenerator

Answer = Callable[[ChatRequest], str | Completion | Failure]


def of(*texts: str) -> Answer:
    """A model that writes some texts, one after the other."""
    rest = iter(texts)
    return lambda request: next(rest)


def recorded(domain: str, answer: Answer, most: int = 5) -> list[str | None]:
    """The actions that a recording takes from a model, up to the first that there is none of."""
    runner = EnvOptions(spec=domain, world="grounded", reading="exact").runner()
    agent = LanguageAgent(ScriptedGenerator(answer), load_spec(domain), Sampling())
    ((episode, _, _),) = runner.start([0], {})
    player = Player(agent, seed=0)
    actions: list[str | None] = []
    try:
        while len(actions) < most and (not actions or actions[-1] is not None):
            actions += in_one_wave([player.act(episode)])
            if actions[-1] is not None:
                runner.advance([episode], [actions[-1]])
    finally:
        episode.session.close()
        runner.close()
    return actions


def evaluated(domain: str, answer: Answer, **options: Any) -> Played:
    """An episode that a model plays."""
    runner = EnvOptions(spec=domain, world="grounded", max_steps=6).runner()
    agent = LanguageAgent(ScriptedGenerator(answer), runner.spec, options.pop("sampling", Sampling()), **options)
    [outcome] = play(runner, agent, [0])
    runner.close()
    return outcome


@pytest.mark.parametrize(
    ("domain", "text", "action"),
    [
        ("terminal", "I look.\n```bash\nls -la\n```", "ls -la"),
        ("desktop", "```python\npyautogui.press('a')\n```", "pyautogui.press('a')"),
        (
            "mcp",
            'I look first.\n```json\n{"name": "list_books", "arguments": {}}\n```',
            '{"name": "list_books", "arguments": {}}',
        ),
    ],
)
def test_an_action_in_a_fence_is_sent_without_it(domain: str, text: str, action: str):
    assert recorded(domain, of(text, "finish")) == [action, "finish", None]


@pytest.mark.parametrize(
    "text",
    [
        "```\nfinish: 3\n```",
        "finish: 3\n```",
        '{"name": "finish", "arguments": {"answer": "3"}}',
        "<think>Is it finish: 2?</think>Finish: 3",
        "Done.\nfinish: 3",
    ],
)
def test_after_the_end_there_is_no_action(text: str):
    for domain in ("mcp", "terminal"):
        assert recorded(domain, of(text, "ls")) == ["finish: 3", None]


def test_a_wish_to_end_that_was_repeated_is_the_end():
    assert recorded("terminal", of("```json\n[]\n```", "[]", "ls")) == ["[]", "[]", None]


def test_the_model_reads_what_it_wrote_without_its_thinking():
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "<think>Hm.</think>\nI look.\n```bash\npwd\n```" if len(asked) < 2 else "finish"

    evaluated("terminal", answer)
    assert asked[1].messages[2]["content"] == "I look.\n```bash\npwd\n```"


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_model_reads_the_prompt_of_every_agent_and_the_first_screen(domain: str):
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "finish"

    outcome = evaluated(domain, answer, sampling=Sampling(max_tokens=7))
    env = gym.make(load_spec(domain).env_id, world="grounded")
    shown, _ = env.reset(seed=0)
    system, first = (message["content"] for message in asked[0].messages)
    assert system == agent_prompt(env) and "finish: ANSWER" in system
    assert first == shown and asked[0].sampling.max_tokens == 7
    assert outcome.end == "finish" and outcome.success is False
    env.close()


def test_a_full_context_stops_the_agent_and_a_server_that_fails_is_no_end_of_the_agent():
    stopped = evaluated("mcp", lambda request: Failure(FailureKind.OVERFLOW, "no"))
    assert (stopped.end, stopped.success, stopped.agent_failure) == ("stopped: context", False, None)
    assert recorded("mcp", lambda request: Failure(FailureKind.OVERFLOW, "no")) == [None]
    lost = evaluated("mcp", lambda request: Failure(FailureKind.SERVER, "no"))
    assert (lost.end, lost.success, lost.agent_failure) == ("agent failed", None, "server")
    assert lost.failure is None, "nor is it a failure of the world"
    with pytest.raises(AgentLost, match="no action: no"):
        recorded("mcp", lambda request: Failure(FailureKind.SERVER, "no"))


def test_an_answer_that_found_no_room_is_a_full_context_and_no_mistake():
    cut = Completion("I thi", "length", Usage(90, 10), filled=True)
    stopped = evaluated("terminal", lambda request: cut)
    assert (stopped.end, stopped.refused, stopped.agent_lost.prompt_tokens) == ("stopped: context", 0, 90)

    def answer(request: ChatRequest) -> str | Completion:
        full = [one for one in request.messages[1:] if one["role"] == "user" and one["content"] != DROPPED]
        return cut if len(full) > 3 else Completion("pwd", usage=Usage(50, 1), lost=Usage(5))

    dropped = evaluated("terminal", answer, overflow="drop")
    assert (dropped.end, dropped.refused) == ("limit", 0)
    assert dropped.agent_usage == Usage(300, 6), "what was taken"
    assert dropped.agent_lost.prompt_tokens % 90 == 30 and dropped.agent_lost.completion_tokens >= 10, (
        "and what was not"
    )


def test_the_oldest_observations_leave_a_mark_where_the_context_is_full_and_that_is_asked_for():
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str | Failure:
        asked.append(request)
        full = [one for one in request.messages[1:] if one["role"] == "user" and one["content"] != DROPPED]
        return Failure(FailureKind.OVERFLOW, "full") if len(full) > 3 else "pwd"

    outcome = evaluated("terminal", answer, overflow="drop")
    texts = [one["content"] for one in asked[-1].messages if one["role"] == "user"]
    assert outcome.end == "limit" and DROPPED in texts[1:-1]
    assert DROPPED not in (texts[0], texts[-1]), "the instruction and the present screen stay"


def test_a_sentence_is_answered_with_how_to_act_and_never_typed():
    asked: list[ChatRequest] = []
    texts = iter(["I will now list the files.", "ls", *["Let me think about that."] * 3])

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return next(texts)

    assert recorded("terminal", answer) == ["ls", None]
    assert "this is a sentence" in str(asked[1].messages[-1]["content"])
    outcome = evaluated("terminal", lambda request: "I will now list the files.")
    assert (outcome.refused, outcome.end) == (6, "limit")
    assert "this is a sentence" in outcome.observations[1]


def test_no_episode_waits_for_the_answer_to_another_one():
    model = Held(random.Random(0), lambda request: "finish" if len(request.messages) > 4 else "pwd")
    model.order.choice = max  # type: ignore[method-assign, assignment]
    runner = EnvOptions(spec="terminal", world="grounded").runner()
    agent = LanguageAgent(model, runner.spec, Sampling())
    order = [(one.place, len(one.actions)) for one in play(runner, agent, range(3), wave=3)]
    assert order == [(2, 3), (1, 3), (0, 3)], "the newest request is answered first, and its episode goes on"
    runner.close()


def test_an_episode_that_has_a_past_is_gone_on_with():
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "ls"

    runner = EnvOptions(spec="terminal", world="grounded").runner()
    ((episode, _, _),) = runner.start([0], {})
    runner.advance([episode], ["pwd"])
    agent = LanguageAgent(ScriptedGenerator(answer), runner.spec, Sampling())
    assert agent.act([episode], [agent.begin(episode)]) == ["ls"]
    assert list(asked[0].messages) == episode.messages()
    agent.act([episode], [agent.begin(episode)])
    assert asked[1].sampling.seed != asked[0].sampling.seed, "a planner draws several actions"
    runner.close()

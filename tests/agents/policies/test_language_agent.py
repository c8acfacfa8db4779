"""A language model as the agent of recordings: what it writes becomes the action that it means."""

from __future__ import annotations

import gymnasium as gym
import pytest

from agentworld_gym import agent_prompt
from agentworld_gym.agents.policies.language_agent import AgentLost, Dialogue, LanguageAgent
from agentworld_gym.core.contracts import ChatRequest, Failure, FailureKind
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import in_one_wave
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.generators.scripted import ScriptedGenerator


def played(domain: str, *written: str) -> list[str | None]:
    """The actions of an agent that writes some texts, up to the first that there is none of."""
    texts = iter(written)
    agent = LanguageAgent(ScriptedGenerator(lambda request: next(texts)), load_spec(domain), Sampling())
    task = Task(id="t", domain=domain, instruction="Do it.", success=[{"answer": {"equals": "3"}}])
    dialogue = agent.begin(task, seed=0)
    actions: list[str | None] = []
    while len(actions) <= len(written) and (not actions or actions[-1] is not None):
        actions += in_one_wave([dialogue.act("")])
    return actions


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
    assert played(domain, text, "finish") == [action, "finish", None]


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
        assert played(domain, text, "ls") == ["finish: 3", None]


def test_a_wish_to_end_that_was_repeated_is_the_end():
    assert played("terminal", "```json\n[]\n```", "[]", "ls") == ["[]", "[]", None]


def test_the_model_reads_its_own_actions_without_its_thinking():
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "<think>Hm.</think>\n```bash\npwd\n```"

    agent = LanguageAgent(ScriptedGenerator(answer), load_spec("terminal"), Sampling())
    task = Task(id="t", domain="terminal", instruction="Do it.", success=[{"answer": {"equals": "3"}}])
    dialogue = agent.begin(task, seed=0)
    for _ in range(2):
        in_one_wave([dialogue.act("")])
    assert asked[1].messages[2]["content"] == "pwd"


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_model_reads_the_prompt_of_every_agent_and_the_first_screen(domain: str):
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return "finish"

    agent = LanguageAgent(ScriptedGenerator(answer), load_spec(domain), Sampling(max_tokens=7))
    task = Task(id="t", domain=domain, instruction="Do it.", success=[{"answer": {"equals": "3"}}])
    in_one_wave([agent.begin(task, seed=0).act("Do it.\n\nThe first screen.")])
    env = gym.make(load_spec(domain).env_id, world="grounded")
    env.reset(seed=0)
    system, first = (message["content"] for message in asked[0].messages)
    assert agent_prompt(env).splitlines()[0] in system and "finish: ANSWER" in system
    assert first == "Do it.\n\nThe first screen." and asked[0].sampling.max_tokens == 7
    env.close()


def test_a_model_that_writes_nothing_stops_and_a_server_that_fails_is_no_end_of_the_model():
    def dialogue(kind: FailureKind) -> Dialogue:
        agent = LanguageAgent(ScriptedGenerator(lambda request: Failure(kind, "no")), load_spec("mcp"), Sampling())
        task = Task(id="t", domain="mcp", instruction="Do it.", success=[{"answer": {"equals": "3"}}])
        return agent.begin(task, seed=0)

    assert in_one_wave([dialogue(FailureKind.OVERFLOW).act("")]) == [None]
    with pytest.raises(AgentLost, match="no action: no"):
        in_one_wave([dialogue(FailureKind.SERVER).act("")])


def test_a_sentence_is_answered_with_how_to_act_and_never_typed():
    asked: list[ChatRequest] = []
    texts = iter(["I will now list the files.", "ls", *["Let me think about that."] * 3])

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        return next(texts)

    agent = LanguageAgent(ScriptedGenerator(answer), load_spec("terminal"), Sampling())
    task = Task(id="t", domain="terminal", instruction="Do it.", success=[{"answer": {"equals": "3"}}])
    dialogue = agent.begin(task, seed=0)
    assert in_one_wave([dialogue.act("Do it.")]) == ["ls"]
    assert "this is a sentence" in str(asked[1].messages[-1]["content"])
    assert in_one_wave([dialogue.act("a.txt")]) == [None]

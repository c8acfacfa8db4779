"""A language model that calls tools: the agent of tool worlds in recordings, over any generator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.contracts import ChatRequest, Completion, Conversation, Failure, Generator, Message
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import Request, Work
from agentworld_gym.llm.prompting.parsing import strip_thinking
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions

SYSTEM = """You solve tasks by calling tools. Each of your messages holds one action and nothing behind it: a call

{{"name": "<tool>", "arguments": {{...}}}}

or, once the task is done, `finish`; where the task asks for something, `finish: ANSWER`. What a call returns is the
next message.

The tools:

{tools}"""
"""The prompt of the model."""

FINISH = re.compile(r"^\s*(finish\b.*)$", re.MULTILINE | re.DOTALL)


class LanguageAgent:
    """Plays tasks of tool worlds by asking a generator for each action.

    Args:
        generator: The generator.
        spec: The domain, whose sampling is used.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.core.flow import in_one_wave
    >>> from agentworld_gym.llm.generators.scripted import ScriptedGenerator
    >>> agent = LanguageAgent(ScriptedGenerator(lambda request: "Done.\\nfinish: 3"), load_spec("mcp"))
    >>> task = Task(id="t", domain="mcp", instruction="Count.", success=[{"answer": {"equals": "3"}}])
    >>> dialogue = agent.begin(task, seed=0)
    >>> in_one_wave([dialogue.act("")]), in_one_wave([dialogue.act("")])
    (['finish: 3'], [None])
    """

    name = "model"

    def __init__(self, generator: Generator, spec: DomainSpec) -> None:
        self._generator, self._sampling = generator, spec.sampling.sampling()

    def begin(self, task: Task, seed: int) -> Dialogue:
        """Begin a task.

        Args:
            task: The task.
            seed: The seed of the first request; those of later requests count up.
        """
        return Dialogue(self._generator, self._sampling, task, seed)


class Dialogue:
    """What a language model and the world say to each other on one task."""

    def __init__(self, generator: Generator, sampling: Sampling, task: Task, seed: int) -> None:
        self._generator, self._sampling, self._seed = generator, sampling, seed
        self._conversation, self._action = Conversation(), ""
        self._messages = [
            Message(role="system", content=SYSTEM.format(tools=tool_definitions(task.tools))),
            Message(role="user", content=task.instruction),
        ]

    def act(self, shown: str) -> Work[str | None]:
        """Ask for the next action, as a piece of work; after a `finish` there is none.

        Args:
            shown: What the last action showed. Before the first one the model reads the instruction instead.

        Raises:
            AgentWorldError: The generator gave no completion.
        """
        if finishes(self._action):
            return None
        turn = len(self._messages) // 2 - 1
        if turn:
            self._messages.append(Message(role="user", content=shown))
        sampling = self._sampling.seeded((self._seed + turn) % 2**31)
        request = ChatRequest(tuple(self._messages), sampling, conversation=self._conversation)
        answer: Completion | Failure = yield Request(self._generator, request)
        if isinstance(answer, Failure):
            raise AgentWorldError(f"the agent gave no action: {answer.message}")
        self._action = action_in(answer.text)
        self._messages.append(Message(role="assistant", content=self._action))
        return self._action


def action_in(text: str) -> str:
    """Return the action that a completion holds: its last JSON object with a name, or what begins with `finish`.

    A completion without either is the action as it is, to which the world answers that it is none.

    >>> action_in('I look first.\\n```json\\n{"name": "list_books", "arguments": {}}\\n```')
    '{"name": "list_books", "arguments": {}}'
    >>> action_in("<think>Is it finish: 3?</think>finish: 4")
    'finish: 4'
    """
    text = strip_thinking(text).strip()
    found = list(_objects(text))
    finish = FINISH.search(text)
    if found and (finish is None or finish.start() < text.rfind(found[-1])):
        return found[-1]
    return finish[1].strip() if finish else text


def _objects(text: str) -> Iterator[str]:
    place, decoder = text.find("{"), json.JSONDecoder()
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict) and "name" in value:
                yield text[place:end]
        place = text.find("{", end)

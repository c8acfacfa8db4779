"""A language model that calls tools: the agent of tool worlds in recordings, over any generator."""

from __future__ import annotations

from dataclasses import replace

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.tolerant import TolerantParser
from agentworld_gym.core.contracts import (
    Action,
    ActionKind,
    ChatRequest,
    Completion,
    Conversation,
    Failure,
    Generator,
    Message,
)
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import Request, Work
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions

SYSTEM = """You solve tasks by calling tools. Each of your messages holds one action and nothing behind it: a call

{{"name": "<tool>", "arguments": {{...}}}}

or, once the task is done, `finish`; where the task asks for something, `finish: ANSWER`. What a call returns is the
next message.

The tools:

{tools}"""
"""The prompt of the model."""


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
        self._reader = TolerantParser(ActionParser(spec))

    def begin(self, task: Task, seed: int) -> Dialogue:
        """Begin a task.

        Args:
            task: The task.
            seed: The seed of the first request; those of later requests count up.
        """
        return Dialogue(self._generator, self._sampling, self._reader, task, seed)


class Dialogue:
    """What a language model and the world say to each other on one task."""

    def __init__(self, generator: Generator, sampling: Sampling, reader: TolerantParser, task: Task, seed: int) -> None:
        self._generator, self._sampling, self._reader, self._task, self._seed = generator, sampling, reader, task, seed
        self._conversation, self._last = Conversation(), Action("")
        self._messages = [
            Message(role="system", content=SYSTEM.format(tools=tool_definitions(task.tools))),
            Message(role="user", content=task.instruction),
        ]

    def act(self, shown: str) -> Work[str | None]:
        """Ask for the next action, as a piece of work; after a `finish` there is none.

        It is the action that the model meant, as the exact parser reads it. Where none can be read, it is what the
        model wrote after its thinking, to which the world answers.

        Args:
            shown: What the last action showed. Before the first one the model reads the instruction instead.

        Raises:
            AgentWorldError: The generator gave no completion.
        """
        if self._last.kind is ActionKind.FINISH:
            return None
        turn = len(self._messages) // 2 - 1
        if turn:
            self._messages.append(Message(role="user", content=shown))
        sampling = self._sampling.seeded((self._seed + turn) % 2**31)
        request = ChatRequest(tuple(self._messages), sampling, conversation=self._conversation)
        answer: Completion | Failure = yield Request(self._generator, request)
        if isinstance(answer, Failure):
            raise AgentWorldError(f"the agent gave no action: {answer.message}")
        confirming = self._last.kind is ActionKind.CONFIRM
        self._last = self._reader.parse(answer.text, self._task.tools, shown=shown)
        if confirming and self._last.kind is ActionKind.CONFIRM:
            self._last = replace(self._last, kind=ActionKind.FINISH)
        self._messages.append(Message(role="assistant", content=self._last.raw))
        return self._last.raw

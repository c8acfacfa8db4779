"""A language model as the agent of recordings, in every domain and over any generator."""

from __future__ import annotations

import logging
from dataclasses import replace

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.actions.naming import callable_tools
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.tolerant import TolerantParser
from agentworld_gym.core.contracts import (
    Action,
    ActionKind,
    ChatRequest,
    Completion,
    Conversation,
    Failure,
    FailureKind,
    Generator,
    Message,
)
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import Request, Work
from agentworld_gym.llm.prompting.agent_prompt import role_of_agent

logger = logging.getLogger(__name__)

OWN = frozenset((FailureKind.EMPTY, FailureKind.LENGTH, FailureKind.OVERFLOW, FailureKind.MALFORMED))
"""The failures that are the model's own: it wrote nothing, or no more fits its context."""


MOST_REFUSED = 3
"""How many answers in a row may hold no action before a session ends."""


class AgentLost(AgentWorldError):
    """The model that plays cannot be asked: its server failed, which says nothing of the model."""


class LanguageAgent:
    """Plays tasks by asking a generator for each action, with the prompt of `agentworld_gym.agent_prompt`.

    Args:
        generator: The generator.
        spec: The domain.
        sampling: How the model samples.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.core.flow import in_one_wave
    >>> from agentworld_gym.llm.generators.scripted import ScriptedGenerator
    >>> agent = LanguageAgent(ScriptedGenerator(lambda request: "Done.\\nfinish: 3"), load_spec("mcp"), Sampling())
    >>> task = Task(id="t", domain="mcp", instruction="Count.", success=[{"answer": {"equals": "3"}}])
    >>> dialogue = agent.begin(task, seed=0)
    >>> in_one_wave([dialogue.act("Count.")]), in_one_wave([dialogue.act("")])
    (['finish: 3'], [None])
    """

    name = "model"

    def __init__(self, generator: Generator, spec: DomainSpec, sampling: Sampling) -> None:
        self._generator, self._spec, self._sampling = generator, spec, sampling
        self._exact = ActionParser(spec)

    def begin(self, task: Task, seed: int) -> Dialogue:
        """Begin a task.

        Args:
            task: The task.
            seed: The seed of the first request; those of later requests count up.
        """
        system = role_of_agent(self._spec, callable_tools(self._spec.action, task.tools))
        return Dialogue(self._generator, self._sampling, self._exact, task, seed, system)


class Dialogue:
    """What a language model and the world say to each other on one task."""

    def __init__(
        self, generator: Generator, sampling: Sampling, exact: ActionParser, task: Task, seed: int, system: str
    ) -> None:
        self._generator, self._sampling, self._task, self._seed = generator, sampling, task, seed
        self._exact, self._reader = exact, TolerantParser(exact)
        self._conversation, self._last = Conversation(), Action("")
        self._messages = [Message(role="system", content=system)]

    def act(self, shown: str) -> Work[str | None]:
        """Ask for the next action, as a piece of work; after a `finish` there is none, nor where the model gives none.

        It is the action that the model meant, as the exact parser reads it, or what the world answers with an error. A
        sentence, which the exact parser would type into a shell, is answered with the domain's error here, and no turn
        of the world; after several in a row there is no action.

        Args:
            shown: What the last action showed, or else the first observation, which begins with the instruction.

        Raises:
            AgentLost: The generator gave no completion, by no fault of the model.
        """
        if self._last.kind is ActionKind.FINISH:
            return None
        said, confirming = shown, self._last.kind is ActionKind.CONFIRM
        for _ in range(MOST_REFUSED):
            turn = len(self._messages) // 2
            self._messages.append(Message(role="user", content=said))
            sampling = self._sampling.seeded((self._seed + turn) % 2**31)
            request = ChatRequest(tuple(self._messages), sampling, conversation=self._conversation)
            answer: Completion | Failure = yield Request(self._generator, request)
            if isinstance(answer, Failure):
                if answer.kind in OWN:
                    logger.info("%s: the model gave no action: %s", self._task.id, answer.message)
                    return None
                raise AgentLost(f"the agent gave no action: {answer.message}")
            self._last = self._reader.parse(answer.text, self._task.tools, shown=shown)
            if confirming and self._last.kind is ActionKind.CONFIRM:
                self._last = replace(self._last, kind=ActionKind.FINISH)
            self._messages.append(Message(role="assistant", content=self._last.raw))
            if self._last.error is None or self._exact.parse(self._last.raw, self._task.tools).error is not None:
                return self._last.raw
            said = self._last.error
        logger.info("%s: the model gave no action in %d answers", self._task.id, MOST_REFUSED)
        return None

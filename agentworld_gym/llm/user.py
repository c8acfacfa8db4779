"""A language model as the user of a task, who answers the agent's questions in words of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.contracts import ChatRequest, Failure, FailureKind, Generator, Message, Observation
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import NOTHING_TO_ADD, said
from agentworld_gym.core.flow import Request, Work
from agentworld_gym.llm.prompting.parsing import strip_thinking
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.templates import Templates, escaped_fields, render

SAMPLING = Sampling(temperature=0.0, max_tokens=512, thinking=False)
"""Equal questions should get equal answers, as far as the generator allows."""


@dataclass
class ModelUser:
    """Asks a generator what the user of a task would say.

    The model reads the task, what its script knows (`Task.user`), and the questions so far. It sees nothing of the
    world.

    Args:
        spec: The domain.
        generator: The generator that answers.
        options: Where templates lie; the template is `shared/user.j2`.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.core.flow import in_one_wave
    >>> from agentworld_gym.llm.generators import ScriptedGenerator
    >>> task = Task(id="t", domain="terminal", instruction="Name it.", user=[{"about": "name", "says": "It is maple."}],
    ...             success=[{"answer": {"equals": "maple"}}])
    >>> user = ModelUser(load_spec("terminal"), ScriptedGenerator(lambda request: "Maple, please."))
    >>> in_one_wave([user.answering(task, (), "Which name?")])[0].text
    'The user says: Maple, please.'
    """

    spec: DomainSpec
    generator: Generator
    options: PromptOptions = field(default_factory=PromptOptions)

    def __post_init__(self) -> None:
        self._template: Any = Templates(self.spec, self.options).load("shared/user.j2")

    def answering(self, task: Task, earlier: Sequence[tuple[str, str]], question: str) -> Work[Observation | Failure]:
        """Answer a question, as a piece of work that asks the generator.

        Args:
            task: The task, which has a user.
            earlier: The questions before, each with what the agent was shown.
            question: The question.
        """
        answer = yield Request(self.generator, ChatRequest(self._messages(task, earlier, question), SAMPLING))
        if isinstance(answer, Failure):
            return answer
        text = unescape(strip_thinking(answer.text)).strip()
        if not text or answer.finish_reason == "length":
            kind, what = (FailureKind.LENGTH, "is cut off") if text else (FailureKind.EMPTY, "is empty")
            return Failure(kind, f"the answer of the user {what}", retryable=True, spent=answer.usage)
        return Observation(said(text), usage=answer.usage)

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the parts of the generator."""
        return self.generator.describe()

    def close(self) -> None:
        """Close the generator."""
        self.generator.close()

    def _messages(self, task: Task, earlier: Sequence[tuple[str, str]], question: str) -> list[Message]:
        shown = escaped_fields(task)
        system = render(
            self._template, instruction=shown["instruction"], replies=shown["user"] or (), nothing=NOTHING_TO_ADD
        )
        messages = [Message(role="system", content=system)]
        for asked, answered in earlier:
            messages += [Message(role="user", content=escape(asked)), Message(role="assistant", content=answered)]
        return [*messages, Message(role="user", content=escape(question))]

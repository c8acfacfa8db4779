"""Writes recorded steps that resemble the next one into the request for one prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import Field

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import Action, Message
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.llm.prompting.changes import diff
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.templates import render, ticks
from agentworld_gym.llm.retrieval.index import StepIndex
from agentworld_gym.llm.retrieval.steps import DISTURBED, RecordedStep, origin_of_row, steps_of

if TYPE_CHECKING:
    from agentworld_gym.core.domain.task import Task
    from agentworld_gym.llm.rows.row import Row
    from agentworld_gym.llm.rows.samples import Sample

TEMPLATES = {"full": "shared/retrieved_steps.j2", "compact": "shared/bare_retrieved_steps.j2"}


class _Asking(Protocol):
    """The part of a language world's session that retrieval depends on."""

    @property
    def task(self) -> Task: ...

    @property
    def screen(self) -> str: ...

    @property
    def origins(self) -> tuple[str, ...]: ...


class RetrievalOptions(Strict):
    """The value of `gym.make(..., language={"retrieval": …})`.

    >>> RetrievalOptions.of("runs/index").k
    3
    """

    path: str = Field(min_length=1)
    """The folder of the index."""

    k: Annotated[int, Field(ge=1, le=50)] = 3
    """How many steps are shown at most."""

    max_chars: Annotated[int, Field(ge=100)] = 3000
    """How many characters of actions and observations are shown at most."""

    @classmethod
    def of(cls, value: object) -> RetrievalOptions:
        """Read the options from the path of an index, or from a mapping.

        Raises:
            SpecError: A key or a value does not fit.
        """
        data = {"path": value} if isinstance(value, str | Path) else value
        if isinstance(data, dict) and isinstance(data.get("path"), Path):
            data = {**data, "path": str(data["path"])}
        return validated(RetrievalOptions, data, "options.language.retrieval")


@dataclass(frozen=True)
class StepRetrieval:
    """Writes the recorded steps most like the next one, as text for the end of a request.

    A `LanguageWorld` calls it with a session and an action; the text never enters the history. Steps of the same task
    or group (family and seed) are never shown, and those of sessions with controls in force are shown only where the
    episode has some too.

    Args:
        index: The index of recorded steps.
        prompts: The prompts whose profile and form the steps are written in. In the full profile a graphical domain
            always shows what changed, because a whole screen says little.
        k: How many steps are shown at most.
        max_chars: How many characters of actions and observations are shown at most. Every step has an equal share,
            and what is longer is cut at its end.
        folder: A folder of templates that stand in for the shipped ones.
    """

    index: StepIndex
    prompts: Prompts
    k: int = 3
    max_chars: int = 3000
    folder: Path | None = None

    def __call__(self, session: _Asking, action: Action) -> str:
        """Write what a request shows beside its turn; empty where no step is alike."""
        return self.text(action.raw, session.screen, _barred(session.origins, session.task.controls))

    def text(self, action: str, state: str, exclude: Iterable[str]) -> str:
        """Write the block for an action in a state, with every recorded text escaped; empty where no step is alike.

        Args:
            action: The action as the agent wrote it.
            state: The screen before the action.
            exclude: The origins of steps that must not be shown; see `StepIndex.search`.
        """
        steps = self.index.search(self.prompts.spec.id, action, state, self.k, exclude)
        return render(self._template, steps=[self._template_step(step) for step in steps]) if steps else ""

    @cached_property
    def digest(self) -> str:
        """The digest of all that decides what is shown: the index, the template, how steps are written, and how
        much."""
        environment, name = self._environment, TEMPLATES[self.prompts.profile]
        assert environment.loader is not None
        source = environment.loader.get_source(environment, name)[0]
        parts = {"index": self.index.digest, "template": source, "prompts": self.prompts.digest}
        return digest_of({**parts, "k": self.k, "max_chars": self.max_chars})

    @cached_property
    def _environment(self) -> Environment:
        folders = [path for path in (self.folder, data_folder("prompts")) if path is not None]
        return BoundedEnvironment(
            loader=FileSystemLoader(folders),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            autoescape=False,
        )

    @cached_property
    def _template(self) -> Any:
        return self._environment.get_template(TEMPLATES[self.prompts.profile])

    def _template_step(self, step: RecordedStep) -> dict[str, Any]:
        room = max(1, self.max_chars // self.k)
        changed = is_graphical(step.domain) and self.prompts.profile == "full"
        body = diff(step.before, step.observation) if changed else self._answer(step)
        target, action = step.target[: room // 4], step.action[: room // 2]
        observation = body[: max(0, room - len(action) - len(target))]
        return {
            "target": escape(target),
            "action": escape(action),
            "observation": escape(observation),
            "change": changed,
            "cut": len(observation) < len(body),
            "ticks": ticks(f"{action}\n{observation}"),
        }

    def _answer(self, step: RecordedStep) -> str:
        return self.prompts.answer(None, step.before, step.observation, step.action)


def open_retrieval(value: object, prompts: Prompts, folder: Path | None = None) -> StepRetrieval:
    """Open the recorded steps that the option `retrieval` asks for.

    Args:
        value: The path of an index, or a mapping with `path`, `k` and `max_chars`.
        prompts: The prompts of the world.
        folder: The folder of the user's templates.

    Raises:
        SpecError: An option does not fit, there is no index in that folder, or it has no steps of the domain in the
            dialect of the prompts.
    """
    options = RetrievalOptions.of(value)
    index = StepIndex(options.path)
    if prompts.spec.id not in index.domains:
        raise SpecError(options.path, "domains", list(index.domains), f"an index with steps of {prompts.spec.id}")
    spoken, recorded = prompts.spec.dialect, index.dialects.get(prompts.spec.id, next(iter(prompts.spec.dialects), ""))
    if recorded != spoken:
        raise SpecError(options.path, f"dialects.{prompts.spec.id}", recorded, f"{spoken}, the dialect of the world")
    return StepRetrieval(index, prompts, options.k, options.max_chars, folder)


def with_retrieved_steps(sample: Sample, retrieval: StepRetrieval, row: Row, turn: int) -> Sample:
    """Put recorded steps into a training sample of one turn, where a language world would show them.

    The steps are those of other sessions: none shares the row, its task, its group or its content.

    Args:
        sample: The sample, as `turn_samples` makes it: it ends with the request for that turn and its completion.
        retrieval: The retrieval, with the prompts of the sample.
        row: The session of the sample.
        turn: The number of the turn, counted from 1.

    Raises:
        ValueError: The last two messages are not a request and a completion.
    """
    *past, request, completion = sample.messages
    if request["role"] != "user" or completion["role"] != "assistant":
        raise ValueError(f"sample {sample.id} does not end with a request and a completion")
    action, state, _ = list(steps_of(row))[turn - 1]
    shown = retrieval.text(action, state, _barred(origin_of_row(row), row.controls))
    content = before_closing(request["content"], retrieval.prompts.closing, shown)
    messages: Sequence[Message] = (*past, Message(role="user", content=content), completion)
    return sample.model_copy(update={"messages": tuple(messages)})


def _barred(origin: tuple[str, ...], controls: Mapping[str, float]) -> tuple[str, ...]:
    """Return the origins of steps that must not be shown."""
    return origin if any(controls.values()) else (*origin, DISTURBED)


def before_closing(content: str, closing: str, text: str) -> str:
    """Put a text before the closing request of a message.

    >>> before_closing("ls. Answer!", " Answer!", " As in: pwd.")
    'ls. As in: pwd. Answer!'
    """
    still = content.removesuffix(closing) if closing else content
    return still + text + content[len(still) :]

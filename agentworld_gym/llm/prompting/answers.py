"""How a model writes the next observation: one codec for each way of writing it, chosen once by `answer_codec`.

| form | an answer is |
|---|---|
| `full` | the observation itself; in the compact profile of a domain with an index, what a call asks for |
| `change` | the shortest change of the screen |
| `state` | the change of the structured state, from which a view prints the screen |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.index import IndexBuilder
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import Screen, screen_of
from agentworld_gym.llm.prompting.changes import apply, diff, numbered
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.references import SearchReferences, page_references, search_references
from agentworld_gym.llm.prompting.state_answers import StateAnswers

MARK = "\\"
"""What stands before a blank answer of a small model. Its answers have no tags, and a completion may hold none."""


def as_marked(answer: str) -> str:
    """Return an answer as a small model writes it, which is never blank: white space and backslashes get a mark.

    >>> as_marked(""), as_marked("a.txt")
    ('\\\\', 'a.txt')
    """
    return MARK + answer if _is_markable(answer) else answer


def as_meant(written: str) -> str:
    """Return the answer that a small model means: the inverse of `as_marked`, defined for every text."""
    return written.removeprefix(MARK) if _is_markable(written) else written


def _is_markable(text: str) -> bool:
    return not text.replace(MARK, "").strip()


class AnswerCodec(Protocol):
    """Writes observations as the answers of a model, and reads such answers.

    Answers have no tags and are not escaped. In every method `before` is the screen on which the agent acted, `action`
    is what it wrote (None where that is not known), and `task` is the task of the episode; without one there is no
    state that an answer could refer to. In the form `state` every screen and observation is a structured state as JSON
    instead.
    """

    @property
    def refers(self) -> bool:
        """Whether answers may refer to the state of a task, so that none can be read without it."""
        ...

    @property
    def shows_screen(self) -> bool:
        """Whether every turn displays its screen, because answers name its lines."""
        ...

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the answer that a model should give for an observation."""
        ...

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that an answer stands for: the inverse of `write`.

        Raises:
            AnswerError: The answer is a change that does not fit the screen, or it refers to what the state does not
                hold.
        """
        ...

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return a screen as a prompt shows it, with the names of its lines where answers use them.

        Args:
            screen: The screen.
            parsed: The action that follows, as its parser read it; None where that is not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class WholeAnswers:
    """An answer is the observation itself."""

    refers: ClassVar[bool] = False
    shows_screen: ClassVar[bool] = False

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the observation."""
        return observation

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the answer."""
        return answer

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the screen."""
        return screen


@dataclass(frozen=True, slots=True)
class ScreenAnswers(WholeAnswers):
    """An answer is the observation itself, and of a screen a prompt shows no report of the tool."""

    reader: Screen
    """The reader of the domain's screens."""

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the screen without the report."""
        return self.reader.without_report(screen)


@dataclass(frozen=True, slots=True)
class ChangeAnswers:
    """An answer is the shortest change that leads from the screen to the observation.

    Every turn displays the screen with the numbers of its lines.

    >>> ChangeAnswers().write(None, "a cart with 12 articles", "a cart with 24 articles")
    '@@ change\\n0~ 12 => 24'
    """

    refers: ClassVar[bool] = False
    shows_screen: ClassVar[bool] = True

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the change."""
        return diff(before, observation)

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the screen after the change.

        Raises:
            AnswerError: The change does not fit the screen.
        """
        return apply(before, answer)

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the screen with the numbers of its lines."""
        return numbered(screen)


@dataclass(frozen=True, slots=True)
class MarkedAnswers:
    """An answer is what another codec writes; a blank one is marked, because compact completions have no tags.

    Args:
        codec: The other codec.

    >>> MarkedAnswers(WholeAnswers()).write(None, "a.txt", "")
    '\\\\'
    """

    codec: AnswerCodec

    @property
    def refers(self) -> bool:
        """Whether the other codec says so."""
        return self.codec.refers

    @property
    def shows_screen(self) -> bool:
        """Whether the other codec says so."""
        return self.codec.shows_screen

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the answer of the other codec, marked where it is blank."""
        return as_marked(self.codec.write(task, before, observation, action))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that the other codec reads.

        Raises:
            AnswerError: The other codec cannot read the answer.
        """
        return self.codec.read(task, before, as_meant(answer), action)

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the screen as the other codec displays it."""
        return self.codec.display(screen, parsed)


@dataclass(frozen=True, slots=True)
class IndexedAnswers(WholeAnswers):
    """An answer says what a search is about or which page is opened, or refers to a known page; the index prints these.

    A blank answer is marked.

    Args:
        index: The index of the domain.
    """

    index: IndexBuilder
    refers: ClassVar[bool] = True

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the observation with references, among them those to what the action asks for."""
        if (searches := self._searches(task)) is not None:
            return as_marked(searches.refer(observation, action))
        pages = None if task is None else page_references(task.state)
        return as_marked(observation if pages is None else pages.refer(observation))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that the references stand for, among them those to what the action asks for.

        Raises:
            AnswerError: State and index hold nothing of that name.
        """
        short = as_meant(answer)
        if (searches := self._searches(task)) is not None:
            return searches.resolve(short, action)
        pages = None if task is None else page_references(task.state)
        return short if pages is None else pages.resolve(short)

    def prints(self, task: Task) -> bool:
        """Whether the index has the pages of a task."""
        return self._searches(task) is not None

    def _searches(self, task: Task | None) -> SearchReferences | None:
        return None if task is None else search_references(self.index, task)


def answer_codec(domain: str, options: PromptOptions, parser: ActionParser | None = None) -> AnswerCodec:
    """Choose how a model writes the next observation.

    Args:
        domain: The id of the domain.
        options: How the model is prompted. A form that they do not name is `full`.
        parser: The parser of the domain's actions, which the form `state` needs where screens repeat them.

    Raises:
        SpecError: The form is `state`, and there is no view, or the profile is `full`.

    >>> answer_codec("terminal", PromptOptions())
    WholeAnswers()
    >>> answer_codec("web", PromptOptions("compact", "change"))
    MarkedAnswers(codec=ChangeAnswers())
    """
    profile, form = options.profile, options.form
    if form == "state":
        if options.view is None:
            raise SpecError(domain, "form", form, "full or change, for this domain has no view of a structured state")
        if profile != "compact":
            raise SpecError(domain, "profile", profile, "compact, which alone explains the form `state`")
        return StateAnswers(options.view, parser)
    if form == "change":
        plain: AnswerCodec = ChangeAnswers()
    elif profile == "compact" and options.index is not None:
        return IndexedAnswers(options.index)
    else:
        screen = screen_of(domain)
        plain = WholeAnswers() if screen is None or profile == "compact" else ScreenAnswers(screen)
    return MarkedAnswers(plain) if profile == "compact" else plain

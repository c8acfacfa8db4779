"""How a model writes the next observation: one codec for each way of writing it, chosen once by `answer_codec`.

| profile | form | domain | an answer is |
|---|---|---|---|
| `full` | `full` | any | the observation itself |
| `full` | `change` | any | the shortest change of the screen |
| `compact` | `change` | any | a change that a small model can foresee, in shorthand |
| `compact` | `state` | those with a view | the change of the structured state, from which the view prints the screen |
| `compact` | `full` | those of `REFERRING_DOMAINS` | the shortened observation with references to the task's state |
| `compact` | `full` | those with an index | also what a call asks for; the index ranks and prints the hits |
| `compact` | `full` | others | the observation in shorthand |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.domain.index import Index
from agentworld_gym.domain.spec import Form, Profile
from agentworld_gym.domain.task import Task
from agentworld_gym.domain.view import View
from agentworld_gym.errors import SpecError
from agentworld_gym.prompting.blank_answers import as_marked, as_meant
from agentworld_gym.prompting.changes import apply, diff, numbered, predictable_diff, renumbers
from agentworld_gym.prompting.references import (
    REFERRING_DOMAINS,
    References,
    SearchReferences,
    references_of,
    search_references_of,
)
from agentworld_gym.prompting.screen_shorthand import restore, shorten
from agentworld_gym.prompting.state_answers import StateAnswers
from agentworld_gym.prompting.terminal_shorthand import with_carried, without_carried
from agentworld_gym.screens.web import page_of


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

    def outdates(self, before: str | None, screen: str) -> bool:
        """Whether a screen has to be displayed because answers name its lines in another way than those of `before`.

        `before` is the screen one turn earlier, None where it is not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class WholeAnswers:
    """An answer is the observation itself."""

    refers: ClassVar[bool] = False

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the observation."""
        return observation

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the answer."""
        return answer

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the screen."""
        return screen

    def outdates(self, before: str | None, screen: str) -> bool:
        """Return False: an answer names no line."""
        return False


@dataclass(frozen=True, slots=True)
class PageAnswers(WholeAnswers):
    """An answer is the observation itself, and of a screen a prompt shows the page without what the tool said."""

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the page of the screen."""
        return page_of(screen)


@dataclass(frozen=True, slots=True)
class ChangeAnswers:
    """An answer is the shortest change that leads from the screen to the observation.

    Every turn displays the screen with the numbers of its lines.

    >>> ChangeAnswers().write(None, "a cart with 12 articles", "a cart with 24 articles")
    '@@ change\\n0~ 12 => 24'
    """

    refers: ClassVar[bool] = False

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

    def outdates(self, before: str | None, screen: str) -> bool:
        """Return True: every turn displays its screen."""
        return True


@dataclass(frozen=True, slots=True)
class PredictableChangeAnswers(ChangeAnswers):
    """An answer is a change that a small model can foresee: few operations, or else the whole screen.

    A screen is displayed only where the last change has renumbered its lines.
    """

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the change."""
        return predictable_diff(before, observation)

    def outdates(self, before: str | None, screen: str) -> bool:
        """Whether the change from one screen to the other gives lines other numbers or places."""
        return before is None or renumbers(predictable_diff(before, screen))


@dataclass(frozen=True, slots=True)
class ShorthandAnswers:
    """An answer is what another codec writes for screens in shorthand; a blank one is marked.

    Args:
        domain: The id of the domain, which decides what can be left out of a screen.
        codec: The codec of the shortened screens.
    """

    domain: str
    codec: AnswerCodec
    refers: ClassVar[bool] = False

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the answer of the other codec."""
        return as_marked(self.codec.write(task, shorten(self.domain, before), shorten(self.domain, observation)))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation, written out.

        Raises:
            AnswerError: The other codec cannot read the answer.
        """
        return restore(self.domain, self.codec.read(task, shorten(self.domain, before), as_meant(answer)))

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return the shortened screen as the other codec displays it."""
        return self.codec.display(shorten(self.domain, screen), parsed)

    def outdates(self, before: str | None, screen: str) -> bool:
        """Whether the other codec says so of the shortened screens."""
        shortened = None if before is None else shorten(self.domain, before)
        return self.codec.outdates(shortened, shorten(self.domain, screen))


@dataclass(frozen=True, slots=True)
class ReferringAnswers(WholeAnswers):
    """An answer is the shortened observation, with references in the place of what the initial state holds; a blank one
    is marked.

    Args:
        domain: The id of the domain, which decides what can be referred to.
    """

    domain: str
    refers: ClassVar[bool] = True

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the shortened observation with references."""
        references, short = self._references(task), shorten(self.domain, observation)
        return as_marked(short if references is None else references.refer(short))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that the references and the short words stand for.

        Raises:
            AnswerError: The state holds nothing of that name.
        """
        references, short = self._references(task), as_meant(answer)
        return restore(self.domain, short if references is None else references.resolve(short))

    def _references(self, task: Task | None) -> References | None:
        return None if task is None else references_of(self.domain, task.state)


@dataclass(frozen=True, slots=True)
class IndexedAnswers(ReferringAnswers):
    """An answer refers to the state, or says what a search is about or which page is opened; the index prints these.

    Args:
        domain: The id of the domain.
        index: The index of the domain.
    """

    index: Index

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the shortened observation with references, among them those to what the action asks for."""
        references, short = self._searches(task), shorten(self.domain, observation)
        if references is None:
            return ReferringAnswers.write(self, task, before, observation, action)
        return as_marked(references.refer(short, action))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that the references stand for, among them those to what the action asks for.

        Raises:
            AnswerError: State and index hold nothing of that name.
        """
        references = self._searches(task)
        if references is None:
            return ReferringAnswers.read(self, task, before, answer, action)
        return restore(self.domain, references.resolve(as_meant(answer), action))

    def prints(self, task: Task) -> bool:
        """Whether the index has the pages of a task."""
        return self._searches(task) is not None

    def _searches(self, task: Task | None) -> SearchReferences | None:
        return None if task is None else search_references_of(self.domain, self.index, task)


@dataclass(frozen=True, slots=True)
class ContinuingAnswers(WholeAnswers):
    """An answer is a capture of a terminal that begins behind what the capture before has shown already; a blank one,
    which leaves the screen as it was, is marked.

    >>> ContinuingAnswers().write(None, "dev@box:~$", "dev@box:~$ pwd\\n/home/dev\\ndev@box:~$", "pwd")
    'pwd\\n/home/dev\\ndev@box:~$'
    """

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return what follows what has been shown already."""
        return as_marked(without_carried(before, action, observation))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the whole capture."""
        return with_carried(before, action, as_meant(answer))


def answer_codec(
    domain: str,
    profile: Profile,
    form: Form,
    view: View | None = None,
    index: Index | None = None,
    parser: ActionParser | None = None,
) -> AnswerCodec:
    """Choose how a model writes the next observation.

    Args:
        domain: The id of the domain.
        profile: The profile of the prompts.
        form: How a next state is written.
        view: The view of the domain, which the form `state` needs.
        index: The index of the domain, which the profile `compact` uses where there is one.
        parser: The parser of the domain's actions, which the form `state` needs where screens repeat them.

    Raises:
        SpecError: The form is `state`, and there is no view, or the profile is `full`.

    >>> answer_codec("terminal", "full", "full")
    WholeAnswers()
    >>> answer_codec("web", "full", "full")
    PageAnswers()
    >>> answer_codec("web", "compact", "change")
    ShorthandAnswers(domain='web', codec=PredictableChangeAnswers())
    >>> answer_codec("swe", "compact", "full")
    ReferringAnswers(domain='swe')
    """
    if form == "state":
        if view is None:
            raise SpecError(domain, "form", form, "full or change, for this domain has no view of a structured state")
        if profile != "compact":
            raise SpecError(domain, "profile", profile, "compact, in which alone the form `state` is told")
        return StateAnswers(view, parser)
    if profile == "full":
        if form == "change":
            return ChangeAnswers()
        return PageAnswers() if domain == "web" else WholeAnswers()
    if form == "change":
        return ShorthandAnswers(domain, PredictableChangeAnswers())
    if domain == "terminal":
        return ContinuingAnswers()
    if index is not None:
        return IndexedAnswers(domain, index)
    return ReferringAnswers(domain) if domain in REFERRING_DOMAINS else ShorthandAnswers(domain, WholeAnswers())

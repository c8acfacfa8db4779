"""Checks of a dream that need no model: what an answer cannot be, whoever gave it.

A language model accepts what the real system refuses: it clicks elements that are not there, and forgets what it said.
Some of that can be known from the screen and from the history alone. An answer that breaks a check is asked for again,
with the reason in the prompt. If it is broken still, the system's own words take its place where they are known, and
else the step is a failure of the kind `impossible`.

Calls that break the schema of their tool reach no world: the parser refuses them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, FilePath

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, AnswerSource, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens import observations_of, screen_of
from agentworld_gym.core.screens.sight import folds, shows
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.worldbook.book import ActionPage, Worldbook
from agentworld_gym.llm.worldbook.pages import step_of
from agentworld_gym.llm.worldbook.steps import is_error, read_call
from agentworld_gym.worlds.language_session import LanguageSession

Check = Literal["elements", "format", "contradictions", "schemas"]

REASONS: Mapping[Check, str] = {
    "elements": "The action names an element that is not on the screen. It cannot be done, and changes nothing.",
    "format": "The answer does not have the format of this world.",
    "contradictions": "The same action showed something else before, and nothing has changed since.",
    "schemas": "The call breaks the schema of its tool, and the system refuses such calls.",
}
"""What each check tells the model, as a whole sentence without data."""


class CheckOptions(Strict):
    """Which checks are made of a dream; each can be turned off.

    >>> CheckOptions(format=False).elements
    True
    """

    elements: bool = True
    """An action on an element that is not on the screen leads to no other screen."""

    format: bool = True
    """A screen can be read line by line; a shell ends with its prompt."""

    contradictions: bool = True
    """A question is answered as it was before, while nothing but questions came between. Where controls are in force
    this is not checked."""

    schemas: bool = True
    """A call that breaks the schema of its tool is answered with an error. The schemas are those of a worldbook, for
    tools whose own the task does not tell; without a worldbook this is not checked."""

    reasks: int = Field(default=1, ge=0)
    """How many times the model is asked again, with the reason in the prompt."""

    words: FilePath | None = None
    """Recorded sessions of the system, as `agentworld collect` writes them, for how it refuses in its own words."""


class OwnWords:
    """How a system refuses, read off recorded sessions.

    Args:
        spec: The domain.
        rows: The sessions.

    Raises:
        SpecError: A session is one of another domain.
    """

    def __init__(self, spec: DomainSpec, rows: Iterable[Row]) -> None:
        found: dict[str, Counter[str]] = {}
        parser = ActionParser(spec)
        for row in rows:
            if row.domain != spec.id:
                raise SpecError(row.id, "task", row.task, f"sessions of {spec.id}, whose words are asked for")
            for action, shown in _refused(spec.id, parser, row):
                found.setdefault(_name(action), Counter())[_template(action, shown)] += 1
        self._templates = {name: counts.most_common(1)[0][0] for name, counts in found.items()}

    @property
    def digest(self) -> str:
        """A digest of the words."""
        return digest_of(self._templates)

    def refusal(self, action: Any) -> str | None:
        """Return how the system refuses an action, which is given as its parser reads it; None where no session
        tells.
        """
        template = self._templates.get(_name(action))
        if template is None:
            return None
        for slot, value in _texts(action):
            template = template.replace(slot, value)
        return template


@dataclass
class Checks:
    """Makes the checks of a world.

    Args:
        options: Which are made.
        domain: The id of the domain.
        words: How the system refuses in its own words; None where nobody knows.
        book: The worldbook of the system; None where there is none.
    """

    options: CheckOptions
    domain: str
    words: OwnWords | None = None
    book: Worldbook | None = None

    @classmethod
    def of(cls, options: CheckOptions, spec: DomainSpec, book: Worldbook | None = None) -> Checks:
        """Return the checks that some options ask for, with the words of their file and the schemas of a worldbook.

        Raises:
            SpecError: A line of the file is no row, or one of another domain.
        """
        words = None if options.words is None else OwnWords(spec, read_rows(Path(options.words)))
        return cls(options, spec.id, words, book)

    @property
    def digest(self) -> str:
        """A digest of what is checked, for the fingerprint of its world."""
        asked = self.options.model_dump(exclude={"words", "schemas"})
        schemas = [] if self.book is None else [self.options.schemas, self.book.digest]
        return digest_of([asked, None if self.words is None else self.words.digest, *schemas])

    def broken(self, session: LanguageSession, action: Action, observed: Observation) -> Check | None:
        """Return which check an answer breaks; None where it breaks none.

        Args:
            session: The session, which does not hold the answer yet.
            action: The action.
            observed: What was read from the answer of the model.
        """
        if self.options.format and not self._has_format(session, action, observed.text):
            return "format"
        if self.options.elements and self._leads_on(session, action, observed.text):
            return "elements"
        failed = is_error(observed.text, action.raw)
        if self.options.schemas and not failed and self._misused(session, action) is not None:
            return "schemas"
        before = self._answered(session, action)
        if before is not None and not self._equal(before, observed.text):
            return "contradictions"
        return None

    def settled(
        self,
        session: LanguageSession,
        action: Action,
        broken: Check,
        answer: Observation,
        refusal: Observation | None = None,
    ) -> Observation | Failure:
        """Return what stands in the place of an answer that broke a check each time that it was asked for.

        Args:
            session: The session, which does not hold the answer yet.
            action: The action.
            broken: The check that it broke.
            answer: The last answer.
            refusal: How the view of the domain refuses the action; None where it does not tell.
        """
        words: str | None = None
        if broken == "contradictions":
            words = self._answered(session, action)
        elif broken == "elements":
            words = None if self.words is None else self.words.refusal(action.parsed)
            if words is None and refusal is not None:
                return _instead(answer, refusal.text, refusal.state)
        elif broken == "schemas" and self.book is not None and (misused := self._misused(session, action)) is not None:
            words = misused.refusal(step_of(self.book, session, action))
        if words is None:
            return Failure(FailureKind.IMPOSSIBLE, REASONS[broken], retryable=True, spent=answer.spent)
        state = None if session.states is None else session.states[1]
        return _instead(answer, words, state)

    def remember(self, session: LanguageSession, action: Action, text: str) -> None:
        """Keep what a question was answered; whatever is no question may change all answers."""
        if not self.options.contradictions or action.error is not None or folds(self.domain, action.parsed, text):
            return
        if self._asks(session, action):
            session.answered[action.raw] = text
        else:
            session.answered.clear()

    def _misused(self, session: LanguageSession, action: Action) -> ActionPage | None:
        """Return the page of the tool whose schema in the worldbook a call breaks; None where it breaks none, or where
        the task tells the tool's own."""
        name, arguments = read_call(action.raw)
        page = None if self.book is None else self.book.actions.get(name)
        own = any(tool.get("name") == name for tool in session.task.tools)
        return None if page is None or own or page.admits(arguments) else page

    def _answered(self, session: LanguageSession, action: Action) -> str | None:
        checked = self.options.contradictions and not session.task.controls
        return session.answered.get(action.raw) if checked else None

    def _asks(self, session: LanguageSession, action: Action) -> bool:
        domain = find_domain(self.domain)
        asks = None if domain is None else domain.part("questions")
        return asks is not None and action.error is None and asks(action.parsed, session.task.tools)

    def _equal(self, one: str, other: str) -> bool:
        observations = observations_of(self.domain)
        return one == other or observations.normalised(one) == observations.normalised(other)

    def _has_format(self, session: LanguageSession, action: Action, text: str) -> bool:
        screen = screen_of(self.domain)
        if screen is not None:
            return not shows(self.domain, text) or screen.is_readable(text)
        return observations_of(self.domain).is_whole(text, session.seen.first, self._asks(session, action))

    def _leads_on(self, session: LanguageSession, action: Action, text: str) -> bool:
        """Whether an action on an element that is not on the screen led to another screen."""
        if not _misses(self.domain, action.parsed, session.seen.screen):
            return False
        return shows(self.domain, text) and not _same_screen(self.domain, session.seen.screen, text)


def _instead(answer: Observation, text: str, state: str | None) -> Observation:
    """Return an observation with what an answer cost, which is none of the model's any more."""
    source = AnswerSource.CHECKED
    return replace(answer, text=text, state=state, source=source, completion="", reasoning="", confidence=None)


def _misses(domain: str, parsed: Any, shown: str) -> bool:
    """Whether an action names an element that is not on the screen that was shown last."""
    screen = screen_of(domain)
    named = () if screen is None else tuple(screen.handles(parsed))
    if screen is None or not named or not shows(domain, shown):
        return False
    handles = {str(node.handle) for node in screen.read(shown) if node.handle is not None}
    return not handles.issuperset(named)


def _same_screen(domain: str, one: str, other: str) -> bool:
    screen = screen_of(domain)
    return screen is not None and screen.read(one) == screen.read(other)


def _refused(domain: str, parser: ActionParser, row: Row) -> Iterator[tuple[Any, str]]:
    """Yield the actions of a session that named an element which was not on the screen, and what they showed."""
    last = row.first_observation
    for text, observation in zip(row.actions, row.observations, strict=True):
        action = parser.parse(text)
        refused = not shows(domain, observation) or _same_screen(domain, last, observation)
        if action.error is None and refused and _misses(domain, action.parsed, last):
            yield action.parsed, observation
        last = observation if shows(domain, observation) else last


def _name(action: Any) -> str:
    """Return what an action does, without what it does it to."""
    if not isinstance(action, Mapping):
        return type(action).__name__
    return str(action.get("name") or action.get("action_type") or "")


def _template(action: Any, shown: str) -> str:
    """Return a text with the names of the action's texts instead of these, the longest first."""
    for slot, value in sorted(_texts(action), key=lambda one: -len(one[1])):
        shown = shown.replace(value, slot)
    return shown


def _texts(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Return the texts and numbers of an action, each with the name of its slot.

    >>> _texts({"name": "browser_click", "arguments": {"ref": "e618"}})
    [('{/name}', 'browser_click'), ('{/arguments/ref}', 'e618')]
    """
    if isinstance(value, Mapping):
        return [one for key, inner in value.items() for one in _texts(inner, f"{path}/{key}")]
    if isinstance(value, list | tuple):
        return [one for place, inner in enumerate(value) for one in _texts(inner, f"{path}/{place}")]
    text = value if isinstance(value, str) else json.dumps(value)
    return [(f"{{{path}}}", text)] if len(text) > 1 else []

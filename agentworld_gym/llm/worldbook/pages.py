"""Writes the page of a worldbook that fits an action into the request for one prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jinja2 import FileSystemLoader, StrictUndefined, Template

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.templates import render, ticks
from agentworld_gym.llm.prompting.tool_definitions import parameters_of
from agentworld_gym.llm.worldbook.book import AnswerKind, BookExample, Worldbook, read_worldbook
from agentworld_gym.llm.worldbook.steps import Step

if TYPE_CHECKING:
    from agentworld_gym.core.screens.history import ScreenHistory

TEMPLATES = {"full": "shared/worldbook.j2", "compact": "shared/bare_worldbook.j2"}
KINDS = 6
"""How many kinds of answers a page shows at most: those that fit the action first."""

CHARS = 600
"""How many characters of an answer a page shows at most."""


class _Asking(Protocol):
    """The part of a language world's session that a page depends on."""

    @property
    def seen(self) -> ScreenHistory[Action]: ...

    @property
    def origins(self) -> tuple[str, ...]: ...


@lru_cache(maxsize=8)
def template(name: str) -> Template:
    """Return a template of the folder `prompts`."""
    environment = BoundedEnvironment(
        loader=FileSystemLoader(data_folder("prompts")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        autoescape=False,
    )
    return environment.get_template(name)


def step_of(book: Worldbook, session: _Asking, action: Action) -> Step:
    """Return an action of a session as a worldbook sees it."""
    return book.step(action.raw, session.seen.first, [(done.raw, shown) for done, shown in session.seen.turns])


@dataclass(frozen=True)
class BookPages:
    """Writes the page that fits an action, as text for the end of a request.

    A `LanguageWorld` calls it with a session and an action; the text never enters the history. Examples of sessions
    that share an origin with the episode are never shown, nor kinds of answers that have no other ones. How often what
    was answered, and the schemas, are those of all sessions of the book.

    Args:
        book: The book.
        prompts: The prompts whose form the expected answer and the recorded step are written in.
    """

    book: Worldbook
    prompts: Prompts

    def __call__(self, session: _Asking, action: Action) -> str:
        """Write what a request shows beside its turn; empty where the book does not know the action."""
        step = step_of(self.book, session, action)
        page = self.book.actions.get(step.name)
        if page is None:
            return ""
        barred = self.book.barred(session.origins)
        kinds = page.kinds(barred)
        shown = sorted(kinds, key=lambda kind: (kind.when is None or not kind.when.holds(step), -kind.count))[:KINDS]
        expected = page.expected(step, barred)
        if expected is not None:
            expected = self.prompts.answer(None, session.seen.screen, expected, action.raw)
        return render(
            template(TEMPLATES[self.prompts.profile]),
            action=escape(action.raw),
            name=escape(step.name),
            page=page,
            parameters=escape(parameters_of(page.arguments)),
            kinds=[_shown(kind) for kind in shown],
            example=self._nearest(kinds, step),
            expected=None if expected is None else escape(expected),
            ticks=ticks(expected or ""),
        )

    @cached_property
    def digest(self) -> str:
        """The digest of all that decides what is shown: the book, the template, and how answers are written."""
        source = (data_folder("prompts") / TEMPLATES[self.prompts.profile]).read_text(encoding="utf-8")
        return digest_of({"book": self.book.digest, "template": source, "prompts": self.prompts.digest})

    def _nearest(self, kinds: Sequence[AnswerKind], step: Step) -> dict[str, str] | None:
        """Return the example whose action and state share most words with those of a step."""
        examples = [example for kind in kinds for example in kind.examples]
        if not examples:
            return None
        words = _words(f"{step.action}\n{step.before}")

        def likeness(example: BookExample) -> float:
            theirs = _words(f"{example.action}\n{example.before}")
            return len(words & theirs) / max(1, len(words | theirs))

        best = max(examples, key=likeness)
        answer = self.prompts.answer(None, best.before, best.answer, best.action)[:CHARS]
        action = best.action[:CHARS]
        return {"action": escape(action), "answer": escape(answer), "ticks": ticks(f"{action}\n{answer}")}


def open_pages(path: Path | str, prompts: Prompts) -> BookPages:
    """Open the worldbook that the option `worldbook` asks for.

    Raises:
        MissingFile: There is no such file.
        SpecError: It is no worldbook, or one of another domain or dialect than that of the prompts.
    """
    book = read_worldbook(path)
    must_be_of(book, prompts.spec, path)
    return BookPages(book, prompts)


def must_be_of(book: Worldbook, spec: DomainSpec, path: Path | str = "worldbook") -> None:
    """Refuse a book of another domain or dialect than that of a spec.

    Raises:
        SpecError: It is one.
    """
    for key, found, wanted in (("domain", book.domain, spec.id), ("dialect", book.dialect, spec.dialect)):
        if found != (wanted or ""):
            raise SpecError(path, key, found, f"{wanted or 'none'}, the {key} of the world")


def _shown(kind: AnswerKind) -> dict[str, Any]:
    answer = kind.answer[:CHARS]
    return {
        "error": kind.error,
        "count": kind.count,
        "when": None if kind.when is None else escape(str(kind.when)),
        "answer": escape(answer),
        "ticks": ticks(answer),
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))

"""The initial state of a web, and what it knows that the agent is never shown, as a task gives them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.domains.search.engine.pages import WebPage, address_of


def _as_text(value: Any) -> Any:
    """Return a date or number that YAML has converted as it was written."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return f"{value}" if isinstance(value, int | float) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_as_text)]


class StatedPage(Strict):
    """A page that the state gives."""

    url: str
    """The address of the page."""
    title: str = Field(min_length=1)
    """The title of the page."""
    date: Text | None = None
    """A day in ISO form, if the page has a date."""
    content: str
    """The text of the page in markdown."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if address_of(url) is None or any(character.isspace() for character in url):
            raise ValueError("an address such as https://site.example/path")
        return url

    def page(self) -> WebPage:
        """Return the page as the engine serves it."""
        title = " ".join(self.title.split())
        body = self.content.strip() + "\n"
        return WebPage(self.url, title, self.date, "", body if body.startswith("# ") else f"# {title}\n\n{body}")


class SearchState(Strict):
    """The initial state of a web, as a task's `state` gives it.

    >>> state = SearchState.of({"pages": [{"url": "https://a.example/x", "title": "X", "content": "text"}]})
    >>> state.pages[0].page().body
    '# X\\n\\ntext\\n'
    """

    theme: str | None = None
    """The name of a theme, or the path of its folder; without a theme only `pages` make up the web."""
    seed: int = 0
    """The seed of the theme's world."""
    now: Text | None = None
    """The day of the episode, for language worlds."""
    note: str | None = None
    """A description of the web, for language worlds."""
    pages: tuple[StatedPage, ...] = ()
    """Pages that replace those of the same address and are added to the others."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> SearchState:
        """Validate a state that was read from a task.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        return validated(cls, dict(state), "task state")

    @field_validator("pages")
    @classmethod
    def _differ(cls, pages: tuple[StatedPage, ...]) -> tuple[StatedPage, ...]:
        addresses = [address_of(page.url) for page in pages]
        if len(set(addresses)) < len(addresses):
            raise ValueError("pages with an address of their own each")
        return pages


class Hidden(BaseModel):
    """What no result of a search may reveal; other keys are for language worlds.

    >>> Hidden.of({"answer": "Tornsay | 1868; Corrie Ness | 1871"}).secrets
    (('Tornsay', '1868'), ('Corrie Ness', '1871'))
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    question: Text = ""
    """The question of the task."""
    answer: Text | tuple[Text | tuple[Text, ...], ...] = ()
    """The answer: one text or number; a list, whose parts must not stand together in one result; or rows, none of
    which may. A text with semicolons or lines is a list, and one with bars between cells is rows."""
    unspoken: tuple[Text, ...] = ()
    """Further texts that stand in no result."""
    wrong: tuple[Text, ...] = ()
    """Believable wrong answers for sites that mislead."""

    @classmethod
    def of(cls, hidden: Mapping[str, Any]) -> Hidden:
        """Validate what a task hides.

        Raises:
            SpecError: a value is wrong; the error names the key, its value and what was expected.
        """
        return validated(cls, dict(hidden), "task hidden")

    @property
    def secrets(self) -> tuple[tuple[str, ...], ...]:
        """Groups of texts; the texts of one group must not stand together in one result."""
        return tuple(group for group in (*self._groups(), *((text,) for text in self.unspoken)) if any(group))

    def _groups(self) -> list[tuple[str, ...]]:
        if isinstance(self.answer, str):
            parts = [part.strip() for part in self.answer.replace("\n", ";").split(";") if part.strip()]
            if not any("|" in part for part in parts):
                return [tuple(parts)]
            return [tuple(cell.strip() for cell in part.strip("|").split("|")) for part in parts]
        flat = tuple(part for part in self.answer if isinstance(part, str))
        return [flat, *(part for part in self.answer if not isinstance(part, str))]

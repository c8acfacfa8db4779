"""A reader of the fictional web: it takes a question apart, finds pages by the tools, and knows what they say.

A program cannot read. What stands on the pages is taken from the tables of the world that they were written from. Which
world that is, the reader learns from a page that it opened; what is asked, from the words of the instruction.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentworld_gym.domains.search.engine.fictional_world import FictionalWorld
from agentworld_gym.domains.search.engine.theme import QuestionPattern, Theme, load_theme, theme_names
from agentworld_gym.domains.search.tasks.questions import WORLDS, world_of_split

Reading = Generator[str, str, "Found"]
"""Yields actions, is sent what they show, and returns what was found."""


@dataclass(frozen=True)
class Found:
    """What a question asks for, and what the pages say."""

    rows: list[tuple[Any, ...]]
    """The answer as rows of cells."""
    form: str
    """`text`, `number`, `items` or `rows`."""
    subject: str
    """The name of the thing that the question is about."""
    key: str
    """The key of the note."""
    wants_subject: bool
    """Whether the name of the thing is to be noted, instead of the answer."""


@dataclass(frozen=True)
class Asked:
    """A question that was understood: its pattern, and the words for the things in it."""

    theme: str
    question: QuestionPattern
    subject: str
    other: str


def call(name: str, **arguments: Any) -> str:
    """Return a tool call."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def understood(instruction: str) -> Iterator[Asked]:
    """Yield what an instruction may ask, by the wordings of the themes."""
    for theme in theme_names():
        for question in load_theme(theme).questions:
            for ask in question.ask:
                if match := _wording(ask).match(instruction):
                    groups = match.groupdict()
                    yield Asked(theme, question, groups["subject"], groups.get("other") or "")


@lru_cache(maxsize=1024)
def _wording(ask: str) -> re.Pattern[str]:
    """Return a pattern of a wording, with the things as groups."""
    text = ask[:1].upper() + ask[1:] if not ask.startswith("{") else ask
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        again, _ = name in seen, seen.add(name)
        return f"(?P={name})" if again else f"(?P<{name}>.+?)"

    parts = re.split(r"\{(\w+)\}", text)
    pieces = [re.escape(part) if place % 2 == 0 else "{" + part + "}" for place, part in enumerate(parts)]
    pattern = re.sub(r"\{(\w+)\}", group, "".join(pieces))
    return re.compile("(?i:" + pattern[:1] + ")" + pattern[1:] if pattern[:1].isalpha() else pattern)


def world_of(theme: str, page: str) -> FictionalWorld:
    """Return the world that a page, as it was shown, comes from.

    Raises:
        ValueError: No world of the theme has such a page.
    """
    for split, count in WORLDS.items():
        for index in range(count):
            world = world_of_split(theme, split, index)
            if any(one.body.strip() and one.body.strip() in page for one in world.pages):
                return world
    raise ValueError(f"no world of {theme} has the page {page[:80]!r}")


def addresses(results: str) -> list[str]:
    """Return the addresses in the results of a search, the best first."""
    return re.findall(r"^\[\d+\] (\S+)$", results, re.MULTILINE)


def answered(instruction: str, world: FictionalWorld, asked: Asked) -> Found | None:
    """Return the answer to a question in a world; None where the world knows nothing of its things."""
    theme = world.recipe
    question = asked.question
    connection = world.connect()
    try:
        for row in _meant(connection, theme, question.about, asked.subject):
            others = [0]
            if question.other:
                others = (
                    list(_meant(connection, theme, question.other, asked.other))
                    if asked.other
                    else _all(connection, question.other)
                )
            for other in others:
                bound = {"id": row, "other": other}
                if question.values and not _fits(connection, question, bound, instruction):
                    continue
                rows = connection.execute(question.answer, bound).fetchall()
                if rows and all(cell is not None for one in rows for cell in one):
                    label = theme.tables[question.about].label
                    name = connection.execute(f'SELECT "{label}" FROM "{question.about}" WHERE id = ?', [row])
                    key = re.search(r"under the key (\w+)", instruction)
                    assert key is not None
                    subject = str(name.fetchone()[0])
                    which = "name of that" in instruction or re.search(r"Note which \w", instruction) is not None
                    return Found(rows, question.form, subject, key[1], which)
    except sqlite3.Error:
        return None
    finally:
        connection.close()
    return None


def _fits(connection: sqlite3.Connection, question: QuestionPattern, bound: dict[str, int], instruction: str) -> bool:
    """Whether the further values that the wording of a question shows stand in the instruction."""
    assert question.values is not None
    cursor = connection.execute(question.values, bound)
    row = cursor.fetchone()
    if row is None or None in row:
        return False
    values = {column[0]: str(cell) for column, cell in zip(cursor.description, row, strict=True)}
    return all(value in instruction for name, value in values.items() if "{" + name + "}" in question.ask[0])


def _all(connection: sqlite3.Connection, table: str) -> list[int]:
    return [row[0] for row in connection.execute(f'SELECT id FROM "{table}"')]


def _meant(connection: sqlite3.Connection, theme: Theme, table: str, words: str) -> list[int]:
    """Return the rows of a table that some words mean: by their names, or by way of other things."""
    called, label = theme.tables[table].called, theme.tables[table].label
    rows = connection.execute(f'SELECT id, "{label}" FROM "{table}"').fetchall()
    found = [row for row, name in rows if called.replace("{}", str(name)).casefold() == words.casefold()]
    for route in theme.routes:
        if theme.target(route) != table:
            continue
        before, _, after = route.phrase.partition("{}")
        if words.startswith(before) and words.endswith(after):
            inner = words[len(before) : len(words) - len(after)]
            for start in _meant(connection, theme, route.start, inner):
                found += [
                    row[0]
                    for row in connection.execute(f'SELECT "{route.by}" FROM "{route.start}" WHERE id = ?', [start])
                    if row[0] is not None
                ]
    return found

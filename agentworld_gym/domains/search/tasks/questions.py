"""Questions about a fictional world: SQL gives the answer first, then the pages are found that lead to it."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Expect, Split, split_seed
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.fictional_world import FictionalWorld, WebPage, build_world
from agentworld_gym.domains.search.engine.state import Hidden
from agentworld_gym.domains.search.engine.theme import (
    QuestionPattern,
    ReferenceRoute,
    Theme,
    ThemeTable,
    load_theme,
    theme_names,
)

WORLDS: Mapping[Split, int] = {"train": 8, "validation": 4, "test": 4}
"""How many worlds of each theme every split has; no world is in two splits."""

WRONG_MIN = 5
"""How many wrong answers a question needs at least."""

_TRIES = 400

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """One page on the way to an answer, and a query that finds it."""

    query: str
    page: WebPage


@dataclass(frozen=True, slots=True)
class ProvedQuestion:
    """A question with all that proves its answer."""

    world: FictionalWorld
    form: str
    text: str
    sql: str
    """The query that gives the answer on the database of the world."""
    key: str
    answer: str
    expect: Expect
    """The test of an answer."""
    wrong: tuple[str, ...]
    """Answers that are right for other things of the same kind, or close to the right one."""
    thing: tuple[str, str]
    """The table and the row of the thing that the question is about."""
    subject: str
    """The name of that thing."""
    noun: str
    """The kind of that thing."""
    others: tuple[str, ...]
    """The names of other things of that kind."""
    hops: int
    """How many of the stops lead to that thing."""
    stops: tuple[Stop, ...]
    """The pages that lead to the answer, in their order."""
    together: bool
    """Whether the stops after the hops can be searched for at once."""


@dataclass(frozen=True, slots=True)
class _Hop:
    """One step by a route, from a row to the one it refers to."""

    route: ReferenceRoute
    row: int
    name: str


def ask(rng: random.Random, split: Split, family: str, hops: int) -> ProvedQuestion:
    """Draw a question of a family about a thing that is described by way of `hops` others, in a random world of the
    split.

    Raises:
        SpecError: no theme has such a question, or nothing in the worlds fits it.
    """
    choices = _askable(family, hops)
    if not choices:
        raise SpecError("search themes", "questions", family, f"a question of this family, over {hops} hops")
    for _ in range(_TRIES):
        source = rng.choice(sorted(choices))
        world = world_of_split(source, split, rng.randrange(WORLDS[split]))
        question = rng.choice(choices[source])
        if (asked := pose(rng, world, question, hops)) is not None:
            return asked
    raise SpecError("search themes", "questions", family, f"questions that fit the worlds, over {hops} hops")


def ask_in(rng: random.Random, world: FictionalWorld, theme: str, family: str, hops: int) -> ProvedQuestion | None:
    """Draw a question of a family in a given world of a theme; return None if none fits, in a few tries."""
    questions = _askable(family, hops).get(theme, ())
    for _ in range(_TRIES if questions else 0):
        if (asked := pose(rng, world, rng.choice(questions), hops)) is not None:
            return asked
    return None


def world_of_split(theme: str, split: Split, number: int) -> FictionalWorld:
    """Return a world of a theme by its number in a split; in each split things bear names of their own.

    >>> world_of_split("harbours", "train", 0).theme, world_of_split("harbours", "test", 0).theme
    ('harbours', 'harbours+test')
    """
    return build_world(theme if split == "train" else f"{theme}+{split}", split_seed(split, number))


def pose(rng: random.Random, world: FictionalWorld, question: QuestionPattern, hops: int) -> ProvedQuestion | None:
    """Draw one question of a pattern about a random thing; return None if the pattern does not fit that thing.

    Raises:
        SpecError: the pattern is broken: its SQL is wrong, or a text names a value that there is not.
    """
    connection = world.connect()
    try:
        return _Maker(world, connection, rng, question).make(hops)
    except (sqlite3.Error, KeyError, IndexError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        expected = f"SQL that runs, and texts over known values ({type(error).__name__}: {error})"
        raise SpecError(
            world.recipe.path / "theme.yaml", f"questions ({question.key})", question.ask[0], expected
        ) from error
    finally:
        connection.close()


class _Maker:
    """A maker of one question of a pattern; its methods return None if something does not fit."""

    def __init__(
        self, world: FictionalWorld, connection: sqlite3.Connection, rng: random.Random, question: QuestionPattern
    ) -> None:
        self.world, self.connection, self.rng, self.question = world, connection, rng, question
        self.theme: Theme = world.recipe
        self.table: ThemeTable = self.theme.tables[question.about]
        self.pages = _pages(world.theme, world.seed)

    def make(self, hops: int) -> ProvedQuestion | None:
        question = self.question
        other = question.other or question.about
        bound = {"id": self._any(question.about), "other": self._any(other)}
        if other == question.about and bound["id"] == bound["other"]:
            return None
        subject = self._name(question.about, bound["id"])
        path = self._path(hops, question.about, bound["id"])
        values = self._values(bound)
        result = self.connection.execute(question.answer, bound).fetchall()
        if path is None or values is None or not _tells(result):
            return None
        answer, expect = _answer(question, result)
        described = self._described(path, question.about, subject)
        values |= {"subject": described, "other": self._called(other, self._name(other, bound["other"]))}
        text = self.rng.choice(question.ask).format_map(values)
        text = text[:1].upper() + text[1:]
        stops = self._stops(path, bound, {**values, "subject": subject})
        guard = LeakDetector(Hidden(answer=answer).secrets)
        if stops is None or self._gives_away(guard, answer, text, stops) or self._skips(guard, path, subject):
            return None
        wrong = self._wrong(bound, result, expect)
        if len(wrong) < WRONG_MIN:
            return None
        return ProvedQuestion(
            world=self.world,
            form=question.form,
            text=text,
            sql=re.sub(r":(id|other)\b", lambda match: str(bound[match[1]]), question.answer),
            key=question.key,
            answer=answer,
            expect=expect,
            wrong=wrong,
            thing=(question.about, str(bound["id"])),
            subject=subject,
            noun=self.table.one,
            others=tuple(name for name in self._names() if name != subject),
            hops=hops,
            stops=stops,
            together=question.other == question.about,
        )

    def _path(self, hops: int, table: str, row: int) -> list[_Hop] | None:
        """Draw hops that lead to a row from a thing with a name of its own; return None if there are none."""
        path: list[_Hop] = []
        for _ in range(hops):
            routes = [route for route in self.theme.routes if self.theme.target(route) == table]
            if not routes:
                return None
            route = self.rng.choice(routes)
            starts = self.connection.execute(f'SELECT id FROM "{route.start}" WHERE "{route.by}" = ?', [row]).fetchall()
            if not starts:
                return None
            table, row = route.start, self.rng.choice(starts)[0]
            path.append(_Hop(route, row, self._name(table, row)))
        return path[::-1]

    def _described(self, path: Sequence[_Hop], table: str, name: str) -> str:
        if not path:
            return self._called(table, name)
        text = self._called(path[0].route.start, path[0].name)
        for hop in path:
            text = hop.route.phrase.replace("{}", text)
        return text

    def _stops(
        self, path: Sequence[_Hop], bound: Mapping[str, int], values: Mapping[str, Any]
    ) -> tuple[Stop, ...] | None:
        keys = [(hop.route.search.replace("{}", hop.name), hop.route.page, hop.row) for hop in path]
        for step in self.question.steps:
            keys.append((step.search.format_map(values), step.page, self._one(f"SELECT {step.row}", bound)))
        stops = []
        for query, recipe, row in keys:
            page = self.pages.get(f"{recipe}/{row}" if self.theme.pages[recipe].of else recipe)
            if page is None:
                return None
            stops.append(Stop(query, page))
        # A page that comes twice would make a step that shows nothing more.
        return tuple(stops) if len({stop.page.url for stop in stops}) == len(stops) else None

    def _values(self, bound: Mapping[str, int]) -> dict[str, Any] | None:
        if self.question.values is None:
            return {}
        cursor = self.connection.execute(self.question.values, bound)
        row = cursor.fetchone()
        if row is None or None in row:
            return None
        return dict(zip([column[0] for column in cursor.description], row, strict=True))

    def _gives_away(self, guard: LeakDetector, answer: str, text: str, stops: Sequence[Stop]) -> bool:
        """Tell whether the answer stands in the question, or in a title or address that a search has to show."""
        if self.question.form == "text" and answer.casefold() in _titles(self.world.theme, self.world.seed):
            return True
        return guard.leaks(text) or any(guard.leaks(f"{stop.page.title}\n{stop.page.url}") for stop in stops)

    def _skips(self, guard: LeakDetector, path: Sequence[_Hop], subject: str) -> bool:
        """Tell whether some page leads past a thing on the way, so that fewer pages would be enough."""
        names = [*(hop.name for hop in path), subject]
        for first, third in zip(names, names[2:], strict=False):
            if any(first in page.body and third in page.body for page in self.world.pages):
                return True
        return bool(path) and any(path[-1].name in page.body and guard.leaks(page.body) for page in self.world.pages)

    def _wrong(self, bound: Mapping[str, int], right: Sequence[Any], expect: Expect) -> tuple[str, ...]:
        """Return answers to the same question about other things, in random order, and values close to the right
        one."""
        results = []
        for changed in self._elsewhere(bound):
            result = self.connection.execute(self.question.answer, changed).fetchall()
            if _tells(result):
                results.append(result)
        answers = [_answer(self.question, result)[0] for result in results]
        if self.question.form == "number":
            answers += [_text(value) for value in _near(right[0][0], self.rng)]
        elif self.question.form in ("items", "rows") and len(right) > 1 and len(results) > 1:
            # Some lists resemble the right one and some another one, so that resemblance does not tell the right one.
            pool = [row for result in results[1:] for row in result]
            lists = [results[0], *_alike(right, pool, self.rng), *_alike(results[0], pool, self.rng)]
            answers[:1] = [_answer(self.question, lists[n])[0] for n in (1, 0, 2, 3, 4)]
        return tuple(dict.fromkeys(answer for answer in answers if not expect.holds(answer)))

    def _elsewhere(self, bound: Mapping[str, int]) -> list[Mapping[str, int]]:
        """Return the values of the same question about all other things, in random order."""
        names = {"id": self.question.about} | ({"other": self.question.other} if self.question.other else {})
        variants: list[Mapping[str, int]] = []
        for name, table in names.items():
            rows = self.connection.execute(f'SELECT id FROM "{table}" WHERE id <> ?', [bound[name]]).fetchall()
            variants += [{**bound, name: row} for (row,) in rows]
        self.rng.shuffle(variants)
        return variants

    def _any(self, table: str) -> int:
        return self.rng.randint(1, self._one(f'SELECT COUNT(*) FROM "{table}"', {}))

    def _names(self) -> list[str]:
        rows = self.connection.execute(f'SELECT "{self.table.label}" FROM "{self.question.about}"').fetchall()
        self.rng.shuffle(rows)
        return [str(row[0]) for row in rows]

    def _name(self, table: str, row: int) -> str:
        label = self.theme.tables[table].label
        return str(self._one(f'SELECT "{label}" FROM "{table}" WHERE id = :id', {"id": row}))

    def _called(self, table: str, name: str) -> str:
        return self.theme.tables[table].called.replace("{}", name)

    def _one(self, sql: str, bound: Mapping[str, int]) -> Any:
        row = self.connection.execute(sql, bound).fetchone()
        return None if row is None else row[0]


@lru_cache(maxsize=64)
def _askable(family: str, hops: int) -> Mapping[str, Sequence[QuestionPattern]]:
    """Return the questions of a family about things that so many hops can lead to, by theme."""
    questions_of = {}
    for name in theme_names():
        theme = load_theme(name)
        reached = set(theme.tables)
        for _ in range(hops):
            reached = {theme.target(route) for route in theme.routes if route.start in reached}
        questions = [
            question for question in theme.questions if question.family == family and question.about in reached
        ]
        if questions:
            questions_of[name] = questions
    return MappingProxyType(questions_of)


@lru_cache(maxsize=64)
def _pages(theme: str, seed: int) -> Mapping[str, WebPage]:
    return {page.key: page for page in build_world(theme, seed).pages}


@lru_cache(maxsize=64)
def _titles(theme: str, seed: int) -> str:
    """Return all titles and addresses of a world as one text."""
    return "\n".join(f"{page.title}\n{page.url}" for page in build_world(theme, seed).pages).casefold()


def _tells(result: Sequence[Sequence[Any]]) -> bool:
    """Tell whether a result can be an answer: it has a row, no cell is empty, and it is more than one digit."""
    cells = [cell for row in result for cell in row]
    return bool(cells) and None not in cells and (len(cells) > 1 or len(_text(cells[0])) > 1)


def _answer(question: QuestionPattern, result: Sequence[Sequence[Any]]) -> tuple[str, Expect]:
    """Return a result as the text that an agent finishes with, and the test of such a text."""
    rows = [tuple(_text(cell) for cell in row) for row in result]
    match question.form:
        case "number":
            return rows[0][0], Expect(number=result[0][0], tolerance=question.tolerance)
        case "items":
            items = tuple(row[0] for row in rows)
            return "; ".join(items), Expect(items=items)
        case "rows":
            return "; ".join(" | ".join(row) for row in rows), Expect(rows=tuple(rows))
    return rows[0][0], Expect(items=(rows[0][0],))


def _alike(rows: Sequence[Row], pool: Sequence[Row], rng: random.Random) -> list[list[Row]]:
    """Return two lists that form a chain of small changes with a given list, which stands at any place in it."""
    if rng.random() < 1 / 3:
        return [_altered(rows, pool, rng), _altered(rows, pool, rng)]
    once = _altered(rows, pool, rng)
    both = [once, _altered(once, [row for row in pool if row not in rows], rng)]
    rng.shuffle(both)
    return both


def _altered(rows: Sequence[Row], pool: Sequence[Row], rng: random.Random) -> list[Row]:
    """Return a list with one row removed, added or exchanged; a row replaces the row with the same first cell."""
    keys = [row[0] for row in rows]
    # Rows of certain years are exchanged for rows of the same years.
    twins = [row for row in pool if row[0] in keys and row not in rows]
    strange = [row for row in pool if row[0] not in keys]
    if twins:
        new = rng.choice(twins)
        return [new if row[0] == new[0] else row for row in rows]
    kept = list(rows)
    if not strange or (len(rows) > 2 and rng.random() < 0.5):
        del kept[rng.randrange(len(kept))]
    else:
        kept.append(rng.choice(strange))
    return sorted(kept) if list(rows) == sorted(rows) else kept


def _near(number: float, rng: random.Random) -> list[float]:
    """Return numbers that look like the right one."""
    step = 1 if isinstance(number, int) else 0.1
    spread = max(3, int(abs(number) * 0.12 / step))
    near = {round(number + step * rng.choice((-1, 1)) * rng.randint(1, spread), 6) for _ in range(12)}
    return sorted(value for value in near if value > 0)


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)

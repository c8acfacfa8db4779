"""Drills: short made-up sessions that a model can only answer by looking up what it was told.

A model from scratch learns late to copy from its prompt, and only the words that it has seen copied. Drills ask for
nothing else: tables and questions for their rows, files and pages and questions for their lines, numbered lines that
change and are asked for again. Names and values are drawn from words of the sessions and from letters and digits at
random, so that any word can be copied, and each answer is short, so that there are many.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from agentworld_gym.contracts import Message
from agentworld_gym.recipe.samples import Sample

DOMAIN = "drill"
QUESTIONS = 8
"""Questions of a drill at most."""

LEARNT = 2000
"""Samples whose words drills are made of."""

_WORD = re.compile(r"[A-Za-z]{3,}(?:_[A-Za-z]+)*")

_RARE = 0.15
"""Share of the words that are random letters."""


def drill_samples(words: Sequence[str], seed: int, count: int) -> Iterator[Sample]:
    """Drills by number; equal arguments give equal ones.

    Args:
        words: from which names and values are drawn.
        seed: of all draws.
        count: how many.

    >>> [sample] = drill_samples(["red", "green", "blue"], 0, 1)
    >>> sample.messages[0]["role"], sample.domain, set(sample.weights)
    ('system', 'drill', {1.0})
    """
    for number in range(count):
        rng = random.Random(f"{seed}/drill/{number}")
        kind = rng.choice(sorted(_DRILLS))
        system, turns = _DRILLS[kind](_Words(words, rng), rng)
        messages = [Message(role="system", content=system)]
        for asked, answer in turns:
            messages += [Message(role="user", content=asked), Message(role="assistant", content=answer)]
        name = f"drill-{seed}-{number}"
        yield Sample(id=name, domain=DOMAIN, messages=tuple(messages), weights=(1.0,) * len(turns), group=name)


def with_drills(samples: Iterable[Sample], seed: int, count: int) -> Iterator[Sample]:
    """Samples, and behind them drills in words of the first of them.

    >>> list(with_drills([], 0, 5))
    []
    """
    words: set[str] = set()
    for number, sample in enumerate(samples):
        if count and number < LEARNT:
            words |= {word for message in sample.messages for word in _WORD.findall(message["content"])}
        yield sample
    if words:
        yield from drill_samples(sorted(words), seed, count)


class _Words:
    """Names and values at random."""

    def __init__(self, words: Sequence[str], rng: random.Random) -> None:
        self._words, self._rng = words, rng

    def word(self) -> str:
        if self._rng.random() < _RARE:
            return "".join(self._rng.choices(string.ascii_lowercase, k=self._rng.randint(2, 7)))
        return self._rng.choice(self._words)

    def value(self) -> str:
        """A word, some words, or a number."""
        chance = self._rng.random()
        if chance < 0.3:
            return str(self._rng.randrange(10 ** self._rng.randint(1, 5)))
        return " ".join(self.word() for _ in range(1 if chance < 0.6 else self._rng.randint(2, 5)))

    def names(self, count: int) -> list[str]:
        """Different words."""
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.word() + ("" if self._rng.random() < 0.7 else str(self._rng.randrange(100)))] = None
        return list(found)


_Drill = Callable[[_Words, random.Random], tuple[str, list[tuple[str, str]]]]


def _table(words: _Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Rows, asked for by their first cell or by another one."""
    columns = words.names(rng.randint(2, 5))
    rows = [[name, *(words.value() for _ in columns[1:])] for name in words.names(rng.randint(3, 16))]
    lines = [f"# {words.word()} {'|'.join(columns)}", *("|".join(row) for row in rows)]
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        row = rng.choice(rows)
        if rng.random() < 0.6:
            told = ", ".join(f'"{name}": "{cell}"' for name, cell in zip(columns, row, strict=True))
            turns.append((f'> {{"name": "get", "arguments": {{"{columns[0]}": "{row[0]}"}}}}', f"{{{told}}}"))
        else:
            place = rng.randrange(1, len(columns))
            turns.append((f'> {{"name": "{columns[place]}", "arguments": {{"of": "{row[0]}"}}}}', row[place]))
    return "\n".join(lines), turns


def _records(words: _Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Rows as JSON, asked for one by one, or all that have a value, whole or some of their keys."""
    columns = words.names(rng.randint(2, 6))
    kinds = [words.value() for _ in range(rng.randint(2, 4))]
    begun, step = rng.randrange(1000), rng.randint(1, 3)
    rows = [
        {
            columns[0]: begun + step * number,
            **{name: words.value() for name in columns[1:-1]},
            columns[-1]: rng.choice(kinds),
        }
        for number in range(rng.randint(3, 14))
    ]
    table = words.word()
    lines = [f"# {table}", *map(_json, rows)]
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        row = rng.choice(rows)
        if rng.random() < 0.6:
            key = rng.choice([name for name in columns if sum(row[name] == other[name] for other in rows) == 1])
            turns.append((f"> {_json({'name': 'get', 'arguments': {key: row[key]}})}", _json(row)))
        else:
            shown = [name for name in columns if name == columns[0] or rng.random() < 0.8]
            found = [{name: other[name] for name in shown} for other in rows if other[columns[-1]] == row[columns[-1]]]
            asked = {"name": "list", "arguments": {columns[-1]: row[columns[-1]], "keys": shown}}
            turns.append((f"> {_json(asked)}", _json({table: found, "count": len(found)})))
    return "\n".join(lines), turns


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pages(words: _Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Pages behind their addresses, which begin alike."""
    sites = [f"https://{name.lower()}.example/{words.word().lower()}" for name in words.names(rng.randint(1, 3))]
    pages = {
        f"{rng.choice(sites)}/{name.lower()}": "\n".join(words.value() for _ in range(rng.randint(1, 6)))
        for name in words.names(rng.randint(3, 8))
    }
    system = "\n".join(f"= {address}\n{content}\n\\" for address, content in pages.items())
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        address, content = rng.choice(list(pages.items()))
        turns.append((f"> {_json({'name': 'web_extractor', 'arguments': {'url': address}})}", content))
    return system, turns


def _files(words: _Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Files, whole or without some of their lines."""
    names = [f"{name}.{rng.choice(('txt', 'md', 'csv', 'py'))}" for name in words.names(rng.randint(2, 5))]
    files = {name: [words.value() for _ in range(rng.randint(1, 6))] for name in names}
    system = "\n".join(f"= {name}\n" + "\n".join(lines) for name, lines in files.items())
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        name = rng.choice(names)
        lines = files[name]
        count = rng.randint(1, 3)
        asked, shown = rng.choice(
            [
                (f"cat {name}", lines),
                (f"head -n {count} {name}", lines[:count]),
                (f"tail -n {count} {name}", lines[-count:]),
            ]
        )
        turns.append((asked, "\n".join([asked, *shown])))
    return system, turns


def _numbered(words: _Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Numbered lines that change, and what they hold after that."""
    lines = [words.value() for _ in range(rng.randint(4, 24))]
    system = "\n".join(f"{number}| {line}" for number, line in enumerate(lines))
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        place = rng.randrange(len(lines))
        if rng.random() < 0.35:
            lines[place] = words.value()
            turns.append((f"> write {place} {lines[place]}", f"@@ change\n{place}| {lines[place]}"))
        elif rng.random() < 0.7:
            turns.append((f"> read {place}", lines[place]))
        else:
            last = min(len(lines), place + rng.randint(2, 5))
            turns.append((f"> read {place}..{last - 1}", "\n".join(f"{n}| {lines[n]}" for n in range(place, last))))
    return system, turns


_DRILLS: Mapping[str, _Drill] = {
    "table": _table,
    "records": _records,
    "files": _files,
    "pages": _pages,
    "numbered": _numbered,
}

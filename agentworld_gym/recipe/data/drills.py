"""Drills: short made-up sessions that a model can only answer by looking up what it was told.

A model from scratch learns late to copy from its prompt, and only the words that it has seen copied. Drills ask for
nothing else: tables and questions for their rows, files and pages and questions for their lines, numbered lines that
change and are asked for again. Answers refer to what they repeat where a domain's own answers do. Names and values are
drawn from words of the sessions and from letters and digits at random, so that any word can be copied, and each answer
is short, so that there are many. A share of the drills is as long as real prompts, see
`agentworld_gym.recipe.data.table_drills`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.contracts import Message
from agentworld_gym.prompting.references import TableRows, TextBlocks
from agentworld_gym.recipe.data.drill_words import Words
from agentworld_gym.recipe.data.prompt_tables import prompt_rows
from agentworld_gym.recipe.data.table_drills import table_drill
from agentworld_gym.sessions.samples import Sample
from agentworld_gym.text.numbered_lines import numbered

DOMAIN = "drill"
QUESTIONS = 8
"""The most questions of a drill."""

LEARNT = 2000
"""The number of samples whose words drills are made of."""

_WORD = re.compile(r"[A-Za-z]{3,}(?:_[A-Za-z]+)*")


def drill_samples(
    words: Sequence[str], seed: int, count: int, table_drills: float = 0.0, prompts: Sequence[str] = ()
) -> Iterator[Sample]:
    """Yield drills by number; equal arguments give equal drills.

    Args:
        words: The words that names and values are drawn from.
        seed: The seed of all draws.
        count: The number of drills.
        table_drills: The share of them that call tools on the tables of prompts, where there are some.
        prompts: System messages that show tables.

    >>> [sample] = drill_samples(["red", "green", "blue"], 0, 1)
    >>> sample.messages[0]["role"], sample.domain, set(sample.weights)
    ('system', 'drill', {1.0})
    """
    for number in range(count):
        rng = random.Random(f"{seed}/drill/{number}")
        kind, drawn = rng.choice(sorted(_DRILLS)), Words(words, rng)
        # Drawn apart, so that the other drills are the same whatever the share is.
        apart = random.Random(f"{seed}/table/{number}")
        if prompts and apart.random() < table_drills:
            system, turns = table_drill(apart.choice(prompts), drawn, rng)
        else:
            system, turns = _DRILLS[kind](drawn, rng)
        messages = [Message(role="system", content=system)]
        for asked, answer in turns:
            messages += [Message(role="user", content=asked), Message(role="assistant", content=answer)]
        name = f"drill-{seed}-{number}"
        yield Sample(id=name, domain=DOMAIN, messages=tuple(messages), weights=(1.0,) * len(turns), group=name)


def with_drills(samples: Iterable[Sample], seed: int, count: int, table_drills: float = 0.0) -> Iterator[Sample]:
    """Yield samples, and after them drills in words, and a share of them on tables, of the first samples.

    >>> list(with_drills([], 0, 5))
    []
    """
    words: set[str] = set()
    prompts: dict[str, None] = {}
    for number, sample in enumerate(samples):
        if count and number < LEARNT:
            words |= {word for message in sample.messages for word in _WORD.findall(message["content"])}
            system = sample.messages[0]["content"]
            if table_drills and prompt_rows(system):
                prompts[system] = None
        yield sample
    if words:
        yield from drill_samples(sorted(words), seed, count, table_drills, list(prompts))


_Drill = Callable[[Words, random.Random], tuple[str, list[tuple[str, str]]]]


def _table(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """A table of rows, asked for by their first cell or by another one."""
    columns = words.names(rng.randint(2, 5))
    rows = [[name, *(words.value() for _ in columns[1:])] for name in words.names(rng.randint(3, 16))]
    lines = [f"# {words.word()} {'|'.join(columns)}", *("|".join(row) for row in rows)]
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        row = rng.choice(rows)
        if rng.random() < 0.6:
            cells = ", ".join(f'"{name}": "{cell}"' for name, cell in zip(columns, row, strict=True))
            turns.append((f'> {{"name": "get", "arguments": {{"{columns[0]}": "{row[0]}"}}}}', f"{{{cells}}}"))
        else:
            place = rng.randrange(1, len(columns))
            turns.append((f'> {{"name": "{columns[place]}", "arguments": {{"of": "{row[0]}"}}}}', row[place]))
    return "\n".join(lines), turns


def _records(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Rows as JSON, asked for one by one or by a value, whole or in part, or changed."""
    tables = {name: _rows(words, rng) for name in words.names(rng.randint(1, 3))}
    references = TableRows(tables)
    held = {name: [dict(row) for row in rows] for name, rows in tables.items()}
    lines = [line for name, rows in tables.items() for line in (f"# {name}", *map(_json, rows))]
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        name = rng.choice(list(held))
        row = rng.choice(held[name])
        first, *others = row
        chance = rng.random()
        if chance < 0.4:
            asked: dict[str, Any] = {"name": f"get_{name}", "arguments": {first: row[first]}}
            answer: dict[str, Any] = row
        elif chance < 0.6:
            key = rng.choice(others)
            row[key] = words.value()
            asked = {"name": f"update_{name}", "arguments": {first: row[first], key: row[key]}}
            answer = row
        else:
            key = others[-1]
            keys = [first, *(other for other in others if rng.random() < 0.8)]
            matches = [{key: other[key] for key in keys} for other in held[name] if other[key] == row[key]]
            asked = {"name": f"list_{name}", "arguments": {key: row[key], "keys": keys}}
            answer = {name: matches, "count": len(matches)}
        turns.append((f"> {_json(asked)}", references.refer(_json(answer))))
    return "\n".join(lines), turns


def _rows(words: Words, rng: random.Random) -> list[dict[str, Any]]:
    """Rows whose key is a number or a word; some of them end alike."""
    columns = words.names(rng.randint(2, 6))
    kinds = [words.value() for _ in range(rng.randint(2, 4))]
    begun, step, count = rng.randrange(1000), rng.randint(1, 3), rng.randint(3, 10)
    keys = [begun + step * number for number in range(count)] if rng.random() < 0.6 else words.names(count)
    return [
        {columns[0]: key, **{name: words.value() for name in columns[1:-1]}, columns[-1]: rng.choice(kinds)}
        for key in keys
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pages(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Pages behind addresses that begin alike, and addresses of no page."""
    sites = [f"https://{name.lower()}.example/{words.word().lower()}" for name in words.names(rng.randint(1, 3))]
    pages = {
        f"{rng.choice(sites)}/{name.lower()}": [words.value() for _ in range(rng.randint(3, 6))]
        for name in words.names(rng.randint(3, 8))
    }
    references = TextBlocks(pages)
    system = "\n".join("\n".join([f"= {address}", *content, "\\"]) for address, content in pages.items())
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        address, content = rng.choice(list(pages.items()))
        answer = references.refer("\n".join(content))
        if rng.random() < 0.2:
            address = f"{rng.choice(sites)}/{words.word().lower()}"
            answer = references.refer("\n".join(pages[address])) if address in pages else f"Error: none at {address}"
        turns.append((f"> {_json({'name': 'web_extractor', 'arguments': {'url': address}})}", answer))
    return system, turns


def _repository(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Files that stand in the prompt with the numbers of their lines, and are read whole or in part; lines change."""
    names = [f"/repo/{words.word()}/{name}.py" for name in words.names(rng.randint(2, 4))]
    files = {name: [words.value() for _ in range(rng.randint(5, 24))] for name in names}
    references = TextBlocks({name: list(lines) for name, lines in files.items()})
    system = "\n".join("\n".join([f"= {name}", *numbered(lines)]) for name, lines in files.items())
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        name = rng.choice(names)
        lines = files[name]
        first, last, chance = 0, len(lines), rng.random()
        if chance < 0.3:
            place, value = rng.randrange(len(lines)), words.value()
            edit = {"file_path": name, "old_string": lines[place], "new_string": value}
            lines[lines.index(lines[place])] = value
            asked, answer = {"name": "edit", "arguments": edit}, f"Successfully modified file: {name} (1 replacements)."
        else:
            read: dict[str, str | int] = {"absolute_path": name}
            if chance < 0.6:
                first = rng.randrange(last)
                last = min(last, first + rng.randint(3, 8))
                read |= {"offset": first, "limit": last - first}
            asked, answer = {"name": "read_file", "arguments": read}, references.refer("\n".join(lines[first:last]))
        turns.append((f"> {_json(asked)}", answer))
    return system, turns


def _files(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Files, whole or without some of their lines."""
    names = [f"{name}.{rng.choice(('txt', 'md', 'csv', 'py'))}" for name in words.names(rng.randint(2, 5))]
    files = {name: [words.value() for _ in range(rng.randint(1, 6))] for name in names}
    system = "\n".join(f"= {name}\n" + "\n".join(lines) for name, lines in files.items())
    turns = []
    for _ in range(rng.randint(2, QUESTIONS)):
        name = rng.choice(names)
        lines = files[name]
        count = rng.randint(1, 3)
        asked, output = rng.choice(
            [
                (f"cat {name}", lines),
                (f"head -n {count} {name}", lines[:count]),
                (f"tail -n {count} {name}", lines[-count:]),
            ]
        )
        turns.append((asked, "\n".join([asked, *output])))
    return system, turns


def _numbered(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
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
    "repository": _repository,
    "numbered": _numbered,
}

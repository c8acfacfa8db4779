"""Drills: made-up sessions whose answers stand in their prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.contracts import Message
from agentworld_gym.prompting.references import TableRows, TextBlocks
from agentworld_gym.recipe.data.drills import DOMAIN, drill_samples, with_drills
from agentworld_gym.sessions.samples import Sample

WORDS = ["lamp", "orchard", "list_items", "Harbor", "seven"]


# What the answers of each kind of drill mean, told by its system message and what was asked for

Answering = Callable[[str], str]
"""From what is asked for to the answer, without references; changes stay."""

Reading = Callable[[str], str]
"""From an answer as it is written to what it stands for."""


def reader(system: str) -> tuple[Reading, Answering]:
    """How the answers of a drill are read, and what they should be."""
    if system.startswith("# "):
        return records(system) if system.split("\n")[1].startswith("{") else table(system)
    if system.startswith("= https://"):
        return pages(system)
    if system.startswith("= "):
        return repository(system) if system.startswith("= /repo/") else files(system)
    return lines_by_number(system)


def call(asked: str) -> tuple[str, dict[str, Any]]:
    """The tool that is called, and its arguments."""
    said = json.loads(asked.removeprefix("> "))
    return said["name"], said["arguments"]


def sections(system: str, mark: str) -> dict[str, list[str]]:
    """The lines below each heading."""
    found: dict[str, list[str]] = {}
    for line in system.split("\n"):
        if line.startswith(mark):
            name = line.removeprefix(mark)
            found[name] = []
        else:
            found[name].append(line)
    return found


def table(system: str) -> tuple[Reading, Answering]:
    [(head, rows)] = sections(system, "# ").items()
    columns = head.split(" ")[1].split("|")
    cells = {row.split("|")[0]: dict(zip(columns, row.split("|"), strict=True)) for row in rows}

    def answer(asked: str) -> str:
        tool, arguments = call(asked)
        [(key, value)] = arguments.items()
        return json.dumps(cells[value]) if (tool, key) == ("get", columns[0]) else cells[value][tool]

    return str, answer


def records(system: str) -> tuple[Reading, Answering]:
    tables = {name: list(map(json.loads, rows)) for name, rows in sections(system, "# ").items()}
    known = TableRows(deepcopy(tables))

    def answer(asked: str) -> str:
        tool, arguments = call(asked)
        verb, _, name = tool.partition("_")
        (key, value), *others = arguments.items()
        found = [row for row in tables[name] if row[key] == value]
        if verb == "list":
            [(_, shown)] = others
            return json.dumps({name: [{key: row[key] for key in shown} for row in found], "count": len(found)})
        [row] = found
        row.update(others)
        return json.dumps(row)

    return known.resolve, answer


def pages(system: str) -> tuple[Reading, Answering]:
    held = {address: lines[:-1] for address, lines in sections(system, "= ").items()}  # behind each is a backslash

    def answer(asked: str) -> str:
        _, arguments = call(asked)
        address = arguments["url"]
        return "\n".join(held[address]) if address in held else f"Error: none at {address}"

    return TextBlocks(held).resolve, answer


def repository(system: str) -> tuple[Reading, Answering]:
    told = sections(system, "= ")
    held = {name: [line.split("\t")[1] for line in lines] for name, lines in told.items()}

    def answer(asked: str) -> str:
        tool, arguments = call(asked)
        if tool == "edit":
            lines = held[arguments["file_path"]]
            lines[lines.index(arguments["old_string"])] = arguments["new_string"]
            return f"Successfully modified file: {arguments['file_path']} (1 replacements)."
        lines = held[arguments["absolute_path"]]
        first = arguments.get("offset", 0)
        return "\n".join(lines[first : first + arguments.get("limit", len(lines))])

    return TextBlocks({name: list(lines) for name, lines in held.items()}).resolve, answer


def files(system: str) -> tuple[Reading, Answering]:
    held = sections(system, "= ")

    def answer(asked: str) -> str:
        command, *options, name = asked.split(" ")
        count = int(options[-1]) if options else len(held[name])
        shown = held[name][-count:] if command == "tail" else held[name][:count]
        return "\n".join([asked, *shown])

    return str, answer


def lines_by_number(system: str) -> tuple[Reading, Answering]:
    lines = [line.split("| ")[1] for line in system.split("\n")]

    def answer(asked: str) -> str:
        verb, place, *words = asked.removeprefix("> ").split(" ")
        first, _, last = place.partition("..")
        if verb == "write":
            lines[int(place)] = " ".join(words)
            return f"@@ change\n{place}| {lines[int(place)]}"
        if not last:
            return lines[int(place)]
        return "\n".join(f"{number}| {lines[number]}" for number in range(int(first), int(last) + 1))

    return str, answer


@given(st.integers(0, 1000))
def test_every_answer_is_told_by_the_prompt_and_the_changes_asked_for(seed: int) -> None:
    for sample in drill_samples(WORDS, seed, 3):
        system, *turns = (message["content"] for message in sample.messages)
        read, answer = reader(system)
        for asked, written in zip(turns[::2], turns[1::2], strict=True):
            assert read(written) == answer(asked)


def test_answers_refer_to_rows_pages_and_lines() -> None:
    messages = [message for sample in drill_samples(WORDS, 0, 60) for message in sample.messages]
    written = "\n".join(message["content"] for message in messages if message["role"] == "assistant")
    for pattern in (r"@\w+:\w+", r"@https://\S+", r"@/repo/\S+\.py", r"@/repo/\S+\.py:\d+-\d+"):
        assert re.search(rf"^{pattern}$", written, re.MULTILINE)


# Drills beside others


def test_drills_repeat_and_differ() -> None:
    first, again = list(drill_samples(WORDS, 1, 20)), list(drill_samples(WORDS, 1, 20))
    assert first == again
    assert len({str(sample.messages) for sample in first}) == 20
    assert list(drill_samples(WORDS, 2, 20)) != first


def test_drills_follow_the_samples_in_their_words() -> None:
    said: list[Message] = [
        {"role": "user", "content": "where is zanzibar"},
        {"role": "assistant", "content": "zanzibar"},
    ]
    real = Sample(id="a", domain="terminal", messages=tuple(said), weights=(1.0,))
    found = list(with_drills([real], 0, 30))
    assert found[0] == real and {sample.domain for sample in found[1:]} == {DOMAIN}
    assert any("zanzibar" in message["content"] for sample in found[1:] for message in sample.messages)
    assert list(with_drills([real], 0, 0)) == [real]

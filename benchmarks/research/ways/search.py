"""Ways of the tasks of the domain `search`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Way, Ways
from ways.search_handwritten import HANDWRITTEN
from ways.search_reader import Found, addresses, answered, call, understood, world_of


@dataclass(frozen=True)
class Habit:
    """How an agent searches, what it notes, and how it words its answer."""

    name: str
    queries: Callable[[str, Sequence[str]], Sequence[str]]
    """The searches for a question with some names in it, each a tool call."""
    note: Callable[[Found], Any]
    """The text, number or list that it keeps."""
    say: Callable[[Found], str]
    """Its answer."""
    last: bool = False
    """Whether it takes its note again at the end, over a first one."""


def _names(instruction: str) -> list[str]:
    """Return what is written with capitals in a question."""
    question = re.split(r" (?:Keep|Note|Answer) ", instruction)[0]
    return re.findall(r"(?<!^)\b[A-Z][\w'-]*(?: (?:of the |and |the |on |by )?[A-Z][\w'-]*| \d+)*", question) or [
        question
    ]


def _cell(value: Any) -> str:
    """Return a value as it stands on a page."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _grouped(value: Any, mark: str) -> str:
    """Return a number with its thousands apart; years and names stay."""
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}".replace(",", mark)
    return _cell(value)


def _typeset(text: str) -> str:
    """Return a text as a word processor sets it."""
    return text.replace("-", "\u2011").replace("'", "\u2019").replace(" ", "\u00a0")


def _sentence(found: Found) -> str:
    """Return the answer in a sentence that repeats the question."""
    what = "answer" if found.wants_subject else found.key.replace("_", " ")
    cells = [_grouped(row[0], ",") for row in found.rows]
    if found.form == "rows":
        lines = [" | ".join("---" for _ in found.rows[0]), *(" | ".join(map(_cell, row)) for row in found.rows)]
        head = " | ".join(f"column {place}" for place, _ in enumerate(found.rows[0]))
        return "\n".join(f"| {line} |" for line in (head, *lines))
    if found.form == "items":
        return f"The {what} are {', '.join(cells[:-1])} and {cells[-1]}." if len(cells) > 1 else f"It is {cells[0]}."
    return f"The {what} is {cells[0]}."


def _set(found: Found) -> str:
    """Return the answer with the characters of a word processor."""
    if found.form == "rows":
        return "; ".join(
            " | ".join(_grouped(cell, "\u202f") for cell in reversed_row) for reversed_row in found.rows[::-1]
        )
    if found.form == "items":
        return "\n".join(f"• {_typeset(_cell(row[0]))}" for row in reversed(found.rows))
    (value,) = found.rows[0][:1]
    return _grouped(value, "\u202f") if isinstance(value, int | float) else f"“{_typeset(_cell(value))}”"


def _marked(found: Found) -> str:
    """Return the answer in Markdown or JSON, as language models write it."""
    if found.form in ("rows", "items"):
        rows = [list(row) if found.form == "rows" else row[0] for row in found.rows]
        return call("answer", answer=rows)[len('{"name": "answer", "arguments": ') : -1]
    return f"**Answer:** {_cell(found.rows[0][0])}"


def _bare(found: Found) -> Any:
    """Return what is to be noted, as one text."""
    if found.wants_subject:
        return found.subject
    if found.form == "rows":
        return "; ".join(" | ".join(map(_cell, row)) for row in found.rows)
    return "; ".join(_cell(row[0]) for row in found.rows)


def _native(found: Found) -> Any:
    """Return what is to be noted as JSON has it: a number, a list, or a text with other characters."""
    if found.wants_subject:
        return _typeset(found.subject)
    if found.form == "rows":
        return [[_cell(cell) for cell in row] for row in found.rows]
    return [_cell(row[0]) for row in found.rows] if found.form == "items" else found.rows[0][0]


def _told(found: Found) -> Any:
    """Return what is to be noted in a sentence, or in bold.

    A sentence is read by the words of the instruction, which has none of an order of a composed task.
    """
    if found.wants_subject:
        numbered = re.search(r"_\d+$", found.key)
        return f"**{found.subject}**" if numbered else f"The {found.key.replace('_', ' ')} is {found.subject}."
    return f"**{_bare(found)}**" if found.form in ("text", "number") else _bare(found).replace("; ", "\n")


HABITS = (
    Habit(
        "the_whole_question",
        lambda question, names: [call("web_search", query=question[:300])],
        _bare,
        _sentence,
    ),
    Habit(
        "several_searches_at_once",
        lambda question, names: [call("web_search", queries=[*names[:3], question.split("?")[0][:120]])],
        _native,
        _set,
        last=True,
    ),
    Habit(
        "exact_words",
        lambda question, names: [call("web_search", query=f'"{name}"') for name in names[:2]],
        _told,
        _marked,
    ),
)


def _pages(shown: str) -> list[str]:
    """Return the addresses in results of searches, without the orders of composed tasks, which only ask."""
    return [address for address in addresses(shown) if "orders.example" not in address]


def _found(instruction: str, page: str) -> Found | None:
    """Return what the world that a page comes from knows of what an instruction asks."""
    for asked in understood(instruction):
        try:
            found = answered(instruction, world_of(asked.theme, page), asked)
        except ValueError:
            continue
        if found is not None:
            return found
    return None


def _way(habit: Habit) -> Way:
    def way(instruction: str, screen: str) -> ActionStream:
        question = re.split(r" (?:Keep|Note|Answer) ", instruction)[0]
        names = _names(instruction)
        searches = [*habit.queries(question, names), call("web_search", query=question)]
        for name in [*names, *re.findall(r"\b[a-z]+ \d{4,}\b", question)]:
            start = " ".join(name.split()[:2])
            searches += [call("web_search", query=one) for one in (f'"{name}"', f'"{start}"', name)]
        read: list[str] = []
        found = None
        for search in searches:
            for address in [one for one in _pages((yield search)) if one not in read][:2]:
                read.append(address)
                found = _found(instruction, (yield call("web_extractor", url=address)))
                if found is not None:
                    break
            if found is not None:
                break
        if found is None:
            raise ValueError("no page tells the answer")
        if habit.last:
            yield call("dict_memory", operation="add", dict={found.key: "not known yet", "seen": address})
            yield call("dict_memory", operation="update", dict={found.key: habit.note(found)})
        else:
            yield call("dict_memory", operation="add", dict={found.key: habit.note(found)})
        yield f"finish: {habit.say(found)}"

    way.__name__ = f"reader_with_{habit.name}"
    return way


FAMILIES = re.findall(
    r"\w+", "lookup bridge aggregate comparison superlative intersection listing wide_table dates share"
)

WAYS: Ways = {**{family: [_way(habit) for habit in HABITS] for family in FAMILIES}, **HANDWRITTEN}
"""Family, or id of a hand-written task, → its ways."""

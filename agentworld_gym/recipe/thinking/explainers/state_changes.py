"""Changes of the state in words: records of tables, settings, and files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence

from agentworld_gym.core.engines import Scalar
from agentworld_gym.core.screens import screen_of
from agentworld_gym.llm.rows.row import StateChange
from agentworld_gym.recipe.thinking.situation import Situation, amount, plain, several

MOST = 4
"""The most records or files that are described; the others are only counted."""


def record_clauses(turn: Situation, told: Callable[[str], bool] = lambda _field: True) -> list[str]:
    """Describe changes of fields like `orders/12/status`, one record in each clause; `told` leaves out what only
    engines keep.
    """
    records: dict[str, list[StateChange]] = {}
    for change in turn.changes:
        if told(change.field):
            records.setdefault(change.field.rpartition("/")[0], []).append(change)
    clauses = [_record(turn, name, changes) for name, changes in records.items()]
    return _limited(list(dict.fromkeys(clauses)))


def _record(turn: Situation, name: str, changes: Sequence[StateChange]) -> str:
    where = _place(turn, name)
    for kind, verb in (("added", "is added"), ("removed", "goes")):
        if len(changes) > 1 and all(change.kind == kind for change in changes):
            values = [(change, change.after if kind == "added" else change.before) for change in changes]
            told = [(change, value) for change, value in values if not _internal(turn, value)]
            quotes = [f"{_column(change)} {quote}" for change, value in told if (quote := turn.cite(value))]
            return f"an entry of {where} {verb}" + (f", with {several(quotes)}" if quotes else "")
    clauses = [_field(turn, change) for change in changes[:MOST]]
    return f"in {where}, " + ", ".join(clauses)


def _field(turn: Situation, change: StateChange) -> str:
    if _internal(turn, change.before) or _internal(turn, change.after):
        return f"{_column(change)} changes"
    before, after, name = turn.cite(change.before), turn.either(change.after), _column(change)
    if change.kind == "added":
        return f"{name} becomes {after}" if after else f"{name} is set"
    if change.kind == "removed":
        return f"{name} {before} goes" if before else f"{name} goes"
    if before and after and (sum_ := _sum(turn, change)):
        return f"{name} goes from {before} to {after}, because {sum_}"
    if before and after:
        return f"{name} goes from {before} to {after}"
    return f"{name} becomes {after}" if after else f"{name} changes"


def _internal(turn: Situation, value: Scalar) -> bool:
    """Whether a value is a number by which only the engine of a screen without references tells things apart."""
    screen = screen_of(turn.domain)
    return screen is not None and screen.numbers_things and plain(value).isdigit() and len(plain(value)) < 3


def _sum(turn: Situation, change: StateChange) -> str:
    """Describe the sum that makes the new number from the old one and a number in the action."""
    before, after = change.before, change.after
    if isinstance(before, bool | str) or isinstance(after, bool | str) or before is None or after is None:
        return ""
    for number in turn.numbers():
        for sign, result in (("+", before + number), ("-", before - number)):
            if number and round(result, 6) == round(after, 6):
                operand = int(number) if number.is_integer() else number
                parts = turn.cite(before), turn.cite(operand), turn.either(after)
                return f"{parts[0]} {sign} {parts[1]} is {parts[2]}" if all(parts) else ""
    return ""


def _column(change: StateChange) -> str:
    return words(change.field.rpartition("/")[2])


def _place(turn: Situation, name: str) -> str:
    """Write `orders/12` as "orders `12`", with digits only where they are known."""
    parts = [part for part in name.split("/") if part]
    if not parts:
        return "the state"
    head = [words(part) for part in parts if not any(map(str.isdigit, part))]
    numbered = any(map(str.isdigit, parts[-1])) and not _internal(turn, parts[-1])
    key = turn.either(parts[-1]) if numbered else ""
    return " ".join(filter(None, (*head[:3], key))) or "the state"


def words(name: str) -> str:
    """Return a name of the state as words, without what could be taken for a number of the text.

    >>> words("is_read"), words("sheet 2")
    ('is read', 'sheet')
    """
    kept = "".join(" " if letter in "_#" or letter.isdigit() else letter for letter in name)
    return " ".join(kept.split()) or "it"


def file_clauses(turn: Situation, fields: Iterable[StateChange], base: str) -> list[str]:
    """Describe changes of files, whose fields are their paths; a directory's path ends with `/`, a mode stands after
    `#mode`.
    """
    clauses = []
    for change in fields:
        path, _, aspect = change.field.partition("#")
        name = file_name(turn, path, base)
        if aspect:
            value = turn.either(change.after)
            clauses.append(f"the {words(aspect)} of {name} " + (f"becomes {value}" if value else "changes"))
        elif path.endswith("/"):
            clauses.append(
                f"the directory {name} " + {"added": "is made", "removed": "goes"}.get(change.kind, "changes")
            )
        elif change.kind == "removed":
            clauses.append(f"{name} is gone")
        else:
            clauses.append(f"{name} {_content(turn, change)}")
    return _limited(list(dict.fromkeys(clauses)))


def _content(turn: Situation, change: StateChange) -> str:
    after = change.after if isinstance(change.after, str) else ""
    if change.kind == "added":
        lines = [turn.cite(line) for line in after.split("\n")[:2]]
        return f"comes to be, with {several(lines)}" if any(lines) else "comes to be"
    before = change.before if isinstance(change.before, str) else ""
    old, new = set(before.split("\n")), set(after.split("\n"))
    gone = [turn.cite(line) for line in before.split("\n") if line not in new]
    come = [turn.either(line) for line in after.split("\n") if line not in old]
    parts = [f"loses {several(gone, 2)}" if any(gone) else "", f"gets {several(come, 2)}" if any(come) else ""]
    return " and ".join(filter(None, parts)) or "is written anew"


def file_name(turn: Situation, path: str, base: str) -> str:
    """Return a path as the prompt or the observation calls it: whole, relative to the agent's place, or by its last
    part.
    """
    short = path.rstrip("/")
    relative = posixpath.relpath(short, base) if base.startswith("/") and short.startswith("/") else short
    return turn.cite(relative) or turn.cite(short) or turn.either(posixpath.basename(short)) or "a file"


def _limited(clauses: list[str]) -> list[str]:
    if len(clauses) <= MOST:
        return clauses
    return [*clauses[: MOST - 1], f"and {amount(len(clauses) - MOST + 1, 'other entry', 'other entries')} change"]

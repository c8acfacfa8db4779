r"""The state form: a prediction is the change of the structured state, from which the domain's view prints the screen.

A structured state is plain JSON data. A change of it is a line for each operation:

    front = "clock"                        the value at this path becomes this
    home/in/b.txt := home/in/a.txt         the value becomes what another path held before the change
    clock += 60                            the text or the number at this path grows by this
    +.. {"screen":"person","person":12}    this is added to the end of a list
    ^data/clock/watch/laps 75              this is added to the front of a list
    -data/notes/notes/12                   the entry goes
    >data/notes/notes/14                   the entry moves to the end of its list

A path names keys and entries, parted by `/`: an entry with an `id` by that, any other by its index. `.` begins a path
at the place where the agent is (the screen in front), and `..` is the list that holds this place. In keys `~1` is a
slash, `~0` a tilde, and `~s` a blank. What is missing on the way to a value is made, and a key that an object does not
have is gone already. `same` says that nothing changes.

>>> before = {"front": "clock", "tasks": {"clock": [{"screen": "main"}]}, "toast": ""}
>>> after = {"front": "clock", "tasks": {"clock": [{"screen": "main", "scroll": {"list": 126}}, {"screen": "add"}]}}
>>> print(write_change(before, after, ("tasks", "clock", 0)))
.scroll/list = 126
+.. {"screen":"add"}
-toast
>>> applied(before, write_change(before, after, ("tasks", "clock", 0)), ("tasks", "clock", 0)) == after
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import Entries, compact
from agentworld_gym.llm.prompting.state_paths import Path, are_rows, at, joined, key_of, read_path
from agentworld_gym.llm.prompting.state_references import References
from agentworld_gym.llm.prompting.state_values import grown, growth, is_number, read_value

SAME = "same"
LARGEST = 1_000_000
"""The largest number of characters that the references of one change stand for."""
FEW = 4
"""The largest number of operations within an object that are written though the whole object would be shorter."""
LONG = 48
"""The smallest number of characters of a value that is written as the path at which it stands already."""
Counts = Callable[[tuple[str, ...]], bool]
"""Whether a change says by how much the number at a path grows."""
Completed = Callable[[tuple[str, ...], Entries, Any], Any]
"""The entry that is added to a list: from the path of the list, the entries before it, and what the change says."""
_SET = re.compile(r"([^\s>^+-]\S*) ([+:]?=) (.*)")
_ADD = re.compile(r"([+^])(\S+) (.*)")
_ONE = re.compile(r"([->])(\S+)")
_FENCE = re.compile(r"```\w*")


def write_change(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    place: Path,
    counts: Counts | None = None,
    references: References | None = None,
    completed: Completed | None = None,
) -> str:
    """Return the change that leads from one structured state to another.

    Args:
        before: The structured state before.
        after: The structured state after.
        place: The path at which paths begin where they can.
        counts: Tells of which numbers, beside the largest, the change says by how much they grow; None for no others.
        references: The values that texts refer to; None where braces are braces.
        completed: Tells what an added entry has though it is not told; None for nothing.

    >>> account = {"balance": 149.54}
    >>> after = {"account": {"balance": 17.26}}
    >>> print(write_change({"account": account}, after, (), lambda path: path[-1] == "balance"))
    .account/balance += -132.28
    """
    return "\n".join(_changes((), before, after, _Names(before, place, counts, references, completed))) or SAME


def applied(
    before: Mapping[str, Any],
    change: str,
    place: Path,
    references: References | None = None,
    completed: Completed | None = None,
) -> dict[str, Any]:
    """Return the structured state after a change: the inverse of `write_change`, with the same references and
    completion.

    The state before stays as it is.

    Raises:
        AnswerError: A line is no operation, or the state has nothing at its path. The error names the line.
    """
    state: dict[str, Any] = _copied(dict(before))
    copied = 0
    for line in change.split("\n"):
        text = line.strip()
        if text in ("", SAME) or _FENCE.fullmatch(text):
            continue
        try:
            copied += _operate(before, state, text, _Reading(place, references, completed))
            if copied > LARGEST:
                raise ValueError(f"the references stand for more than {LARGEST} characters")
        except (LookupError, TypeError, ValueError) as error:
            raise AnswerError(f"the change {text[:120]!r} does not fit the state: {error}") from error
    return state


def _copied(value: Any) -> Any:
    """Return a copy of plain data; the standard library's takes several times as long."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if type(value) is list else value


class _Names:
    """How a change names places and values: by paths that begin at a place where they can; see `write_change`."""

    def __init__(
        self,
        before: Mapping[str, Any],
        place: Path,
        counts: Counts | None,
        references: References | None,
        completed: Completed | None,
    ) -> None:
        self.before, self.place, self._counts = before, place, counts
        self._references, self._completed = references, completed
        self._known: dict[str, Path] | None = None

    def path(self, path: Path) -> str:
        """Return a path as it is written."""
        named = None if self._references is None else self._references.path(path)
        if named is not None:
            return named
        if path[: len(self.place)] == self.place:
            return "." + joined(path[len(self.place) :])
        if path == self.place[:-1]:
            return ".."
        return joined(path)

    def order(self, path: Path) -> int:
        """Return the number by which changes of siblings are sorted before their keys are: that of a named place."""
        return 0 if self._references is None else self._references.order(path)

    def names(self, path: Path, value: Any) -> bool:
        """Whether a value at a path has a name."""
        return self._references is not None and self._references.names(value, str(path[-1]))

    def names_field(self, path: Path, value: Any) -> bool:
        """Whether a value has the name of its field."""
        return self._references is not None and self._references.names_field(value, str(path[-1]))

    def counts(self, path: Path) -> bool:
        """Whether a change says by how much the number at a path grows."""
        return self._counts is not None and self._counts(tuple(map(str, path)))

    def becomes(self, path: Path, value: Any) -> str:
        """Return the operation that sets a value."""
        origin = self.origin(value)
        if origin is not None and not self.names(path, value):
            return f"{self.path(path)} := {self.path(origin)}"
        return f"{self.path(path)} = {self.write_value(path, value)}"

    def write_value(self, path: Path, value: Any) -> str:
        """Return a value at a path as it is written."""
        return compact(value if self._references is None else self._references.with_names(value, str(path[-1])))

    def added(self, path: Path, entry: Any, others: Entries) -> str:
        """Return an entry that is added to a list as it is written: without what completes it anyway."""
        told = entry
        if self._completed is not None and isinstance(entry, dict):
            for key in entry:
                fewer = {name: value for name, value in told.items() if name != key}
                if self._completed(tuple(map(str, path)), others, fewer) == entry:
                    told = fewer
        return self.write_value(path, told)

    def origin(self, value: Any) -> Path | None:
        """Return the path at which a long value stands already; None where there is none."""
        if type(value) not in (str, list, dict):
            return None
        text = compact(value)
        if len(text) < LONG:
            return None
        if self._known is None:
            self._known = {}
            self._learn(self.before, ())
        return self._known.get(text)

    def _learn(self, value: Any, path: Path) -> None:
        assert self._known is not None
        inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        rows = isinstance(value, list) and bool(value) and are_rows(value)
        text = compact(value) if type(value) in (str, list, dict) else ""
        if len(text) < LONG:
            return
        self._known.setdefault(text, path)
        for key, item in inner:
            self._learn(item, (*path, str(item["id"]) if rows else key))


def _changes(path: Path, before: Any, after: Any, names: _Names) -> Iterator[str]:
    if path and before != after and names.names_field(path, after):
        yield names.becomes(path, after)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        parts = [*_inner_changes(path, before, after, names)]
        whole = names.becomes(path, after) if path and len(parts) > FEW else ""
        yield from (whole,) if 0 < len(whole) < len("\n".join(parts)) else parts
    elif isinstance(before, list) and isinstance(after, list):
        parts = [*_list_changes(path, before, after, names)]
        whole = names.becomes(path, after) if len(parts) > 1 and names.origin(after) is not None else ""
        yield from (whole,) if 0 < len(whole) < len("\n".join(parts)) else parts
    elif type(before) is not type(after) or before != after:
        more = growth(before, after, counted=is_number(before) and names.counts(path))
        yield names.becomes(path, after) if more is None else f"{names.path(path)} += {names.write_value(path, more)}"


def _inner_changes(path: Path, before: Mapping[str, Any], after: Mapping[str, Any], names: _Names) -> Iterator[str]:
    """Write the changes of an object key by key, those of named places first."""
    keys = [key for key in before.keys() | after.keys() if not _alike(before, after, key)]
    for key in sorted(keys, key=lambda key: (names.order((*path, key)), key)):
        inner = (*path, key)
        if key not in after:
            yield f"-{names.path(inner)}"
        elif key in before:
            yield from _changes(inner, before[key], after[key], names)
        else:
            parts = [*_changes(inner, {}, after[key], names)] if isinstance(after[key], Mapping) else []
            whole = names.becomes(inner, after[key])
            yield from parts if parts and len("\n".join(parts)) <= len(whole) else (whole,)


def _alike(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> bool:
    """Whether two objects hold the same at a key; JSON tells 1 from 1.0 and from true, which are equal."""
    return key in before and key in after and compact(before[key]) == compact(after[key])


def _list_changes(path: Path, before: list[Any], after: list[Any], names: _Names) -> Iterator[str]:
    if compact(before) == compact(after):
        return
    rows = are_rows(before) and are_rows(after)
    named = any(isinstance(entry, Mapping) and "id" in entry for entry in (*before, *after))
    lone = len(after) == 1 and isinstance(after[0], Mapping) and path != names.place[:-1]
    if not after or (not rows and (named or lone)):
        yield names.becomes(path, after)
    elif rows:
        yield from _rows(path, before, after, names)
    else:
        yield from _entries(path, before, after, names)


def _rows(path: Path, before: list[Any], after: list[Any], names: _Names) -> Iterator[str]:
    """Write the change of a list whose entries have ids."""
    old, new = {str(row["id"]): row for row in before}, {str(row["id"]): row for row in after}
    left, stay = [key for key in old if key in new], [key for key in new if key in old]
    front = list(new)[: next((number for number, key in enumerate(new) if key in old), 0)]
    end = [key for key in new if key not in old and key not in front]
    if [*front, *stay, *end] != list(new):
        yield names.becomes(path, after)
        return
    for key in old:
        if key not in new:
            yield f"-{names.path((*path, key))}"
    for key in left:
        yield from _changes((*path, key), old[key], new[key], names)
    remaining = iter(left)
    ordered = 0
    while ordered < len(stay) and stay[ordered] in remaining:
        ordered += 1
    for key in stay[ordered:]:
        yield f">{names.path((*path, key))}"
    others = [new[key] for key in stay]
    for sign, key in (*(("^", key) for key in reversed(front)), *(("+", key) for key in end)):
        yield f"{sign}{names.path(path)} {names.added(path, new[key], others)}"
        others.append(new[key])


def _entries(path: Path, before: list[Any], after: list[Any], names: _Names) -> Iterator[str]:
    """Write the change of a list whose entries are told apart by their index alone."""
    if after and before == after[1:] and before:
        yield f"^{names.path(path)} {names.write_value(path, after[0])}"
        return
    gone = [number for number in range(len(before)) if before[:number] + before[number + 1 :] == after]
    if gone:
        yield f"-{names.path((*path, gone[-1]))}"
        return
    shared = min(len(before), len(after))
    for number in range(shared):
        inner = (*path, number)
        if _same_thing(before[number], after[number]):
            yield from _changes(inner, before[number], after[number], names)
        elif before[number] != after[number]:
            yield names.becomes(inner, after[number])
    for number in reversed(range(shared, len(before))):
        yield f"-{names.path((*path, number))}"
    for entry in after[shared:]:
        yield f"+{names.path(path)} {names.write_value(path, entry)}"


def _same_thing(before: Any, after: Any) -> bool:
    """Whether two entries are one thing that has changed: their first fields, which name them, are equal."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping) and before and after):
        return False
    return next(iter(before.items())) == next(iter(after.items()))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a change is read; see `applied`."""

    place: Path
    references: References | None
    completed: Completed | None

    def value(self, text: str, path: Path) -> Any:
        """Return the value at a path that a text writes."""
        value = read_value(text)
        return value if self.references is None else self.references.meant(value, str(path[-1]))

    def entry(self, text: str, path: Path, others: Entries) -> Any:
        """Return the entry of a list that a text writes."""
        entry = self.value(text, path)
        return entry if self.completed is None else self.completed(tuple(map(str, path)), others, entry)


def _operate(before: Mapping[str, Any], state: dict[str, Any], line: str, reading: _Reading) -> int:
    """Carry out one operation on a state, and return how many characters were copied from what is known."""
    copied, place = 0, reading.place
    if reading.references is not None:
        line = reading.references.spelled(line)
    if found := _SET.fullmatch(line):
        path = read_path(found[1], place)
        if found[2] == ":=":
            text = compact(at(before, read_path(found[3], place)))
            value = read_value(text)
        else:
            value = reading.value(found[3], path)
            text = compact(value) if reading.references is not None else ""
        copied = len(text)
        if found[2] == "+=":
            holder = at(state, path[:-1])
            key = key_of(holder, path[-1])
            holder[key] = grown(holder[key], value)
            return copied
        holder = state
        for step in path[:-1]:
            holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[key_of(holder, step)]
        holder[path[-1] if isinstance(holder, dict) else key_of(holder, path[-1])] = value
    elif found := _ADD.fullmatch(line):
        path = read_path(found[2], place)
        entries = at(state, path)
        if not isinstance(entries, list):
            raise TypeError("no list at this path")
        entry = reading.entry(found[3], path, entries)
        entries.insert(0 if found[1] == "^" else len(entries), entry)
        copied = len(compact(entry)) if reading.references is not None else 0
    elif found := _ONE.fullmatch(line):
        path = read_path(found[2], place)
        holder = at(state, path[:-1])
        if found[1] == ">" and not isinstance(holder, list):
            raise TypeError("only an entry of a list moves to its end")
        if isinstance(holder, dict) and path[-1] not in holder:  # It is gone already.
            return 0
        key = key_of(holder, path[-1])
        entry = holder.pop(key)
        if found[1] == ">":
            holder.append(entry)
    else:
        raise ValueError("an operation was expected")
    return copied

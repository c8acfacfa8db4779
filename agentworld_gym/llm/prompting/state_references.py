"""What the texts of a change refer to: values that a world model names in place of copying them.

Where a view knows values by their names (`agentworld_gym.core.domain.view.View.named_values`), such as the arguments of
a call, a text of a change may hold them in braces:

    "{amount}"                           the value of this name as it is: a text, a number or a list
    "{}"                                 the value that has the name of the field itself
    "Order {order_id} not found"         in a text, the value as it is printed
    "{{", "}}"                           a brace

Where it knows places by name (`View.places`), a path may begin with such a name:

    {path}/modified = 2                  something of the file that a window has open
    {typed} := {selected}                the selected file gets a typed name

>>> references = References({"order_id": 9999, "-amount": -56.96}, {})
>>> references.with_names("Order 9999 not found", "404")
'Order {order_id} not found'
>>> references.with_names({"order_id": 9999, "sum": -56.96}, "said")
{'order_id': '{}', 'sum': '{-amount}'}
>>> references.meant({"order_id": "{}", "sum": "{-amount}"}, "said")
{'order_id': 9999, 'sum': -56.96}
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from agentworld_gym.core.contracts import PIECE
from agentworld_gym.core.domain.view import compact
from agentworld_gym.llm.prompting.state_paths import Path, joined

ESCAPED = "\ufdd0"
"""Stands for a character of which only the beginning of its escape in JSON is written."""
LONGEST_WITHIN = 10_000
"""The largest number of characters of a value that is sought within a text."""
DECIMALS = 4
"""The largest number of decimals with which a number stands within a text."""
SHORTEST_GIVEN, SHORTEST_FOUND = 2, 3
"""The smallest number of characters of a value that is named though its field has another name."""
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BEGINS = re.compile(r"([-+^>]?)\{([^{}]*)\}(?=[/ ]|\Z)")
_COPIES = re.compile(r"(\S+ := )\{([^{}]*)\}(?=[/ ]|\Z)")
"""An operation whose path, or that of what it copies, begins with a name."""
_BEGUN = re.compile(r"([-+^>]?|\S+ := )\{(.*)")
_ONE_NAME = re.compile(r"(?:\{([^{}]*)(\})?)?")
_LAST_ASCII = "\x7f"
_MAY_BE_ESCAPED = re.compile(r"[^ !#-.0-\[\]-~]")
"""What JSON has to escape, and what it may: quotes, slashes, control characters, and all that is not ASCII."""
_UNCLOSED = re.compile(r"(?:[^{}]|\{\{|\}\}|\{[^{}]*\})*(?:\{([^{}]*)|(\}))?")


class References:
    """Names values in texts, and reads the names again.

    Args:
        given: The values that the action gives, by their names, the most likely first. A name has no braces, and
            an empty one stands for nothing.
        found: Those that the state holds, by their names. They stand after the others.
        places: The paths with which others may begin, by their names, the most likely first; None where braces in
            paths are braces.
    """

    def __init__(
        self, given: Mapping[str, Any], found: Mapping[str, Any], places: Mapping[str, Path] | None = None
    ) -> None:
        self._places = None if places is None else dict(places)
        self._by_place = {path: name for name, path in reversed((self._places or {}).items())}
        self._given = {name: value for name, value in given.items() if name}
        self._found = {name: value for name, value in found.items() if name and name not in given}
        self._known = {**self._given, **self._found}
        self._by_value: dict[str, list[str]] = {}
        for name, value in self._known.items():
            self._by_value.setdefault(compact(value), []).append(name)

    def with_names(self, value: Any, field: str, around: str = "") -> Any:
        """Return plain data with names instead of values; `meant` gives the data again.

        Args:
            value: The data.
            field: The name of the field in which it stands.
            around: The name of the field around that one. What was found there is the last to be named: entries that
                are alike do not say why.
        """
        name = self._name(value, field, f"{around}/")
        if name is not None:
            return f"{{{name}}}"
        if isinstance(value, dict):
            return {key: self.with_names(item, key, field) for key, item in value.items()}
        if isinstance(value, list):
            return [self.with_names(item, field, around) for item in value]
        return self._in_text(value) if isinstance(value, str) else value

    def meant(self, value: Any, field: str) -> Any:
        """Return plain data with values instead of their names.

        Raises:
            LookupError: There is no value of a name.
            ValueError: A brace stands alone.
        """
        if isinstance(value, dict):
            return {key: self.meant(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.meant(item, field) for item in value]
        if not isinstance(value, str):
            return value
        whole = _PART.fullmatch(value)
        if whole is not None and whole[1] is not None:
            return self._value(whole[1] or field)
        return _PART.sub(lambda part: self._read(part, field), value)

    def names(self, value: Any, field: str) -> bool:
        """Whether a value has a name in a field."""
        return self._name(value, field, "/") is not None

    def names_field(self, value: Any, field: str) -> bool:
        """Whether a value has the name of its field."""
        return field in self._by_value.get(compact(value), ())

    def path(self, path: Path) -> str | None:
        """Return a path with the name of the longest place that it begins with; None where it begins with none."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._by_place:
                rest = joined(path[end:])
                return f"{{{self._by_place[path[:end]]}}}{'/' if rest else ''}{rest}"
        return None

    def order(self, path: Path) -> int:
        """Return the number of the first place that is at a path or inside it; that of all places where none is."""
        return self._order.get(path, len(self._order))

    @cached_property
    def _order(self) -> dict[Path, int]:
        """The number of the first place inside each path that leads to one."""
        order: dict[Path, int] = {}
        for number, path in enumerate((self._places or {}).values()):
            for end in range(1, len(path) + 1):
                order.setdefault(path[:end], number)
        return order

    def spelled(self, line: str) -> str:
        """Return an operation with paths instead of their names.

        >>> References({}, {}, {"path": ("home", "a.txt")}).spelled("-{path}/text")
        '-home/a.txt/text'

        Raises:
            LookupError: There is no place of a name.
        """
        line, _ = self._closed(line)
        if self._places is not None and _BEGUN.match(line):
            raise LookupError("a place has no such name")
        return line

    def spellings(self, line: str) -> list[str]:
        """Return the beginnings of operations for which one with names may stand: several while a name is not closed
        or nothing has come after it, and none where there is no such place.
        """
        line, ends = self._closed(line)
        if ends:  # The name stands for a whole step.
            return [f"{line} ", f"{line}/"]
        begun = _BEGUN.match(line)
        if self._places is None or begun is None:
            return [line]
        return [begun[1] + joined(path) for name, path in self._places.items() if begins(name, begun[2])]

    def _closed(self, line: str) -> tuple[str, bool]:
        """Return an operation with paths instead of the names that are closed, and if it ends with such a name."""
        ends = False
        for pattern in (_BEGINS, _COPIES) if self._places else ():
            found = pattern.match(line)
            if found is not None and self._places is not None and found[2] in self._places:
                ends = found.end() == len(line)
                line = f"{found[1]}{joined(self._places[found[2]])}{line[found.end() :]}"
        return line, ends

    def may_begin(self, text: str, field: str, *, whole: bool) -> bool:
        """Whether a text may begin one that can be read; or, if it is `whole`, whether it can be read."""
        if whole:
            try:
                self.meant(text, field)
            except (LookupError, ValueError):
                return False
            return True
        found = _UNCLOSED.fullmatch(text)
        if found is None or any((name or field) not in self._known for name in _names(text)):
            return False
        begun = found[1]
        return begun is None or not begun or any(begins(name, begun) for name in self._known)

    def may_mean(self, text: str, field: str) -> Iterator[str]:
        """Yield what a text that `may_begin` one may mean so far: one for each name that it may be writing.

        >>> list(References({"user": "jana", "product_id": 103}, {}).may_mean("{user},{p", "id"))
        ['jana,103']
        """
        found = _UNCLOSED.fullmatch(text)
        assert found is not None
        open_brace, close_brace = found.start(1) - 1, found.start(2)
        if found[1] is None:
            end = "" if found[2] is None else "}"
            yield _printed(self.meant(text[: close_brace if end else None], field)) + end
            return
        before, begun = _printed(self.meant(text[:open_brace], field)), found[1]
        if not begun:
            yield before + "{"
        yield from (before + _printed(value) for name, value in self._known.items() if begins(name, begun))

    def may_begin_number(self, text: str, field: str, of: type, *, whole: bool) -> bool:
        """Whether a text may begin the name of a number in braces, or is one, by which a number of some type grows."""
        found = _ONE_NAME.fullmatch(text)
        if found is None or (whole and found[2] is None):
            return False
        name, closed = found[1] or "", found[2] is not None
        names = [name or field] if closed else [key for key in self._known if begins(key, name)]
        return any(_grows(self._known.get(key), of) for key in names)

    def _value(self, name: str) -> Any:
        if name not in self._known:
            raise LookupError(f"nothing of the name {name!r}")
        return copy.deepcopy(self._known[name])

    def _read(self, part: re.Match[str], field: str) -> str:
        if part[1] is not None:
            return _printed(self._value(part[1] or field))
        if len(part[0]) == 1:
            raise ValueError("a brace stands alone")
        return part[0][0]

    def _name(self, value: Any, field: str, around: str) -> str | None:
        """Return the name of a value; None where it has none, or is too plain to be named."""
        names = self._by_value.get(compact(value), []) if value is not None else []
        if field in names:
            return ""
        if names and names[0] in self._given and _is_telling(value, SHORTEST_GIVEN):
            return names[0]
        found = [name for name in names if name in self._found and _is_telling(value, SHORTEST_FOUND)]
        return min(found, key=lambda name: (name.startswith(around), name.rpartition("/")[2] != field), default=None)

    def _in_text(self, text: str) -> str:
        parts, end = [], 0
        for found in self._printed_values.finditer(text) if self._by_text else ():
            if found.span() != (0, len(text)):  # A name alone is a value as it is, such as a number.
                parts += [_doubled(text[end : found.start()]), f"{{{self._by_text[found[0]]}}}"]
                end = found.end()
        return "".join((*parts, _doubled(text[end:])))

    @cached_property
    def _by_text(self) -> dict[str, str]:
        """The names by the texts that stand for them within others."""
        texts: dict[str, str] = {}
        for known, shortest in ((self._given, 1), (self._found, SHORTEST_GIVEN)):
            for name, value in known.items():
                if type(value) in (int, float) and len(_printed(value)) >= shortest:
                    texts.setdefault(_printed(value), name)
                elif isinstance(value, str) and SHORTEST_FOUND <= len(value) <= LONGEST_WITHIN:
                    texts.setdefault(value, name)
        return texts

    @cached_property
    def _printed_values(self) -> re.Pattern[str]:
        texts = sorted(self._by_text, key=lambda text: -len(text))
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)")


def begins(name: str, text: str) -> bool:
    """Whether a name begins with a text, whose last character may still lack some of its bytes or of its escape.

    >>> begins("Grüße", f"Gr{PIECE}"), begins("Grass", f"Gr{PIECE}"), begins("a/b", f"a{ESCAPED}")
    (True, False, True)
    """
    if text.endswith(ESCAPED):
        following = name[len(text) - 1 : len(text)]
        return name.startswith(text[:-1]) and _MAY_BE_ESCAPED.fullmatch(following) is not None
    known = text.rstrip(PIECE)
    return name.startswith(known) and (known == text or name[len(known) :] > _LAST_ASCII)


def _names(text: str) -> Iterator[str]:
    """Yield the names in braces that are closed."""
    return (part[1] for part in _PART.finditer(text) if part[1] is not None)


def _grows(value: Any, of: type) -> bool:
    return type(value) is int or (type(value) is float and of is float)


def _is_telling(value: Any, shortest: int) -> bool:
    """Whether a value is so long that it hardly stands there by chance."""
    return bool(value) and type(value) is not bool and len(_printed(value)) >= shortest


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _printed(value: Any) -> str:
    """Return a value as it stands within a text: numbers without zeros at the end, lists and objects as JSON."""
    if type(value) is float and abs(value) < 1e15:
        return f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return value if isinstance(value, str) else compact(value)

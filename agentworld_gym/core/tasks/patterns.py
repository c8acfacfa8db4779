r"""Regular expressions in the checks of generated tasks: for literal texts, and for the JSON that tools return.

>>> bool(re.search(shows([{"id": 3}], [{"status": "open"}]), '[{"id": 3, "status": "paid"}]'))
True
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any


def literal(text: str) -> str:
    r"""Return a regular expression that matches a text literally; spaces and hyphens stay readable.

    >>> literal("A-4 (copy)")
    'A-4 \\(copy\\)'
    """
    return re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")


Fields = Mapping[str, Any]
"""Values by key, all of which one JSON object has to have."""


class Phrase(str):
    """Words that an instruction prescribes, in one or more parts: their case does not count, nor do stops and quotes
    beside the parts.

    >>> bool(re.search(object_pattern({"reason": Phrase("it is scratched")}), '{"reason": "It is scratched."}'))
    True
    >>> bool(re.search(object_pattern({"title": Phrase("Prepare", "A talk")}), '{"title": "Prepare \\\\"A talk\\\\""}'))
    True
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Phrase:
        """Return the words, as one text."""
        words = super().__new__(cls, " ".join(parts))
        words.parts = parts
        return words

    @property
    def pattern(self) -> str:
        """A regular expression for the words in JSON."""
        beside = r"[\s:.,!'\u2018\u2019\u201c\u201d\\\"\u2013-]*"
        parts = (literal(json.dumps(part, ensure_ascii=False)[1:-1]) for part in self.parts)
        return rf'"{beside}(?i:{beside.join(parts)}){beside}"(?=\s*[,}}])'


def shows(having: Sequence[Fields | str], lacking: Sequence[Fields | str] = ()) -> str:
    """Return a regular expression for a text that shows some JSON objects and does not show others.

    Args:
        having: Fields that some JSON object of the text has to have, or regular expressions that match.
        lacking: Fields that no JSON object may have, or regular expressions that must not match.
    """
    wanted = "".join(f"(?=.*{object_pattern(fields)})" for fields in having)
    unwanted = "".join(f"(?!.*{object_pattern(fields)})" for fields in lacking)
    return rf"(?s)\A{unwanted}{wanted}"


def object_pattern(fields: Fields | str) -> str:
    r"""Return a regular expression for a JSON object with all of these fields, in any order.

    Fields that stand behind a nested object are not found.

    >>> bool(re.search(object_pattern({"id": 3, "price": 2.5}), '{"price": 2.50, "id":3}'))
    True
    >>> bool(re.search(object_pattern({"id": 3}), '{"id": 31}'))
    False
    """
    if isinstance(fields, str):
        return fields
    return r"\{" + "".join(rf"(?=[^{{}}]*{_field(key, value)})" for key, value in fields.items())


def _field(key: str, value: Any) -> str:
    name = literal(json.dumps(key))
    if isinstance(value, Phrase):
        return rf"{name}:\s*{value.pattern}"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return rf"{name}:\s*{literal(json.dumps(value, ensure_ascii=False))}"
    whole, _, part = f"{value:.10f}".rstrip("0").partition(".")
    return rf"{name}:\s*{re.escape(whole)}" + (rf"\.{part}0*" if part else r"(?:\.0+)?") + r"(?![\d.])"

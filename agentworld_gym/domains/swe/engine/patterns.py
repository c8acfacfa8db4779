"""Patterns for files and their contents, which take linear time whatever an agent writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

import jsonschema_rs

MAX_PATTERN = 1_000
MAX_BRACES = 64
_SIZE = 1 << 20


class BadPattern(Exception):
    """The text is not a regular expression, or the expression is too large."""


class LinearPattern:
    r"""A regular expression without look-around and back references, which is searched for in linear time.

    Python's `re` may take exponential time. The engine behind `jsonschema-rs`, a dependency of the package, does not.

    >>> found = LinearPattern(r"def \w+\(")
    >>> found.matches("    def main():"), found.matches("default")
    (True, False)

    Raises:
        BadPattern: the text is not such an expression, or the expression is too large.
    """

    def __init__(self, text: str, ignore_case: bool = False) -> None:
        if len(text) > MAX_PATTERN:
            raise BadPattern(text)
        # The engine behind JSON Schema's `pattern` does not backtrack; it is used here for its own sake.
        options = jsonschema_rs.RegexOptions(size_limit=_SIZE, dfa_size_limit=_SIZE)
        try:
            self._validator = jsonschema_rs.validator_for(
                {"pattern": f"(?i){text}" if ignore_case else text}, offline=True, pattern_options=options
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise BadPattern(text) from error

    def matches(self, line: str) -> bool:
        """Return whether some part of a line matches."""
        try:
            return self._validator.is_valid(line)
        except (ValueError, UnicodeEncodeError):  # the line holds bytes that are not text
            return self._validator.is_valid(line.encode("utf-8", "replace").decode())


def glob_matches(pattern: str, path: str) -> bool:
    """Return whether a path matches a glob: `*` and `?` within a name, `**` across folders, `[a-z]`, `{a,b}`.

    >>> [glob_matches("src/**/*.py", p) for p in ("src/a.py", "src/x/y/b.py", "a.py")]
    [True, True, False]
    >>> glob_matches("*.{py,md}", "README.md")
    True
    """
    if len(pattern) > MAX_PATTERN:
        return False
    parts = tuple(path.split("/"))
    return any(_segments(tuple(option.split("/")), parts) for option in _options(pattern))


def _segments(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Match segments by dynamic programming over the prefixes of the path that the pattern so far can match."""
    reachable = [True] + [False] * len(parts)
    for segment in pattern:
        if segment == "**":
            first = reachable.index(True) if True in reachable else len(parts) + 1
            reachable = [at >= first for at in range(len(parts) + 1)]
        else:
            reachable = [False] + [
                before and fnmatchcase(part, segment) for before, part in zip(reachable, parts, strict=False)
            ]
    return reachable[-1]


@lru_cache(maxsize=256)
def _options(pattern: str) -> tuple[str, ...]:
    """Return the patterns that braces stand for."""
    pending, done = [pattern], list[str]()
    while pending:
        text = pending.pop()
        end = text.find("}")
        start = text.rfind("{", 0, end)
        if end < 0 or start < 0 or len(pending) + len(done) > MAX_BRACES:
            done.append(text)
            continue
        pending.extend(
            text[:start] + option + text[end + 1 :] for option in text[start + 1 : end].split(",")[:MAX_BRACES]
        )
    return tuple(done)


def ignored(path: str, rules: Iterable[str]) -> bool:
    """Return whether the lines of a `.gitignore` exclude a path; caches of Python are always excluded.

    >>> [ignored(p, ["*.log", "build/", "!keep.log"]) for p in ("a/x.log", "build/y.py", "keep.log", "a.py")]
    [True, True, False, False]
    """
    parts = path.split("/")
    if "__pycache__" in parts or ".pytest_cache" in parts:
        return True
    excluded = False
    for line in rules:
        rule = line.strip()
        if not rule or rule.startswith("#"):
            continue
        wanted = not rule.startswith("!")
        rule = rule.removeprefix("!")
        folders, rule = rule.endswith("/"), rule.rstrip("/")
        anchored, rule = "/" in rule, rule.removeprefix("/")
        for depth in range(1, len(parts) + 1 - folders):
            place = "/".join(parts[:depth]) if anchored else parts[depth - 1]
            if glob_matches(rule, place):
                excluded = wanted
                break
    return excluded

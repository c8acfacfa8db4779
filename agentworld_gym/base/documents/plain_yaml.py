"""Reads untrusted YAML as plain data of a bounded size, without objects or circles.

An alias costs a character and may stand for a whole document, so that a few lines can stand for more than any memory
holds. The data of a document is therefore counted before it is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from agentworld_gym.base.errors import SpecError

MAX_DEPTH = 64
"""How deep collections may nest."""

MAX_SIZE = 20_000_000
"""How many characters and values a document may have with its aliases written out."""

MAX_DIGITS = 4000
"""How many characters a whole number may have; Python does not write longer ones."""

SHORT = 50_000
"""How many characters a text may have at most for what it says to be kept for the next reader."""

MAX_VALUES = 2_000_000
"""How many values the state of a task may hold."""


def check_plain(value: Any) -> None:
    """Check that data is finite in every way, so that it can be written as JSON.

    >>> check_plain({"a": [1, 2.5, "x", None]})

    Raises:
        ValueError: It nests too deep, or within itself; or it holds too many values, or a number that is not finite.
    """
    level, count = [value], 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                raise ValueError(f"finite numbers, which {item} is not")
            if isinstance(item, Mapping):
                below += item.values()
            elif isinstance(item, list | tuple):
                below += item
        count += len(below)
        if count > MAX_VALUES:
            raise ValueError(f"at most {MAX_VALUES} values")
        if not below:
            return
        level = below
    raise ValueError(f"nested at most {MAX_DEPTH} deep, and never within itself")


class _Counting(Composer, SafeConstructor):
    """Composes and builds plain data from the events of a parser, and counts what it reads."""

    peek_event: Any
    check_event: Any

    def count(self) -> None:
        """Begin to count."""
        self._depth = 0
        self._sizes: dict[int, int] = {}
        self._kept: list[Any] = []

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node; its size is known once it is whole."""
        mark = self.peek_event().start_mark
        is_alias = self.check_event(yaml.AliasEvent)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(node, yaml.MappingNode) and not is_alias:
            _check_keys(node)
        if is_alias:
            if id(node) not in self._sizes:
                raise yaml.MarkedYAMLError(problem="an alias of what it stands in", problem_mark=mark)
        else:
            self._sizes[id(node)] = self._size(node)
            self._kept.append(node)  # The node is kept, so that no other one gets its id.
            if self._sizes[id(node)] > MAX_SIZE:
                problem = f"more than {MAX_SIZE} characters with its aliases written out"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return node

    def _size(self, node: Any) -> int:
        if isinstance(node, yaml.ScalarNode):
            return 1 + len(node.value)
        if isinstance(node, yaml.MappingNode):
            return 1 + sum(self._sizes[id(key)] + self._sizes[id(value)] for key, value in node.value)
        return 1 + sum(self._sizes[id(item)] for item in node.value)


def _check_keys(node: yaml.MappingNode) -> None:
    """Check that no key stands twice in a mapping, of which the loader would keep the last one without a word."""
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            continue
        if key.value in seen:
            raise yaml.MarkedYAMLError(problem=f"the key {key.value} stands there twice", problem_mark=key.start_mark)
        seen.add(key.value)


def _finite(loader: SafeConstructor, node: Any) -> float:
    """Read a number that JSON can hold."""
    value = float(loader.construct_yaml_float(node))
    if not math.isfinite(value):
        raise yaml.MarkedYAMLError(problem=f"{node.value} is no finite number", problem_mark=node.start_mark)
    return value


def _whole(loader: SafeConstructor, node: Any) -> int:
    """Read a whole number in any base."""
    if len(node.value) > MAX_DIGITS:
        problem = f"a number of more than {MAX_DIGITS} digits"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return int(loader.construct_yaml_int(node))


_Counting.add_constructor("tag:yaml.org,2002:float", _finite)  # type: ignore[type-var]
_Counting.add_constructor("tag:yaml.org,2002:int", _whole)  # type: ignore[type-var]


class _Loader(_Counting, yaml.SafeLoader):
    """Reads by the parser in Python, whose errors are the same everywhere."""

    def __init__(self, text: str) -> None:
        yaml.SafeLoader.__init__(self, text)
        self.count()


def _fast_loader() -> type[_Counting] | None:
    """Return what reads by the parser in C, several times as fast; PyYAML may be built without it."""
    parser: Any = getattr(getattr(yaml, "cyaml", None), "CParser", None)
    if parser is None:
        return None

    class FastLoader(_Counting, parser, Resolver):  # type: ignore[misc]
        def __init__(self, text: str) -> None:
            parser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)
            self.count()

    return FastLoader


_FAST = _fast_loader()
_READ_APART = re.compile(r"[\ufeff\t]|(?<![^\s\[{,])!(?![^\s\]},])")
"""What the two parsers do not read alike: a byte order mark, a tab, and a tag without a name."""


def load_yaml(text: str, file: str | Path) -> Any:
    r"""Read a text of YAML as plain data.

    >>> load_yaml("a: &x [1]\nb: *x", "notes.yaml")
    {'a': [1], 'b': [1]}
    >>> load_yaml("weight: .inf", "notes.yaml")
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: notes.yaml: line 1: got '.inf is no finite number', expected valid YAML

    Raises:
        SpecError: It is not YAML, too deep, too large, nests within itself, or holds a key twice: the error names file,
            line and problem.
    """
    try:
        return deepcopy(_parsed_before(text)) if len(text) <= SHORT else _parsed(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SpecError(file, f"line {line}", f"{chr(error.character)!r}: {error.reason}", "valid YAML") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "the whole file"
        raise SpecError(file, where, getattr(error, "problem", None) or str(error), "valid YAML") from error
    except (ValueError, LookupError, AttributeError, RecursionError) as error:
        # A day that does not exist, or a number of too many digits, is a ValueError; PyYAML reads a text with the tag
        # of a number, a truth value or a day without a look at it.
        raise SpecError(file, "the whole file", str(error), "valid YAML") from error


def _parsed(text: str) -> Any:
    # What the fast parser refuses, the other one judges, which has the better words for it too.
    if _FAST is not None and not _READ_APART.search(text):
        with suppress(yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
            return _read_by(_FAST, text)
    return _read_by(_Loader, text)


def _read_by(loader_class: Callable[[str], Any], text: str) -> Any:
    loader = loader_class(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


# Every environment reads the specs and tasks of its domain, which takes a hundred times as long as to copy them.
_parsed_before = lru_cache(maxsize=512)(_parsed)

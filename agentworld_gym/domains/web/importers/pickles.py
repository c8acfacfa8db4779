"""Pickles of other systems, read as plain data. Nothing in them is ever imported or called.

A pickle is a program for a small machine that may name any function and call it. Here its instructions are carried out
one by one: numbers, texts, lists and mappings come out as they are, a tuple or a set as a list, an object of the
packages in `OWN` as a `PickledRecord` of its fields, an array as its numbers. A pickle that names anything else is
refused.

A restricted `pickle.Unpickler` would not do: a pickle of eight bytes makes it ask for gigabytes (the index of a memo),
it counts neither instructions nor copies, and it stops at a set that holds a list.
"""

from __future__ import annotations

import gzip
import pickletools
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentworld_gym.base.errors import SpecError

LARGEST = 256 * 1024 * 1024
"""Bytes of one pickle, unpacked."""

MOST, COPIED, ARRAY = 10_000_000, 2**26, 2**20
"""Instructions of one pickle, entries and bytes that its calls may copy, and bytes of an array that is read."""

OWN = ("browsergym", "agentlab", "bgym")
"""Packages whose objects become records."""

INSTEAD = "steps of plain data; where BrowserGym runs, export them as JSON lines"

_KEYS = (str, int, float, bytes, type(None))
_CONSTANTS = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_MADE: Mapping[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": list,
    "EMPTY_SET": list,
    "EMPTY_DICT": dict,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_PLAIN_TYPE = re.compile(r"[<>|=]?[biufU][0-9]{1,4}")


Maker = Callable[[Sequence[Any]], Any]
"""Makes plain data of the arguments of a call."""


class PickledRecord(dict[str, Any]):
    """The fields of an object of another system; its class is not known here, and its code does not run."""

    def build(self, state: Any) -> None:
        """Take in the fields; where the class has slots they come as two mappings."""
        for part in state if isinstance(state, list) else (state,):
            if isinstance(part, Mapping):
                self.update({key: value for key, value in part.items() if isinstance(key, str)})


class _Type(PickledRecord):
    """A type of numbers: its name."""

    name = ""

    def build(self, state: Any) -> None:
        if isinstance(state, list) and len(state) > 1 and state[1] in ("<", ">", "|", "="):
            self.name = f"{state[1]}{self.name}"

    def read(self, data: Any) -> list[Any]:
        """The numbers in some bytes; none for objects."""
        if not isinstance(data, bytes | bytearray) or len(data) > ARRAY or not _PLAIN_TYPE.fullmatch(self.name):
            return []
        values: list[Any] = np.frombuffer(data, np.dtype(self.name)).tolist()
        return values


class _Array(PickledRecord):
    """An array: its numbers one after the other, as `values`."""

    def build(self, state: Any) -> None:
        if isinstance(state, list) and len(state) == 5 and isinstance(state[2], _Type):
            self["values"] = state[2].read(state[4])


class _Name(PickledRecord):
    """A function or class that a pickle names: what is made where it is called."""

    def __init__(self, maker: Maker) -> None:
        super().__init__()
        self.maker = maker


def _record(arguments: Sequence[Any]) -> PickledRecord:
    return PickledRecord()


def _type(arguments: Sequence[Any]) -> _Type:
    made = _Type()
    made.name = next((name for name in arguments[:1] if isinstance(name, str)), "")
    return made


def _array(arguments: Sequence[Any]) -> _Array:
    return _Array()


def _filled(arguments: Sequence[Any]) -> _Array:
    made = _array(arguments)
    if len(arguments) > 1 and isinstance(arguments[1], _Type):
        made["values"] = arguments[1].read(arguments[0])
    return made


def _number(arguments: Sequence[Any]) -> Any:
    found = arguments[0].read(arguments[1]) if len(arguments) == 2 and isinstance(arguments[0], _Type) else []
    return found[0] if len(found) == 1 else None


def _bytes(arguments: Sequence[Any]) -> bytes:
    # How pickles of protocol 2 and below write them.
    return b"".join(text.encode("latin-1", "replace") for text in arguments[:1] if isinstance(text, str))


def _path(arguments: Sequence[Any]) -> str:
    return "/".join(part for part in arguments if isinstance(part, str))


def _mapping(arguments: Sequence[Any]) -> dict[Any, Any]:
    return {}


def _list(arguments: Sequence[Any]) -> list[Any]:
    return [item for items in arguments[:1] if isinstance(items, list) for item in items]


def _nothing(arguments: Sequence[Any]) -> None:
    return None


KNOWN: Mapping[tuple[str, str], Maker] = {
    ("collections", "OrderedDict"): _mapping,
    ("collections", "defaultdict"): _mapping,
    ("builtins", "dict"): _mapping,
    ("builtins", "list"): _list,
    ("builtins", "set"): _list,
    ("builtins", "frozenset"): _list,
    ("__builtin__", "dict"): _mapping,
    ("__builtin__", "list"): _list,
    ("__builtin__", "set"): _list,
    ("__builtin__", "frozenset"): _list,
    ("pathlib", "Path"): _path,
    ("pathlib", "PosixPath"): _path,
    ("pathlib", "WindowsPath"): _path,
    ("datetime", "datetime"): _nothing,
    ("_codecs", "encode"): _bytes,
    ("numpy", "ndarray"): _array,
    ("numpy", "dtype"): _type,
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy._core.multiarray", "_reconstruct"): _array,
    ("numpy.core.numeric", "_frombuffer"): _filled,
    ("numpy._core.numeric", "_frombuffer"): _filled,
    ("numpy.core.multiarray", "scalar"): _number,
    ("numpy._core.multiarray", "scalar"): _number,
}
"""What is made where a pickle names a function or class and calls it."""


def read_pickle(path: Path) -> Any:
    """What a pickle holds, packed with gzip or not, as plain data.

    Raises:
        SpecError: the file cannot be read, is no pickle, is too large, or names code that no record of steps needs.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as source:
            data = source.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SpecError(path, "file", str(error), "a readable file") from error
    if len(data) > LARGEST:
        raise SpecError(path, "file", f"more than {LARGEST} bytes", INSTEAD)
    try:
        return plain(data)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise SpecError(path, "pickle", str(error), INSTEAD) from error


def plain(data: bytes) -> Any:
    """The plain data in a pickle.

    >>> import pickle
    >>> plain(pickle.dumps({"a": [1, (2.5, None)], "b": {"c"}}))
    {'a': [1, [2.5, None]], 'b': ['c']}

    Raises:
        ValueError, TypeError, LookupError, OverflowError: it is broken, or names code.
    """
    machine = _Machine()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "STOP":
            break
        machine.do(opcode.name, argument)
    return machine.stack.pop()


class _Machine:
    """A stack, the stacks below its marks, and the objects to come back to."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.done = self.copied = 0

    def do(self, name: str, argument: Any) -> None:
        """Carry out one instruction."""
        self.done += 1
        if self.done > MOST:
            raise ValueError(f"it has more than {MOST} instructions")
        stack = self.stack
        if name in _CONSTANTS:
            stack.append(argument)
        elif name in _MADE:
            stack.append(_MADE[name]())
        elif name in ("BINGET", "GET", "LONG_BINGET"):
            stack.append(self.memo[int(argument)])
        elif name in ("MEMOIZE", "BINPUT", "PUT", "LONG_BINPUT"):
            self.memo[len(self.memo) if argument is None else int(argument)] = stack[-1]
        elif name == "MARK":
            self.marked.append(stack)
            self.stack = []
        elif name in ("APPEND", "APPENDS", "ADDITEMS"):
            items = [stack.pop()] if name == "APPEND" else self._since_mark()
            if isinstance(self.stack[-1], list):
                self.stack[-1].extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = [stack.pop(-2), stack.pop()] if name == "SETITEM" else self._since_mark()
            _set(self.stack[-1], items)
        elif name in ("TUPLE", "LIST", "FROZENSET"):
            items = self._since_mark()
            self.stack.append(items)
        elif name in _TUPLES:
            count = _TUPLES[name]
            stack[len(stack) - count :] = [stack[len(stack) - count :]]
        elif name == "DICT":
            items = self._since_mark()
            self.stack.append({})
            _set(self.stack[-1], items)
        elif name == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], PickledRecord):
                self._copies(state)
                stack[-1].build(state)
        elif name in ("POP", "POP_MARK"):
            if name == "POP" and stack:
                stack.pop()
            else:
                self._since_mark()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name not in ("PROTO", "FRAME"):
            self._name_or_make(name, argument)

    def _name_or_make(self, name: str, argument: Any) -> None:
        """Instructions that name code, or call it."""
        if name == "GLOBAL":
            self.stack.append(_named(*argument.split(" ", 1)))
        elif name == "STACK_GLOBAL":
            inner, module = self.stack.pop(), self.stack.pop()
            self.stack.append(_named(module, inner))
        elif name in ("REDUCE", "NEWOBJ", "NEWOBJ_EX"):
            if name == "NEWOBJ_EX":
                self.stack.pop()
            arguments, maker = self.stack.pop(), self.stack.pop()
            self.stack.append(self._made(maker, arguments))
        elif name in ("OBJ", "INST"):
            arguments = self._since_mark()
            maker = _named(*argument.split(" ", 1)) if name == "INST" else arguments.pop(0)
            self.stack.append(self._made(maker, arguments))
        else:
            raise ValueError(f"it holds the instruction {name}")

    def _made(self, maker: Any, arguments: Any) -> Any:
        if not isinstance(maker, _Name) or not isinstance(arguments, list):
            raise TypeError("it calls what is no name")
        self._copies(arguments)
        return maker.maker(arguments)

    def _copies(self, value: Any) -> None:
        """Count what a call copies: a small pickle may hand the same large text to many calls."""
        parts = value if isinstance(value, list) else [value]
        self.copied += len(parts) + sum(len(part) for part in parts if isinstance(part, str | bytes | list | dict))
        if self.copied > COPIED:
            raise ValueError(f"its calls copy more than {COPIED} bytes")

    def _since_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.marked.pop()
        return items


def _named(module: Any, name: Any) -> _Name:
    """What stands for a name in a pickle."""
    if not isinstance(module, str) or not isinstance(name, str):
        raise TypeError("it names code by what is no text")
    if module.split(".")[0] in OWN:
        return _Name(_record)
    if (module, name) not in KNOWN:
        raise ValueError(f"it names {module}.{name}")
    return _Name(KNOWN[module, name])


def _set(target: Any, items: Sequence[Any]) -> None:
    """Put keys and values, which stand by turns, into a mapping; a key that is not plain has no place in one."""
    if isinstance(target, dict):
        target.update(
            {key: value for key, value in zip(items[::2], items[1::2], strict=True) if isinstance(key, _KEYS)}
        )

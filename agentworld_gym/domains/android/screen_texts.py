"""Reads the screens of phones in all their dialects; the text of a screen tells its dialect.

Screens of DroidRun and DroidBot are written in the lines of AndroidWorld, too, as far as they tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from agentworld_gym.core.screens.node import Box, ScreenNode

_HEADING = "**Current Phone State:**"
_TREE = "Accessibility Tree:"
_LIST = "Current Clickable UI elements"


def dialect_of(observation: str) -> str:
    """Return the name of the dialect in which a screen is written.

    >>> dialect_of('[ 0] | android.widget.Button | bounds=[0,0][9,9]')
    'androidworld'
    """
    if not observation.lstrip().startswith(_HEADING):
        return "androidworld"
    return "droidbot" if f"\n{_TREE}" in observation else "droidrun"


def head_of(observation: str) -> int:
    """Return the number of lines before the first element, which describe the phone as a whole."""
    dialect = dialect_of(observation)
    if dialect == "androidworld":
        return 0
    last = _TREE if dialect == "droidbot" else _LIST
    lines = observation.split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.startswith(last)), len(lines))


QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
"""A regular expression for a text in quotes, with what is between them as its group."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


def plain(quoted: str) -> str:
    """Return a text without its escapes.

    >>> plain('one\\\\ntwo'), plain('say \\\\"hi\\\\"')
    ('one\\ntwo', 'say "hi"')
    """
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted)


def box(left: str | None, top: str | None, right: str | None, bottom: str | None) -> Box:
    """Return the rectangle between two corners; one that is inside out has no size."""
    x, y, end, foot = (int(corner or 0) for corner in (left, top, right, bottom))
    return Box(x, y, max(end - x, 0), max(foot - y, 0))


_NAMES = ("text", "hint", "desc", "res")
_ANDROIDWORLD_HEAD = r"\s*\[ *(\d{1,6})\] \| ([^\s|]+) \| "
_ANDROIDWORLD_TAIL = (
    r"bounds=\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\](?: \| ([a-z_]+(?:[, ]+[a-z_]+)*))?\s*"
)
_ATTRIBUTES = " ?".join(f"(?:{name}={QUOTED})?" for name in _NAMES)
_ANDROIDWORLD_LINE = re.compile(rf"{_ANDROIDWORLD_HEAD}(?:{_ATTRIBUTES} \| )?{_ANDROIDWORLD_TAIL}")
_START, _END = re.compile(_ANDROIDWORLD_HEAD), re.compile(_ANDROIDWORLD_TAIL)
_DIVIDER = re.compile("[, ]+")


def read_androidworld(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Read the screens of AndroidWorld: lines of index, class, attributes, bounds and flags, divided by bars.

    Yield one node for each line, given with its number; lines that are no element are passed over.
    """
    for number, line in lines:
        match = _ANDROIDWORLD_LINE.fullmatch(line)
        parts = match.groups() if match is not None else _loose(line)
        if parts is None:
            continue
        index, kind, text, hint, description, resource, *corners, flags = parts
        attributes = tuple(_DIVIDER.split(flags)) if flags else ()
        if hint:
            attributes = (*attributes, f"hint={plain(hint)}")
        if resource:
            attributes = (*attributes, f"res={plain(resource)}")
        text, about = plain(text or ""), plain(description or hint or "")
        role = (kind or "").rpartition(".")[2]
        yield ScreenNode(role, text, text, about, int(index or 0), box(*corners), attributes, 0, number)


def _loose(line: str) -> tuple[str | None, ...] | None:
    """Return what `_ANDROIDWORLD_LINE` finds, also where quotes were not escaped; None for other lines.

    The line is cut from the right, which takes linear time whatever a model repeats.
    """
    before, bounds, rest = line.rpartition("bounds=")
    start, end = _START.match(before), _END.fullmatch(bounds + rest)
    if start is None or end is None:
        return None
    rest = " " + before[start.end() :].removesuffix(" | ")
    values: dict[str, str] = {}
    for name in reversed(_NAMES):
        before, found, value = rest.rpartition(f' {name}="')
        if found and value.endswith('"'):
            values[name], rest = value[:-1], before
    return None if rest.strip() else (*start.groups(), *map(values.get, _NAMES), *end.groups())


_DROIDRUN_HEAD = re.compile(r'\s*(\d{1,6})\. ([^\s:]+): "')
_DROIDRUN_TAIL = re.compile(r'" - \((-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6})\)\s*')
_BUTTONS = dict.fromkeys(("Button", "CheckBox", "ImageButton", "RadioButton", "Switch"), ("clickable",))
_TOLD = {**_BUTTONS, "EditText": ("clickable", "editable")}
"""The flags that the class of an element tells, since its line holds none."""

_RESOURCE = re.compile(r"[\w.]+:id/\w+")


def read_droidrun(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Read the screens of DroidRun: lines of index, class, id and text in quotes, and bounds.

    Yield one node for each line, given with its number; lines that are no element are passed over.

    A text may be the text or the description of an element. One that is the name of the class stands for neither.
    """
    for number, line in lines:
        start = _DROIDRUN_HEAD.match(line)
        place = line.rfind('" - (')
        end = _DROIDRUN_TAIL.fullmatch(line, place) if start is not None and place >= start.end() else None
        if start is None or end is None:
            continue
        index, role = start.groups()
        named = line[start.end() : place]
        first, _, second = named.partition('", "')
        has_id = _RESOURCE.fullmatch(first) is not None
        text = plain(second if has_id else named if named != role else "")
        flags = (*_TOLD.get(role, ()), *((f"res={first}",) if has_id else ()))
        yield ScreenNode(role, text, text, "", int(index), box(*end.groups()), flags, 0, number)


_STEP = 2
"""The number of blanks by which an element is indented below the one around it."""

_DROIDBOT_HEAD = re.compile(r"( *)- ([^\s\"]+)")
_DROIDBOT_TAIL = re.compile(r"(?: flags=([a-z_,]+))? bounds=(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6})\s*")


def read_droidbot(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Read the screens of DroidBot: a tree of lines of class, id, text, flags and bounds.

    Yield one node for each line, given with its number; lines that are no element are passed over.

    Actions name no index here. The handle of a node is its place in the tree, counted from 0.
    """
    place = 0
    for number, line in lines:
        start = _DROIDBOT_HEAD.match(line)
        bounds = line.rfind(" bounds=")
        flags = line.rfind(" flags=", 0, bounds)
        # A text may hold what looks like flags, which then do not reach up to the bounds.
        ends = (_DROIDBOT_TAIL.fullmatch(line, at) for at in (flags, bounds) if start is not None and at >= start.end())
        end = next(filter(None, ends), None)
        if start is None or end is None:
            continue
        named = line[start.end() : end.start()]
        resource, _, text = named.partition(' text="') if ' text="' in named else (named, "", "")
        resource = resource.removeprefix(' id="').removesuffix('"')
        attributes = tuple(end[1].split(",")) if end[1] else ()
        if resource:
            attributes = (*attributes, f"res={resource}")
        text = plain(text.removesuffix('"'))
        depth = max(len(start[1]) // _STEP - 1, 0)
        yield ScreenNode(start[2], text, text, "", place, box(*end.groups()[1:]), attributes, depth, number)
        place += 1


_READERS: Mapping[str, Callable[[Iterator[tuple[int, str]]], Iterator[ScreenNode]]] = {
    "androidworld": read_androidworld,
    "droidrun": read_droidrun,
    "droidbot": read_droidbot,
}


def read(observation: str) -> list[ScreenNode]:
    """Return one node for each element; lines that are no element are passed over."""
    lines = enumerate(observation.split("\n"))
    head = head_of(observation)
    return list(_READERS[dialect_of(observation)](line for line in lines if line[0] >= head))


_PACKAGES = {"RecyclerView": "androidx.recyclerview.widget", "ViewGroup": "android.view"}
_DESCRIBED = frozenset(("FrameLayout", "ImageButton", "ImageView", "ProgressBar", "Switch", "ViewGroup"))
"""The classes whose elements have a description and no text."""

_EITHER = " | android.widget.CheckBox | "
"""A class whose elements have a text or a description alone."""

_FLAGS = ("clickable", "long_clickable", "scrollable", "focused", "checked", "selected", "editable")
_TO_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": " "})


def in_androidworld(screen: str) -> str:
    """Write a screen in the lines of AndroidWorld; a text without a screen of another dialect stays as it is.

    What DroidRun and DroidBot show of an element is its text, or else its description. It is taken for that which
    elements of its class have, and a description beside a text is lost. DroidRun shows no flags.

    >>> tree = 'Accessibility Tree:\\n  - Switch text="Dark theme" flags=clickable,checkable,checked bounds=0,0,9,9'
    >>> in_androidworld(f"**Current Phone State:**\\n{tree}")
    '[ 0] | android.widget.Switch | desc="Dark theme" | bounds=[0,0][9,9] | clickable, checked'
    """
    if dialect_of(screen) == "androidworld":
        return screen
    return "\n".join(map(_line, read(screen)))


def readings(screen: str) -> tuple[str, ...]:
    """Return what a translated screen may be in AndroidWorld's lines: a checkbox has a text, or a description.

    >>> for reading in readings('[ 0] | android.widget.CheckBox | text="Tea" | bounds=[0,0][9,9]'):
    ...     print(reading)
    [ 0] | android.widget.CheckBox | text="Tea" | bounds=[0,0][9,9]
    [ 0] | android.widget.CheckBox | desc="Tea" | bounds=[0,0][9,9]
    """
    other = "\n".join(
        line.replace(f'{_EITHER}text="', f'{_EITHER}desc="', 1) if _EITHER in line else line
        for line in screen.split("\n")
    )
    return (screen,) if other == screen else (screen, other)


def _line(node: ScreenNode) -> str:
    name = f"{_PACKAGES.get(node.role, 'android.widget')}.{node.role}"
    shown = node.text.translate(_TO_ESCAPES)
    parts = [f'{"desc" if node.role in _DESCRIBED else "text"}="{shown}"'] if shown else []
    parts += [f'res="{flag.removeprefix("res=")}"' for flag in node.flags if flag.startswith("res=")]
    attributes = f"{' '.join(parts)} | " if parts else ""
    assert node.box is not None
    x, y = node.box.x, node.box.y
    bounds = f"bounds=[{x},{y}][{x + node.box.width},{y + node.box.height}]"
    told = ", ".join(flag for flag in _FLAGS if flag in node.flags)
    return f"[{node.handle:2}] | {name} | {attributes}{bounds}{f' | {told}' if told else ''}"

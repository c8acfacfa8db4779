"""Screens as `uiautomator dump` writes them, in XML, as the lines of the domain's first dialect.

Apps decide what stands in a dump, so that its XML is read without entities, and its names and numbers are checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple
from xml.parsers import expat

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.android.actions.gestures import HEIGHT, WIDTH, Point
from agentworld_gym.domains.android.engine.dialects import write_androidworld
from agentworld_gym.domains.android.engine.elements import DisplayElement
from agentworld_gym.kit.gui import Widget
from agentworld_gym.kit.gui.text_field import Field

BLANK = "The screen shows no elements."
"""What is shown of a screen that tells nothing of itself, as those of games."""

_MOST_NODES = 20_000
_BEGINS = re.compile(r"<\?xml|<hierarchy")
_BOUNDS = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]")
_CLASS = re.compile(r"[A-Za-z][\w.$]{0,199}")
_PACKAGE = re.compile(r"[A-Za-z][\w.]{0,199}")
_FIELD = re.compile(r"(?:EditText|AutoCompleteTextView)\Z")
_REFERENCES = re.compile(r"&#(5[56]\d{3});&#(5[67]\d{3});|&#(\d{1,7});")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_FLAGS = ("clickable", "long-clickable", "scrollable", "focused", "checked", "selected")
"""The attributes of a dump that are flags of an element, with `_` for the hyphen."""

Box = tuple[int, int, int, int]
"""The left, upper, right and lower edge."""


class PhoneElement(NamedTuple):
    """One element of a screen."""

    role: str
    """Its class."""

    text: str
    """What it shows."""

    description: str
    """What it says to a screen reader, or the hint of a field."""

    flags: tuple[str, ...]
    """Its flags, as the domain calls them."""

    box: Box
    """Where it is, in pixels of the phone."""

    @property
    def is_field(self) -> bool:
        """Whether it takes text."""
        return "editable" in self.flags

    @property
    def middle(self) -> Point:
        """The pixel in its middle."""
        left, top, right, bottom = self.box
        return (left + right) // 2, (top + bottom) // 2


class PhoneDump:
    """One screen of a phone.

    Listed are the elements that AndroidWorld lists, the leaves of the tree and those that scroll or have a description,
    and all others that show a text or take touches. Bounds are told on 1080 by 2400 pixels, whatever the phone has.

    Args:
        xml: What `uiautomator dump` wrote.
        size: The width and the height of the phone in pixels, when it stands upright.

    Raises:
        EngineError: It is no dump.

    >>> node = '<node class="android.widget.Button" text="Save" clickable="true" bounds="[0,0][720,160]" />'
    >>> print(PhoneDump(f'<hierarchy rotation="0">{node}</hierarchy>', (720, 1600)).text)
    [ 0] | android.widget.Button | text="Save" | bounds=[0,0][1080,240] | clickable
    """

    def __init__(self, xml: str, size: tuple[int, int]) -> None:
        nodes = _Reader(xml)
        self.size = size if nodes.rotation not in ("1", "3") else (size[1], size[0])
        """The width and the height of the screen in pixels, as it is turned."""
        self.package = nodes.package
        """The package of the app in front; empty where none tells."""
        read = (_element(one, leaf, self.size) for one, leaf in zip(nodes.attributes, nodes.leaves, strict=True))
        self.elements = [element for element in read if element is not None]
        """The elements, in the order of their indices."""

    @cached_property
    def text(self) -> str:
        """The screen, one element a line."""
        _, lines = write_androidworld(None, [self._shown(element) for element in self.elements])  # type: ignore[arg-type]
        return "\n".join(lines) or BLANK

    def _shown(self, element: PhoneElement) -> DisplayElement:
        role, text, description, flags, (left, top, right, bottom) = element
        widget = Widget(role, text=text, description=description, flags=flags)
        widget.field = Field() if element.is_field else None
        (across, down), (width, height) = (WIDTH, HEIGHT), self.size
        corners = (left * across // width, top * down // height, right * across // width, bottom * down // height)
        return DisplayElement(widget, *corners)

    @property
    def focused(self) -> PhoneElement | None:
        """The text field that has the focus; None where none has it."""
        return next((one for one in self.elements if one.is_field and "focused" in one.flags), None)

    def pixel(self, x: int, y: int) -> Point:
        """Return the pixel of the phone behind a point on 1080 by 2400 pixels."""
        width, height = self.size
        return (2 * x + 1) * width // (2 * WIDTH), (2 * y + 1) * height // (2 * HEIGHT)


class _Reader:
    """The nodes of a dump, in the order of the tree."""

    def __init__(self, xml: str) -> None:
        self.rotation = self.package = ""
        self.attributes: list[Mapping[str, str]] = []
        self.leaves: list[bool] = []
        self._open: list[int] = []
        begins = _BEGINS.search(xml)
        if begins is None:
            raise EngineError(f"uiautomator dumps no XML: {xml.strip()[:300]!r}")
        parser = expat.ParserCreate("utf-8")
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        try:
            parser.Parse(_REFERENCES.sub(_character, xml[begins.start() :]).encode("utf-8", "replace"), True)
        except expat.ExpatError as error:
            raise EngineError(f"uiautomator dumps what is no XML: {error}") from error

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "hierarchy":
            self.rotation = attributes.get("rotation", "")
        if name != "node":
            return
        if len(self.attributes) == _MOST_NODES:
            raise EngineError(f"the screen has more than {_MOST_NODES} elements")
        package = attributes.get("package", "")
        if not self.package and _PACKAGE.fullmatch(package):
            self.package = package
        if self._open:
            self.leaves[self._open[-1]] = False
        self._open.append(len(self.attributes))
        self.attributes.append(attributes)
        self.leaves.append(True)

    def _end(self, name: str) -> None:
        if name == "node":
            self._open.pop()


def _refuse(*_: object) -> None:
    raise EngineError("uiautomator dumps XML with a document type; such a dump is not read")


def _character(found: re.Match[str]) -> str:
    """Return what stands for a reference to a character: old dumps write one beyond 65,535 as two halves."""
    high, low, other = found.groups()
    if other is None:
        code = 0x10000 + ((int(high) - 0xD800) << 10) + int(low) - 0xDC00
        return chr(code) if 0xD800 <= int(high) < 0xDC00 <= int(low) < 0xE000 else "\N{REPLACEMENT CHARACTER}"
    code = int(other)
    known = code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
    return found[0] if known else "\N{REPLACEMENT CHARACTER}"


def _element(attributes: Mapping[str, str], leaf: bool, size: tuple[int, int]) -> PhoneElement | None:
    """Return the element of a node; None where it is not listed."""
    bounds = _BOUNDS.fullmatch(attributes.get("bounds", ""))
    if bounds is None:
        return None
    left, top, right, bottom = map(int, bounds.groups())
    box = (max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1]))
    if box[0] >= box[2] or box[1] >= box[3]:
        return None
    role = attributes.get("class", "")
    role = role if _CLASS.fullmatch(role) else "android.view.View"
    text, description, hint = (_CONTROL.sub(" ", attributes.get(key, "")) for key in ("text", "content-desc", "hint"))
    on = {name for name in _FLAGS if attributes.get(name) == "true"}
    if attributes.get("enabled") == "false":
        on -= {"clickable", "long-clickable"}
    if not (leaf or text or description or on & {"clickable", "long-clickable", "scrollable"}):
        return None
    flags = [name.replace("-", "_") for name in _FLAGS if name in on]
    if _FIELD.search(role):
        flags.append("editable")
        description = hint or description
        text = "" if text == description else text  # An empty field tells its hint as its text.
    return PhoneElement(role, text, description, tuple(flags), box)

"""Locators name an element of the screen by what it is called, instead of a reference, an index or a point.

`@{button 'Add to cart'}` is the first button of that name, text or description; `@{'Add to cart'}` is the first element
of any role, and `@{button}` the first button. `~'part'` matches a part of a name, and `''` is a quote in one.
` after role 'name'`, which may be repeated, asks for what follows another element. A number at the end picks the second
match, the third, and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.screens.node import ScreenNode

START = "@{"
SYNTAX = "@{role 'name'}, @{'name'}, @{role} or @{~'part'}, then any ` after role 'name'`, then a number"
_CACHED = 8192
_PATTERN = r"(?:(?P<role>[A-Za-z][\w-]*)(?: (?P<part>~?)'(?P<name>(?:[^']|'')*)')?|(?P<only>~?)'(?P<any>(?:[^']|'')*)')"
_TARGET = re.compile(_PATTERN)
_NUMBER = re.compile(r" ([1-9]\d{0,2})\}")


class NotOnScreen(AgentWorldError):
    """An action names an element that is not on the screen."""


@dataclass(frozen=True, slots=True)
class ElementPattern:
    """What one element must be; a part that is None admits everything."""

    role: str | None
    name: str | None
    part: bool = False

    def matches(self, node: ScreenNode) -> bool:
        """Whether a node fits."""
        if self.role is not None and self.role != node.role:
            return False
        if self.name is None:
            return True
        if self.part:
            return self.name in node.name or self.name in node.text or self.name in node.description
        if not self.name:
            return not node.label
        return self.name in (node.name, node.text, node.description)


@dataclass(frozen=True, slots=True)
class Locator:
    """The pattern of an element, those of the elements that it follows (the nearest one first), and its number from
    1."""

    pattern: ElementPattern
    after: tuple[ElementPattern, ...] = ()
    number: int = 1

    def find(self, nodes: Sequence[ScreenNode]) -> ScreenNode | None:
        """Return the element, if it is on the screen and an action can name it; else None."""
        start = 0
        for anchor in reversed(self.after):
            place = next((i for i in range(start, len(nodes)) if anchor.matches(nodes[i])), None)
            if place is None:
                return None
            start = place + 1
        left = self.number
        for node in nodes[start:]:
            if self.pattern.matches(node) and node.target is not None:
                left -= 1
                if not left:
                    return node
        return None


def has_locator(action: str) -> bool:
    """Whether an action of a graphical domain names an element by a locator."""
    return START in action


def has_whole_locator(action: str) -> bool:
    """Whether an action of a graphical domain holds locators and none of them is broken.

    >>> has_whole_locator("click('@{button 'Buy'}')"), has_whole_locator("git stash drop stash@{0}")
    (True, False)
    """
    try:
        return START in action and len(compiled(action)) > 1
    except ValueError:
        return False


def resolve(action: str, nodes: Sequence[ScreenNode]) -> str:
    """Replace every locator by what names its element.

    Args:
        action: An action of a graphical domain, with any number of locators.
        nodes: The elements of the screen.

    Raises:
        NotOnScreen: An element is not on the screen.
        ValueError: A locator is broken; tasks are tested for that when they are loaded.

    >>> buttons = [ScreenNode("button", "Buy", handle=f"e{n}") for n in (2, 3)]
    >>> nodes = [ScreenNode("heading", "Tea", handle="e1"), *buttons]
    >>> resolve("click('@{button 'Buy' after heading 'Tea' 2}')", nodes)
    "click('e3')"
    >>> resolve("click('@{link}')", nodes)
    Traceback (most recent call last):
    agentworld_gym.core.screens.locate.NotOnScreen: not on the screen: click('@{link}')
    """
    resolved = resolve_if_shown(action, nodes)
    if resolved is None:
        raise NotOnScreen(f"not on the screen: {action}")
    return resolved


def resolve_if_shown(action: str, nodes: Sequence[ScreenNode]) -> str | None:
    """Replace every locator as `resolve` does; None if an element is not on the screen.

    Raises:
        ValueError: A locator is broken.
    """
    if START not in action:
        return action
    pieces = []
    for piece in compiled(action):
        if isinstance(piece, Locator):
            node = piece.find(nodes)
            if node is None or node.target is None:
                return None
            piece = node.target
        pieces.append(piece)
    return "".join(pieces)


def put_in(action: str, target: str) -> str:
    """Return an action with a target instead of every locator, to see whether it can be read.

    >>> put_in("pyautogui.click(@{push-button 'Save'})", "1, 1")
    'pyautogui.click(1, 1)'
    """
    if START not in action:
        return action
    return "".join([target if isinstance(piece, Locator) else piece for piece in compiled(action)])


@lru_cache(maxsize=_CACHED)
def compiled(action: str) -> tuple[str | Locator, ...]:
    """Return the pieces of an action: texts, and locators between them.

    Raises:
        ValueError: A locator is broken.
    """
    return tuple(_pieces(action))


def _pieces(action: str) -> Iterator[str | Locator]:
    # A name inside a JSON string is escaped like the rest of the string.
    escaped = action.lstrip().startswith("{")
    place = 0
    while (start := action.find(START, place)) >= 0:
        yield action[place:start]
        locator, place = _locator(action, start + len(START), escaped)
        yield locator
    yield action[place:]


def _locator(action: str, place: int, escaped: bool) -> tuple[Locator, int]:
    """Read the locator that starts at a place; returns it and the place behind it."""
    begin, patterns = place, []
    while True:
        match = _TARGET.match(action, place)
        if match is None:
            raise ValueError(f"a locator such as {SYNTAX} (it starts {action[begin - len(START) : begin + 30]!r})")
        patterns.append(_pattern(match, escaped))
        place = match.end()
        if not action.startswith(" after ", place):
            break
        place += len(" after ")
    number = 1
    if counted := _NUMBER.match(action, place):
        number, place = int(counted[1]), counted.end() - 1
    if not action.startswith("}", place):
        raise ValueError(f"a locator such as {SYNTAX} (it starts {action[begin - len(START) : begin + 30]!r})")
    return Locator(patterns[0], tuple(patterns[1:]), number), place + 1


def _pattern(found: re.Match[str], escaped: bool) -> ElementPattern:
    name = found["name"] if found["role"] is not None else found["any"]
    if name is not None:
        name = name.replace("''", "'")
        if escaped and "\\" in name:
            try:
                name = json.loads(f'"{name}"')
            except ValueError:
                raise ValueError(f"a name with the escapes of JSON ({name!r})") from None
    return ElementPattern(found["role"], name, bool(found["part"] or found["only"]))

"""The screens of the web: pages as the tools of a browser show them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.core.screens.node import Box, ScreenNode
from agentworld_gym.core.screens.observations import Translation
from agentworld_gym.core.screens.place import Place
from agentworld_gym.core.screens.screen import Screen
from agentworld_gym.core.screens.sight import LOOK
from agentworld_gym.domains.web import screen_texts as web
from agentworld_gym.domains.web.bid_trees import as_snapshot
from agentworld_gym.domains.web.screen_texts import QUIET_TOOLS

LONGEST_REFERENCE = 12
"""The most characters of a text that may be a reference."""


REFERENCES = ("ref", "startRef", "endRef")
"""The arguments that are references."""


class WebScreen(Screen):
    """Pages: snapshots of the accessibility tree, whose elements have references."""

    stand_in = "e1"
    example = "click('@{button 'Save'}')"
    look_tool = LOOK
    frame = (1280, 1200)
    gestures = ("click", "double click", "hover")
    keys = MappingProxyType(
        {
            "Look": "browser_snapshot()",
            "Back": "browser_navigate_back()",
            "Enter": 'browser_press_key(key="Enter")',
            "Escape": 'browser_press_key(key="Escape")',
            "Tab": 'browser_press_key(key="Tab")',
        }
    )

    def read(self, observation: str) -> list[ScreenNode]:
        """Return the elements of the snapshot."""
        return web.read(observation)

    def targets(self, parsed: Any) -> Iterator[str | tuple[int, int]]:
        """Yield every short text in the arguments of a call, each of which may be a reference."""
        if isinstance(parsed, dict):
            yield from _texts(parsed.get("arguments"))

    def handles(self, parsed: Any) -> Iterator[str]:
        """Yield the references in the arguments of a call."""
        if isinstance(parsed, dict):
            yield from _references(parsed.get("arguments"))

    def is_readable(self, observation: str) -> bool:
        """Whether every item of the snapshot is an element, a property or a text, and its fence is closed."""
        _, start, rest = observation.partition("```yaml\n")
        if not start:
            return True
        body, end, after = rest.partition("\n```")
        items = [line for line in body.split("\n") if line.strip()]
        if not end or (after.strip() and not after.lstrip().startswith("### ")):
            return False
        if not all(line.lstrip(" ").startswith("- ") for line in items):
            return False
        properties = sum(line.lstrip(" ").startswith("- /") for line in items)
        return len(self.read(observation)) + properties >= len(items)

    def draw(self, observation: str, scale: float) -> NDArray[np.uint8]:
        """Draw a page, 1280 by 800 pixels or longer; see `Screen.draw`."""
        from agentworld_gym.domains.web.picture.page import draw

        return draw(self.read(observation), observation).pixels(scale)

    def places(self, observation: str) -> list[Place]:
        """Return the elements where the page is drawn, and the buttons of the browser's own dialog."""
        from agentworld_gym.domains.web.picture.page import FIELDS, draw

        nodes = self.read(observation)
        canvas = draw(nodes, observation)
        if canvas.dialog_buttons:
            return [_dialog_button(*button) for button in canvas.dialog_buttons.items()]
        chosen = _options(nodes)
        return [
            Place(box, node, node.role in FIELDS, chosen.get(node, ()))
            for node, box in sorted(canvas.places.items(), key=lambda item: item[0].line)
        ]

    def gesture(self, name: str, place: Place | None, x: int, y: int) -> str | None:
        """Return the call for the element at the point; there is none where a page shows nothing."""
        if place is None or place.action is not None:
            return None if place is None else place.action
        tool = "browser_hover" if name == "hover" else "browser_click"
        return _call(tool, ref=str(place.node.handle), **({"doubleClick": True} if name == "double click" else {}))

    def write(self, place: Place | None, text: str) -> str | None:
        """Return the call that fills a field, or chooses an option."""
        if place is None or place.node.handle is None:
            return None
        if place.options:
            return _call("browser_select_option", ref=str(place.node.handle), values=[text])
        return _call("browser_type", ref=str(place.node.handle), text=text)

    def draw_as_text(self, observation: str, width: int) -> str:
        """Draw a page with characters."""
        from agentworld_gym.domains.web.picture.text import page

        return page(self.read(observation), observation, width)

    def is_blank(self, observation: str) -> bool:
        """Whether a page is shown that has nothing on it."""
        return web.is_page(observation)

    def without_report(self, observation: str) -> str:
        """Return the part that shows the page."""
        return web.page_of(observation)

    def identity(self, observation: str) -> Sequence[str]:
        """Return the address and the title."""
        return web.location(observation)


def _dialog_button(name: str, box: Box) -> Place:
    accepts = name == "OK"
    return Place(box, ScreenNode("button", name), action=_call("browser_handle_dialog", accept=accepts))


def _options(nodes: Sequence[ScreenNode]) -> dict[ScreenNode, tuple[str, ...]]:
    """Return what can be chosen in each list that opens."""
    found: dict[ScreenNode, tuple[str, ...]] = {}
    for start, node in enumerate(nodes):
        if node.role == "combobox":
            end = start + 1
            while end < len(nodes) and nodes[end].depth > node.depth:
                end += 1
            found[node] = tuple(other.name for other in nodes[start:end] if other.role == "option")
    return found


def _call(tool: str, **arguments: Any) -> str:
    """Write a call as Playwright's tools are called."""
    written = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({written})"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) <= LONGEST_REFERENCE:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and key in REFERENCES:
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _readings(translated: str, call: Any) -> tuple[str, ...]:
    is_quiet = isinstance(call, Mapping) and call.get("name") in QUIET_TOOLS
    return () if is_quiet or not translated.startswith("### ") else (translated,)


BROWSERGYM = Translation(
    lambda shown, _: as_snapshot(shown),
    re.compile(r"/url|/placeholder|level=|cursor=|\bgeneric\b|Playwright code|Console|Events|Open tabs|Result"),
    _readings,
)
"""The dialect of BrowserGym."""

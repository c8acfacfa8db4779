"""The Playwright code that calls stand for, and what the answer to a call repeats of it where all goes well."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.accessibility.locators import locator
from agentworld_gym.domains.web.engine.browser import keyboard
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.strings import quoted, single_quoted

Arguments = Mapping[str, Any]


def goto(url: str) -> str:
    """Return the code that opens an address."""
    return f"await page.goto({single_quoted(url)});"


def travel(verb: str) -> str:
    """Return the code that goes back or forward: `goBack` or `goForward`."""
    return f"await page.{verb}();"


def held_keys(arguments: Arguments) -> list[str]:
    """Return the keys that are held down during a click."""
    modifiers = arguments.get("modifiers")
    return [key for key in modifiers if key in sorted(keyboard.MODIFIERS)] if isinstance(modifiers, list) else []


def click(place: str, arguments: Arguments) -> str:
    """Return the code that clicks an element, given its locator."""
    options = []
    button = arguments.get("button")
    if button in ("right", "middle"):
        options.append(f"button: {single_quoted(button)}")
    if held := held_keys(arguments):
        options.append(f"modifiers: [{', '.join(map(single_quoted, held))}]")
    verb = "dblclick" if arguments.get("doubleClick") is True else "click"
    return f"await page.{place}.{verb}({'{ ' + ', '.join(options) + ' }' if options else ''});"


def acted(place: str, verb: str, *values: str) -> str:
    """Return the code that does something to an element with some texts."""
    return f"await page.{place}.{verb}({', '.join(map(single_quoted, values))});"


def selected(place: str, values: list[str]) -> str:
    """Return the code that selects options."""
    printed = single_quoted(values[0]) if len(values) == 1 else f"[{', '.join(map(single_quoted, values))}]"
    return f"await page.{place}.selectOption({printed});"


def dragged(first: str, second: str) -> str:
    """Return the code that drags one element onto another."""
    return f"await page.{first}.dragTo(page.{second});"


def pressed(key: str) -> str:
    """Return the code that presses a key."""
    return f"await page.keyboard.press({single_quoted(key)});"


def chosen(names: list[str]) -> str:
    """Return the code that chooses files in the file chooser."""
    return f"await fileChooser.setFiles({json.dumps(names, ensure_ascii=False)})"


def evaluated(place: str | None, source: str) -> str:
    """Return the code that evaluates an expression, on an element or on the page."""
    return f"await {'page' if place is None else f'page.{place}'}.evaluate({single_quoted(source)});"


def resized(width: Any, height: Any) -> str:
    """Return the code that resizes the window."""
    return f"await page.setViewportSize({{ width: {width}, height: {height} }});"


def waited(seconds: float) -> str:
    """Return the code that waits."""
    return f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));"


def waited_for(text: str, state: str) -> str:
    """Return the code that waits until a text is `visible` or `hidden`."""
    return f"await page.getByText({quoted(text)}).first().waitFor({{ state: '{state}' }});"


CLOSED = "await page.close()"


def echo(browser: Browser, name: str, arguments: Arguments) -> list[str]:
    """Return the code that a call stands for where all goes well; nothing is done.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The call means nothing on this page.
    """
    writer = _ECHOES.get(name)
    return writer(browser, arguments) if writer is not None else []


def _place(browser: Browser, ref: Any) -> tuple[DomNode, str]:
    page = browser.page
    node = page.nodes[page.listed[ref]]
    return node, locator(page, node, "")


def _clicked(browser: Browser, arguments: Arguments) -> list[str]:
    return [click(_place(browser, arguments["ref"])[1], arguments)]


def _hovered(browser: Browser, arguments: Arguments) -> list[str]:
    return [acted(_place(browser, arguments["ref"])[1], "hover")]


def _typed(browser: Browser, arguments: Arguments) -> list[str]:
    _, place = _place(browser, arguments["ref"])
    verb = "pressSequentially" if arguments.get("slowly") is True else "fill"
    lines = [acted(place, verb, arguments["text"])]
    return [*lines, acted(place, "press", "Enter")] if arguments.get("submit") is True else lines


def _filled(browser: Browser, arguments: Arguments) -> list[str]:
    lines = []
    for field in arguments["fields"]:
        _, place = _place(browser, field["ref"])
        value = field["value"] if isinstance(field["value"], str) else json.dumps(field["value"])
        if field["type"] in ("checkbox", "radio"):
            lines.append(acted(place, "check" if value == "true" else "uncheck"))
        elif field["type"] == "combobox":
            lines.append(selected(place, [value]))
        else:
            lines.append(acted(place, "fill", value))
    return lines


def _selected(browser: Browser, arguments: Arguments) -> list[str]:
    return [selected(_place(browser, arguments["ref"])[1], arguments["values"])]


def _dragged(browser: Browser, arguments: Arguments) -> list[str]:
    return [dragged(*(_place(browser, arguments[name])[1] for name in ("startRef", "endRef")))]


def _evaluated(browser: Browser, arguments: Arguments) -> list[str]:
    ref = arguments.get("ref")
    return [evaluated(None if ref is None else _place(browser, ref)[1], arguments["function"])]


def _awaited(browser: Browser, arguments: Arguments) -> list[str]:
    for name, state in (("text", "visible"), ("textGone", "hidden")):
        if arguments.get(name):
            return [waited_for(arguments[name], state)]
    return [waited(max(0.0, min(30.0, arguments["time"])))]


_ECHOES: Mapping[str, Callable[[Browser, Arguments], list[str]]] = {
    "browser_navigate": lambda browser, arguments: [goto(addresses.from_address_bar(arguments["url"]))],
    "browser_navigate_back": lambda browser, arguments: [travel("goBack")],
    "browser_navigate_forward": lambda browser, arguments: [travel("goForward")],
    "browser_click": _clicked,
    "browser_type": _typed,
    "browser_fill_form": _filled,
    "browser_select_option": _selected,
    "browser_hover": _hovered,
    "browser_drag": _dragged,
    "browser_press_key": lambda browser, arguments: [pressed(arguments["key"])],
    "browser_file_upload": lambda browser, arguments: [chosen(list(arguments["paths"]))],
    "browser_evaluate": _evaluated,
    "browser_wait_for": _awaited,
    "browser_resize": lambda browser, arguments: [resized(arguments["width"], arguments["height"])],
    "browser_close": lambda browser, arguments: [CLOSED],
}

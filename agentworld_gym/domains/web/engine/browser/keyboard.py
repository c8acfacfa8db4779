"""The keyboard: what keys do to the focused element."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.browser import data_attributes, interactions
from agentworld_gym.domains.web.engine.browser.browser import Browser, Refusal
from agentworld_gym.domains.web.engine.document.focus import close_dialog, is_details_summary, tab_order
from agentworld_gym.domains.web.engine.document.forms import max_length
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page, is_number
from agentworld_gym.domains.web.engine.document.roles import is_listbox
from agentworld_gym.domains.web.engine.strings import words

MODIFIERS = frozenset({"Alt", "Control", "ControlOrMeta", "Meta", "Shift"})
NAMED = words(
    "ArrowDown ArrowLeft ArrowRight ArrowUp Backspace CapsLock ContextMenu Delete End Enter Escape Home "
    "Insert NumLock PageDown PageUp Pause PrintScreen ScrollLock Space Tab"
) | {f"F{number}" for number in range(1, 13)}
_WRITTEN = {"Space": " ", **{f"Key{letter}": letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}}
_WRITTEN |= {f"Digit{digit}": str(digit) for digit in range(10)}


_CARET = frozenset({"ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "End", "Home"})


def parse(combination: str) -> tuple[frozenset[str], str]:
    """Return the modifiers and the key of a combination such as `Control+a`.

    Raises:
        Refusal: There is no such key.

    >>> parse("Shift+Tab")
    (frozenset({'Shift'}), 'Tab')
    """
    *held, key = combination.split("+") if len(combination) > 1 else [combination]
    if not key and held:  # The key may be the plus sign itself: `Control++`.
        key, held = "+", held[:-1]
    for name in (*held, key):
        if (
            not (len(name) == 1 and (name.isascii() or not name.isprintable()))
            and name not in NAMED
            and name not in MODIFIERS
            and name not in _WRITTEN
        ):
            raise Refusal(f'Error: keyboard.press: Unknown key: "{name[:100]}"')
    return frozenset("Control" if name == "ControlOrMeta" else name for name in held), key


def press(browser: Browser, combination: str) -> None:
    """Press a key while its modifiers are held down.

    Raises:
        Refusal: There is no such key.
    """
    held, key = parse(combination)
    page = browser.page
    node = None if page.focus is None else page.nodes[page.focus]
    if key == "Tab":
        if not held - {"Shift"}:
            _tab(page, node, -1 if "Shift" in held else 1)
    elif key == "Escape":
        _escape(page, node)
    elif node is None or key in MODIFIERS:
        return
    elif key == "Enter":
        if not held - {"Shift"}:
            _enter(browser, node)
    elif page.is_text_field(node):
        _edit(page, node, held, key)
    elif not held or held == {"Shift"}:
        _operate(browser, node, _WRITTEN.get(key, key))


def type_text(browser: Browser, text: str) -> None:
    """Type a text key by key into the focused element."""
    page = browser.page
    node = None if page.focus is None else page.nodes[page.focus]
    if node is not None and node.tag == "input" and node.type == "number" and "readonly" not in node.attrs:
        at = len(page.value(node)) - page.tail
        typed = "".join(character for character in text if character in "0123456789.-+eE")
        interactions.set_text(page, node, page.value(node)[:at] + typed + page.value(node)[at:])
        text = ""
    for character in text:
        page = browser.page
        node = None if page.focus is None else page.nodes[page.focus]
        if character in "\r\n":
            press(browser, "Enter")
        elif node is not None and page.is_text_field(node):
            _insert(page, node, character)
        elif node is not None:
            _operate(browser, node, character)
        if browser.tab.modal is not None:
            return


def _tab(page: Page, node: DomNode | None, step: int) -> None:
    stops = tab_order(page)
    if not stops:
        page.focus = None
        return
    if node in stops:
        place = stops.index(node) + step
    elif node is None:
        place = 0 if step > 0 else -1
    else:
        later = [place for place, stop in enumerate(stops) if stop.index > node.index]
        place = (later[0] if later else len(stops)) - (step < 0)
    if not -1 <= place < len(stops) or (place == -1 and node is not None):
        page.give_focus(None)  # Beyond an end the focus leaves the page for the browser's own buttons.
        return
    page.give_focus(stops[place].index)
    page.selected = stops[place].tag == "input"


def _escape(page: Page, node: DomNode | None) -> None:
    if page.modals:
        close_dialog(page, page.nodes[page.modals[-1][0]])
    elif node is not None and node.tag == "input" and node.type == "search" and page.value(node):
        page.set_value(node, "")
        data_attributes.filter_list(page, node)


def _enter(browser: Browser, node: DomNode) -> None:
    page = browser.page
    if node.tag == "textarea":
        _insert(page, node, "\n")
    elif node.tag == "a" or node.tag == "summary" or page.is_button(node):
        interactions.activate(browser, node)
    elif node.tag == "input" or (node.tag == "select" and not is_listbox(node)):
        interactions.submit_implicitly(browser, node)


def _edit(page: Page, node: DomNode, held: frozenset[str], key: str) -> None:
    value = page.value(node)
    if "Control" in held:
        if key.lower() in ("a", "keya"):
            page.selected = True
        elif key == "Backspace":
            _replace(page, node, value[: value.rstrip().rfind(" ") + 1])
        return
    if held - {"Shift"}:
        return
    if key in ("Backspace", "Delete"):
        if page.selected:
            _replace(page, node, "")
        else:
            at = max(0, len(value) - page.tail)
            if key == "Backspace":
                _replace(page, node, value[: max(0, at - 1)] + value[at:])
            elif page.tail:
                page.tail -= 1
                _replace(page, node, value[:at] + value[at + 1 :])
    elif key in ("ArrowUp", "ArrowDown") and node.type == "number" and node.tag == "input":
        _step(page, node, 1 if key == "ArrowUp" else -1)
    elif key in _CARET:
        _move_caret(page, value, key)
    elif key in NAMED and key != "Space":
        page.selected = False
    else:
        character = _WRITTEN.get(key, key)
        _insert(page, node, character.upper() if "Shift" in held and key in _WRITTEN else character)


def _move_caret(page: Page, value: str, key: str) -> None:
    """Move the caret. A selection collapses to its start or end."""
    at = len(value) - page.tail
    if page.selected:
        at = 0 if key in ("ArrowLeft", "Home", "ArrowUp") else len(value)
    else:
        at = {"Home": 0, "ArrowUp": 0, "ArrowLeft": at - 1, "ArrowRight": at + 1}.get(key, len(value))
    page.selected, page.tail = False, len(value) - min(max(at, 0), len(value))


def _insert(page: Page, node: DomNode, text: str) -> None:
    if "readonly" in node.attrs:
        return
    if node.type == "number" and node.tag == "input" and text not in "0123456789.-+eE":
        return
    value = "" if page.selected else page.value(node)
    limit = max_length(node)
    if limit is None or len(value) < limit:
        at = max(0, len(value) - page.tail)
        _replace(page, node, value[:at] + text + value[at:])


def _replace(page: Page, node: DomNode, value: str) -> None:
    if "readonly" in node.attrs or page.is_disabled(node):
        return
    page.selected, page.tail = False, min(page.tail, len(value))
    page.set_value(node, value)
    data_attributes.filter_list(page, node)


def _step(page: Page, node: DomNode, direction: int) -> None:
    """Increase or decrease the number in a field, within its bounds."""
    value, attrs = page.value(node), node.attrs
    stated = attrs.get("step", "")
    step = float(stated) if is_number(stated) and float(stated) > 0 else 1.0
    before = float(value) if value else 0.0
    low, high = (float(attrs[name]) if is_number(attrs.get(name, "")) else None for name in ("min", "max"))
    if value and (
        (direction > 0 and high is not None and before > high) or (direction < 0 and low is not None and before < low)
    ):
        return  # The value already lies beyond that bound.
    number = before + direction * step
    if is_number(attrs.get("min", "")):
        number = max(number, float(attrs["min"]))
    if is_number(attrs.get("max", "")):
        number = min(number, float(attrs["max"]))
    if abs(number) < 1e15:
        _replace(page, node, f"{number:.10f}".rstrip("0").rstrip("."))


def _operate(browser: Browser, node: DomNode, key: str) -> None:
    """Act on a key while an element other than a text field has the focus."""
    page = browser.page
    if key == " ":
        if (
            page.is_button(node)
            or (node.tag == "input" and node.type in ("checkbox", "radio"))
            or is_details_summary(node)
        ):
            interactions.activate(browser, node)
    elif node.tag == "select" and key.startswith("Arrow"):
        _move_option(browser, node, 1 if key in ("ArrowDown", "ArrowRight") else -1)
    elif node.tag == "select" and key in ("Home", "End"):
        _move_option(browser, node, -len(page.nodes) if key == "Home" else len(page.nodes))
    elif node.tag == "input" and node.type == "radio" and key.startswith("Arrow"):
        group = [radio for radio in page.group(node) if not page.is_disabled(radio)]
        if node in group:
            other = group[(group.index(node) + (1 if key in ("ArrowDown", "ArrowRight") else -1)) % len(group)]
            page.focus = other.index
            interactions.activate(browser, other)


def _move_option(browser: Browser, select: DomNode, step: int) -> None:
    page = browser.page
    options = [option for option in page.document.options(select) if not page.is_disabled(option)]
    if not options:
        return
    chosen = page.chosen_options(select)
    places = [place for place, option in enumerate(options) if option.index in chosen]
    place = max(0, min(len(options) - 1, (places[0] if places else -1) + step))
    if options[place].index not in chosen:
        page.chosen[select.index] = (options[place].index,)
        interactions.after_change(browser, select)

"""Forms: which values they send, which they refuse, how they are reset, and what a browser restores after Back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count

from agentworld_gym.domains.web.engine.document.dom import CACHED, Document
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page, is_date, is_number

Fields = tuple[tuple[str, str], ...]
Saved = dict[tuple[str, str, str, int], str]
FieldValue = str | bool | tuple[str, ...]

_EMAIL = re.compile(
    r"[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*", re.A
)
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+")
_UNCHANGED = frozenset({"hidden", "submit", "reset", "button", "image", "file"})
_PATTERNED = frozenset({"email", "password", "search", "tel", "text", "url"})


def fields(page: Page, form: DomNode, submitter: DomNode | None) -> Fields:
    """Return the names and values that a form sends, in their order."""
    pairs: list[tuple[str, str]] = []
    for node in page.document.controls.get(form.index, []):
        name = node.attrs.get("name", "")
        if not name or page.is_disabled(node) or node.tag in ("output", "fieldset"):
            continue
        if page.is_button(node):
            if node is submitter:
                pairs.append((name, node.attrs.get("value", "")))
        elif node.tag == "select":
            options = (page.nodes[index] for index in page.chosen_options(node))
            pairs += [(name, page.option_value(option)) for option in options if not page.is_disabled(option)]
        elif node.type in ("checkbox", "radio") and node.tag == "input":
            if page.is_checked(node):
                pairs.append((name, page.value(node)))
        elif node.type == "file" and node.tag == "input":
            pairs += [(name, path.rsplit("/", 1)[-1]) for path in page.files.get(node.index, ("",))]
        else:
            value = page.value(node)
            pairs.append((name, value.replace("\n", "\r\n") if node.tag == "textarea" else value))
    return tuple(pairs)


def first_invalid(page: Page, form: DomNode) -> DomNode | None:
    """Return the first control whose value the browser refuses to send."""
    return next((node for node in page.document.controls.get(form.index, []) if validation_message(page, node)), None)


def validation_message(page: Page, node: DomNode) -> str:
    """Return why the browser refuses the value of a control, in Chromium's words; empty if it accepts it."""
    if node.tag not in ("input", "select", "textarea") or page.is_disabled(node):
        return ""
    attrs = node.attrs
    if "readonly" in attrs or page.is_button(node) or (node.tag == "input" and node.type == "hidden"):
        return ""
    value = page.value(node)
    if "required" in attrs and (missing := _missing(page, node, value)):
        return missing
    if node.tag == "select" or not value or (node.tag == "input" and node.type in ("checkbox", "radio", "file")):
        return ""
    if node.tag == "input":
        if node.type == "email" and not all(_EMAIL.fullmatch(part.strip()) for part in _parts(node, value)):
            return "Please enter an email address."
        if node.type == "url" and not _URL.fullmatch(value):
            return "Please enter a URL."
        if node.type == "number" and (wrong := _out_of_range(node, value)):
            return wrong
        if node.type == "date" and (wrong := _out_of_dates(node, value)):
            return wrong
        if node.type in _PATTERNED and not _fits(attrs.get("pattern"), value):
            return "Please match the requested format."
    shortest = attrs.get("minlength", "")
    if node.index in page.values and shortest.isdecimal() and len(value) < int(shortest[:6]):
        return f"Please lengthen this text to {shortest} characters or more."
    return ""


def max_length(node: DomNode) -> int | None:
    """Return how many characters can be typed into a field."""
    limit = node.attrs.get("maxlength", "").strip()
    return int(limit[:7]) if limit.isascii() and limit.isdigit() else None


def reset(page: Page, form: DomNode) -> None:
    """Reset every control of a form to the value that it was loaded with."""
    for node in page.document.controls.get(form.index, []):
        for changed in (page.values, page.checked, page.chosen, page.files):
            changed.pop(node.index, None)


def changed_values(page: Page) -> Saved:
    """Return the values of a page that differ from those it was loaded with, which a browser keeps for Back."""
    if not (page.values or page.checked or page.chosen):
        return {}
    values: Saved = {}
    for node, key in _keys(page):
        if node.index in page.values:
            values[key] = page.values[node.index]
        elif node.index in page.checked:
            values[key] = "on" if page.checked[node.index] else "off"
        elif node.index in page.chosen:
            values[key] = ",".join(str(index - node.index) for index in page.chosen[node.index])
    return values


def restore_values(page: Page, values: Saved) -> None:
    """Restore the kept values of a page that was loaded again."""
    if not values:
        return
    for node, key in _keys(page):
        value = values.get(key)
        if value is None:
            continue
        if node.tag == "select":
            indices = [node.index + int(offset) for offset in value.split(",") if offset]
            page.chosen[node.index] = tuple(
                index for index in indices if index < node.end and page.nodes[index].tag == "option"
            )
        elif node.tag == "input" and node.type in ("checkbox", "radio"):
            page.checked[node.index] = value == "on"
        else:
            page.set_value(node, value)


@lru_cache(maxsize=CACHED)
def named_fields(document: Document) -> Mapping[str, tuple[DomNode, ...]]:
    """Return the fields that a user can change, by a name that the document has once; radio buttons by their group.

    >>> document = Document.parse("<form><input name=q><input type=checkbox name=id value=4></form><input name=q>")
    >>> list(named_fields(document))
    ['q', 'id', 'q:2']
    """
    found: dict[str, tuple[DomNode, ...]] = {}
    groups: dict[tuple[int, str], str] = {}
    boxes = [node.attrs.get("name") for node in document.nodes if node.tag == "input" and node.type == "checkbox"]
    for node in document.nodes:
        if node.tag not in ("input", "select", "textarea") or node.type in _UNCHANGED:
            continue
        form = document.form_of(node)
        name = node.attrs.get("name") or node.attrs.get("id") or f"{node.tag}{node.index}"
        group = (form.index if form else -1, name)
        if node.type == "radio" and group in groups:
            found[groups[group]] += (node,)
            continue
        if node.type == "checkbox" and boxes.count(name) > 1:
            name = f"{name}={node.attrs.get('value', 'on')}"
        key = next(key for number in count(1) if (key := _numbered(name, number)) not in found)
        found[key] = (node,)
        if node.type == "radio":
            groups[group] = key
    return found


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}:{number}"


def field_values(page: Page, passwords: bool = True) -> dict[str, FieldValue]:
    """Return the values of a page that differ from those that it was loaded with, by the names of their fields.

    Args:
        page: The page.
        passwords: Whether passwords count.
    """
    if not (page.values or page.checked or page.chosen):
        return {}
    fresh, found = Page(page.document), {}
    for name, nodes in named_fields(page.document).items():
        value = field_value(page, nodes)
        if value != field_value(fresh, nodes) and (passwords or nodes[0].type != "password"):
            found[name] = value
    return found


def field_value(page: Page, nodes: tuple[DomNode, ...]) -> FieldValue:
    """Return the value of a field, given its elements."""
    node = nodes[0]
    if node.tag == "select":
        chosen = tuple(page.option_value(page.nodes[index]) for index in page.chosen_options(node))
        return chosen if "multiple" in node.attrs else "".join(chosen[:1])
    if node.type == "checkbox":
        return page.is_checked(node)
    if node.type == "radio":
        return next((other.attrs.get("value", "on") for other in nodes if page.is_checked(other)), "")
    return page.value(node)


def set_field(page: Page, name: str, value: object) -> None:
    """Give a field its value.

    Raises:
        LookupError, TypeError: The page has no such field, or the field has no such value.
    """
    nodes = named_fields(page.document)[name]
    node = nodes[0]
    if node.tag == "select":
        wanted = value if isinstance(value, list | tuple) else [value]
        options = page.document.options(node)
        page.chosen[node.index] = tuple(_option(page, options, one).index for one in wanted)
    elif node.type == "checkbox":
        if not isinstance(value, bool):
            raise TypeError(f"{name} is true or false, and not {value!r}")
        page.set_checked(node, value)
    elif node.type == "radio":
        page.set_checked(next(_valued(nodes, value)), True)
    elif isinstance(value, str):
        page.set_value(node, value)
    else:
        raise TypeError(f"{name} holds a text, and not {value!r}")


def _option(page: Page, options: list[DomNode], value: object) -> DomNode:
    found = next((option for option in options if page.option_value(option) == value), None)
    if found is None:
        raise LookupError(f"no option {value!r}")
    return found


def _valued(radios: tuple[DomNode, ...], value: object) -> Iterator[DomNode]:
    yield from (radio for radio in radios if radio.attrs.get("value", "on") == value)
    raise LookupError(f"no button {value!r}")


def _keys(page: Page) -> list[tuple[DomNode, tuple[str, str, str, int]]]:
    """Yield the controls of a page with a key that stays the same from one load to the next."""
    counts: dict[tuple[str, str, str], int] = {}
    keys: list[tuple[DomNode, tuple[str, str, str, int]]] = []
    for node in page.nodes:
        if node.tag not in ("input", "select", "textarea") or node.type == "password":
            continue
        form = page.document.form_of(node)
        name = (form.attrs.get("action", "") if form else "", node.attrs.get("name", ""), node.tag + node.type)
        counts[name] = counts.get(name, 0) + 1
        keys.append((node, (*name, counts[name])))
    return keys


def _missing(page: Page, node: DomNode, value: str) -> str:
    if node.tag == "input" and node.type == "checkbox":
        return "" if page.is_checked(node) else "Please check this box if you want to proceed."
    if node.tag == "input" and node.type == "radio":
        return (
            "" if any(page.is_checked(other) for other in page.group(node)) else "Please select one of these options."
        )
    if node.tag == "select":
        return "" if value else "Please select an item in the list."
    if node.tag == "input" and node.type == "file":
        return "" if value else "Please select a file."
    return "" if value else "Please fill out this field."


def _parts(node: DomNode, value: str) -> list[str]:
    return value.split(",") if "multiple" in node.attrs else [value]


def _out_of_range(node: DomNode, value: str) -> str:
    number = float(value)
    low, high, step = (_number(node.attrs.get(name)) for name in ("min", "max", "step"))
    if low is not None and number < low:
        return f"Value must be greater than or equal to {node.attrs['min']}."
    if high is not None and number > high:
        return f"Value must be less than or equal to {node.attrs['max']}."
    if node.attrs.get("step", "").lower() == "any":
        return ""
    step = step if step is not None and step > 0 else 1.0
    steps = (number - (low if low is not None else _number(node.attrs.get("value")) or 0.0)) / step
    if math.isfinite(steps) and abs(steps - round(steps)) > 1e-9 * max(1.0, abs(steps)):
        return "Please enter a valid value."
    return ""


def _out_of_dates(node: DomNode, value: str) -> str:
    low, high = node.attrs.get("min", ""), node.attrs.get("max", "")
    if is_date(low) and value < low:
        return f"Value must be {low} or later."
    if is_date(high) and value > high:
        return f"Value must be {high} or earlier."
    return ""


def _number(text: str | None) -> float | None:
    if text is None or not is_number(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _fits(pattern: str | None, value: str) -> bool:
    if pattern is None:
        return True
    try:
        return re.fullmatch(pattern, value[:1000]) is not None
    except re.error:
        return True

"""What a user has changed in a page, as plain JSON data with the names of fields and the references of elements.

| key | what it says |
|---|---|
| `fields` | the values that differ from those of the fresh page, by the names of `named_fields` |
| `tab` | the selected tab of a list of tabs |
| `open` | the details that were opened or closed, by their number on the page |
| `dialog` | false: the dialog that opened with the page was closed |
| `focus` | the element in focus, where the fresh page has another one; empty for none |
| `modal` | the element whose message box or file chooser is open |
| `looks` | the earlier contents of the page that gave references, where it was more than the fresh page |
| `start` | the number after which references begin, on a page that was redrawn |
| `unseen` | true: no snapshot gave references so far |
| `attrs`, `modals` | attributes and open dialogs that the keys above do not explain |

References are numbered in the order in which snapshots show elements for the first time, so that they follow from the
contents at those snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from agentworld_gym.domains.web.engine.accessibility.snapshot import first_page
from agentworld_gym.domains.web.engine.accessibility.tree import tree_of
from agentworld_gym.domains.web.engine.browser.browser import JavaScriptDialog, OpenFileChooser, loaded
from agentworld_gym.domains.web.engine.browser.data_attributes import dialog_before, filter_list, select_tab
from agentworld_gym.domains.web.engine.document.focus import close_dialog
from agentworld_gym.domains.web.engine.document.forms import field_values, named_fields, set_field
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Look, Page
from agentworld_gym.kit.gui import plain

Plain = dict[str, Any]


def told_page(page: Page, body: str, modal: JavaScriptDialog | OpenFileChooser | None = None) -> Plain:
    """Return what a user has changed in the page of an HTML text."""
    told = _contents(page, body)
    told |= _numbering(page, body, told)
    fresh = changed_page(body, told)
    if page.focus != fresh.focus:
        told["focus"] = "" if page.focus is None else named(page, page.focus)
    if modal is not None:
        told["modal"] = named(page, modal.node)
    return told


def changed_page(body: str, told: Mapping[str, Any]) -> Page:
    """Return the page of an HTML text with what a user has changed in it: the inverse of `told_page`.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The page has no such element, or it cannot be changed so.
    """
    page = _with_contents(body, told)
    if not told.get("unseen"):
        _number(page, body, told.get("looks"), told.get("start", 0))
    else:
        page.start = page.last_ref = told.get("start", 0)
    if "focus" in told:
        page.focus = element(page, told["focus"]) if told["focus"] else None
    return page


def modal_of(page: Page, told: Mapping[str, Any]) -> JavaScriptDialog | OpenFileChooser | None:
    """Return the message box or the file chooser that is open.

    Raises:
        LookupError, ValueError: The page has no such element, or nothing opens at it.
    """
    if "modal" not in told:
        return None
    node = page.nodes[element(page, told["modal"])]
    modal = OpenFileChooser(node.index) if node.type == "file" else dialog_before(page, node)
    if modal is None:
        raise ValueError(f"nothing opens at {told['modal']}")
    return modal


def named(page: Page, index: int) -> str:
    """Return the name of an element: its reference, or else its number after `#`."""
    return page.refs[index][2] if index in page.refs else f"#{index}"


def element(page: Page, name: str) -> int:
    """Return the number of the element of a name.

    Raises:
        LookupError, ValueError: There is no such element.
    """
    if name.startswith("#"):
        return page.nodes[int(name[1:])].index
    found = page.listed.get(name)
    if found is None:
        found = next((index for index, (_, _, ref) in page.refs.items() if ref == name), None)
    if found is None:
        raise LookupError(f"no element {name!r}")
    return found


def _contents(page: Page, body: str) -> Plain:
    """Return what a user has changed, without focus and references."""
    told: Plain = {}
    fresh = loaded(body)
    if fields := field_values(page):
        told["fields"] = plain(fields)
    if _differences(page, _with_contents(body, told)) == {}:
        return told
    tabs = [node for node in page.nodes if _selected(page, node) and not _selected(fresh, node)]
    if len(tabs) == 1:
        told["tab"] = tabs[0].attrs.get("id") or f"#{tabs[0].index}"
    unfolded = {
        str(number): page.attr(node, "open") is not None
        for number, node in enumerate(_details(page))
        if (page.attr(node, "open") is None) != (fresh.attr(node, "open") is None)
    }
    if unfolded:
        told["open"] = unfolded
    if fresh.modals and not page.modals:
        told["dialog"] = False
    return told | _differences(page, _with_contents(body, told))


def _differences(page: Page, built: Page) -> Plain:
    """Return the attributes and the open dialogs of a page where another one has not the same."""
    found: Plain = {}
    if built.attrs != page.attrs:
        found["attrs"] = {f"{index}/{name}": value for (index, name), value in sorted(page.attrs.items())}
    if [index for index, _ in built.modals] != [index for index, _ in page.modals]:
        found["modals"] = plain(page.modals)
    return found


def _with_contents(body: str, told: Mapping[str, Any]) -> Page:
    """Return a page with what a user has changed, without focus and references."""
    page = loaded(body)
    for name, value in told.get("fields", {}).items():
        set_field(page, name, value)
        for node in named_fields(page.document)[name]:
            filter_list(page, node)
    if "tab" in told:
        name = told["tab"]
        select_tab(page, page.nodes[int(name[1:])] if name.startswith("#") else page.document.by_id[name])
    details = _details(page)
    for number, is_open in told.get("open", {}).items():
        page.set_attr(details[int(number)], "open", "" if is_open else None)
    if told.get("dialog") is False:
        for index, _ in page.modals:
            close_dialog(page, page.nodes[index])
    if "attrs" in told:
        page.attrs = {}
        for key, value in told["attrs"].items():
            index, _, name = key.partition("/")
            page.attrs[page.nodes[int(index)].index, name] = value
        page.layout = None
    if "modals" in told:
        page.modals = tuple((page.nodes[index].index, before) for index, before in told["modals"])
    return page


def _numbering(page: Page, body: str, told: Plain) -> Plain:
    """Return what says how the references of a page were numbered."""
    start = {"start": page.start} if page.start else {}
    looks = [_contents(_looking(page, look), body) for look in page.looks]
    candidates: list[Plain] = [{}, {"unseen": True}, {"looks": []}, {"looks": looks[:-1]}, {"looks": looks}]
    given = {index: ref for index, (_, _, ref) in page.refs.items()}
    for candidate in candidates:
        built = changed_page(body, {**told, **start, **candidate})
        if built.last_ref == page.last_ref and {index: ref for index, (_, _, ref) in built.refs.items()} == given:
            return {**start, **candidate}
    # Elements that were given references and then others, by changes that no snapshot of this page explains.
    return {**start, "looks": looks}


def _looking(page: Page, look: Look) -> Page:
    past = Page(page.document)
    attrs, values, checked, chosen = look
    past.attrs, past.values, past.checked, past.chosen = dict(attrs), dict(values), dict(checked), dict(chosen)
    past.modals = _open_dialogs(past)
    return past


def _open_dialogs(page: Page) -> tuple[tuple[int, int | None], ...]:
    opened = (index for (index, name), value in page.attrs.items() if name == "open" and value is not None)
    return tuple((index, None) for index in opened if page.nodes[index].tag == "dialog")


def _number(page: Page, body: str, looks: Sequence[Mapping[str, Any]] | None, start: int) -> None:
    """Give references to the elements of a page as the snapshots of its looks, and of the page itself, give them."""
    page.start = start
    if looks is None and not start and not loaded(body).attrs:
        first = first_page(page.document)
        page.refs, page.listed, page.last_ref = dict(first.refs), first.listed, first.last_ref
        if not (page.attrs or page.values or page.checked or page.chosen):
            page.looks = first.looks
            return
        earlier: Sequence[Mapping[str, Any]] = ()
    else:
        page.last_ref = start
        earlier = [{}] if looks is None and not start else looks or []
    for contents in chain((_with_contents(body, told) for told in earlier), (page,)):
        contents.refs, contents.last_ref = page.refs, page.last_ref
        tree_of(contents)
        page.refs, page.listed, page.last_ref = contents.refs, contents.listed, contents.last_ref


def _selected(page: Page, node: DomNode) -> bool:
    return node.attrs.get("role") == "tab" and (page.attr(node, "aria-selected") or "").lower() == "true"


def _details(page: Page) -> list[DomNode]:
    return [node for node in page.nodes if node.tag == "details"]

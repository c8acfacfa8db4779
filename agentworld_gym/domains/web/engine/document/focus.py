"""The focus of a page: which elements can have it, where Tab moves it, and what a modal dialog does to it."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page


def focusable(page: Page, node: DomNode) -> bool:
    """Return whether an element can have the focus."""
    if not layout_of(page).shown[node.index] or is_blocked(page, node):
        return False
    tag = node.tag
    if tag in ("button", "select", "textarea", "input"):
        return not page.is_disabled(node)
    if tag == "a":
        return "href" in node.attrs or "tabindex" in node.attrs
    if tag == "summary":
        return is_details_summary(node) or "tabindex" in node.attrs
    return node.attrs.get("tabindex", "").strip().removeprefix("-").isdigit()


def is_details_summary(summary: DomNode) -> bool:
    """Return whether an element is the summary that opens and closes its details."""
    details = summary.parent
    if summary.tag != "summary" or details is None or details.tag != "details":
        return False
    return next((child for child in details.elements() if child.tag == "summary"), None) is summary


def is_blocked(page: Page, node: DomNode) -> bool:
    """Return whether a modal dialog keeps an element from reacting."""
    return bool(page.modals) and not page.nodes[page.modals[-1][0]].holds(node)


def tab_order(page: Page) -> list[DomNode]:
    """Return the elements that Tab visits, in their order."""
    stops = [node for node in page.nodes if _is_stop(page, node)]
    return sorted(stops, key=lambda node: (_tabindex(node) or 1 << 20, node.index))


def _is_stop(page: Page, node: DomNode) -> bool:
    if not focusable(page, node) or _tabindex(node) < 0 or node.index == 0:
        return False
    if node.tag != "input" or node.type != "radio":
        return True
    group = page.group(node)
    chosen = [other for other in group if page.is_checked(other)]
    return node in chosen if chosen else True


def _tabindex(node: DomNode) -> int:
    text = node.attrs.get("tabindex", "0").strip()
    digits = text.removeprefix("-")
    return (int(digits[:5]) * (-1 if text.startswith("-") else 1)) if digits.isascii() and digits.isdigit() else 0


def show_modal(page: Page, dialog: DomNode) -> None:
    """Open a modal dialog; the focus moves into it."""
    if page.attr(dialog, "open") is not None:
        return
    before = page.focus
    page.set_attr(dialog, "open", "")
    page.modals = (*page.modals, (dialog.index, before))
    inside = page.nodes[dialog.index + 1 : dialog.end]
    candidates = [node for node in inside if focusable(page, node) and _tabindex(node) >= 0]
    chosen = next((node for node in candidates if "autofocus" in node.attrs), candidates[0] if candidates else dialog)
    page.focus = chosen.index


def close_dialog(page: Page, dialog: DomNode) -> None:
    """Close a dialog; the focus returns to where it was."""
    if page.attr(dialog, "open") is None:
        return
    page.set_attr(dialog, "open", None)
    for index, before in page.modals:
        if index == dialog.index:
            page.focus = before
    page.modals = tuple(modal for modal in page.modals if modal[0] != dialog.index)

"""Playwright's actionability checks, and the error of a call that waited for them in vain."""

from __future__ import annotations

from html import escape

from agentworld_gym.domains.web.engine.browser.browser import Refusal
from agentworld_gym.domains.web.engine.document.focus import is_blocked
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page

TIMEOUT = 5000
_SHOWN_ATTRIBUTES = ("id", "class", "type", "name", "href", "role", "disabled", "open", "aria-label")


def require_actionable(page: Page, node: DomNode, ref: str, verb: str, enabled: bool = True) -> None:
    """Make sure that an action can be carried out on an element.

    Raises:
        Refusal: The element is hidden, disabled or covered; Playwright gives up after five seconds.
    """
    reason = obstacle(page, node, enabled)
    if reason:
        raise Refusal(timeout_error(f"locator.{verb}", ref, reason, tag_of(page, node)))


def obstacle(page: Page, node: DomNode, enabled: bool = True) -> str:
    """Return what keeps an element from being acted on; empty if nothing does."""
    if not layout_of(page).box[node.index]:
        return "element is not visible"
    if enabled and is_disabled(page, node):
        return "element is not enabled"
    if enabled and is_blocked(page, node):
        dialog = page.nodes[page.modals[-1][0]]
        return f"{tag_of(page, dialog)} intercepts pointer events"
    return ""


def is_disabled(page: Page, node: DomNode) -> bool:
    """Return whether an element, or the button around it, is disabled."""
    for place in (node, *node.ancestors()):
        if place.tag in ("button", "input", "select", "textarea", "option"):
            return page.is_disabled(place) or place.attrs.get("aria-disabled") == "true"
    return any(place.attrs.get("aria-disabled") == "true" for place in (node, *node.ancestors()))


def timeout_error(call: str, ref: str, reason: str, tag: str) -> str:
    """Return the error of a call that timed out."""
    return (
        f"TimeoutError: {call}: Timeout {TIMEOUT}ms exceeded.\nCall log:\n"
        f"  - waiting for locator('aria-ref={ref}')\n"
        f"    - locator resolved to {tag}\n"
        f"  - attempting {call.partition('.')[2]} action\n"
        f"    - waiting for element to be visible, enabled and stable\n"
        f"    - {reason}\n"
        f"  - retrying {call.partition('.')[2]} action"
    )


def tag_of(page: Page, node: DomNode) -> str:
    """Return an element as a short piece of HTML."""
    attributes = ""
    for name in _SHOWN_ATTRIBUTES:
        value = page.attr(node, name)
        if value is not None and not (name == "type" and node.tag == "button"):
            attributes += f" {name}" + (f'="{escape(value[:80])}"' if value else '=""' if name == "open" else "")
    if node.tag in ("input", "img", "hr", "br"):
        return f"<{node.tag}{attributes}/>"
    text = node.text().strip()
    inner = text if not any(True for _ in node.elements()) and len(text) <= 50 else "…"
    return f"<{node.tag}{attributes}>{inner}</{node.tag}>"

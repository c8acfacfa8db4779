"""The `data-` attributes of a page and what they do; `_static/site.js` does the same in a real browser."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.browser.browser import Browser, JavaScriptDialog
from agentworld_gym.domains.web.engine.document.focus import close_dialog, show_modal
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page


def dialog_before(page: Page, node: DomNode) -> JavaScriptDialog | None:
    """Return the dialog that opens first when a button or link is clicked."""
    attrs = node.attrs
    for kind in ("confirm", "prompt", "alert"):
        message = attrs.get(f"data-{kind}")
        if message is not None:
            return JavaScriptDialog(
                kind, message, node.index, attrs.get("data-prompt-field", "") if kind == "prompt" else ""
            )
    return None


def act_on_button(page: Page, node: DomNode) -> None:
    """Carry out what a button is for: open, close, unfold or select."""
    attrs, by_id = node.attrs, page.document.by_id
    if (dialog := by_id.get(attrs.get("data-opens", ""))) is not None and dialog.tag == "dialog":
        show_modal(page, dialog)
    if "data-closes" in attrs and (dialog := node.closest("dialog")) is not None:
        close_dialog(page, dialog)
    if (target := by_id.get(attrs.get("data-toggles", ""))) is not None:
        hidden = page.attr(target, "hidden") is None
        page.set_attr(target, "hidden", "" if hidden else None)
        page.set_attr(node, "aria-expanded", "false" if hidden else "true")
    if attrs.get("role") == "tab":
        select_tab(page, node)


def select_tab(page: Page, tab: DomNode) -> None:
    """Show the panel of a tab, and hide those of the other tabs in its list."""
    bar = next((node for node in tab.ancestors() if node.attrs.get("role") == "tablist"), None)
    if bar is None:
        return
    for other in page.nodes[bar.index + 1 : bar.end]:
        if other.attrs.get("role") == "tab":
            page.set_attr(other, "aria-selected", "true" if other is tab else "false")
            panel = page.document.by_id.get(other.attrs.get("aria-controls", ""))
            if panel is not None:
                page.set_attr(panel, "hidden", None if other is tab else "")


def filter_list(page: Page, field: DomNode) -> None:
    """Filter the list that a search field belongs to."""
    target = page.document.by_id.get(field.attrs.get("data-filter", ""))
    if target is None:
        return
    query = page.value(field).lower()
    for child in target.elements():
        if child.tag in ("li", "tr"):
            page.set_attr(child, "hidden", None if query in child.text().lower() else "")


def sends_itself(browser: Browser, control: DomNode) -> bool:
    """Return whether a change of a control sends its form."""
    return "data-submit-on-change" in control.attrs and browser.page.document.form_of(control) is not None

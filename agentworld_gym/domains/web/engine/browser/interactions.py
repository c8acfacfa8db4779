"""User interactions with a page: clicking, typing, choosing and submitting, and what the browser does then."""

from __future__ import annotations

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.browser import data_attributes
from agentworld_gym.domains.web.engine.browser.browser import (
    Browser,
    JavaScriptDialog,
    OpenFileChooser,
    Refusal,
    Unreachable,
)
from agentworld_gym.domains.web.engine.document import forms
from agentworld_gym.domains.web.engine.document.focus import close_dialog, focusable, is_details_summary
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import MAX_VALUE, Page

_TYPED_AS_ONE = frozenset({"color", "date", "datetime-local", "month", "range", "time", "week"})


def click(browser: Browser, node: DomNode) -> None:
    """Click an element: move the focus, then activate it."""
    press_down(browser.page, node)
    activate(browser, node)


def press_down(page: Page, node: DomNode) -> None:
    """Move the focus to where a mouse button goes down."""
    target = next((place for place in (node, *node.ancestors()) if place.index and focusable(page, place)), None)
    page.give_focus(target.index if target is not None else None)


def open_in_background(browser: Browser, node: DomNode) -> None:
    """Open a link in a tab behind this one, as the middle button, Control and Shift do."""
    press_down(browser.page, node)
    link = node if node.tag == "a" else node.closest("a")
    if link is not None and "href" in link.attrs:
        follow_link(browser, link, elsewhere=True)


def activate(browser: Browser, node: DomNode) -> None:
    """Activate an element, or the nearest one around it that can be activated."""
    page = browser.page
    for place in (node, *node.ancestors()):
        tag = place.tag
        if tag == "label":
            control = page.document.target(place)
            if control is None or page.is_disabled(control):
                return
            if focusable(page, control):
                page.give_focus(control.index)
            if not page.is_text_field(control) and control.tag != "select":
                activate(browser, control)
            return
        if page.is_button(place):
            if not page.is_disabled(place):
                _press_button(browser, place)
            return
        if tag == "a" and "href" in place.attrs:
            _press_link(browser, place)
            return
        if tag == "option":
            _click_option(browser, place)
            return
        if tag == "input":
            _click_input(browser, place)
            return
        if tag == "summary" and is_details_summary(place) and place.parent is not None:
            is_open = page.attr(place.parent, "open") is not None
            page.set_attr(place.parent, "open", None if is_open else "")
            return
        if tag in ("select", "textarea"):
            return
        if place.attrs.get("role") == "tab":
            data_attributes.select_tab(page, place)
            return


def _click_input(browser: Browser, node: DomNode) -> None:
    page = browser.page
    if page.is_disabled(node):
        return
    if node.type == "checkbox":
        page.set_checked(node, not page.is_checked(node))
        after_change(browser, node)
    elif node.type == "radio":
        if not page.is_checked(node):
            page.set_checked(node, True)
            after_change(browser, node)
    elif node.type == "file":
        browser.tab.modal = OpenFileChooser(node.index)


def _click_option(browser: Browser, option: DomNode) -> None:
    select = option.closest("select")
    if select is None or browser.page.is_disabled(select) or browser.page.is_disabled(option):
        return
    browser.page.chosen[select.index] = (option.index,)
    after_change(browser, select)


def _press_button(browser: Browser, button: DomNode) -> None:
    page = browser.page
    dialog = data_attributes.dialog_before(page, button)
    if dialog is not None:
        browser.tab.modal = dialog
        return
    _after_button(browser, button)


def _after_button(browser: Browser, button: DomNode, extra: tuple[str, str] | None = None) -> None:
    page = browser.page
    if "data-reload" in button.attrs and browser.tab.url.startswith("chrome-error:"):
        try:
            browser.reload()
        except Unreachable:
            return
        return
    data_attributes.act_on_button(page, button)
    form = page.document.form_of(button)
    if form is None or button.type == "button":
        return
    if button.type == "reset":
        forms.reset(page, form)
    else:
        submit(browser, form, button, extra)


def _press_link(browser: Browser, link: DomNode) -> None:
    dialog = data_attributes.dialog_before(browser.page, link)
    if dialog is not None:
        browser.tab.modal = dialog
        return
    follow_link(browser, link)


def follow_link(browser: Browser, link: DomNode, elsewhere: bool = False) -> None:
    """Follow a link. A page that cannot be reached leaves the browser's error page."""
    url = addresses.resolved(browser.tab.url, link.attrs.get("href", ""))
    if addresses.scheme_of(url) not in ("http", "https"):
        return
    tab = browser.tab
    if elsewhere or link.attrs.get("target") == "_blank":
        try:
            tab = browser.open_tab()
            tab.fresh = True
        except Refusal:
            return  # A browser drops windows beyond its limit.
    try:
        browser.go(url, tab=tab)
    except Unreachable:
        return


def submit(browser: Browser, form: DomNode, button: DomNode | None, extra: tuple[str, str] | None = None) -> None:
    """Submit a form. Where the browser refuses a value, the focus goes to its field instead."""
    page = browser.page
    sent = request_of(page, form, button, browser.tab.url, extra)
    if isinstance(sent, DomNode):
        page.give_focus(sent.index)
        return
    dialog = form.closest("dialog")
    if _method(form, button) == "DIALOG" and dialog is not None:
        close_dialog(page, dialog)
    if sent is None:
        return
    method, url, fields = sent
    try:
        browser.go(url, method, fields)
    except Unreachable:
        return


def request_of(
    page: Page, form: DomNode, button: DomNode | None, page_url: str, extra: tuple[str, str] | None = None
) -> tuple[str, str, forms.Fields] | DomNode | None:
    """Return the method, the address and the fields of the request that a form sends.

    It is the element whose value the browser refuses to send, where there is one, and None where no request is made.
    """
    checked = "novalidate" not in form.attrs and (button is None or "formnovalidate" not in button.attrs)
    if checked and (wrong := forms.first_invalid(page, form)) is not None:
        return wrong
    method = _method(form, button)
    if method == "DIALOG":
        return None
    fields = forms.fields(page, form, button)
    if extra is not None:
        fields = (*(field for field in fields if field[0] != extra[0]), extra)
    attrs = button.attrs if button is not None else {}
    action = attrs.get("formaction", form.attrs.get("action", ""))
    url = addresses.resolved(page_url, action) if action else addresses.without_fragment(page_url)
    if addresses.scheme_of(url) not in ("http", "https"):
        return None
    if method == "POST":
        return method, addresses.without_fragment(url), fields
    return "GET", addresses.with_query(url, addresses.encode_form(fields)), ()


def _method(form: DomNode, button: DomNode | None) -> str:
    attrs = button.attrs if button is not None else {}
    return attrs.get("formmethod", form.attrs.get("method", "get")).upper()


def submit_implicitly(browser: Browser, field: DomNode) -> None:
    """Act on Enter in a field: press the form's first submit button, or submit the form if it has none."""
    page = browser.page
    form = page.document.form_of(field)
    if form is None:
        return
    controls = page.document.controls.get(form.index, [])
    button = next((node for node in controls if page.is_button(node) and node.type in ("submit", "image")), None)
    if button is not None:
        if not page.is_disabled(button):
            _press_button(browser, button)
    elif sum(page.is_text_field(node) and node.tag == "input" for node in controls) <= 1:
        submit(browser, form, None)


def answer_dialog(browser: Browser, accept: bool, text: str | None) -> None:
    """Close the open dialog, and continue with what it was about."""
    dialog = browser.tab.modal
    browser.tab.modal = None
    if not isinstance(dialog, JavaScriptDialog) or (dialog.kind != "alert" and not accept):
        return
    node = browser.page.nodes[dialog.node]
    if node.tag == "a":
        follow_link(browser, node)
    else:
        _after_button(browser, node, (dialog.field, (text or "")[:MAX_VALUE]) if dialog.field else None)


def fill(browser: Browser, node: DomNode, text: str) -> None:
    """Replace the text of a field.

    Raises:
        Refusal: The element is no text field, or does not take such a text.
    """
    node = field_of(browser.page, node)
    page = browser.page
    if node.tag == "input" and not page.is_text_field(node):
        raise Refusal(f'Error: locator.fill: Error: Input of type "{node.type}" cannot be filled')
    if node.tag not in ("input", "textarea"):
        raise Refusal(
            "Error: locator.fill: Error: Element is not an <input>, <textarea>, <select> or [contenteditable] and does "
            "not have a role allowing [aria-readonly]"
            if node.tag != "select"
            else "Error: locator.fill: Error: Element is not an <input>, <textarea> or [contenteditable] element"
        )
    if node.tag == "input" and node.type == "number":
        text = text.strip()
        if not _is_javascript_number(text):
            raise Refusal("Error: locator.fill: Error: Cannot type text into input[type=number]")
    page.give_focus(node.index)
    if node.tag == "input" and node.type in _TYPED_AS_ONE:
        page.set_value(node, text.strip())
    else:
        set_text(page, node, text)
    data_attributes.filter_list(page, node)


def set_text(page: Page, node: DomNode, text: str) -> None:
    """Set the text of a field as typing does: with the field's maximum length, and line breaks only in a text area."""
    if node.tag == "input":
        text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    limit = forms.max_length(node)
    page.set_value(node, text if limit is None else text[:limit])


def field_of(page: Page, node: DomNode) -> DomNode:
    """Return the control that an element stands for: that of a label, else the element itself."""
    if node.tag in ("input", "select", "textarea", "button"):
        return node
    label = node.closest("label")
    return (page.document.target(label) if label is not None else None) or node


def select_options(browser: Browser, node: DomNode, values: list[str], labels_only: bool = False) -> list[str] | str:
    """Select options by value or label; return their values, or else why that is impossible.

    Raises:
        Refusal: The element is not a select.
    """
    page = browser.page
    select = field_of(page, node)
    if select.tag != "select":
        raise Refusal("Error: locator.selectOption: Error: Element is not a <select> element")
    left, chosen = list(values), []
    for option in page.document.options(select):
        label = " ".join((option.attrs.get("label") or option.text()).split())
        value = page.option_value(option)
        hits = [want for want in left if " ".join(want.split()) == label or (want == value and not labels_only)]
        if not hits:
            continue
        if page.is_disabled(option):
            return "option being selected is not enabled"
        chosen.append(option)
        left = [want for want in left if want not in hits] if "multiple" in select.attrs else []
        if "multiple" not in select.attrs:
            break
    if left:
        return "did not find some options"
    page.chosen[select.index] = tuple(option.index for option in chosen)
    after_change(browser, select)
    return [page.option_value(option) for option in chosen]


def after_change(browser: Browser, control: DomNode) -> None:
    """Act on a change of a control: send its form where the control asks for it."""
    if data_attributes.sends_itself(browser, control):
        form = browser.page.document.form_of(control)
        if form is not None:
            submit(browser, form, None)


def _is_javascript_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return text.isascii() and "_" not in text and "n" not in text.lower().replace("infinity", "")

"""A page in a tab: a document, and everything that has changed since it was loaded."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.document.dom import Document
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.roles import is_listbox
from agentworld_gym.domains.web.engine.strings import words

MAX_VALUE = 10_000
"""The largest number of characters in a field."""

Look = tuple[dict[tuple[int, str], str | None], dict[int, str], dict[int, bool], dict[int, tuple[int, ...]]]
UNTOUCHED: Look = ({}, {}, {}, {})

_TEXTUAL = words("color date datetime-local email month number password range search tel text time url week")
_BUTTONS = frozenset({"submit", "reset", "button", "image"})


class Page:
    """A document, and what the user of a browser can change in it.

    Elements are identified by their index in the document. `refs` keeps the reference of each element, with the role
    and the name it had. `listed` maps the references of the last snapshot to elements. `selected` says that the whole
    text of the focused field is selected, so that typing replaces it. `tail` is the number of its characters after the
    caret. `looks` are the contents of the page at the snapshots that gave new references, which are numbered from
    `start` on: attributes, values, checked and chosen elements.
    """

    __slots__ = (
        "attrs",
        "checked",
        "chosen",
        "document",
        "files",
        "focus",
        "last_ref",
        "layout",
        "listed",
        "looks",
        "modals",
        "refs",
        "selected",
        "start",
        "tail",
        "values",
    )

    def __init__(self, document: Document) -> None:
        self.document = document
        self.attrs: dict[tuple[int, str], str | None] = {}
        self.values: dict[int, str] = {}
        self.checked: dict[int, bool] = {}
        self.chosen: dict[int, tuple[int, ...]] = {}
        self.files: dict[int, tuple[str, ...]] = {}
        self.focus: int | None = None
        self.modals: tuple[tuple[int, int | None], ...] = ()
        self.refs: dict[int, tuple[str, str, str]] = {}
        self.last_ref = 0
        self.listed: dict[str, int] = {}
        self.looks: tuple[Look, ...] = ()
        self.start = 0
        self.layout: object = None
        self.selected = False
        self.tail = 0

    def fork(self) -> Page:
        """Return an exact copy."""
        twin = Page(self.document)
        twin.attrs, twin.values = dict(self.attrs), dict(self.values)
        twin.checked, twin.chosen, twin.files = dict(self.checked), dict(self.chosen), dict(self.files)
        twin.focus, twin.modals = self.focus, self.modals
        twin.refs, twin.last_ref = dict(self.refs), self.last_ref
        twin.listed = self.listed
        twin.looks, twin.start = self.looks, self.start
        twin.layout = self.layout
        twin.selected, twin.tail = self.selected, self.tail
        return twin

    @property
    def is_untouched(self) -> bool:
        """Return whether nothing has happened to the page since it was loaded, not even a snapshot."""
        changes = self.attrs or self.values or self.checked or self.chosen or self.files or self.modals or self.last_ref
        return not changes and self.focus is None

    def look(self) -> Look:
        """Return a copy of all that a user can change in what the page shows."""
        return dict(self.attrs), dict(self.values), dict(self.checked), dict(self.chosen)

    def give_focus(self, index: int | None) -> None:
        """Move the focus. No text is selected then, and the caret stands at the end."""
        self.focus, self.selected, self.tail = index, False, 0

    @property
    def nodes(self) -> list[DomNode]:
        """The elements of the document."""
        return self.document.nodes

    def attr(self, node: DomNode, name: str) -> str | None:
        """Return the present value of an attribute."""
        if self.attrs:
            key = (node.index, name)
            if key in self.attrs:
                return self.attrs[key]
        return node.attrs.get(name)

    def set_attr(self, node: DomNode, name: str, value: str | None) -> None:
        """Change an attribute; None removes it."""
        key = (node.index, name)
        if node.attrs.get(name) == value:
            self.attrs.pop(key, None)
        else:
            self.attrs[key] = value
        self.layout = None

    def value(self, node: DomNode) -> str:
        """Return the value of a field as a script would read it."""
        value = self.values.get(node.index)
        if value is not None:
            return value
        if node.tag == "textarea":
            return node.text()
        if node.tag == "select":
            chosen = self.chosen_options(node)
            return self.option_value(self.nodes[chosen[0]]) if chosen else ""
        if node.tag == "input" and node.type in ("checkbox", "radio"):
            return node.attrs.get("value", "on")
        if node.tag == "input" and node.type == "file":
            files = self.files.get(node.index, ())
            return "C:\\fakepath\\" + files[0].replace("\\", "/").rsplit("/", 1)[-1] if files else ""
        return sanitized(node, node.attrs.get("value", ""))

    def set_value(self, node: DomNode, value: str) -> None:
        """Change the value of a text field."""
        value = sanitized(node, value[:MAX_VALUE])
        self.values.pop(node.index, None)
        if self.value(node) != value:
            self.values[node.index] = value

    def is_checked(self, node: DomNode) -> bool:
        """Return whether a checkbox or a radio button is checked."""
        checked = self.checked.get(node.index)
        if checked is not None:
            return checked
        if "checked" not in node.attrs:
            return False
        if node.type != "radio":
            return True
        return next((other for other in reversed(self.group(node)) if "checked" in other.attrs), node) is node

    def set_checked(self, node: DomNode, checked: bool) -> None:
        """Check or uncheck a control; the other radio buttons of its group follow."""
        if node.type == "radio" and checked:
            for other in self.group(node):
                self.checked[other.index] = other is node
        else:
            self.checked[node.index] = checked

    def group(self, radio: DomNode) -> list[DomNode]:
        """Return all radio buttons in the group of one."""
        name = radio.attrs.get("name")
        if not name:
            return [radio]
        form = self.document.form_of(radio)
        return [
            node
            for node in (self.document.controls.get(form.index, []) if form else self.nodes)
            if node.tag == "input"
            and node.type == "radio"
            and node.attrs.get("name") == name
            and self.document.form_of(node) is form
        ]

    def chosen_options(self, select: DomNode) -> tuple[int, ...]:
        """Return the selected options of a select."""
        chosen = self.chosen.get(select.index)
        if chosen is not None:
            return chosen
        return default_options(self.document, select)

    def option_value(self, option: DomNode) -> str:
        """Return the value that an option sends with its form."""
        value = option.attrs.get("value")
        return value if value is not None else " ".join(option.text().split())

    def is_disabled(self, node: DomNode) -> bool:
        """Return whether a control is disabled by its own attribute or by an element around it."""
        if node.tag not in ("button", "input", "select", "textarea", "option", "optgroup"):
            return False
        if self.attr(node, "disabled") is not None:
            return True
        for ancestor in node.ancestors():
            if ancestor.tag == "optgroup" and node.tag == "option" and "disabled" in ancestor.attrs:
                return True
            if ancestor.tag == "fieldset" and self.attr(ancestor, "disabled") is not None:
                legend = next((child for child in ancestor.elements() if child.tag == "legend"), None)
                return legend is None or not legend.holds(node)
        return False

    def is_text_field(self, node: DomNode) -> bool:
        """Return whether text can be typed into an element."""
        return node.tag == "textarea" or (node.tag == "input" and node.type in _TEXTUAL)

    def is_button(self, node: DomNode) -> bool:
        """Return whether an element is a button of a form."""
        return node.tag == "button" or (node.tag == "input" and node.type in _BUTTONS)


def default_options(document: Document, select: DomNode) -> tuple[int, ...]:
    """Return the options that are selected when a page is loaded."""
    options = document.options(select)
    marked = tuple(option.index for option in options if "selected" in option.attrs)
    if "multiple" in select.attrs:
        return marked
    if marked:
        return marked[-1:]
    if is_listbox(select):
        return ()
    return next(((option.index,) for option in options if "disabled" not in option.attrs), ())


def sanitized(node: DomNode, value: str) -> str:
    """Return a value as a field of that type keeps it."""
    if node.tag == "textarea":
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if node.tag != "input" or node.type in ("hidden", "submit", "reset", "button", "checkbox", "radio"):
        return value
    value = value.replace("\r", "").replace("\n", "")
    if node.type in ("email", "url"):
        return value.strip()
    if node.type == "number" and not is_number(value):
        return ""
    if node.type == "date" and not is_date(value):
        return ""
    return value


def is_number(text: str) -> bool:
    """Return whether HTML accepts a text as a number."""
    digits = text.removeprefix("-")
    mantissa, letter, exponent = digits.lower().partition("e")
    whole, point, fraction = mantissa.partition(".")
    if letter and not exponent.lstrip("+-").isdecimal():
        return False
    if point and not fraction.isdecimal():
        return False
    return text.isascii() and (whole.isdecimal() or (not whole and bool(point)))


def is_date(text: str) -> bool:
    """Return whether a text is a date such as 2026-03-04."""
    import datetime

    try:
        return len(text) == 10 and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False

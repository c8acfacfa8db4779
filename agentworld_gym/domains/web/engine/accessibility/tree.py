"""The accessibility tree of a page, as Playwright builds it for its snapshots."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.accessibility.names import Names
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.strings import tidy, words

_CHECKED = words("checkbox menuitemcheckbox menuitemradio option radio switch treeitem")
_DISABLED = words(
    "application button checkbox columnheader combobox composite grid gridcell group input link listbox "
    "menu menubar menuitem menuitemcheckbox menuitemradio option radio radiogroup row rowheader scrollbar "
    "searchbox select separator slider spinbutton switch tab tablist textbox toolbar tree treegrid "
    "treeitem"
)
_EXPANDED = words(
    "application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox "
    "menuitemradio row rowheader switch tab treeitem"
)
_INVALID = words(
    "application checkbox columnheader combobox gridcell listbox radiogroup rowheader searchbox slider "
    "spinbutton switch textbox tree"
)
_LEVEL = frozenset({"heading", "listitem", "row", "treeitem"})
_SELECTED = frozenset({"columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"})
_IDENTIFYING = words(
    "alertdialog application banner columnheader complementary contentinfo dialog document figure form "
    "grid group listbox main menu menubar navigation radiogroup region rowheader search table tablist "
    "tabpanel toolbar tree treegrid"
)


class Item:
    """A node of the tree. `children` are items and texts, and `states` are printed in brackets."""

    __slots__ = (
        "active",
        "children",
        "clickable",
        "name",
        "node",
        "placeholder",
        "ref",
        "role",
        "sources",
        "states",
        "url",
    )

    def __init__(self, node: DomNode, role: str, name: str) -> None:
        self.node, self.role, self.name = node, role, name
        self.children: list[Item | str] = []
        self.states: tuple[str, ...] = ()
        self.ref = ""
        self.active = self.clickable = False
        self.url: str | None = None
        self.placeholder: str | None = None
        self.sources: tuple[str, ...] = ()


class _Builder:
    """One walk over a page, which gives references to new elements and notes what each reference means."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.layout = layout_of(page)
        self.names = Names(page, self.layout)
        self.listed: dict[str, int] = {}
        self.given: dict[int, str] = {}
        self.focus = page.focus
        if page.focus is None and not page.modals:
            self.focus = page.document.body.index

    def visit(self, node: DomNode, parent: list[Item | str]) -> None:
        """Add an element, or else its content, to the children of its parent."""
        index = node.index
        apart = node.display != "inline" or node.tag == "br" or not self.layout.shown[index]
        if not self.layout.shown[index] and node.tag != "option":
            parent.append(" ")
            if not self.layout.gone[index]:
                self._visit_folded(node, parent)
            return
        item, sources = self._item(node)
        into = parent
        if item is not None:
            parent.append(item)
            into = item.children
        if apart:
            into.append(" ")
        closed = node.tag == "details" and self.page.attr(node, "open") is None
        wordless = closed or (item is not None and item.role == "textbox")
        for child in node.children:
            if not isinstance(child, str):
                self.visit(child, into)
            elif not wordless:
                into.append(child)
        if apart:
            into.append(" ")
        if item is not None:
            self._finish(node, item, sources)

    def _visit_folded(self, node: DomNode, parent: list[Item | str]) -> None:
        """Add the options of drop-down lists in closed details, which Playwright shows in spite of being hidden."""
        for option in self.page.nodes[node.index + 1 : node.end]:
            if option.tag == "option" and not self.layout.gone[option.index]:
                self.visit(option, parent)

    def _finish(self, node: DomNode, item: Item, sources: tuple[DomNode, ...]) -> None:
        if item.role == "link" and "href" in node.attrs:
            item.url = node.attrs["href"]
        if item.role == "textbox":
            placeholder = node.attrs.get("placeholder")
            item.placeholder = None if placeholder == item.name else placeholder
        if item.ref and sources:
            given = self.given
            item.sources = tuple(
                given[source.index] for source in sources if source is not node and source.index in given
            )

    def _item(self, node: DomNode) -> tuple[Item | None, tuple[DomNode, ...]]:
        role = node.role or "generic"
        if role in ("presentation", "none") or (node.tag == "optgroup" and not self.layout.box[node.index]):
            return None, ()
        if (
            role == "generic"
            and node.display == "inline"
            and len(node.children) == 1
            and isinstance(node.children[0], str)
        ):
            return None, ()
        name, sources = self.names.of(node)
        item = Item(node, role, name)
        item.active = node.index == self.focus
        if self.layout.box[node.index]:
            self._refer(node, item)
        item.states = self._states(node, role)
        if node.tag in ("input", "textarea") and node.type not in ("checkbox", "radio", "file"):
            item.children.append(self.page.value(node))
        return item, sources

    def _refer(self, node: DomNode, item: Item) -> None:
        page = self.page
        ref = page.refs.get(node.index)
        if ref is None or ref[0] != item.role or ref[1] != item.name:
            page.last_ref += 1
            ref = (item.role, item.name, f"e{page.last_ref}")
            page.refs[node.index] = ref
        item.ref = ref[2]
        item.clickable = bool(self.layout.pointer[node.index])
        self.listed[item.ref] = node.index
        self.given[node.index] = item.ref

    def _states(self, node: DomNode, role: str) -> tuple[str, ...]:
        page = self.page
        states: list[str] = []
        if role in _CHECKED and (checked := self._checked(node)):
            states.append(checked)
        if role in _DISABLED and (page.is_disabled(node) or self._claims_disabled(node)):
            states.append("disabled")
        if role in _EXPANDED and (page.attr(node, "aria-expanded") or "").lower() == "true":
            states.append("expanded")
        if node.index == self.focus:
            states.append("active")
        if role in _INVALID and (invalid := (page.attr(node, "aria-invalid") or "").lower().strip()) not in (
            "",
            "false",
        ):
            states.append(f"invalid={invalid}" if invalid in ("grammar", "spelling") else "invalid")
        if role in _LEVEL and (level := _level(node)):
            states.append(f"level={level}")
        if role == "button" and (pressed := (page.attr(node, "aria-pressed") or "").lower()) in ("true", "mixed"):
            states.append("pressed" if pressed == "true" else "pressed=mixed")
        if role in _SELECTED and is_selected(page, node):
            states.append("selected")
        if (page.attr(node, "aria-hidden") or "").lower() == "true":
            states.append("aria-hidden")
        return tuple(states)

    def _checked(self, node: DomNode) -> str:
        if node.tag == "input" and node.type in ("checkbox", "radio"):
            return "checked" if self.page.is_checked(node) else ""
        claimed = (self.page.attr(node, "aria-checked") or "").lower()
        return {"true": "checked", "mixed": "checked=mixed"}.get(claimed, "")

    def _claims_disabled(self, node: DomNode) -> bool:
        place: DomNode | None = node
        while place is not None:
            claimed = place.attrs.get("aria-disabled", "").lower()
            if claimed in ("true", "false"):
                return claimed == "true"
            place = place.parent
        return False


class _Distiller:
    """Removes repetitions and empty items from a tree."""

    def __init__(self) -> None:
        self.pending: set[str] = set()
        self.ancestors: list[Item | None] = [None]

    def children(self, items: list[Item | str]) -> list[Item | str]:
        """Return the simplified children of an item."""
        kept: list[Item | str] = []
        for child in items:
            if isinstance(child, str):
                kept.append(child)
                continue
            self._enter(child)
            self.ancestors.append(child)
            child.children = self.children(child.children)
            self.ancestors.pop()
            self._exit(child, kept)
        return kept

    def _enter(self, item: Item) -> None:
        if item.ref:
            self.pending.update(item.sources)
            if item.role != "generic" or not all(isinstance(child, str) for child in item.children):
                self.pending.discard(item.ref)

    def _exit(self, item: Item, items: list[Item | str]) -> None:
        item.children = merged(item.children, item.name)
        if item.role == "img" and not item.name and not item.children and not self._is_target(item):
            return
        self._drop_redundant_name(item)
        if item.role == "generic":
            _inline_text(item)
            if self._repeats_name(item):
                if item.ref:
                    self.pending.add(item.ref)
                return
            if self._unwraps(item):
                items.extend(item.children)
                return
        items.append(item)

    def _drop_redundant_name(self, item: Item) -> None:
        if not item.ref or not item.sources:
            return
        if item.role not in _IDENTIFYING and self.pending.isdisjoint(item.sources):
            item.name = ""
        else:
            self.pending.difference_update(item.sources)

    def _repeats_name(self, item: Item) -> bool:
        parent = self.ancestors[-1]
        if parent is None or not parent.name or item.active:
            return False
        if item.name:
            text = "" if item.children else item.name
        else:
            only = item.children[0] if len(item.children) == 1 else ""
            text = only if isinstance(only, str) else ""
        return bool(text) and text == parent.name

    def _unwraps(self, item: Item) -> bool:
        if item.name or len(item.children) > 1:
            return False
        if not item.children:
            return not self._is_target(item)
        only = item.children[0]
        return not isinstance(only, str) and bool(only.ref)

    def _is_target(self, item: Item) -> bool:
        """Return whether an item is the outermost element that can be clicked."""
        if not item.ref or not item.clickable:
            return False
        return not any(above is not None and above.ref and above.clickable for above in self.ancestors)


def merged(children: list[Item | str], name: str) -> list[Item | str]:
    """Return children with neighbouring texts joined and tidied; nothing if they only repeat the name."""
    result: list[Item | str] = []
    buffer: list[str] = []
    for child in children:
        if isinstance(child, str):
            buffer.append(child)
            continue
        if buffer:
            if text := tidy("".join(buffer)):
                result.append(text)
            buffer.clear()
        result.append(child)
    if buffer and (text := tidy("".join(buffer))):
        result.append(text)
    return [] if len(result) == 1 and result[0] == name else result


def _inline_text(item: Item) -> None:
    only = item.children[0] if len(item.children) == 1 else ""
    if isinstance(only, str) or only.role != "generic" or only.name or only.active:
        return
    if len(only.children) == 1 and isinstance(only.children[0], str):
        item.children = [only.children[0]]


def is_selected(page: Page, node: DomNode) -> bool:
    """Return whether an option, a tab or a row is selected."""
    if node.tag == "option":
        select = node.closest("select")
        return select is not None and node.index in page.chosen_options(select)
    return (page.attr(node, "aria-selected") or "").lower() == "true"


def _level(node: DomNode) -> int:
    if len(node.tag) == 2 and node.tag[0] == "h" and node.tag[1] in "123456":
        return int(node.tag[1])
    claimed = node.attrs.get("aria-level", "").strip()
    return int(claimed) if claimed.isascii() and claimed.isdigit() and len(claimed) < 6 else 0


def tree_of(page: Page) -> list[Item | str]:
    """Return the accessibility tree of a page.

    New elements get references, and `page.listed` maps references to elements.
    """
    builder = _Builder(page)
    root: list[Item | str] = []
    builder.visit(page.document.body, root)
    page.listed = builder.listed
    return merged(_Distiller().children(root), "")

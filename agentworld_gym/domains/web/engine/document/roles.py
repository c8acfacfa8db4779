"""ARIA roles and CSS display of elements, as far as tag and attributes decide them."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.strings import words

ROLES = words(
    "alert alertdialog application article banner blockquote button caption cell checkbox code "
    "columnheader combobox complementary contentinfo definition deletion dialog directory document "
    "emphasis feed figure form generic grid gridcell group heading img insertion link list listbox "
    "listitem log main mark marquee math meter menu menubar menuitem menuitemcheckbox menuitemradio "
    "navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup "
    "rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript "
    "switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem"
)

_BY_TAG = {
    "article": "article",
    "aside": "complementary",
    "blockquote": "blockquote",
    "button": "button",
    "caption": "caption",
    "code": "code",
    "datalist": "listbox",
    "dd": "definition",
    "del": "deletion",
    "details": "group",
    "dfn": "term",
    "dialog": "dialog",
    "dt": "term",
    "em": "emphasis",
    "fieldset": "group",
    "figure": "figure",
    "hr": "separator",
    "ins": "insertion",
    "li": "listitem",
    "main": "main",
    "mark": "mark",
    "menu": "list",
    "meter": "meter",
    "nav": "navigation",
    "ol": "list",
    "optgroup": "group",
    "option": "option",
    "output": "status",
    "p": "paragraph",
    "progress": "progressbar",
    "search": "search",
    "strong": "strong",
    "sub": "subscript",
    "sup": "superscript",
    "svg": "img",
    "table": "table",
    "tbody": "rowgroup",
    "textarea": "textbox",
    "tfoot": "rowgroup",
    "thead": "rowgroup",
    "time": "time",
    "tr": "row",
    "ul": "list",
    **{f"h{level}": "heading" for level in range(1, 7)},
}

_BY_INPUT = {
    "button": "button",
    "checkbox": "checkbox",
    "file": "button",
    "image": "button",
    "number": "spinbutton",
    "radio": "radio",
    "range": "slider",
    "reset": "button",
    "search": "searchbox",
    "submit": "button",
}

_SECTIONING_TAGS = frozenset({"article", "aside", "main", "nav", "section"})
_SECTIONING_ROLES = frozenset({"article", "complementary", "main", "navigation", "region"})
_GLOBAL = [
    "aria-atomic",
    "aria-busy",
    "aria-controls",
    "aria-current",
    "aria-describedby",
    "aria-details",
    "aria-dropeffect",
    "aria-flowto",
    "aria-grabbed",
    "aria-hidden",
    "aria-keyshortcuts",
    "aria-label",
    "aria-labelledby",
    "aria-live",
    "aria-owns",
    "aria-relevant",
    "aria-roledescription",
]
_NAMELESS = words(
    "caption code deletion emphasis generic insertion paragraph presentation strong subscript superscript"
)
_INHERITS_PRESENTATION = {
    "dd": ("dl", "div"),
    "div": ("dl",),
    "dt": ("dl", "div"),
    "li": ("ol", "ul"),
    "tbody": ("table",),
    "td": ("tr",),
    "tfoot": ("table",),
    "th": ("tr",),
    "thead": ("table",),
    "tr": ("thead", "tbody", "tfoot", "table"),
}
_INLINE_BLOCK = frozenset({"button", "input", "meter", "progress", "select", "textarea"})
_BLOCK = words(
    "address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend "
    "li listing main menu nav ol optgroup option p plaintext pre search section summary table tbody td "
    "tfoot th thead tr ul xmp"
)
_NONE = words("area base basefont datalist head link meta noembed noframes param rp script style template title")


def explicit_role(node: DomNode) -> str | None:
    """Return the first valid role that an element states in its `role` attribute."""
    claimed = node.attrs.get("role")
    if not claimed:
        return None
    return next((role for role in claimed.lower().split() if role in ROLES), None)


def role_of(node: DomNode) -> str | None:
    """Return the role of an element; None if it has none.

    The ancestors of the element must be in place, and for a header cell its siblings.
    """
    explicit = explicit_role(node)
    if explicit is None:
        return _implicit_role(node)
    if explicit in ("none", "presentation"):
        implicit = _implicit_role(node)
        if _keeps_role(node, implicit):
            return implicit
    return explicit


def display_of(node: DomNode) -> str:
    """Return the display of a visible element: `inline`, `inline-block`, `block` or `none`."""
    tag = node.tag
    if tag in _NONE or (tag == "input" and node.type == "hidden"):
        return "none"
    if tag in _INLINE_BLOCK:
        return "inline-block"
    return "block" if tag in _BLOCK else "inline"


def is_listbox(select: DomNode) -> bool:
    """Return whether a select shows its options as a list and not as a drop-down menu."""
    size = select.attrs.get("size", "")
    return "multiple" in select.attrs or (size.isascii() and size.isdigit() and int(size[:6]) > 1)


def _implicit_role(node: DomNode) -> str | None:
    role = _native_role(node)
    if not role:
        return None
    ancestor = node
    while ancestor.parent is not None and ancestor.parent.tag in _INHERITS_PRESENTATION.get(ancestor.tag, ()):
        ancestor = ancestor.parent
        explicit = explicit_role(ancestor)
        if explicit in ("none", "presentation") and not _keeps_role(ancestor, explicit):
            return explicit
    return role


def _native_role(node: DomNode) -> str | None:
    tag, attrs = node.tag, node.attrs
    if (role := _BY_TAG.get(tag)) is not None:
        return role
    if tag in ("a", "area"):
        return "link" if "href" in attrs else None
    if tag == "input":
        if node.type == "hidden":
            return None
        if "list" in attrs and node.type in ("email", "search", "tel", "text", "url"):
            return "combobox"
        return _BY_INPUT.get(node.type, "textbox")
    if tag == "select":
        return "listbox" if is_listbox(node) else "combobox"
    if tag in ("header", "footer"):
        inside = any(_prevents_landmark(ancestor) for ancestor in node.ancestors())
        return None if inside else ("banner" if tag == "header" else "contentinfo")
    if tag in ("form", "section") and ("aria-label" in attrs or "aria-labelledby" in attrs):
        return "form" if tag == "form" else "region"
    if tag == "img":
        decorative = attrs.get("alt") == "" and not attrs.get("title") and not _has_global(node, None)
        return "presentation" if decorative and not _has_tabindex(node) else "img"
    if tag == "td":
        table = node.closest("table")
        return "gridcell" if table is not None and explicit_role(table) in ("grid", "treegrid") else "cell"
    return _header_role(node) if tag == "th" else None


def _header_role(cell: DomNode) -> str | None:
    scope = cell.attrs.get("scope")
    if scope in ("col", "colgroup"):
        return "columnheader"
    if scope in ("row", "rowgroup"):
        return "rowheader"
    siblings = list(cell.parent.elements()) if cell.parent is not None else [cell]
    place = siblings.index(cell)
    before = siblings[place - 1] if place else None
    after = siblings[place + 1] if place + 1 < len(siblings) else None
    if before is None and after is None:
        table = cell.closest("table")
        rows = 0 if table is None else _count(table, "tr")
        return None if table is not None and rows <= 1 else "columnheader"
    if _is_header(before) and _is_header(after):
        return "columnheader"
    return "rowheader" if _is_data(after) or _is_data(before) else "columnheader"


def _count(node: DomNode, tag: str) -> int:
    return sum((child.tag == tag) + _count(child, tag) for child in node.elements() if child.tag != "td")


def _is_header(cell: DomNode | None) -> bool:
    return cell is not None and cell.tag == "th"


def _is_data(cell: DomNode | None) -> bool:
    return cell is not None and cell.tag == "td" and (bool(cell.text().strip()) or any(True for _ in cell.elements()))


def _prevents_landmark(node: DomNode) -> bool:
    if "role" not in node.attrs:
        return node.tag in _SECTIONING_TAGS
    return node.attrs["role"] in _SECTIONING_ROLES


def _keeps_role(node: DomNode, role: str | None) -> bool:
    """Return whether an element that claims to be presentational keeps its role.

    It does so if it can be focused, or has a global ARIA attribute.
    """
    return _has_global(node, role) or _is_focusable(node)


def _has_global(node: DomNode, role: str | None) -> bool:
    for name in _GLOBAL:
        if name in node.attrs:
            if name in ("aria-label", "aria-labelledby") and role in _NAMELESS:
                continue
            if name == "aria-roledescription" and role == "generic":
                continue
            return True
    return False


def _has_tabindex(node: DomNode) -> bool:
    return node.attrs.get("tabindex", "").strip().lstrip("+-").isdigit()


def _is_focusable(node: DomNode) -> bool:
    native = node.tag in ("button", "details", "select", "textarea") or (
        node.tag in ("a", "area") and "href" in node.attrs
    )
    native = native or (node.tag == "input" and "hidden" not in node.attrs)
    return (native and "disabled" not in node.attrs) or _has_tabindex(node)

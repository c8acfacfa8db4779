"""Elements of a document."""

from __future__ import annotations

from collections.abc import Iterator


class DomNode:
    """An element. `children` holds elements and texts, and `index` is its place in document order.

    The elements below it have an index above its own and below `end`.
    """

    __slots__ = ("attrs", "children", "display", "end", "index", "parent", "role", "tag")

    def __init__(self, index: int, tag: str, attrs: dict[str, str], parent: DomNode | None) -> None:
        self.index, self.tag, self.attrs, self.parent = index, tag, attrs, parent
        self.children: list[DomNode | str] = []
        self.end = index + 1
        self.role: str | None = None
        self.display = "inline"

    @property
    def type(self) -> str:
        """The `type` of an input or a button, as a browser understands it."""
        return self.attrs.get("type", "")

    def elements(self) -> Iterator[DomNode]:
        """Yield the children that are elements."""
        for child in self.children:
            if not isinstance(child, str):
                yield child

    def ancestors(self) -> Iterator[DomNode]:
        """Yield the parent, the parent's parent, and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def closest(self, *tags: str) -> DomNode | None:
        """Return the element itself or its nearest ancestor with one of these tags."""
        node: DomNode | None = self
        while node is not None and node.tag not in tags:
            node = node.parent
        return node

    def holds(self, other: DomNode) -> bool:
        """Return whether another element is this one or lies below it."""
        return self.index <= other.index < self.end

    def text(self) -> str:
        """Return all texts in the element, joined (`textContent`)."""
        parts: list[str] = []
        stack: list[DomNode | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
            else:
                stack.extend(reversed(item.children))
        return "".join(parts)

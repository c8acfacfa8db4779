"""Keys and values of prompts that were read before, so that a history which only grows is read once.

The cache is a tree: each node holds a run of tokens with their keys and values, and its children go on where the run
ends. Sessions with the same beginning, forks above all, share its nodes. Beyond the limit the leaves that were used
longest ago are dropped first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class _Node:
    text: str
    values: Any
    parent: _Node | None
    used: int = 0
    children: dict[str, _Node] = field(default_factory=dict)


class PrefixCache:
    """A cache of values by text: a text has one character a token, and the third dimension of values is the tokens.

    >>> import torch
    >>> cache = PrefixCache(100)
    >>> whole = torch.arange(5.0).view(1, 1, 5, 1)
    >>> cache.add("abcde", lambda start, stop: whole[:, :, start:stop].clone())
    >>> [piece.flatten().tolist() for piece in cache.find("abcxy")]
    [[0.0, 1.0, 2.0]]

    Args:
        limit: The number of tokens that are held at most; 0 holds none.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._root = _Node("", None, None)
        self._clock = 0
        self.tokens = 0

    def find(self, text: str) -> list[Any]:
        """Return the values of the longest beginning of a text that is cached, in pieces."""
        return [node.values[:, :, :common] for node, common in self._walk(text)]

    def add(self, text: str, make: Callable[[int, int], Any]) -> None:
        """Hold the values of a text.

        Args:
            text: The text.
            make: The function that returns a copy of the values from a start to a stop; it is called for those that
                are not cached yet.
        """
        if not self.limit:
            return
        path = self._walk(text)
        at = sum(common for _, common in path)
        if at < len(text):
            parent = self._root
            if path:
                last, common = path[-1]
                parent = last if common == len(last.text) else self._split(last, common)
            parent.children[text[at]] = _Node(text[at:], make(at, len(text)), parent, self._clock)
            self.tokens += len(text) - at
        if self.tokens > self.limit:
            self._shrink()

    def _walk(self, text: str) -> list[tuple[_Node, int]]:
        """Return the nodes along a text, each with how many of its tokens agree; only the last may agree in part."""
        self._clock += 1
        node, at, path = self._root, 0, []
        while at < len(text) and (child := node.children.get(text[at])) is not None:
            common = _agreeing(child.text, text, at)
            child.used = self._clock
            path.append((child, common))
            if common < len(child.text):
                break
            node, at = child, at + common
        return path

    def _split(self, node: _Node, at: int) -> _Node:
        """Cut a node in two, and return the upper half, which takes its place in the tree."""
        assert node.parent is not None
        upper = _Node(node.text[:at], node.values[:, :, :at].clone(), node.parent, node.used)
        node.values = node.values[:, :, at:].clone()
        node.text, node.parent = node.text[at:], upper
        upper.children[node.text[0]] = node
        assert upper.parent is not None
        upper.parent.children[upper.text[0]] = upper
        return upper

    def _shrink(self) -> None:
        """Drop leaves, those that were used longest ago first, until a tenth of the limit is free."""
        while self.tokens > 0.9 * self.limit:
            leaves = sorted(self._leaves(), key=lambda leaf: leaf.used)
            for leaf in leaves:
                if self.tokens <= 0.9 * self.limit:
                    break
                assert leaf.parent is not None
                del leaf.parent.children[leaf.text[0]]
                self.tokens -= len(leaf.text)

    def _leaves(self) -> list[_Node]:
        leaves, pending = [], list(self._root.children.values())
        while pending:
            node = pending.pop()
            if node.children:
                pending.extend(node.children.values())
            else:
                leaves.append(node)
        return leaves


def _agreeing(one: str, other: str, at: int) -> int:
    """Return how many characters of one text the other one continues with from a place on."""
    if other.startswith(one, at):
        return len(one)
    least, most = 0, len(one) - 1
    while least < most:
        middle = (least + most + 1) // 2
        if other.startswith(one[:middle], at):
            least = middle
        else:
            most = middle - 1
    return least

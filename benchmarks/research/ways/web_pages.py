"""What ways of the web read off a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentworld_gym.core.screens import ScreenNode, read_screen


def nodes(page: str) -> list[ScreenNode]:
    """Return the elements of a page."""
    return read_screen("web", page)


def texts(page: str) -> list[str]:
    """Return what the elements of a page say, in their order."""
    return [said for node in nodes(page) for said in dict.fromkeys((node.name, node.text)) if said]


def links(page: str, pattern: str) -> list[str]:
    """Return the names of the links of a page that a pattern matches whole, each once."""
    found = (node.name for node in nodes(page) if node.role == "link" and re.fullmatch(pattern, node.name))
    return list(dict.fromkeys(found))


def groups(page: str, role: str) -> Iterator[list[str]]:
    """Yield what stands in each element of a role, such as the rows of a table."""
    depth, held = None, list[str]()
    for node in nodes(page):
        if depth is not None and node.depth <= depth:
            yield held
            depth, held = None, []
        if depth is None and node.role == role:
            depth = node.depth
        if depth is not None:
            held += [said for said in dict.fromkeys((node.name, node.text)) if said]
    if depth is not None:
        yield held


def group_with(page: str, role: str, pattern: str) -> list[str]:
    """Return what stands in the first element of a role that says something a pattern is found in.

    Raises:
        LookupError: There is none.
    """
    for held in groups(page, role):
        if any(re.search(pattern, text) for text in held):
            return held
    raise LookupError(f"no {role} with {pattern!r}")


def value(page: str, term: str) -> str:
    """Return the definition that a page gives of a term, such as the total.

    Raises:
        LookupError: It gives none.
    """
    found = nodes(page)
    for place, node in enumerate(found):
        if node.role == "term" and term in (node.name, node.text):
            return next(said for other in found[place + 1 :] if (said := other.name or other.text))
    raise LookupError(f"no term {term!r} among {texts(page)}")


def next_of(page: str, text: str, count: int = 1) -> list[str]:
    """Return what a page says right after a text.

    Raises:
        LookupError: It does not say the text.
    """
    said = texts(page)
    if text not in said:
        raise LookupError(f"no {text!r} among {said}")
    start = said.index(text) + 1
    return said[start : start + count]

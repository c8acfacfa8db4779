"""Finds what an answer may refer to in the initial state of a task, by domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.domain.index import Index
from agentworld_gym.domain.task import Task
from agentworld_gym.prompting.references.blocks import Hit, TextBlocks
from agentworld_gym.prompting.references.contract import References
from agentworld_gym.prompting.references.recent import Recent
from agentworld_gym.prompting.references.searches import SearchReferences
from agentworld_gym.prompting.references.tables import TableRows
from agentworld_gym.text.dates import month_first
from agentworld_gym.text.numbered_lines import numbered

KEPT = 4_000_000
"""The number of characters, as JSON, of the states whose references are kept; these take some 25 bytes a character."""

State = Mapping[str, Any]


def references_of(domain: str, state: State) -> References | None:
    """Return what a text of a domain may refer to in a state; None where there is nothing.

    The references are built once for a state, by its identity, so that a state must not change later. They are kept for
    the states that were asked for last, `KEPT` characters of them; who steps more tasks than that by turns builds them
    at every step.

    >>> print(references_of("swe", {"files": {"/repo/a.py": "import os"}}).resolve("@#/repo/a.py"))
         1→import os
    >>> references_of("terminal", {"files": {"a.txt": "x"}}) is references_of("search", {}) is None
    True
    """
    find = REFERRING_DOMAINS.get(domain)
    return None if find is None else _kept().of(state, lambda: find(state), domain)


def search_references_of(domain: str, index: Index, task: Task) -> SearchReferences | None:
    """Return what an answer of a domain with an index may refer to in a task; None where the task has no web.

    They are kept as those of `references_of` are.
    """

    def find() -> SearchReferences | None:
        web = index.web(task.state, task.hidden, task.controls, task.control_seed_in(0))
        return None if web is None else SearchReferences(web, references_of(domain, task.state))

    return _kept_searches().of(task, find, domain, index)


@lru_cache(maxsize=1)
def _kept() -> Recent[References | None]:
    return Recent(KEPT)


@lru_cache(maxsize=1)
def _kept_searches() -> Recent[SearchReferences | None]:
    return Recent(KEPT)


def _tables(state: State) -> References | None:
    tables = state.get("tables")
    if not isinstance(tables, Mapping):
        return None
    found = {
        str(name): rows
        for name, rows in tables.items()
        if isinstance(rows, list | tuple) and rows and all(isinstance(row, Mapping) for row in rows)
    }
    return TableRows(found) if found else None


def _pages(state: State) -> References | None:
    pages = state.get("pages")
    if not isinstance(pages, list | tuple):
        return None
    blocks: dict[str, list[str]] = {}
    hits: dict[str, Hit] = {}
    for page in pages:
        if isinstance(page, Mapping) and isinstance(page.get("url"), str) and isinstance(page.get("content"), str):
            title, body = " ".join(str(page.get("title") or "").split()), page["content"].strip()
            blocks[page["url"]] = (body if body.startswith("# ") else f"# {title}\n\n{body}").split("\n")
            hits[page["url"]] = Hit(title, month_first(str(page.get("date") or "N/A")))
    return TextBlocks(blocks, hits) if blocks else None


def _files(state: State) -> References | None:
    files = state.get("files")
    if not isinstance(files, Mapping):
        return None
    blocks: dict[str, list[str]] = {}
    for path, text in files.items():
        if isinstance(text, str) and text and str(path).startswith("/"):
            lines = text.removesuffix("\n").split("\n")
            blocks[str(path)] = lines
            blocks[f"#{path}"] = list(numbered(lines, mark="→"))
    return TextBlocks(blocks) if blocks else None


REFERRING_DOMAINS: Mapping[str, Callable[[State], References | None]] = {
    "mcp": _tables,
    "search": _pages,
    "swe": _files,
}
"""The domains whose texts refer to their state, each with the function that finds the references."""

"""Finds what an answer about a search may refer to: the pages of a task's state, and what its index holds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.base.text.dates import month_first
from agentworld_gym.core.domain.index import IndexBuilder
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.references.blocks import PageHit, TextBlocks
from agentworld_gym.llm.prompting.references.recent import Recent
from agentworld_gym.llm.prompting.references.searches import SearchReferences

KEPT = 4_000_000
"""The number of characters, as JSON, of the states whose references are kept; these take some 25 bytes a character."""


def page_references(state: Mapping[str, Any]) -> TextBlocks | None:
    """Return what an answer may refer to in a state with pages; None where there are none.

    The references are built once for a state, by its identity, so that a state must not change later. They are kept for
    the states that were asked for last, `KEPT` characters of them; who steps more tasks than that by turns builds them
    at every step.

    >>> page = {"url": "https://lake.example/orvel", "title": "Lake Orvel", "content": "It is 112 m deep."}
    >>> print(page_references({"pages": [page]}).resolve("@https://lake.example/orvel"))
    # Lake Orvel
    <BLANKLINE>
    It is 112 m deep.
    >>> page_references({"files": {}}) is None
    True
    """
    return _kept_pages().of(state, lambda: _pages(state))


def search_references(index: IndexBuilder, task: Task) -> SearchReferences | None:
    """Return what an answer may refer to in the web of a task; None where the index knows no web of its state.

    They are kept as those of `page_references` are.
    """

    def find() -> SearchReferences | None:
        web = index.web(task.state, task.hidden, task.controls, task.control_seed_in(0))
        return None if web is None else SearchReferences(web, page_references(task.state))

    return _kept_searches().of(task, find, index)


@lru_cache(maxsize=1)
def _kept_pages() -> Recent[TextBlocks | None]:
    return Recent(KEPT)


@lru_cache(maxsize=1)
def _kept_searches() -> Recent[SearchReferences | None]:
    return Recent(KEPT)


def _pages(state: Mapping[str, Any]) -> TextBlocks | None:
    pages = state.get("pages")
    if not isinstance(pages, list | tuple):
        return None
    blocks: dict[str, list[str]] = {}
    hits: dict[str, PageHit] = {}
    for page in pages:
        if isinstance(page, Mapping) and isinstance(page.get("url"), str) and isinstance(page.get("content"), str):
            title, body = " ".join(str(page.get("title") or "").split()), page["content"].strip()
            blocks[page["url"]] = (body if body.startswith("# ") else f"# {title}\n\n{body}").split("\n")
            hits[page["url"]] = PageHit(title, month_first(str(page.get("date") or "N/A")))
    return TextBlocks(blocks, hits) if blocks else None

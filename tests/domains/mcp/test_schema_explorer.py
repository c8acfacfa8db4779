"""An explorer of tool servers that nobody described: it learns from the answers what their tools take."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.schema_explorer import SchemaExplorer


def tool(name: str, *parameters: str) -> dict[str, Any]:
    properties = {one: {"type": "string"} for one in parameters}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(parameters)}}


class Shelf:
    """A server that keeps books, and speaks in plain sentences."""

    tools = (tool("list_books"), tool("lend", "title", "reader"), tool("take_back", "title"))

    def __init__(self) -> None:
        self.books = {"Emma": "in", "War and Peace": "lent to Ada", "Dune": "in"}

    def answer(self, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
        """Return what kind of answer it is, and the answer."""
        title = str(arguments.get("title"))
        match name:
            case "list_books":
                return "list", "\n".join(f"{title}: {place}" for title, place in self.books.items())
            case "lend" if self.books.get(title) == "in":
                self.books[title] = f"lent to {arguments.get('reader')}"
                return "done", f"{title} goes to {arguments.get('reader')}"
            case "take_back" if title in self.books:
                self.books[title] = "in"
                return "done", f"{title} is in"
        return "refused", f"Error executing tool {name}: no book {title!r}"


def explore(shelf: Shelf, seed: int, calls: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Let an explorer call the server, and yield what kind each answer was, and what the call had."""
    explorer = SchemaExplorer(
        Task(id="t", domain="mcp", instruction="i", family="free_play", success=(), tools=Shelf.tools),
        random.Random(seed),
    )
    for _ in range(calls):
        call = explorer.choices()[0]
        kind, observation = shelf.answer(**json.loads(call))
        explorer.see(call, observation)
        yield kind, json.loads(call)["arguments"]


def test_what_is_refused_is_tried_less_and_what_a_list_shows_is_tried_more() -> None:
    kinds = Counter(kind for seed in range(10) for kind, _ in explore(Shelf(), seed, 40))
    assert kinds["done"] > 50, "words of a list are tried as titles"
    assert kinds["list"] > 50, "the list is read again after a change"


def test_calls_come_back_to_what_the_latest_ones_changed() -> None:
    again = calls = 0
    for seed in range(10):
        shelf, changed = Shelf(), ""
        shelf.books = {f"{word} {number}": "in" for word in ("Emma", "Dune", "Ivanhoe") for number in range(20)}
        for kind, arguments in explore(shelf, seed, 40):
            if changed and "title" in arguments:
                calls += 1
                again += arguments["title"] == changed
            if kind == "done":
                changed = arguments["title"]
    assert again > calls / 4, "chance alone takes the same of sixty books again in one call of sixty"

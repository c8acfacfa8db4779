"""An explorer of tool servers that nobody described: it learns from the answers what their tools take."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

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


class Tickets:
    """A server whose ids nobody can guess."""

    tools = (tool("close", "ticketId"), tool("comment", "ticketId", "text"), tool("open", "title"))

    def __init__(self) -> None:
        self.tickets: dict[str, str] = {}

    def answer(self, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
        """Return what kind of answer it is, and the answer."""
        number = str(arguments.get("ticketId"))
        if name == "open":
            number = f"T-{len(self.tickets) + 1}"
            self.tickets[number] = str(arguments.get("title"))
        elif number not in self.tickets:
            return "refused", json.dumps({"status": "error", "message": "Ticket not found"})
        return "done", json.dumps({"status": name, "id": number, "title": self.tickets[number]})


class Files:
    """A server of files, which shows names without their folders."""

    tools = (tool("show_folder"), tool("list_directory", "path"), tool("read_file", "path"))
    listings: ClassVar = {"/srv/ada": ["notes", "plan.md"], "/srv/ada/notes": ["todo.txt"]}
    texts = ("/srv/ada/plan.md", "/srv/ada/notes/todo.txt")

    def answer(self, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
        """Return what kind of answer it is, and the answer."""
        path = str(arguments.get("path"))
        if name == "show_folder":
            return "done", "Allowed directories:\n/srv/ada"
        if name == "list_directory" and path in self.listings:
            return "done", "\n".join(f"[{'FILE' if '.' in one else 'DIR'}] {one}" for one in self.listings[path])
        if name == "read_file" and path in self.texts:
            return "read", "water the plants"
        return "refused", f"ENOENT: no such file or directory, open '/srv/ada/{path}'"


def explore(server: Any, seed: int, calls: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Let an explorer call a server, and yield what kind each answer was, and what the call had."""
    task = Task(id="t", domain="mcp", instruction="i", family="free_play", success=(), tools=server.tools)
    explorer = SchemaExplorer(task, random.Random(seed))
    for _ in range(calls):
        call = explorer.choices()[0]
        kind, observation = server.answer(**json.loads(call))
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
    assert again > 0.3 * calls, "it takes the same of sixty books again in less than a quarter if it never comes back"


def test_an_id_is_one_that_an_answer_showed() -> None:
    kinds = Counter(kind for seed in range(20) for kind, _ in explore(Tickets(), seed, 12))
    assert kinds["done"] > 3 * kinds["refused"], "words of its own are tried rarely, and not before any is shown"


def test_a_file_is_found_below_the_folder_that_lists_it() -> None:
    kinds = Counter(kind for seed in range(20) for kind, _ in explore(Files(), seed, 12))
    assert kinds["read"] > 20


@pytest.mark.parametrize(
    "action", ["[1]", "look", '{"name": ["x"], "arguments": {"a": "b"}}', '{"name": "x", "arguments": [null, "b"]}']
)
def test_an_action_of_any_form_is_taken_in(action: str) -> None:
    task = Task(id="t", domain="mcp", instruction="i", family="free_play", success=(), tools=Tickets.tools)
    explorer = SchemaExplorer(task, random.Random(0))
    explorer.see(action, "Error: no b in /srv/ada")
    assert json.loads(explorer.choices()[0])["name"] in {tool["name"] for tool in Tickets.tools}

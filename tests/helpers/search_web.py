"""A small web to test on, and short ways to use it."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.fictional_world import build_world
from agentworld_gym.domains.search.engine.machine import SearchMachine

SPEC = load_spec("search")
WORLD = build_world("harbours", 12)
SOME = {"theme": "harbours", "seed": 12}
HIT = re.compile(r"^\[(\d+)\] (\S+)\nTitle: (.+)\nSnippet: (.+)\nDate: ([A-Z][a-z]{2} \d{1,2}, \d{4}|N/A)$")


def lake(name: str, **fields: Any) -> dict[str, Any]:
    """A small page about a lake."""
    url = f"https://lakes.example/{name.lower().replace(' ', '-')}"
    return {"url": url, "title": f"{name} - Lakes", "content": f"# {name}\n\n{name} lies in the north.", **fields}


def started(*pages: dict[str, Any], hidden: dict[str, Any] | None = None, **strengths: float) -> SearchMachine:
    """A web of a few pages, under controls by name."""
    controls = Controls({name.replace("_", "-"): value for name, value in strengths.items()}, seed=3)
    return SearchMachine.start({"pages": list(pages)}, 0, controls, hidden or {})


def search(machine: SearchMachine, *queries: str) -> str:
    asked = {"query": queries[0]} if len(queries) == 1 else {"queries": list(queries)}
    return machine.act({"name": "web_search", "arguments": asked})


def opened(machine: SearchMachine, url: str) -> str:
    return machine.act({"name": "web_extractor", "arguments": {"url": url}})


def note(machine: SearchMachine, operation: str, **given: Any) -> str:
    return machine.act({"name": "dict_memory", "arguments": {"operation": operation, **given}})


def hits(results: str) -> list[tuple[str, ...]]:
    """The results of one query, each as number, address, title, snippet and date."""
    if results == "No results found.":
        return []
    found = [HIT.match(block) for block in results.split("\n\n")]
    assert all(found), results
    return [match.groups() for match in found if match]

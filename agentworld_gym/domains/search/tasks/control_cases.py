"""Agents that show what each control of the search does: one that fails under it, and one that copes with it.

The agent searches for its question and for the names in it, reads what it finds, and gives the one answer of its menu
that the text supports. Its habits decide how careful it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agentworld_gym.base.text.dates import iso
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.index import COMMON, words_of
from agentworld_gym.domains.search.engine.page_reader import TRUNCATED
from agentworld_gym.domains.search.engine.state import Hidden

Steps = Generator[str, str, str]
"""A generator that yields actions, is sent their observations, and returns what was read."""

_HIT = re.compile(r"^\[\d+\] (\S+)\nTitle: (.*)\nSnippet: (.*)\nDate: (.*)$", re.MULTILINE)
_NEXT = re.compile(r"Next part: (\S+)$", re.MULTILINE)
_KEY = re.compile(r"under the key (\w+)")
_NAME = re.compile(r"(?<=\s)[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_FINISH = "finish: "
_PAGES = 8
_BATCH = 5


class SearchHit(NamedTuple):
    """One result of a search, with its date in ISO form."""

    url: str
    title: str
    snippet: str
    date: str

    @property
    def subject(self) -> str:
        """The title without the name of the site."""
        return self.title.rpartition(" - ")[0] or self.title


@dataclass(frozen=True)
class Habits:
    """How an agent reads.

    The agent tries `tries` times to open a page and to get all of it. It follows the `parts` of a page, asks `again` in
    other words, takes the `newest` of several pages of one subject, and believes `snippets` that state an answer.
    """

    tries: int = 1
    parts: bool = False
    again: bool = False
    newest: bool = False
    snippets: bool = False


def states(offer: str, text: str) -> bool:
    """Tell whether a text states an answer; of a list or a table it has to state every part."""
    groups = Hidden(answer=offer).secrets
    return all(LeakDetector([group]).leaks(text) for group in groups)


def reading(habits: Habits) -> Solver:
    """Return an agent with these habits."""

    def solve(task: Task) -> Generator[str, str, None]:
        query = re.split(r"(?<=[?.])\s", task.instruction)[0]
        offers = [action.removeprefix(_FINISH) for action in task.menu if action.startswith(_FINISH)]
        names = " ".join(_NAME.findall(query))
        hits = _hits((yield _call("web_search", queries=[query, names] if names else [query])))
        if habits.again:
            hits += yield from _again(query, hits)
        answer = ""
        for hit in _rated(query, hits, habits.newest)[:_PAGES]:
            supported = [offer for offer in offers if habits.snippets and states(offer, hit.snippet)]
            if not supported:
                text = yield from _read(hit.url, habits)
                supported = [offer for offer in offers if states(offer, text)]
            if supported:
                answer = max(supported, key=len)
                break
        if not answer:
            yield "finish"
            return
        if match := _KEY.search(task.instruction):
            yield _call("dict_memory", operation="add", dict={match[1]: answer})
        yield f"{_FINISH}{answer}"

    return solve


def _read(url: str, habits: Habits) -> Steps:
    """Read as much of a page as the habits allow."""
    text = ""
    for _ in range(habits.tries):
        seen = yield _call("web_extractor", url=url)
        if not seen.startswith("Error"):
            text = seen
            if not seen.endswith(TRUNCATED):
                break
    following = _NEXT.search(text) if habits.parts else None
    return f"{text}\n{(yield from _read(following[1], habits))}" if following else text


def _again(query: str, hits: list[SearchHit]) -> Generator[str, str, list[SearchHit]]:
    """Return the query with its names in quotes, once for the sites that have shown up and once for all others."""
    quoted = _NAME.sub(lambda match: f'"{match[0]}"', query)
    hosts = list(dict.fromkeys(hit.url.split("/")[2] for hit in hits))[: _BATCH - 1]
    collected: list[SearchHit] = []
    for asked in (quoted, " ".join(_NAME.findall(query)) or query):
        elsewhere = " ".join([asked, *(f"-site:{host}" for host in hosts)])
        queries = [elsewhere, *(f"{asked} site:{host}" for host in hosts)]
        collected += _hits((yield _call("web_search", queries=queries)))
    return collected


def _rated(query: str, hits: list[SearchHit], newest: bool) -> list[SearchHit]:
    """Return each result once, first those whose subject has most of the names in the query, then most of its words.

    With `newest`, only the newest page of every subject is returned; a page of a site without dates counts as current.
    """
    by_url = {hit.url: hit for hit in reversed(hits)}
    dates: dict[str, str] = {}
    for hit in hits:
        dates[hit.subject] = max(dates.get(hit.subject, ""), hit.date)
    kept = [hit for hit in reversed(by_url.values()) if not newest or hit.date == dates[hit.subject]]
    asked = set(words_of(query)) - COMMON
    names = _NAME.findall(query)

    def fit(hit: SearchHit) -> tuple[int, int]:
        return sum(name in hit.subject for name in names), len(asked & set(words_of(hit.subject)))

    return sorted(kept, key=fit, reverse=True)


def _hits(seen: str) -> list[SearchHit]:
    return [SearchHit(url, title, snippet, iso(day)) for url, title, snippet, day in _HIT.findall(seen)]


def _call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


NAIVE = Habits()


def _case(control: str, strength: float, family: str, aware: Habits, naive: Habits = NAIVE) -> ControlCase:
    return ControlCase(control, strength, family, 1, reading(naive), reading(aware))


CASES = (
    _case("intermittent-errors", 0.4, "lookup", replace(NAIVE, tries=40)),
    _case("slow-service", 0.6, "lookup", replace(NAIVE, tries=2)),
    _case("truncated-output", 0.5, "listing", replace(NAIVE, tries=40)),
    _case("pagination", 1.0, "listing", replace(NAIVE, parts=True)),
    _case("incomplete-results", 1.0, "lookup", replace(NAIVE, again=True)),
    _case("misleading-snippets", 1.0, "lookup", replace(NAIVE, newest=True)),
    _case("stale-data", 1.0, "lookup", NAIVE, naive=replace(NAIVE, snippets=True)),
)

"""One agent's session on a fictional web: it searches, opens pages and keeps notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, BaseMachine, Controls, Scalar, Span
from agentworld_gym.domains.search.engine.index import index_of
from agentworld_gym.domains.search.engine.memory import EMPTY, operate
from agentworld_gym.domains.search.engine.page_reader import Reader
from agentworld_gym.domains.search.engine.results import MAX_QUERIES, SearchEngine
from agentworld_gym.domains.search.engine.state import Hidden, SearchState

_REFUSED = "Error: invalid tool call. "


class SearchMachine(BaseMachine[SearchEngine]):
    """A search engine, a page reader and a memory over one web.

    >>> page = {"url": "https://lake.example/orvel", "title": "Lake Orvel", "date": "2024-05-11",
    ...         "content": "Lake Orvel is 112 m deep."}
    >>> machine = SearchMachine.start({"pages": [page]}, seed=0)
    >>> machine.observation
    'Memory is empty.'
    >>> print(machine.act({"name": "web_search", "arguments": {"query": "lake depth"}}))
    [1] https://lake.example/orvel
    Title: Lake Orvel
    Snippet: Lake Orvel is 112 m deep.
    Date: May 11, 2024
    """

    noun = "web"

    def __init__(self, results: SearchEngine, reader: Reader) -> None:
        super().__init__(results, EMPTY)
        self._reader = reader
        self._notes: dict[str, str] = {}
        self._queries: frozenset[str] = frozenset()
        self._listed: frozenset[str] = frozenset()

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Start a session; the web is a function of the state alone, so the seed changes nothing.

        Raises:
            SpecError: `state` or `hidden` is wrong; the error names the key, its value and what was expected.
        """
        web_state = SearchState.of(state)
        pages = tuple(page.page() for page in web_state.pages)
        index = index_of(web_state.theme, web_state.seed, pages)
        return cls(SearchEngine.of(index, pages, Hidden.of(hidden), controls), Reader(controls))

    def state(self) -> dict[str, Scalar]:
        """Return the notes, the pages that were opened, and the number of failures of each address.

        The field of a page is true where all of the page was shown.
        """
        return {
            **{f"memory/{key}": value for key, value in self._notes.items()},
            **{f"opened/{key}": whole for key, whole in self._reader.opened.items()},
            **{f"tries/{key}": tries for key, tries in self._reader.tries.items()},
        }

    def act(self, action: Any) -> str:
        """Answer one tool call; an action that is not a known call is answered with an error.

        Spans are the results and pages that neither the state gives nor an earlier action showed, and the dates of
        results.

        Raises:
            EngineError: the machine was closed.
        """
        web = self._open()
        name, arguments = _call(action)
        self._spans = ()
        if name == "web_search":
            self._observation = self._search(web, arguments)
        elif name == "web_extractor":
            self._observation = self._read(web, arguments.get("url"))
        elif name == "dict_memory":
            self._observation = operate(self._notes, arguments)
        else:
            self._observation = f"{_REFUSED}Unknown tool: {name[:80] if isinstance(name, str) else ''}"
        return self._observation

    def _part_from(self, system: SearchEngine) -> None:
        self._system = system
        self._reader = self._reader.copy()
        self._notes = dict(self._notes)

    def _search(self, web: SearchEngine, arguments: Mapping[str, Any]) -> str:
        queries = arguments.get("queries", ())
        asked = [*queries] if isinstance(queries, list | tuple) else [queries]
        if "query" in arguments:
            asked.append(arguments["query"])
        if not asked or not all(isinstance(query, str) and query for query in asked):
            return f"{_REFUSED}'query' must be a text and 'queries' a list of texts"
        results = web.answer(asked, self._queries, self._listed)
        self._queries |= {*asked[:MAX_QUERIES]}
        self._listed |= results.urls
        self._spans = tuple(results.spans)
        return results.text

    def _read(self, web: SearchEngine, url: Any) -> str:
        if not isinstance(url, str):
            return f"{_REFUSED}'url' must be a text"
        opened = self._reader.open(url, web.web)
        if opened.kind != "deterministic":
            self._spans = (Span(0, len(opened.text), opened.kind),)
        return opened.text


def _call(action: Any) -> tuple[Any, Mapping[str, Any]]:
    if not isinstance(action, Mapping):
        return None, {}
    arguments = action.get("arguments")
    return action.get("name"), arguments if isinstance(arguments, Mapping) else {}

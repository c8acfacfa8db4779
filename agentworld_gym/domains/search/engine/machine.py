"""One agent's session on a fictional web: it searches, opens pages and keeps notes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from agentworld_gym.core.engines import Controls, EngineError, Scalar, Span
from agentworld_gym.domains.search.engine.index import index_of
from agentworld_gym.domains.search.engine.memory import EMPTY, operate
from agentworld_gym.domains.search.engine.page_reader import Reader
from agentworld_gym.domains.search.engine.results import MAX_QUERIES, SearchEngine
from agentworld_gym.domains.search.engine.state import Hidden, SearchState

NONE = Controls()
_REFUSED = "Error: invalid tool call. "


class SearchMachine:
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

    def __init__(self, results: SearchEngine, reader: Reader) -> None:
        self._engine = results
        self._reader = reader
        self._notes: dict[str, str] = {}
        self._queries: frozenset[str] = frozenset()
        self._listed: frozenset[str] = frozenset()
        self._observation = EMPTY
        self._spans: tuple[Span, ...] = ()
        self._closed = False

    @classmethod
    def start(
        cls,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = NONE,
        hidden: Mapping[str, Any] = MappingProxyType({}),
    ) -> SearchMachine:
        """Start a session; the web is a function of the state alone, so the seed changes nothing.

        Raises:
            SpecError: `state` or `hidden` is wrong; the error names the key, its value and what was expected.
        """
        web_state = SearchState.of(state)
        pages = tuple(page.page() for page in web_state.pages)
        index = index_of(web_state.theme, web_state.seed, pages)
        return cls(SearchEngine.of(index, pages, Hidden.of(hidden), controls), Reader(controls))

    @property
    def observation(self) -> str:
        """The answer to the last action; at the start it says that the memory is empty."""
        return self._observation

    @property
    def spans(self) -> tuple[Span, ...]:
        """Results and pages that neither the state gives nor an earlier action showed, and the dates of results."""
        return self._spans

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

        Raises:
            EngineError: the machine was closed.
        """
        if self._closed:
            raise EngineError("the web was used after close()")
        name, arguments = _call(action)
        self._spans = ()
        if name == "web_search":
            self._observation = self._search(arguments)
        elif name == "web_extractor":
            self._observation = self._open(arguments.get("url"))
        elif name == "dict_memory":
            self._observation = operate(self._notes, arguments)
        else:
            self._observation = f"{_REFUSED}Unknown tool: {name[:80] if isinstance(name, str) else ''}"
        return self._observation

    def fork(self) -> SearchMachine:
        """Return an exact copy: equal actions on both copies give equal observations."""
        if self._closed:
            raise EngineError("the web was used after close()")
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._reader = self._reader.copy()
        twin._notes = dict(self._notes)
        return twin

    def close(self) -> None:
        """Free the web; a second call does nothing."""
        self._closed = True

    def _search(self, arguments: Mapping[str, Any]) -> str:
        queries = arguments.get("queries", ())
        asked = [*queries] if isinstance(queries, list | tuple) else [queries]
        if "query" in arguments:
            asked.append(arguments["query"])
        if not asked or not all(isinstance(query, str) and query for query in asked):
            return f"{_REFUSED}'query' must be a text and 'queries' a list of texts"
        results = self._engine.answer(asked, self._queries, self._listed)
        self._queries |= {*asked[:MAX_QUERIES]}
        self._listed |= results.urls
        self._spans = tuple(results.spans)
        return results.text

    def _open(self, url: Any) -> str:
        if not isinstance(url, str):
            return f"{_REFUSED}'url' must be a text"
        opened = self._reader.open(url, self._engine.web)
        if opened.kind != "deterministic":
            self._spans = (Span(0, len(opened.text), opened.kind),)
        return opened.text


def _call(action: Any) -> tuple[Any, Mapping[str, Any]]:
    if not isinstance(action, Mapping):
        return None, {}
    arguments = action.get("arguments")
    return action.get("name"), arguments if isinstance(arguments, Mapping) else {}

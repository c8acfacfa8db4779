"""The index of the fictional web as language worlds use it: it ranks and prints pages, and knows of no session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.base.errors import AnswerError, SpecError
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.index import index_of
from agentworld_gym.domains.search.engine.page_reader import Reader
from agentworld_gym.domains.search.engine.results import MAX_QUERIES, SearchEngine
from agentworld_gym.domains.search.engine.state import Hidden, SearchState


@dataclass(frozen=True, eq=False)
class FictionalWeb:
    """The web of one task: its search engine, and its page reader where nothing fails.

    Args:
        engine: The search engine, with the controls that change what hits show.
        reader: The page reader.
    """

    engine: SearchEngine
    reader: Reader

    def hits(self, queries: Sequence[str]) -> str:
        """Return the hits of some queries as one list.

        Raises:
            AnswerError: There are more queries than one search takes, or none.
        """
        if not 1 <= len(queries) <= MAX_QUERIES:
            raise AnswerError(f"a search of {len(queries)} queries: expected 1 to {MAX_QUERIES}")
        return self.engine.answer(queries).text

    def read_page(self, address: str) -> str:
        """Return what the page reader shows at an address where nothing fails."""
        return self.reader.text(address, self.engine.web)


@dataclass(frozen=True)
class SearchIndex:
    """Builds the webs of tasks.

    >>> page = {"url": "https://lake.example/orvel", "title": "Lake Orvel", "content": "Lake Orvel is 112 m deep."}
    >>> web = SearchIndex().web({"pages": [page]})
    >>> print(web.hits(["lake depth"]))
    [1] https://lake.example/orvel
    Title: Lake Orvel
    Snippet: Lake Orvel is 112 m deep.
    Date: N/A
    >>> web.read_page("https://lake.example/tarn")
    'Error: HTTP 404 Not Found for https://lake.example/tarn'
    """

    def web(
        self,
        state: Mapping[str, Any],
        hidden: Mapping[str, Any] | None = None,
        controls: Mapping[str, float] | None = None,
        control_seed: int = 0,
    ) -> FictionalWeb | None:
        """Return the web of a task; None where the state is none of this domain's, or has no page.

        A language world may play states that no engine starts from, and then writes all hits itself.
        """
        try:
            web_state, secrets = SearchState.of(state), Hidden.of(hidden or {})
            pages = tuple(page.page() for page in web_state.pages)
            index = index_of(web_state.theme, web_state.seed, pages)
        except SpecError:
            return None
        if not index.pages:
            return None
        drawn = Controls(controls or {}, control_seed)
        return FictionalWeb(SearchEngine.of(index, pages, secrets, drawn), Reader(drawn))

"""The engine of a user's documents, or of a user's search engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.syntaxes import read_json
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.engines import Inspection, Scalar
from agentworld_gym.domains.search.engine.index import PageIndex
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.memory import EMPTY
from agentworld_gym.domains.search.engine.page_reader import Reader
from agentworld_gym.domains.search.engine.results import MAX_QUERIES, SearchEngine
from agentworld_gym.domains.search.engine.state import Hidden
from agentworld_gym.domains.search.live.config import DocumentConfig
from agentworld_gym.domains.search.live.documents import pages_in
from agentworld_gym.domains.search.live.searxng import Searxng, results_of
from agentworld_gym.kit.live import LiveAbout, LiveEngine, LiveSession, LiveSource, LiveStart

DOMAIN = "search"
"""The domain of searches."""

TITLES = 200
"""How many titles of documents a language model is told of."""


def open_live(source: LiveSource) -> DocumentEngine:
    """Open a user's documents, or search engine.

    Raises:
        SpecError: The configuration is wrong, or the folder holds no document.
        MissingFile: There is no such folder.
    """
    return DocumentEngine(source.read(DocumentConfig, DOMAIN), source)


class DocumentEngine(LiveEngine[DocumentConfig]):
    """Starts searches in some documents, or by a search engine.

    Args:
        config: The documents.
        source: Where the configuration stands.
    """

    controls = frozenset(
        {"incomplete-results", "intermittent-errors", "pagination", "slow-service", "truncated-output"}
    )

    def __init__(self, config: DocumentConfig, source: LiveSource) -> None:
        self._source = source
        self.server = None if config.searxng is None else Searxng(config, source.file)
        if self.server is not None:  # Its results and pages are those of the web.
            self.controls = frozenset()
        super().__init__(config)

    @cached_property
    def index(self) -> PageIndex:
        """The index of the documents."""
        folder = self._source.path(self.config.documents or "")
        return PageIndex.of(pages_in(folder, self.config.site))

    @cached_property
    def about_documents(self) -> LiveAbout:
        """What is told of the documents."""
        if self.server is not None:
            return LiveAbout({"search engine": str(self.config.searxng)}, {"first_observation": EMPTY})
        pages = self.index.pages
        digest = digest_of([[page.url, page.title, page.date, page.body] for page in pages])
        return LiveAbout(
            {"documents": digest},
            {
                "first_observation": EMPTY,
                "simulation": f"All pages lie on https://{self.config.site}; there are {len(pages)} of them.",
                "state": {"titles": [page.title for page in pages[:: max(1, len(pages) // TITLES)][:TITLES]]},
            },
        )

    def open_session(self) -> DocumentSession:
        """Make ready for a search."""
        return DocumentSession(self)


class DocumentSession(LiveSession):
    """One agent's searches and notes.

    Args:
        engine: The engine.
        machine: What searches, opens pages and keeps notes; None before an episode.
    """

    def __init__(self, engine: DocumentEngine, machine: SearchMachine | None = None) -> None:
        self._engine, self._machine = engine, machine

    def about(self) -> LiveAbout:
        """Return what is told of the documents."""
        return self._engine.about_documents

    def begin(self, start: LiveStart) -> str:
        """Begin with an empty memory."""
        unknown = sorted(set(start.state) - {"titles"})
        if unknown:
            raise SpecError("task state", unknown[0], start.state[unknown[0]], "nothing: the documents are the state")
        index = self._engine.index if self._engine.server is None else PageIndex.of(())
        web = SearchEngine.of(index, (), Hidden.of(start.hidden), start.controls)
        self._machine = SearchMachine(web, Reader(start.controls))
        return self._machine.observation

    def act(self, action: Any) -> str:
        """Search, open a page, or use the memory."""
        assert self._machine is not None
        server = self._engine.server
        arguments = action.get("arguments") if isinstance(action, Mapping) else None
        if server is not None and isinstance(arguments, Mapping):
            if action.get("name") == "web_search":
                queries = [*arguments.get("queries", ()), *([arguments["query"]] if "query" in arguments else [])]
                return results_of(server, [str(query) for query in queries[:MAX_QUERIES]])
            if action.get("name") == "web_extractor":
                return server.open(str(arguments.get("url")))
        return self._machine.act(action)

    def state(self) -> dict[str, Scalar]:
        """Return the notes, and the pages that were opened."""
        return {} if self._machine is None else self._machine.state()

    def copy(self) -> LiveSession | None:
        """Return a copy; notes and what was opened are all that an action changes."""
        return DocumentSession(self._engine, None if self._machine is None else self._machine.fork())

    def inspect(self, command: str) -> Inspection:
        """Make the call that a check names as JSON, on a copy: a call that fails begins with `Error`."""
        try:
            call = read_json(command)
        except UnreadableAction as error:
            expected = 'a call of a tool, such as {"name": "dict_memory", "arguments": {"operation": "retrieve_all"}}'
            raise SpecError("task success", "run", command, expected) from error
        shown = DocumentSession(self._engine, self._machine and self._machine.fork()).act(call)
        return Inspection(not shown.startswith("Error"), shown)

    def close(self) -> None:
        """End the session."""
        self._machine = None

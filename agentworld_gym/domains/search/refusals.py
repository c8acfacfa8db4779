"""What a curious agent tries in vain in a search: addresses without a page, keys without a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urljoin

from agentworld_gym.agents.policies.exploring.base import call
from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.domains.search.explorer import SearchExplorer


class SearchRefusals(Refusals, SearchExplorer):
    """Opens pages that are not there, and uses notes that nobody wrote."""

    def near(self, part: str) -> str | None:
        """Return an address beside a known one; None where none is known."""
        if not self._addresses:
            return None
        address = self.rng.choice(list(self._addresses))
        return f"{address}-{part}" if self.chance(0.3) else urljoin(address, part)

    def opening(self, part: str) -> str | None:
        """Return a call that opens an address beside a known one; None where none is known."""
        address = self.near(part)
        return None if address is None else call("web_extractor", url=address)

    def memory(self, operation: str, **arguments: Any) -> str:
        """Return a use of the memory."""
        return call("dict_memory", operation=operation, **arguments)

    def noted(self) -> str | None:
        """Return the key of a note; None where there is none."""
        return self.rng.choice(list(self._notes)) if self._notes else None

    def beside(self, operation: str) -> str | None:
        """Return a use of a note that is there together with one that is not; None where none is there."""
        key = self.noted()
        return None if key is None else self.memory(operation, key_list=[key, self.names.word])

    def empty(self, operation: str) -> str | None:
        """Return a use of all notes where there are none; None where there are some."""
        return None if self._notes else self.memory(operation)

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "page that is not there": (
            lambda t: t.opening(f"/{t.names.word}"),
            lambda t: t.opening(t.names.word),
            lambda t: t.opening(f"/{t.names.word}/{t.names.word}"),
            lambda t: t.opening(f"/wiki/{t.names.word}-{t.names.word}"),
        ),
        "site that is not there": (
            lambda t: call("web_extractor", url=f"https://www.{t.names.word}.example/"),
            lambda t: call("web_extractor", url=f"https://{t.names.word}.example/{t.names.word}"),
            lambda t: call("web_extractor", url=f"http://{t.names.word}.example"),
        ),
        "note that is not there": (
            lambda t: t.memory("retrieve", key_list=[t.names.word]),
            lambda t: t.memory("remove", key_list=[t.names.word]),
            lambda t: t.memory("update", dict={t.names.word: t.names.word}),
            lambda t: t.beside("retrieve"),
            lambda t: t.memory("retrieve", key_list=[t.names.word, t.names.word]),
        ),
        "no notes at all": (
            lambda t: t.empty("retrieve_all"),
            lambda t: t.empty("remove_all"),
        ),
        "missing argument": (
            lambda t: t.memory("add"),
            lambda t: t.memory("retrieve"),
            lambda t: t.memory("update"),
            lambda t: t.memory("remove"),
        ),
        "nothing found": (
            lambda t: call("web_search", query=f"{t.names.word} {t.names.word}"),
            lambda t: call("web_search", query=t.names.word),
        ),
    }
    """The kinds of calls."""

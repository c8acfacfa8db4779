"""The explorer of the search domain."""

from __future__ import annotations

import random
import re
from urllib.parse import urljoin, urlsplit

from agentworld_gym.agents.policies.exploring.base import Explorer, RandomWords, call
from agentworld_gym.core.domain.task import Task

_ADDRESS = re.compile(r"https?://[^\s)\]>\"'|]+")
_NOTED = re.compile(r"Successfully (added|updated|removed) items of (\[.*\]) (?:to|in|from) memory\.")
_KEY = re.compile(r"'([^']*)'")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class SearchExplorer(Explorer):
    """An explorer that opens pages of the state and of the hits, uses the memory, and searches now and then."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._words = RandomWords(task, rng)
        pages = task.state.get("pages", ())
        self._addresses = {str(page["url"]): None for page in pages if "url" in page}
        self._titles = [str(page["title"]) for page in pages if page.get("title")]
        self._notes: dict[str, None] = {}
        for page in pages:
            self._follow(str(page.get("url", "")), str(page.get("content", "")))

    def see(self, action: str, observation: str) -> None:
        """Remember the addresses that were shown, and the keys of the notes."""
        if (noted := _NOTED.fullmatch(observation)) is not None:
            for key in _KEY.findall(noted[2]):
                if noted[1] == "removed":
                    self._notes.pop(key, None)
                else:
                    self._notes[key] = None
        for address in _ADDRESS.findall(observation):
            self._addresses.setdefault(address.rstrip(".,;:"))
        opened = _ADDRESS.search(action)
        if opened is not None:
            self._follow(opened[0], observation)

    def draft(self) -> str:
        """Draft one call."""
        kind = self.weighted((("open", 0.5), ("unknown", 0.06), ("memory", 0.35), ("search", 0.06), ("wrong", 0.03)))
        if kind == "memory":
            return self._memory()
        if kind == "search":
            return call("web_search", query=self._query())
        if kind == "wrong":
            return self.rng.choice(
                (
                    call("web_extractor", address=self._unknown()),
                    call("web_extractor", url=urlsplit(self._unknown()).netloc),
                    call("dict_memory", key_list=[self._key()]),
                    call("web_search", queries=[]),
                    call("web_reader", url=self._unknown()),
                )
            )
        address = self.rng.choice(list(self._addresses)) if self._addresses and kind == "open" else self._unknown()
        return call("web_extractor", url=address)

    def _memory(self) -> str:
        """Draft a use of the memory, right or wrong; its keys are few, so that they come again."""
        operation = self.weighted(
            (
                ("add", 0.3 if self._notes else 1.5),
                ("update", 0.22),
                ("retrieve", 0.2),
                ("retrieve_all", 0.13),
                ("remove", 0.11),
                ("remove_all", 0.04),
            )
        )
        if operation.endswith("_all"):
            return call("dict_memory", operation=operation)
        # Most uses need keys that exist; `add` writes over such a key.
        keys = [self._noted(0.12 if operation == "add" else 0.85)]
        if self.chance(0.2):
            keys.append(self._noted(0.5))
        if self.chance(0.03):
            return call("dict_memory", operation=operation)
        if operation in ("retrieve", "remove"):
            return call("dict_memory", operation=operation, key_list=keys)
        return call("dict_memory", operation=operation, dict={key: self._words.text for key in keys})

    def _noted(self, chance: float) -> str:
        """Return the key of a note with a chance, or any key."""
        return self.rng.choice(list(self._notes)) if self._notes and self.chance(chance) else self._key()

    def _key(self) -> str:
        key = self._words.word.lower()
        return f"{key}_{self.rng.randint(1, 3)}" if self.chance(0.2) else key

    def _query(self) -> str:
        if self._titles and self.chance(0.5):
            return self.rng.choice(self._titles).partition(" - ")[0]
        return self._words.phrase

    def _unknown(self) -> str:
        """Return an address without a page, of a site that exists or of none."""
        word = self._words.word.lower()
        if self._addresses and self.chance(0.8):
            address = self.rng.choice(list(self._addresses))
            return self.rng.choice((f"{address}-{word}", urljoin(address, f"/{word}"), urljoin(address, word)))
        return f"https://www.{word}.example/"

    def _follow(self, address: str, content: str) -> None:
        for link in _LINK.findall(content):
            if (whole := urljoin(address, link)).startswith("http"):
                self._addresses.setdefault(whole)

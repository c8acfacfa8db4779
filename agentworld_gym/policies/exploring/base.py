"""What the explorers of all domains share."""

from __future__ import annotations

import json
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from agentworld_gym.domain.task import Task
from agentworld_gym.screens import GRAPHICAL, Node
from agentworld_gym.screens.sight import Sight
from agentworld_gym.tasks.vocabulary import WORDS

T = TypeVar("T")
FRESH_TRIES = 12
"""How many drafts an explorer makes to find an action that it has not done yet."""
LONGEST = 40
"""Texts of the state with more characters are taken apart into words, not typed as a whole."""

_WORD = re.compile(r"[^\W\d_]{3,}")


class Explorer(ABC):
    """Tries what can be done in a task, sensibly for the most part and clumsily at times; it never finishes.

    It knows what the agent was shown and the public state of the task. All draws are from `rng`.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        self.task, self.rng = task, rng
        self._done: set[str] = set()
        self._planned: list[str] = []

    def choices(self) -> Sequence[str]:
        """What to do next: the first of these that is possible on the screen."""
        action = self._planned.pop(0) if self._planned else self._fresh()
        self._done.add(action)
        return (action,)

    @abstractmethod
    def see(self, action: str, observation: str) -> None:
        """Take in what came of an action, whoever did it."""

    @abstractmethod
    def draft(self) -> str:
        """Some action."""

    def plan(self, *actions: str) -> None:
        """Do these next, though they were done before."""
        self._planned += actions

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.rng.random() < probability

    def weighted(self, shares: Iterable[tuple[T, float]]) -> T:
        """One of some things by its share.

        Raises:
            IndexError: there are none.
        """
        things, weights = zip(*shares, strict=True)
        chosen: T = self.rng.choices(things, weights)[0]
        return chosen

    def _fresh(self) -> str:
        action = self.draft()
        for _ in range(FRESH_TRIES):
            if action not in self._done:
                break
            action = self.draft()
        return action


class ScreenExplorer(Explorer):
    """An explorer of a graphical domain. Before it was shown a screen, it names elements by locators."""

    openings: tuple[str, ...] = ()
    """Actions with locators, `{number}` in the place of their number, for an explorer that has seen nothing."""
    blind: str
    """What is possible on any screen."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        assert task.domain in GRAPHICAL
        self._sight = Sight(task.domain)
        self._seen = False
        self._touched: set[object] = set()
        self.words = Words(task, rng)

    @property
    def nodes(self) -> list[Node]:
        """The elements of the last screen."""
        return self._sight.nodes

    def see(self, action: str, observation: str) -> None:
        """Take in what came of an action; on another screen, what was done on this one is fresh again."""
        before = self.nodes
        self._sight.see(observation)
        self._seen = True
        if self.nodes != before:
            self._done.clear()

    def choices(self) -> Sequence[str]:
        """What to do next."""
        if self._seen:
            return super().choices()
        opening, number = self.rng.choice(self.openings), self.rng.randint(1, 12)
        return *(opening.replace("{number}", str(n)) for n in range(number, 0, -1)), self.blind

    def pick(self, nodes: Iterable[tuple[Node, float]], place: object = None) -> Node | None:
        """One of some elements by their shares, rarely one that was picked before at the same place."""
        shares = [(node, share * (0.1 if self._key(node, place) in self._touched else 1)) for node, share in nodes]
        if not shares:
            return None
        node = self.weighted(shares)
        self._touched.add(self._key(node, place))
        return node

    @staticmethod
    def _key(node: Node, place: object) -> object:
        return place, node.role, node.label, node.target if not node.label else ""


class Words:
    """Words and short texts of a task's state, drawn at random; at times a word that is nowhere in it."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        self._rng = rng
        texts = list(dict.fromkeys(texts_in(task.state)))
        self._texts = [text for text in texts if len(text) <= LONGEST and "\n" not in text and text.isascii()]
        words = (word for text in texts for word in _WORD.findall(text) if word.isascii())
        self._words: list[str] = list(dict.fromkeys(words))

    @property
    def word(self) -> str:
        """One word."""
        known = bool(self._words) and self._rng.random() < 0.85
        return self._rng.choice(self._words if known else WORDS)

    @property
    def text(self) -> str:
        """A short text as it stands in the state, or some words."""
        if self._texts and self._rng.random() < 0.4:
            return self._rng.choice(self._texts)
        return self.phrase

    @property
    def phrase(self) -> str:
        """One to three words."""
        return " ".join(self.word for _ in range(self._rng.randint(1, 3)))


def texts_in(value: Any) -> Iterable[str]:
    """All texts in some plain data, without keys.

    >>> list(texts_in({"a": ["x", {"b": "y"}], "c": 3}))
    ['x', 'y']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def call(name: str, /, **arguments: Any) -> str:
    """A tool call as JSON.

    >>> call("web_search", query="x")
    '{"name": "web_search", "arguments": {"query": "x"}}'
    """
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)

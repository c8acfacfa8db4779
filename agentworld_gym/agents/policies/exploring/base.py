"""The base classes of the explorers of all domains."""

from __future__ import annotations

import json
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import ScreenNode, is_graphical
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.kit.vocabulary import WORDS

T = TypeVar("T")
FRESH_TRIES = 12
"""How many drafts an explorer makes to find an action that it has not done yet."""
SESSION = (8, 20)
"""The fewest and the most actions of a session in which an agent explores or acts freely."""
LONGEST = 40
"""The longest text of a state that is typed as a whole; longer ones are only taken apart into words."""

_WORD = re.compile(r"[^\W\d_]{3,}")


class Explorer(ABC):
    """An agent that tries what can be done in a task, mostly sensibly and at times clumsily; it never finishes.

    It knows what the agent was shown and the public state of the task.

    Args:
        task: The task.
        rng: The source of all its random draws.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        self.task, self.rng = task, rng
        self._done: set[str] = set()
        self._planned: list[str] = []

    def choices(self) -> Sequence[str]:
        """Return actions of which the first one that is possible on the screen is to be taken next."""
        action = self._planned.pop(0) if self._planned else self._fresh()
        self._done.add(action)
        return (action,)

    @abstractmethod
    def see(self, action: str, observation: str) -> None:
        """Take in what an action showed, whoever took it."""

    @abstractmethod
    def draft(self) -> str:
        """Draft one action."""

    def plan(self, *actions: str) -> None:
        """Plan actions to be taken next, even if they were taken before."""
        self._planned += actions

    def chance(self, probability: float) -> bool:
        """Draw whether an event of this probability happens."""
        return self.rng.random() < probability

    def weighted(self, shares: Iterable[tuple[T, float]]) -> T:
        """Draw one of several things by their shares.

        Raises:
            IndexError: there is nothing to draw from.
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
    """An explorer of a graphical domain; before it has seen a screen, it names elements by locators."""

    openings: tuple[str, ...] = ()
    """Actions with locators for an explorer that has seen nothing; `{number}` stands for the number of the element."""
    blind: str
    """An action that is possible on any screen."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        assert is_graphical(task.domain)
        self._sight = Sight(task.domain)
        self._seen = False
        self._touched: set[object] = set()
        self.words = RandomWords(task, rng)

    @property
    def nodes(self) -> list[ScreenNode]:
        """The elements of the last screen."""
        return self._sight.nodes

    def see(self, action: str, observation: str) -> None:
        """Take in what an action showed; on another screen, actions that were taken before count as fresh again."""
        before = self.nodes
        self._sight.see(observation)
        self._seen = True
        if self.nodes != before:
            self._done.clear()

    def choices(self) -> Sequence[str]:
        """Return what to do next."""
        if self._seen:
            return super().choices()
        opening, number = self.rng.choice(self.openings), self.rng.randint(1, 12)
        return *(opening.replace("{number}", str(n)) for n in range(number, 0, -1)), self.blind

    def pick(self, nodes: Iterable[tuple[ScreenNode, float]], place: object = None) -> ScreenNode | None:
        """Draw one of several elements by their shares, rarely one that was picked before at the same place."""
        shares = [(node, share * (0.1 if self._key(node, place) in self._touched else 1)) for node, share in nodes]
        if not shares:
            return None
        node = self.weighted(shares)
        self._touched.add(self._key(node, place))
        return node

    @staticmethod
    def _key(node: ScreenNode, place: object) -> object:
        return place, node.role, node.label, node.target if not node.label else ""


class RandomWords:
    """A source of random words and short texts of a task's state, and at times of other words."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        self._rng = rng
        texts = list(dict.fromkeys(texts_in(task.state)))
        self._texts = [text for text in texts if len(text) <= LONGEST and "\n" not in text and text.isascii()]
        words = (word for text in texts for word in _WORD.findall(text) if word.isascii())
        self._words: list[str] = list(dict.fromkeys(words))

    @property
    def word(self) -> str:
        """A random word."""
        from_state = bool(self._words) and self._rng.random() < 0.85
        return self._rng.choice(self._words if from_state else WORDS)

    @property
    def text(self) -> str:
        """A short text of the state, or some words."""
        if self._texts and self._rng.random() < 0.4:
            return self._rng.choice(self._texts)
        return self.phrase

    @property
    def phrase(self) -> str:
        """One to three random words."""
        return " ".join(self.word for _ in range(self._rng.randint(1, 3)))


def texts_in(value: Any) -> Iterable[str]:
    """Yield all texts in plain data, without the keys.

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
    """Return a tool call as JSON.

    >>> call("web_search", query="x")
    '{"name": "web_search", "arguments": {"query": "x"}}'
    """
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)

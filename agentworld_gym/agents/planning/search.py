"""Searches: best of n, beam search and Monte-Carlo tree search.

A search is data and a generator. It asks for a wave of actions at a time and never touches a world, so that the
searches of many episodes share their waves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from agentworld_gym.base.errors import SpecError
from agentworld_gym.envs.episodes.episode import Episode


@dataclass(slots=True, eq=False)
class SearchNode:
    """A state that a search has reached: an imagined episode, and what that is worth."""

    episode: Episode
    """The imagined episode. Its session stays as it is: whatever is tried from here is tried on a fork."""

    proposals: tuple[str, ...]
    """The actions that may be tried from here, best first where the proposer ranks them; none where it is over."""

    value: float
    """The score that the episode would have if the agent finished here, from 0 to 1; 1.0 is success."""

    over: bool
    """Whether the imagined episode has ended."""

    path: tuple[str, ...] = ()
    """The actions that lead here from the root of the search."""

    @property
    def solved(self) -> bool:
        """Whether the task is solved here."""
        return self.value >= 1.0

    @property
    def rank(self) -> tuple[float, bool, int]:
        """What a search prefers: the higher value; of equal ones an episode that can go on; then the shorter path."""
        return self.value, self.solved or not self.over, -len(self.path)

    @property
    def predicted(self) -> tuple[str, ...]:
        """What the world showed after each action of the path."""
        return tuple(self.episode.observations[len(self.episode.observations) - len(self.path) :])


class Try(NamedTuple):
    """An action that a search wants to have tried."""

    node: SearchNode
    """The state that it starts from."""

    action: str
    """The action."""


SearchRun = Generator[list[Try], list[SearchNode | None], SearchNode]
"""A search under way. It yields actions to try, is sent the states that they lead to (None where the world failed),
and returns the state that is best to go to."""


class Search(Protocol):
    """Looks for a good state to go to."""

    @property
    def name(self) -> str:
        """The name of the search in results."""
        ...

    def run(self, root: SearchNode, rng: random.Random) -> SearchRun:
        """Search from a state that is not over and has proposals.

        Args:
            root: The state.
            rng: Random numbers, which break ties and draw.

        Returns:
            The search under way. The state that it returns is never the root.
        """
        ...


@dataclass(frozen=True)
class BestOfN:
    """Draws `n` sequences of actions from the proposals, and goes for the best state on the way.

    Raises:
        SpecError: A number is below 1.

    >>> BestOfN(n=8, depth=3).name
    'best of 8, depth 3'
    """

    n: int = 16
    """How many sequences are drawn."""

    depth: int = 6
    """How many actions a sequence has at most."""

    def __post_init__(self) -> None:
        _check_numbers(self, "n", "depth")

    @property
    def name(self) -> str:
        """The name of the search in results."""
        return f"best of {self.n}, depth {self.depth}"

    def run(self, root: SearchNode, rng: random.Random) -> SearchRun:
        """Draw all sequences side by side, one action of each a wave; a solution ends the search."""
        ends, reached = [root] * self.n, [root]
        for _ in range(self.depth):
            tries = [Try(end, rng.choice(end.proposals)) for end in ends if end.proposals]
            ends = [node for node in (yield tries) if node is not None] if tries else []
            reached += ends
            if not ends or any(end.solved for end in ends):
                break
        return _best(reached, root, rng)


@dataclass(frozen=True)
class BeamSearch:
    """Tries the proposals of the `width` best states, and keeps the best of what they lead to, `depth` times.

    States that show the same after the same number of actions count once.

    Raises:
        SpecError: A number is below 1.

    >>> BeamSearch(width=4, depth=3).name
    'beam of 4, depth 3'
    """

    width: int = 8
    """How many states are kept at each depth."""

    depth: int = 6
    """How many actions a path has at most."""

    branch: int = 16
    """How many proposals of a state are tried at most."""

    def __post_init__(self) -> None:
        _check_numbers(self, "width", "depth", "branch")

    @property
    def name(self) -> str:
        """The name of the search in results."""
        return f"beam of {self.width}, depth {self.depth}"

    def run(self, root: SearchNode, rng: random.Random) -> SearchRun:
        """Search breadth by breadth; a solution ends the search."""
        beam, reached = [root], [root]
        for _ in range(self.depth):
            tries = [Try(node, action) for node in beam for action in node.proposals[: self.branch]]
            found = [node for node in (yield tries) if node is not None] if tries else []
            reached += found
            if any(node.solved for node in found):
                break
            alike: dict[tuple[str, float], SearchNode] = {}
            for node in sorted(found, key=lambda node: (node.rank, rng.random()), reverse=True):
                if not node.over:
                    alike.setdefault((node.episode.observation, node.value), node)
            beam = list(alike.values())[: self.width]
        return _best(reached, root, rng)


@dataclass(slots=True)
class _Branch:
    """A state in the tree of a Monte-Carlo search."""

    node: SearchNode
    untried: list[str]
    children: list[_Branch] = field(default_factory=list)
    visits: int = 0
    total: float = 0.0

    def bound(self, visits: int, exploration: float) -> float:
        """Return the upper confidence bound of this state, whose parent was visited so often."""
        return self.total / self.visits + exploration * math.sqrt(math.log(visits) / self.visits)


@dataclass(frozen=True)
class TreeSearch:
    """Monte-Carlo tree search with upper confidence bounds (UCT; Kocsis and Szepesvári 2006).

    What a new state is worth comes from its value and not from random play, because a value by checks is exact.

    Raises:
        SpecError: A number is out of its range.

    >>> TreeSearch(simulations=64).name
    'tree search of 64'
    """

    simulations: int = 128
    """How many actions are tried in all."""

    depth: int = 12
    """How many actions a path has at most."""

    exploration: float = 0.5
    """The weight of what is uncertain, for values from 0 to 1."""

    wave: int = 8
    """How many actions are tried at a time. States under way count as worth nothing, so that a wave spreads."""

    def __post_init__(self) -> None:
        _check_numbers(self, "simulations", "depth", "wave")
        if not self.exploration >= 0:
            raise SpecError(type(self).__name__, "exploration", self.exploration, "a number of at least 0")

    @property
    def name(self) -> str:
        """The name of the search in results."""
        return f"tree search of {self.simulations}"

    def run(self, root: SearchNode, rng: random.Random) -> SearchRun:
        """Grow the tree by a wave of actions at a time; a solution ends the search."""
        tree = _Branch(root, _shuffled(root.proposals, rng))
        reached, left = [root], self.simulations
        while left > 0:
            paths = self._selected(tree, min(self.wave, left))
            if not paths:
                break
            left -= len(paths)
            for path, node in zip(paths, (yield [tried for _, tried in paths]), strict=True):
                branches = path[0]
                if node is None:
                    continue
                reached.append(node)
                ends = node.over or len(node.path) >= self.depth
                grown = _Branch(node, [] if ends else _shuffled(node.proposals, rng), visits=1, total=node.value)
                branches[-1].children.append(grown)
                for branch in branches:
                    branch.total += node.value
            if any(node.solved for node in reached):
                break
        return _best(reached, root, rng)

    def _selected(self, tree: _Branch, count: int) -> list[tuple[list[_Branch], Try]]:
        """Return up to `count` actions to try, each with the states on the way to it, which count as visited."""
        paths: list[tuple[list[_Branch], Try]] = []
        for _ in range(count):
            path = [tree]
            while not path[-1].untried and (open_ones := [child for child in path[-1].children if _is_open(child)]):
                visits = max(path[-1].visits, 1)
                path.append(max(open_ones, key=lambda child: child.bound(visits, self.exploration)))
            if not path[-1].untried:
                break
            paths.append((path, Try(path[-1].node, path[-1].untried.pop())))
            for branch in path:
                branch.visits += 1
        return paths


def _is_open(branch: _Branch) -> bool:
    """Whether anything is left to try from a state or from those after it."""
    return bool(branch.untried) or any(_is_open(child) for child in branch.children)


def _shuffled(proposals: Iterable[str], rng: random.Random) -> list[str]:
    actions = list(proposals)
    rng.shuffle(actions)
    return actions


def _best(reached: Iterable[SearchNode], root: SearchNode, rng: random.Random) -> SearchNode:
    """Return the best state that was reached; the root where the world failed at every action."""
    others = [node for node in reached if node is not root]
    return max(others, key=lambda node: (node.rank, rng.random()), default=root)


def _check_numbers(search: object, *names: str) -> None:
    """Refuse numbers below 1."""
    for name in names:
        if getattr(search, name) < 1:
            raise SpecError(type(search).__name__, name, getattr(search, name), "an integer of at least 1")

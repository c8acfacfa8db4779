"""Work elsewhere, without a cluster: hands in this process, each of which has all that it needs from a pickle."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import cycle
from typing import Any

from agentworld_gym.base.process.elsewhere import Hand


class Crew:
    """Hands that take turns; the first `lost` of them are gone after one item each, with another one in hand.

    Attributes:
        rounds: How many items were asked for, each time.
        open: How many hands are open.
    """

    def __init__(self, hands: int = 3, width: int = 2, lost: int = 0) -> None:
        self._hands, self._width, self._lost = hands, width, lost
        self.rounds: list[int] = []
        self.open = 0

    def __call__(
        self, make: Callable[[str, int], Hand[Any, Any]], items: Sequence[Any], ahead: int | None
    ) -> Generator[tuple[int, Any], None, None]:
        """Work on the items."""
        self.rounds.append(len(items))
        left = deque(enumerate(items))
        hands = [_Working(pickle.loads(pickle.dumps(make))(f"hand-{n}", self._width), left) for n in range(self._hands)]
        self.open += len(hands)
        doomed = [hands[n] for n in range(self._lost)]
        done: set[int] = set()
        try:
            for hand in cycle(hands):
                if len(done) == len(items):
                    return
                if hand.gone or (made := next(hand.ends, None)) is None:
                    continue
                done.add(made[0])
                yield made
                if hand in doomed:
                    hand.gone = True
                    next(hand.ends, None)  # What it made is lost.
                    left.extendleft(reversed([one for one in hand.dealt if one[0] not in done]))
                    for other in hands:
                        other.go_on()
        finally:
            for hand in hands:
                hand.hand.close()
                self.open -= 1


class _Working:
    """One hand, and what it was dealt."""

    def __init__(self, hand: Hand[Any, Any], left: deque[tuple[int, Any]]) -> None:
        self.hand, self._left, self.gone = hand, left, False
        self.dealt: list[tuple[int, Any]] = []
        self.go_on()

    def go_on(self) -> None:
        """Work on what is left."""
        self.ends = self._working(self.dealt[:])

    def _working(self, before: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        dealt: list[tuple[int, Any]] = []

        def taken() -> Iterator[Any]:
            while self._left:
                dealt.append(self._left.popleft())
                self.dealt.append(dealt[-1])
                yield dealt[-1][1]

        for place, made in self.hand.work(taken()):
            yield dealt[place][0], made

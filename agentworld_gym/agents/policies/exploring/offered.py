"""An explorer of actions that are known beforehand: those that a world tells to be possible, and those of a menu."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.finish import finishes

REFUSED_SHARE = 0.25
"""The share of actions that the world does not offer now: a world model has to see what its world refuses."""


class OfferedExplorer:
    """Chooses some actions among those that can be done, rarely one that was done before where the same was shown.

    Now and then it tries one that cannot be done: of the menu, or of those that were offered before.

    Args:
        rng: The source of all its random draws.
        turns: How many actions it takes.
        menu: Actions that are known without being offered; one that finishes is never taken.

    >>> explorer = OfferedExplorer(random.Random(0), 3, menu=["take coin"])
    >>> sorted(str(explorer.choose("a hall", ["go east", "go west"])) for _ in range(4))
    ['None', 'go east', 'go west', 'take coin']
    """

    def __init__(self, rng: random.Random, turns: int, menu: Sequence[str] = ()) -> None:
        self._rng, self._left = rng, turns
        self._menu = tuple(action for action in menu if not finishes(action))
        self._known = dict.fromkeys(self._menu)
        self._done: Counter[tuple[str, str]] = Counter()
        self._ever: Counter[str] = Counter()

    def choose(self, shown: str, offers: Sequence[str] | None) -> str | None:
        """Return the next action; None where nothing can be done, or enough was.

        Args:
            shown: What the world shows.
            offers: The actions that can be done; None takes the menu, or else what was offered before, where the world
                tells none.

        Raises:
            SpecError: The world never told any, and there is no menu.
        """
        if offers is None:
            offers = self._menu or tuple(self._known)
            if not offers:
                raise SpecError("the live system", "menu", [], "the actions to try: the system itself tells none")
        self._left -= 1
        if not offers or self._left < 0:
            return None
        self._known.update(dict.fromkeys(offers))
        others = [action for action in self._known if action not in offers]
        if others and self._rng.random() < REFUSED_SHARE:
            offers = others
        place = digest_of(shown)
        fewest = min(self._done[place, action] for action in offers)
        fresh = [action for action in offers if self._done[place, action] == fewest]
        # Beside what is new at this place, what was never done at all comes first more often than not.
        newest = min(self._ever[action] for action in fresh)
        if self._rng.random() < 0.7:
            fresh = [action for action in fresh if self._ever[action] == newest]
        action = self._rng.choice(fresh)
        self._done[place, action] += 1
        self._ever[action] += 1
        return action

"""What was made of values that were asked for lately, so that it is made once for each episode of a wave."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

import orjson

R = TypeVar("R")


class Recent(Generic[R]):
    """Keeps what was made of values, by their identity, as long as these are not too large altogether.

    Values must not change later. Those that were asked for longest ago go first; the last one is always kept.

    >>> made = Recent(most=20)
    >>> one, other = {"text": "short"}, {"text": "a longer one"}
    >>> made.of(one, lambda: object()) is made.of(one, lambda: object())
    True
    >>> len(made), made.of(other, lambda: "made") and len(made)
    (1, 1)

    Args:
        most: The number of characters that the values have at most altogether, as JSON.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: OrderedDict[tuple[Hashable, ...], tuple[Any, R, int]] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, value: Any, make: Callable[[], R], *others: Hashable) -> R:
        """Return what was made of a value, or make it.

        Args:
            value: The value, plain data.
            make: The function that makes it.
            others: What else it is made of; these are compared by equality, and not counted.
        """
        key = (id(value), *others)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made, size = make(), len(orjson.dumps(value, default=str))
        with self._lock:
            if key not in self._kept:
                # The value is held too, so that nothing else gets its identity.
                self._kept[key] = value, made, size
                self._held += size
            while self._held > self._most and len(self._kept) > 1:
                self._held -= self._kept.popitem(last=False)[1][2]
        return made

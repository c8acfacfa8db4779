"""How a wave that names one session several times is put in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def rounds(sessions: Sequence[object]) -> Iterator[list[int]]:
    """Split a wave into rounds in which each session stands once, in the order of the wave.

    >>> a, b = object(), object()
    >>> list(rounds([a, b, a]))
    [[0, 1], [2]]
    """
    waiting = list(range(len(sessions)))
    while waiting:
        seen: set[int] = set()
        here: list[int] = []
        later: list[int] = []
        for index in waiting:
            key = id(sessions[index])
            (later if key in seen else here).append(index)
            seen.add(key)
        yield here
        waiting = later

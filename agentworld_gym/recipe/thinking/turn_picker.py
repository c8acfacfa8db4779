"""Picking the turns of a session that become samples, so that those that change nothing, little and much are all
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentworld_gym.llm.rows.pools import draw
from agentworld_gym.llm.rows.row import Row

CLASSES = ("0", "1", "2-4", "5+")
"""The classes of turns by the number of state fields that they change."""


def change_class(fields: int) -> str:
    """Return the class of a turn that changes so many fields of the state.

    >>> [change_class(fields) for fields in (0, 1, 2, 4, 5, 70)]
    ['0', '1', '2-4', '2-4', '5+', '5+']
    """
    return CLASSES[0 if not fields else 1 if fields == 1 else 2 if fields < 5 else 3]


@dataclass
class TurnPicker:
    """Picks turns of sessions in order, always of the class that its domain has the fewest of so far.

    Within a class the turn is drawn by the session's id, so that equal sessions in equal order give equal turns.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def pick(self, row: Row, turns: Sequence[int], number: int) -> list[int]:
        """Pick `number` of the turns, or all where there are fewer, and return them in order.

        Args:
            row: The session.
            turns: The turns to pick from, counted from 1.
            number: The number of turns to pick.
        """
        by_class: dict[str, list[int]] = {}
        for turn in sorted(turns, key=lambda turn: draw(f"turn/{row.id}/{turn}")):
            fields = row.fields_changed or tuple(map(len, row.changes))
            by_class.setdefault(change_class(fields[turn - 1] if fields else 0), []).append(turn)
        picked: list[int] = []
        while by_class and len(picked) < number:
            name = min(by_class, key=lambda name: (self.counts[row.domain, name], CLASSES.index(name)))
            self.counts[row.domain, name] += 1
            picked.append(by_class[name].pop())
            if not by_class[name]:
                del by_class[name]
        return sorted(picked)

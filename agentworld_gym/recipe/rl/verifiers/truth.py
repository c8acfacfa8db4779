"""What a verifier is given and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentworld_gym.screens.sight import last_screen
from agentworld_gym.sessions.row import ContentSpan, Row


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one prediction.

    `checks` are by name; a prediction passes if all of them hold. `skipped` says why the turn cannot be verified; then
    there is no check, and `passed` means nothing.

    >>> Verdict.of({"content": True, "errors": False}).passed, Verdict(False, {}, "no truth").skipped
    (False, 'no truth')
    """

    passed: bool
    checks: Mapping[str, bool] = field(default_factory=dict)
    skipped: str = ""

    @classmethod
    def of(cls, checks: Mapping[str, bool]) -> Verdict:
        """The verdict of some checks."""
        return cls(all(checks.values()), dict(checks))

    @property
    def share(self) -> float:
        """The share of the checks that hold, from 0 to 1."""
        return sum(self.checks.values()) / len(self.checks) if self.checks else 0.0


@dataclass(frozen=True, slots=True)
class Truth:
    """The grounded truth of one turn, the last of a row.

    `before` is what was on the screen, `shown` is everything the agent saw earlier in the session, latest first.
    `spans` are empty where nobody recorded which kinds of content there are, too.
    """

    row: Row
    text: str
    spans: Sequence[ContentSpan]
    action: str
    before: str
    shown: Sequence[str]

    @classmethod
    def of(cls, row: Row) -> Truth | None:
        """The truth of a row's last turn; None where the row has no plain actions and observations."""
        if not row.observations or not row.actions:
            return None
        shown = (*reversed(row.observations[:-1]), row.first_observation)
        spans = row.spans[-1] if row.spans else ()
        return cls(row, row.observations[-1], spans, row.actions[-1], screen_before(row), shown)

    @property
    def written(self) -> frozenset[str]:
        """The lines of text that earlier turns wrote into the state.

        Short ones are left out: a digit is found everywhere.
        """
        values = (str(change.after) for changes in self.row.changes[:-1] for change in changes)
        lines = (line.strip() for value in values for line in value.split("\n"))
        return frozenset(line for line in lines if len(line) >= SHORTEST)


def screen_before(row: Row) -> str:
    """What was on the screen before the last turn of a row."""
    return last_screen(row.domain, [row.first_observation, *row.observations[:-1]])


SHORTEST = 4
"""Written lines below this length say nothing where they are found again."""

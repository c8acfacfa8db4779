"""What a rule verifier is given, the truth of a turn, and what it says, a verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentworld_gym.core.screens.sight import last_screen
from agentworld_gym.llm.rows.row import ContentSpan, Row


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What the rules say of one prediction.

    >>> RuleVerdict.of({"content": True, "errors": False}).passed, RuleVerdict(False, {}, "no truth").skipped
    (False, 'no truth')
    """

    passed: bool
    """Whether all checks hold; it means nothing where the turn was skipped."""

    checks: Mapping[str, bool] = field(default_factory=dict)
    """Whether each check holds, by name."""

    skipped: str = ""
    """Why the turn cannot be verified; an empty text where it was verified."""

    @classmethod
    def of(cls, checks: Mapping[str, bool]) -> RuleVerdict:
        """Return the verdict of some checks."""
        return cls(all(checks.values()), dict(checks))

    @property
    def share(self) -> float:
        """The share of the checks that hold, from 0 to 1."""
        return sum(self.checks.values()) / len(self.checks) if self.checks else 0.0


@dataclass(frozen=True, slots=True)
class Truth:
    """The grounded truth of one turn, the last of a row."""

    row: Row
    """The row."""

    text: str
    """The true observation."""

    spans: Sequence[ContentSpan]
    """The kinds of its content by place; it is also empty where nobody recorded them."""

    action: str
    """The action of the turn."""

    before: str
    """What was on the screen before the action."""

    shown: Sequence[str]
    """Everything that the agent saw earlier in the session, latest first."""

    @classmethod
    def of(cls, row: Row) -> Truth | None:
        """Return the truth of a row's last turn; None where the row has no plain actions and observations."""
        if not row.observations or not row.actions:
            return None
        earlier = (*reversed(row.observations[:-1]), row.first_observation)
        spans = row.spans[-1] if row.spans else ()
        return cls(row, row.observations[-1], spans, row.actions[-1], screen_before(row), earlier)

    @property
    def written_lines(self) -> frozenset[str]:
        """The lines of text that earlier turns wrote into the state.

        Short lines are left out, because a digit is found everywhere.
        """
        values = (str(change.after) for changes in self.row.changes[:-1] for change in changes)
        lines = (line.strip() for value in values for line in value.split("\n"))
        return frozenset(line for line in lines if len(line) >= SHORTEST)


def screen_before(row: Row) -> str:
    """Return what was on the screen before the last turn of a row."""
    return last_screen(row.domain, [row.first_observation, *row.observations[:-1]])


SHORTEST = 4
"""The number of characters from which on a written line says something where it is found again."""


@dataclass(frozen=True, slots=True)
class RuleVerifier:
    """The rules of one domain."""

    error: re.Pattern[str]
    """The pattern of an error."""

    checks: Callable[[Truth, str], dict[str, bool]]
    """The checks of the domain's form, by name: a function of the truth and the prediction."""

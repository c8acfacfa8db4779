"""What a world that pays for steps and ends its episodes itself says of one, as a game does, and how a text says it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Told = Literal["reward", "success"]
"""What a world tells of its episodes: rewards and ends, or success beside them."""

MOST_OFFERS = 40
"""How many actions a line names at most; of more it names none, as no model could learn to write them."""

_LINE = re.compile(
    r"\[reward (?P<reward>-?[0-9.]+(?:e[+-]?[0-9]+)?)(?P<end>; over|; cut off)?(?P<success>; success|; failure)?"
    r"(?:; can (?P<offers>\".*\"))?\]"
)


def told_by(episodes: Iterable[Told | None]) -> Told | None:
    """Return what a world tells, from what some of its episodes were told.

    >>> told_by(["reward", None, "success"]), told_by([None])
    ('success', None)
    """
    every = set(episodes)
    return "success" if "success" in every else "reward" if "reward" in every else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a world says of a step that pays for steps and ends its episodes itself, as a game does.

    >>> Verdict(reward=1.0, terminated=True, success=True).over
    True
    """

    reward: float = 0.0
    """What the world pays for the step."""

    terminated: bool = False
    """Whether the episode ended by what the agent did."""

    truncated: bool = False
    """Whether the world broke the episode off, as at a limit of its own."""

    success: bool | None = None
    """Whether the world's own goal is reached; None where it does not tell."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done next; None where the world does not tell them."""

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    def as_dict(self) -> dict[str, Any]:
        """Return reward, end and success for JSON, without the actions that can be done next."""
        return {key: getattr(self, key) for key in ("reward", "terminated", "truncated", "success")}

    @property
    def line(self) -> str:
        """The line that says it in a text; four digits of the reward, success where it is reached or at an end, and the
        actions that can be done next if they are few.

        >>> Verdict(0.5).line, Verdict(1.0, terminated=True, success=True).line, Verdict(success=False).line
        ('[reward 0.5]', '[reward 1; over; success]', '[reward 0]')
        >>> print(Verdict(offers=("go east", "take coin")).line)
        [reward 0; can "go east", "take coin"]
        """
        end = "; over" if self.terminated else "; cut off" if self.truncated else ""
        told = self.success is not None and (self.success or self.over)
        won = ("; success" if self.success else "; failure") if told else ""
        few = None if self.over else few_enough(self.offers)
        can = f"; can {json.dumps(few, ensure_ascii=False)[1:-1]}" if few else ""
        return f"[reward {self.reward:.4g}{end}{won}{can}]"


def few_enough(offers: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return actions that can be done next; None where there are too many for a line.

    >>> few_enough(("go east",)), few_enough(("go east",) * 41)
    (('go east',), None)
    """
    return None if offers is None or len(offers) > MOST_OFFERS else offers


def with_verdict(text: str, verdict: Verdict | None) -> str:
    r"""Return a text with a last line that says what the world says; one that pays, ends and offers nothing needs none.

    >>> with_verdict("You take the coin.", Verdict(1.0, terminated=True))
    'You take the coin.\n[reward 1; over]'
    >>> with_verdict("A kitchen.", Verdict()), with_verdict("[reward 9]", None)
    ('A kitchen.', '[reward 9]\n[reward 0]')
    """
    line = (verdict or Verdict()).line
    if line == Verdict().line and _LINE.fullmatch(text.rpartition("\n")[2]) is None:
        return text
    return f"{text}\n{line}"


def without_verdict(text: str, told: Told) -> tuple[str, Verdict]:
    r"""Return a text without the line that `with_verdict` added, and what it says.

    Args:
        text: The text.
        told: What the world tells of its episodes. Where that is success, it is not reached until a line says so.

    >>> without_verdict("You take the coin.\n[reward 1; over; success]", "success")
    ('You take the coin.', Verdict(reward=1.0, terminated=True, truncated=False, success=True, offers=None))
    >>> without_verdict('A kitchen.\n[reward 0; can "go east"]', "reward")
    ('A kitchen.', Verdict(reward=0.0, terminated=False, truncated=False, success=None, offers=('go east',)))
    """
    rest, _, last = text.rpartition("\n")
    said = _LINE.fullmatch(last)
    success = False if told == "success" else None
    if said is None:
        return text, Verdict(success=success)
    if said["success"]:
        success = said["success"] == "; success"
    end = said["end"]
    return rest, Verdict(float(said["reward"]), end == "; over", end == "; cut off", success, _offers(said["offers"]))


def _offers(written: str | None) -> tuple[str, ...] | None:
    """Return the actions that a line names; None where it names none, or none that can be read."""
    try:
        return None if written is None else tuple(map(str, json.loads(f"[{written}]")))
    except ValueError:
        return None

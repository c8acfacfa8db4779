"""What a world that pays for steps and ends its episodes itself says of one, as a game does, and how a text says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Told = Literal["reward", "success"]
"""What a world tells of its episodes: rewards and ends, or success beside them."""

_LINE = re.compile(
    r"\[reward (?P<reward>-?[0-9.]+(?:e[+-]?[0-9]+)?)(?P<end>; over|; cut off)?(?P<success>; success|; failure)?\]"
)


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

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    @property
    def line(self) -> str:
        """The line that says it in a text; four digits of the reward, and success where it is reached or at an end.

        >>> Verdict(0.5).line, Verdict(1.0, terminated=True, success=True).line, Verdict(success=False).line
        ('[reward 0.5]', '[reward 1; over; success]', '[reward 0]')
        """
        end = "; over" if self.terminated else "; cut off" if self.truncated else ""
        told = self.success is not None and (self.success or self.over)
        return f"[reward {self.reward:.4g}{end}{('; success' if self.success else '; failure') if told else ''}]"


def with_verdict(text: str, verdict: Verdict | None) -> str:
    r"""Return a text with a last line that says what the world says; a step that pays and ends nothing needs none.

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
    ('You take the coin.', Verdict(reward=1.0, terminated=True, truncated=False, success=True))
    >>> without_verdict("A kitchen.", "reward")
    ('A kitchen.', Verdict(reward=0.0, terminated=False, truncated=False, success=None))
    """
    rest, _, last = text.rpartition("\n")
    said = _LINE.fullmatch(last)
    success = False if told == "success" else None
    if said is None:
        return text, Verdict(success=success)
    if said["success"]:
        success = said["success"] == "; success"
    return rest, Verdict(float(said["reward"]), said["end"] == "; over", said["end"] == "; cut off", success)

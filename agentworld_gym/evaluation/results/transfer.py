"""The result of playing one policy in a world model and in the grounded world."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, computed_field, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.task import Split
from agentworld_gym.evaluation.results.base import Counts, Result
from agentworld_gym.statistics.bootstrap import Share

WIDE = 0.4
"""An interval of the gap that is wider than this cannot show that there is no gap."""


class Side(Strict):
    """How a policy did in one world; episodes that the world failed are counted in `failures` alone.

    `success` and the means `reward` and `steps` are None where no episode was judged. `traces` is the log of all
    episodes, for `agentworld trace`.
    """

    world: str
    fingerprint: str
    success: Share | None
    reward: float | None
    steps: float | None
    failures: Counts
    traces: str | None = None


class Parting(Strict):
    """An episode that succeeded in one world only, and where the two first differ.

    `part` says what differs first: the action, the observation, that one world failed, or that one ended earlier.
    `dream_episode` and `grounded_episode` are the ids of the traces.
    """

    task_id: str
    seed: int
    family: str
    level: int
    dream: bool
    grounded: bool
    turn: int
    part: str
    dream_action: str
    grounded_action: str
    dream_observation: str
    grounded_observation: str
    dream_episode: str
    grounded_episode: str


class TransferResult(Result):
    """A policy in the dream and in the grounded world, on the same tasks.

    `gap` is the mean difference of success, dream minus grounded, over the episodes that both worlds could judge. The
    JSON holds `verdict` too, for people; it is not read back.
    `options` holds what was asked for beside policy and world, such as `seeds`, `profile` or `levels`.
    """

    kind: Literal["transfer"] = "transfer"
    domain: str
    policy: str
    split: Split
    tasks: int
    dream: Side
    grounded: Side
    gap: Share | None
    agree: int
    only_dream: int
    only_grounded: int
    families: dict[str, tuple[Share, Share]]
    partings: tuple[Parting, ...]
    options: dict[str, Any] = Field(default_factory=dict)
    interrupted: bool = False

    @model_validator(mode="before")
    @classmethod
    def _without_verdict(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if key != "verdict"} if isinstance(data, dict) else data

    @property
    def tells(self) -> Literal["gap", "no gap", "nothing"]:
        """Whether the two worlds differ for this policy; `nothing` where the episodes cannot show it."""
        if self.gap is None:
            return "nothing"
        if self.gap.low > 0 or self.gap.high < 0:
            return "gap"
        return "nothing" if self._never_succeeds or self.gap.high - self.gap.low > WIDE else "no gap"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> str:
        """What the figures say together."""
        if self.gap is None:
            return "One of the worlds failed in every episode: nothing can be compared."
        if self._never_succeeds:
            return "The policy never succeeds in either world: this says nothing."
        said = (
            f"Both worlds agree on {self.agree} of {self.gap.count} episodes; {self.only_dream} succeed only in the "
            f"dream, {self.only_grounded} only in the grounded world."
        )
        if self.gap.low > 0:
            return f"The agent learned the simulator: what it does succeeds in the dream and fails for real. {said}"
        if self.gap.high < 0:
            return f"The dream is harder than the grounded world: its errors cost this agent episodes. {said}"
        if self.tells == "nothing":
            return f"Too few tasks to tell: the interval is {self.gap.high - self.gap.low:.2f} wide. {said}"
        return f"No gap beyond its interval. {said}"

    @property
    def _never_succeeds(self) -> bool:
        return not any(side.success and side.success.share for side in (self.dream, self.grounded))

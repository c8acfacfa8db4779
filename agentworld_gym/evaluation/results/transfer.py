"""The result of playing one policy in a world model and in the grounded world."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, computed_field, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.core.domain.task import Split
from agentworld_gym.evaluation.results.base import Counts, EvaluationResult, TaskDraw

WIDE = 0.4
"""An interval of the gap that is wider than this cannot show that there is no gap."""


class Side(Strict):
    """How a policy did in one world."""

    world: str
    """The handle of the world."""

    fingerprint: str
    """The fingerprint of the world."""

    success: Share | None
    """The share of successful episodes; None where no episode was judged."""

    reward: float | None
    """The mean return of the judged episodes."""

    steps: float | None
    """The mean number of steps of the judged episodes."""

    failures: Counts
    """The number of episodes that the world failed, by kind of failure; nothing else counts them."""

    traces: str | None = None
    """The log of all episodes, for `agentworld trace`."""


class Parting(Strict):
    """An episode that succeeded in one world only, and where the two first differ."""

    task_id: str
    seed: int
    family: str
    level: int
    dream: bool
    grounded: bool
    turn: int
    part: str
    """What differs first: the action, the observation, that one world failed, or that one ended earlier."""

    dream_action: str
    grounded_action: str
    dream_observation: str
    grounded_observation: str
    dream_episode: str
    """The id of the dream's episode in the traces."""

    grounded_episode: str
    """The id of the grounded world's episode in the traces."""


class TransferResult(EvaluationResult):
    """A policy in the dream and in the grounded world, on the same tasks.

    The JSON holds `verdict` too, for people; it is not read back.
    """

    kind: Literal["transfer"] = "transfer"
    domain: str
    policy: str
    split: Split
    tasks: int
    draw: TaskDraw | None = None
    """Which tasks were played, and what the figures are good for; None where single tasks were asked for."""

    dream: Side
    grounded: Side
    gap: Share | None
    """The mean difference of success, dream minus grounded, over the episodes that both worlds could judge."""

    agree: int
    """The number of episodes with the same success in both worlds."""

    only_dream: int
    """The number of episodes that succeed only in the dream."""

    only_grounded: int
    """The number of episodes that succeed only in the grounded world."""

    families: dict[str, tuple[Share, Share]]
    """The shares of success in the dream and in the grounded world, by family of tasks."""

    partings: tuple[Parting, ...]
    """The first episodes that succeed in one world only."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The options beside policy and world, such as `seeds`, `profile` or `levels`."""

    interrupted: bool = False
    """Whether the evaluation was interrupted; the result then holds the tasks that both worlds finished."""

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
        """What the figures say together, in words."""
        if self.gap is None:
            return "One of the worlds failed in every episode: nothing can be compared."
        if self._never_succeeds:
            return "The policy never succeeds in either world: this says nothing."
        said = (
            f"Both worlds agree on {self.agree} of {self.gap.count} episodes; {self.only_dream} succeed only in the "
            f"language world, {self.only_grounded} only in the grounded world."
        )
        if self.gap.low > 0:
            learned = "The agent learned the simulator: what it does succeeds in the language world and fails for real."
            return f"{learned} {said}"
        if self.gap.high < 0:
            harder = "The language world is harder than the grounded world: its errors cost this agent episodes."
            return f"{harder} {said}"
        if self.tells == "nothing":
            return f"Too few tasks to tell: the interval is {self.gap.high - self.gap.low:.2f} wide. {said}"
        return f"No gap beyond its interval. {said}"

    @property
    def _never_succeeds(self) -> bool:
        return not any(side.success and side.success.share for side in (self.dream, self.grounded))

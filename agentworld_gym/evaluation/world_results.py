"""What the evaluations of worlds find, as typed results that are written and read as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, computed_field, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.task import Split
from agentworld_gym.evaluation.results import Result
from agentworld_gym.statistics.bootstrap import Share

EXCERPT = 2000
"""Characters kept of a text that a result quotes."""

Counts = dict[str, int]


def excerpt(text: str) -> str:
    r"""The beginning of a text that an agent or a world wrote, as UTF-8 can hold it.

    >>> excerpt("a\ud800b")
    'a\\ud800b'
    """
    cut = text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"
    return cut.encode("utf-8", "backslashreplace").decode()


class Measures(Strict):
    """How some predictions compare with the truth; each share with its 95% interval over sessions.

    `exact` is character for character, `deterministic` exact where the rules decide the content, `normalised` exact but
    for white space and case that mean nothing; `similarity` is the mean edit similarity, `tree` the mean F1 of the
    nodes of a screen (None where no screen is due), `valid` the share with the format of the domain. Of a quick run
    only `exact` is known, which stands for `deterministic` too.
    """

    exact: Share
    deterministic: Share
    normalised: Share | None = None
    similarity: Share | None = None
    valid: Share | None = None
    tree: Share | None = None


class Cell(Strict):
    """The two main measures of a group of steps; see `Measures`."""

    exact: Share
    deterministic: Share


class Probes(Strict):
    """What probes of tasks found in both worlds after the same actions: how many checks passed where.

    `agreement` is the share of checks with one verdict; those that a world failed on, or before it came so far, are
    left out and counted in `failed`.
    """

    agreement: Share
    both: int
    neither: int
    only_dream: int
    only_grounded: int
    failed: int


class Run(Strict):
    """One way of asking a world for every step of the recorded sessions.

    `groups` holds the main measures by `turn`, `fields changed`, `policy`, `family`, `level` and `control`; `kinds` the
    share of steps that are right where they hold content of a kind. `failures` counts the steps that the world did not
    answer, by why, which no measure counts; `lost` the steps that a failure left unplayed.
    """

    measures: Measures | None
    failures: Counts
    lost: int = 0
    kinds: dict[str, Share] = Field(default_factory=dict)
    groups: dict[str, dict[str, Cell]] = Field(default_factory=dict)
    probes: Probes | None = None

    @property
    def with_failures(self) -> float | None:
        """The share of exact steps if failures and what they left unplayed count as wrong."""
        if self.measures is None:
            return None
        exact = self.measures.exact
        return exact.share * exact.count / (exact.count + sum(self.failures.values()) + self.lost)


class Bin(Strict):
    """Predictions of like confidence, which goes from `low` to `high`: its mean, and the share that was exact."""

    low: float
    high: float
    confidence: float
    exact: Share


class Calibration(Strict):
    """Whether confidence means what it says.

    `error` is the expected calibration error: the mean distance of confidence and exactness over the bins, weighted by
    their counts. Bins hold about as many predictions each. `measure` says what the confidence is: the probability of
    the whole `sequence`, or the geometric mean of its `token` probabilities.
    """

    measure: Literal["sequence", "token"]
    count: int
    error: float
    bins: tuple[Bin, ...]


class Consistency(Strict):
    """Whether a plan found in the dream works for real (Word2World, arXiv 2512.18832).

    For each task some plans are drawn from one policy and played in the dream; the first that it calls successful is
    replayed, action by action, in the grounded world. `replayed` is the share of tasks whose plan succeeds there,
    `direct` the share of tasks where the same search in the grounded world itself finds a plan; `ratio` is the first by
    the second. `precision` is the share of plans that succeed for real among those the dream calls successful, `recall`
    the share that the dream calls successful among those that succeed for real. `tokens` are those of the plans played
    in the dream.
    """

    policy: str
    plans: int
    tasks: int
    ratio: float | None
    low: float | None
    high: float | None
    replayed: Share
    direct: Share
    precision: float | None
    recall: float | None
    tokens: Counts = Field(default_factory=dict)
    failures: Counts


class Example(Strict):
    """A step that the world got wrong."""

    session: str
    turn: int
    action: str
    truth: str
    predicted: str


WIDE = 0.4
"""An interval of the gap wider than this cannot tell that there is none."""


class DomainFidelity(Strict):
    """How faithful a world is in one domain. `stale` counts recordings that the grounded world no longer repeats.

    `baselines` holds what needs no model, over the steps that the world answered: `copy` the last observation, or the
    `nearest` recorded step. `tokens` are those of all steps and their probes; `consistency` has its own.
    """

    domain: str
    sessions: int
    steps: int
    stale: int
    fingerprint: str
    taught: Run | None
    free: Run | None
    baselines: dict[str, Measures] = Field(default_factory=dict)
    calibration: tuple[Calibration, ...] = ()
    consistency: Consistency | None = None
    tokens: Counts = Field(default_factory=dict)
    examples: tuple[Example, ...] = ()


class FidelityResult(Result):
    """A world beside the grounded one. Where `interrupted`, what was measured until then.

    `options` holds what was asked for beside the world, such as `profile`, `sampling`, `retrieval` or `levels`.
    """

    kind: Literal["fidelity"] = "fidelity"
    world: str
    split: Split | None
    source: str
    domains: tuple[DomainFidelity, ...]
    options: dict[str, Any] = Field(default_factory=dict)
    interrupted: bool = False


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

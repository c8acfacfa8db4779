"""The result of comparing a world with the grounded one, step by step."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.task import Split
from agentworld_gym.evaluation.results.base import Counts, Result
from agentworld_gym.statistics.bootstrap import Share


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

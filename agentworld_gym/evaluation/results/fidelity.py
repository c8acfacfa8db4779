"""The result of comparing a world with the grounded one, step by step."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.core.domain.task import Split
from agentworld_gym.evaluation.results.base import Counts, EvaluationResult, TaskDraw


class Measures(Strict):
    """How some predictions compare with the truth; each share has its 95% interval over sessions."""

    exact: Share
    """The share that is exact, character for character; a quick run knows this alone."""

    deterministic: Share
    """The share that is exact where the rules decide the content; in a quick run it is that of `exact`."""

    normalised: Share | None = None
    """The share that is exact apart from white space and case that mean nothing."""

    similarity: Share | None = None
    """The mean edit similarity."""

    valid: Share | None = None
    """The share that has the format of the domain."""

    tree: Share | None = None
    """The mean F1 of the nodes of a screen; None where no screen is due."""


class Cell(Strict):
    """The two main measures of a group of steps; see `Measures`."""

    exact: Share
    deterministic: Share


class Probes(Strict):
    """What the probes of tasks found in both worlds after the same actions, as numbers of checks."""

    agreement: Share
    """The share of checks with the same verdict in both worlds; those that a world failed on are left out."""

    both: int
    """The number of checks that passed in both worlds."""

    neither: int
    """The number of checks that passed in neither world."""

    only_dream: int
    """The number of checks that passed only in the dream."""

    only_grounded: int
    """The number of checks that passed only in the grounded world."""

    failed: int
    """The number of checks that a world failed on, then or before it came so far."""


class Attempts(Strict):
    """The steps in which an agent tried what cannot be done, or what changes nothing."""

    equal: Share
    """The share that is right where the rules decide it. A step that the world did not answer counts as wrong."""

    failures: int
    """The number of steps that the world did not answer."""

    accepted: int | None = None
    """The number of steps that changed the world's own state where they change nothing; None where its state cannot be
    read."""


class FidelityRun(Strict):
    """One way of asking a world for every step of the recorded sessions."""

    measures: Measures | None
    """The measures of all answered steps; None where no step was answered."""

    failures: Counts
    """The number of steps that the world did not answer, by kind of failure, which no measure counts."""

    lost: int = 0
    """The number of steps that a failure left unplayed."""

    whole: Share | None = None
    """The share of sessions of which every step was answered, and right where the rules decide it. With the world's own
    history this is the consistency of sessions that no check tests: how many of them the true world repeats on the same
    actions. None where no step was asked for."""

    reasked: int = 0
    """The number of answered steps whose first answer could not be read, so that the world asked again."""

    constrained: int = 0
    """The number of answered steps in which constrained decoding refused a token; without it most of them could not
    have been read."""

    kinds: dict[str, Share] = Field(default_factory=dict)
    """The share of steps that are right where they hold content of a kind."""

    groups: dict[str, dict[str, Cell]] = Field(default_factory=dict)
    """The main measures by `turn`, `fields changed`, `policy`, `family`, `level`, `control` and kind of `attempt`."""

    attempts: dict[str, Attempts] = Field(default_factory=dict)
    """All attempts, under the name `all`, and those of each kind; none where nobody made any."""

    probes: Probes | None = None
    """What the probes found; None where no probe was judged."""

    @property
    def with_failures(self) -> float | None:
        """The share of exact steps if failures, and the steps that they left unplayed, count as wrong."""
        if self.measures is None:
            return None
        exact = self.measures.exact
        return exact.share * exact.count / (exact.count + sum(self.failures.values()) + self.lost)


class Bin(Strict):
    """Predictions of like confidence."""

    low: float
    """The least confidence."""

    high: float
    """The greatest confidence."""

    confidence: float
    """The mean confidence."""

    exact: Share
    """The share of exact predictions."""


class Calibration(Strict):
    """How well confidence predicts exactness."""

    measure: Literal["sequence", "token"]
    """What the confidence is: the probability of the whole `sequence`, or the geometric mean of its `token`
    probabilities."""

    count: int
    """The number of predictions."""

    error: float
    """The expected calibration error: the mean distance of confidence and exactness over the bins, weighted by their
    counts."""

    bins: tuple[Bin, ...]
    """The bins, which hold about as many predictions each."""


class Trusted(Strict):
    """The answers that a guard would take as they are, because the model holds them to be likely enough."""

    least: float
    """The least probability that the guard asks for."""

    taken: Share
    """The share of the answers that are so likely."""

    wrong: Share | None
    """The share of these that is wrong where the rules decide, which no guard sees; None where none is so likely."""


class Consistency(Strict):
    """How often a plan found in the dream works for real (Word2World, arXiv 2512.18832).

    For each task some plans are drawn from one policy and played in the dream; the first that it calls successful is
    replayed, action by action, in the grounded world.
    """

    policy: str
    """The policy that draws the plans."""

    plans: int
    """The number of plans for each task."""

    tasks: int
    """The number of tasks."""

    ratio: float | None
    """The consistency ratio: `replayed` divided by `direct`; None where `direct` is 0."""

    low: float | None
    """The lower end of its 95% interval."""

    high: float | None
    """The upper end of its 95% interval."""

    replayed: Share
    """The share of tasks whose plan succeeds in the grounded world."""

    direct: Share
    """The share of tasks for which the same search in the grounded world itself finds a plan."""

    precision: float | None
    """The share of plans that succeed for real among those that the dream calls successful."""

    recall: float | None
    """The share of plans that the dream calls successful among those that succeed for real."""

    tokens: Counts = Field(default_factory=dict)
    """The tokens of the plans played in the dream; none where the server does not tell."""

    failures: Counts
    """The number of plans that the dream failed on, by kind of failure."""


class BaselineFidelity(Strict):
    """What answers without learning beside the world: the nearest answer, or a worldbook.

    The nearest answer, a table, answers as the recorded turn whose words are most alike. It is asked in the world's
    form, and its answers are read as those of the world are. What it cannot answer so is an error. A worldbook is mined
    from the same sessions, and writes whole observations.
    """

    sessions: int
    """The number of recorded sessions that it was made of."""

    turns: int
    """The number of their turns."""

    source: str = ""
    """Where they come from, in words."""

    saw: int | None = None
    """The number of recorded sessions that the model was trained on; None where that is not known."""

    taught: FidelityRun | None = None
    """The run with the true history."""

    free: FidelityRun | None = None
    """The run with its own history."""

    consistency: Consistency | None = None
    """The consistency ratio, where that of the world was measured."""

    errors: dict[str, Share] = Field(default_factory=dict)
    """The errors of the world as a share of its own, with the `true history` and with their `own history`. A step
    without an answer is an error of either."""

    trusted: tuple[Trusted, ...] = ()
    """What guards would take as it is, where it tells its confidence."""


class Example(Strict):
    """A step that the world got wrong."""

    session: str
    turn: int
    action: str
    truth: str
    predicted: str


class DomainFidelity(Strict):
    """How faithful a world is in one domain."""

    domain: str
    """The domain."""

    sessions: int
    """The number of recorded sessions."""

    steps: int
    """The number of steps that the world was asked for."""

    stale: int
    """The number of recordings that the grounded world no longer repeats."""

    fingerprint: str
    """The fingerprint of the world."""

    taught: FidelityRun | None
    """The run with the true history; None where the world does not accept it."""

    free: FidelityRun | None
    """The run with the world's own history; None where it was left out."""

    baselines: dict[str, Measures] = Field(default_factory=dict)
    """The measures of what needs no model, over the steps that the world answered: `copy` repeats the last observation,
    `nearest` gives the nearest answer, and `worldbook` the answer of a worldbook."""

    nearest: BaselineFidelity | None = None
    """The nearest answer in all that the world was asked for; None where no session was recorded for it."""

    worldbook: BaselineFidelity | None = None
    """A worldbook that answers all of that without a model; None where no session was recorded for it."""

    calibration: tuple[Calibration, ...] = ()
    """The calibration of the world's confidence, where it tells it."""

    trusted: tuple[Trusted, ...] = ()
    """What guards would take as it is, where the world tells its confidence."""

    consistency: Consistency | None = None
    """The consistency ratio, where it was measured."""

    tokens: Counts = Field(default_factory=dict)
    """The tokens of all steps and their probes, none where the server does not tell; those of `consistency` are counted
    there."""

    examples: tuple[Example, ...] = ()
    """The first wrong step of some sessions."""


class FidelityResult(EvaluationResult):
    """A world beside the grounded one."""

    kind: Literal["fidelity"] = "fidelity"
    """The kind of the result."""

    world: str
    """The handle of the world."""

    split: Split | None
    """The split of the tasks."""

    draw: TaskDraw | None = None
    """Which tasks were played, and what the figures are good for; None where recorded sessions were given."""

    source: str
    """Where the sessions come from, in words."""

    domains: tuple[DomainFidelity, ...]
    """The result of each domain."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The options beside the world, such as `profile`, `sampling`, `retrieval` or `levels`."""

    interrupted: bool = False
    """Whether the evaluation was interrupted; the result then holds what was measured until then."""

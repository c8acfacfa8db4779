"""The results of an ablation study: every tested turn of every arm, and the table that compares arms in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from agentworld_gym.contracts import FailureKind
from agentworld_gym.documents.strict import Strict
from agentworld_gym.recipe.ablations.arms import ARMS, COMPARISONS, ArmData, ArmName
from agentworld_gym.recipe.field_types import Positive
from agentworld_gym.recipe.training.stage_config import CptConfig
from agentworld_gym.statistics.bootstrap import Share, interval


class AblationConfig(Strict):
    """What all arms share."""

    domains: tuple[str, ...] = Field(default=("terminal", "android"), min_length=1)
    """The domains."""

    arms: tuple[ArmName, ...] = ()
    """The arms to run; an empty tuple stands for all that mean something for the domains."""

    minutes: float = Field(default=10, gt=0)
    """The minutes that every arm is trained."""

    episodes: Positive = 3000
    """The number of sessions of the training split to learn from, of all domains together."""

    unseen: Positive = 200
    """The number of sessions of the test split to test on, of all domains together."""

    decoded: Positive = 400
    """The number of turns that are decoded to test the arm that thinks."""

    turns: Positive = 3
    """The number of turns of a session that are learned from, where turns are learned one by one."""

    tested_turns: Positive = 4
    """The number of turns of a session that are tested, where turns are learned one by one."""

    recipe: CptConfig
    """The run that every arm is a variant of: sessions, model and training. Its `train.max_seconds` becomes
    `minutes`."""


class TurnOutcome(Strict):
    """One tested turn."""

    row: str
    """The id of the session."""

    turn: int
    """The number of the turn, counted from 1."""

    domain: str
    """The domain."""

    fixed: bool
    """Whether all of the true observation is deterministic."""

    exact: bool
    """Whether the arm's answer is exact."""

    failure: FailureKind | None = None
    """The kind of failure, where there is no usable answer."""


class ArmResult(Strict):
    """How one arm did: what it cost, and every tested turn."""

    arm: ArmName
    steps: int
    tokens: int
    seconds: float
    loss: float | None
    turns: tuple[TurnOutcome, ...]


class Score(Strict):
    """An arm in a domain."""

    arm: ArmName
    domain: str
    deterministic: Share
    """The share of exact turns among the deterministic ones."""

    all: Share
    """The share of exact turns among all."""

    failures: int
    """The number of answers that failed."""


class Comparison(Strict):
    """How much more is exact with something than without it, on the deterministic turns that both arms were tested
    on.
    """

    question: str
    having: ArmName
    lacking: ArmName
    domain: str
    gain: Share

    @property
    def verdict(self) -> str:
        """The verdict in a word; an interval that contains 0 shows nothing."""
        return "helps" if self.gain.low > 0 else "hurts" if self.gain.high < 0 else "shows nothing"


class Table(Strict):
    """The results of all arms that were run."""

    settings: AblationConfig
    arms: tuple[ArmResult, ...]
    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]


def comparison_table(config: AblationConfig, results: Iterable[ArmResult]) -> Table:
    """Compute the shares of each arm, and compare the pairs of arms that were run."""
    arms = {result.arm: result for result in results}
    scores = [score for result in arms.values() for domain in config.domains for score in _scores(result, domain)]
    comparisons = [
        comparison
        for question, having, lacking in COMPARISONS
        for domain in config.domains
        if having in arms and lacking in arms
        for comparison in _compared(question, arms[having], arms[lacking], domain)
    ]
    return Table(settings=config, arms=tuple(arms.values()), scores=tuple(scores), comparisons=tuple(comparisons))


def _scores(result: ArmResult, domain: str) -> Iterator[Score]:
    turns = [turn for turn in result.turns if turn.domain == domain]
    fixed = [turn for turn in turns if turn.fixed]
    if fixed:
        yield Score(
            arm=result.arm,
            domain=domain,
            deterministic=_share(fixed),
            all=_share(turns),
            failures=sum(turn.failure is not None for turn in turns),
        )


def _share(turns: list[TurnOutcome]) -> Share:
    return interval([turn.exact for turn in turns], [turn.row for turn in turns])


def _compared(question: str, having: ArmResult, lacking: ArmResult, domain: str) -> Iterator[Comparison]:
    without = {(turn.row, turn.turn): turn.exact for turn in lacking.turns}
    common = [
        (turn.row, float(turn.exact) - float(without[turn.row, turn.turn]))
        for turn in having.turns
        if turn.fixed and turn.domain == domain and (turn.row, turn.turn) in without
    ]
    # A form that only screens have makes no difference elsewhere.
    if common and _differ(having.arm, lacking.arm, domain):
        gains = interval([gain for _, gain in common], [row for row, _ in common], bounds=(-1, 1))
        yield Comparison(question=question, having=having.arm, lacking=lacking.arm, domain=domain, gain=gains)


def _differ(having: ArmName, lacking: ArmName, domain: str) -> bool:
    forms = [ArmData(ARMS[name]).prompts(domain).form for name in (having, lacking)]
    return ARMS[having].change == ARMS[lacking].change or forms[0] != forms[1]


def markdown(table: Table) -> str:
    """Return the table as Markdown: first the questions, then every arm."""
    lines = ["| what | domain | gain in exact turns | verdict | turns |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {one.question} | {one.domain} | {_signed(one.gain)} | {one.verdict} | {one.gain.count} |"
        for one in table.comparisons
    ]
    lines += ["", "| arm | domain | exact, deterministic turns | exact, all turns | failures | steps | tokens |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    cost = {result.arm: f"{result.steps:,} | {result.tokens / 1e6:.2f} M" for result in table.arms}
    lines += [
        f"| {one.arm} | {one.domain} | {one.deterministic} | {one.all} | {one.failures} | {cost[one.arm]} |"
        for one in table.scores
    ]
    lines += ["", *(f"- **{result.arm}**: {ARMS[result.arm].says}." for result in table.arms)]
    return "\n".join(lines) + "\n"


def _signed(gain: Share) -> str:
    return f"{gain.share:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"

"""The hybrid reward of a predicted observation: a rubric judge and rule verifiers, mixed, after a check for hacking.

As in Qwen-AgentWorld (arXiv 2606.24597), the judge gives its mean over five dimensions times 5, which is 5 to 25, and
an unreadable verdict is 0; a rule verifier gives 25 or 0. The paper mixes them 9 : 1 and applies the rules to a subset
of the samples. So by default (`mix: draw`) each turn is drawn for one of the two, for all members of its group alike;
`mix: sum` weighs both on every turn. Which turn gets what depends on its id and the seed alone.

A turn that the rules cannot verify, whatever is predicted, goes to the judge with its whole group. A prediction that
the rules skip, on a turn that they do verify, has no reward. Where a judge gives no answer, that is a `Failure`: the
reward is None too, and the sample is left out of training. The judge is given the observation as plain text, without
thinking and tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol
from zlib import crc32

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Failure
from agentworld_gym.llm.prompting.parsing import DIMENSIONS, Judgement
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.rl.reward_hacking import hacking_flags
from agentworld_gym.recipe.rl.verifiers import RuleVerdict, Truth, unverifiable, verify

FULL = 25.0
"""The highest reward of either part."""


class RewardConfig(Strict):
    """How rewards are made.

    >>> RewardConfig(rubric=0).judged, RewardConfig().verifier_share
    (False, 0.1)
    """

    rubric: float = Field(default=9.0, ge=0)
    """The part of the judge's rubric in the whole; 0 leaves the judge out."""

    verifier: float = Field(default=1.0, ge=0)
    """The part of the rule verifiers in the whole."""

    mix: Literal["draw", "sum"] = "draw"
    """How the parts are mixed: `draw` draws one of them for each turn; `sum` weighs both on every turn."""

    partial: bool = False
    """Whether a verifier gives 25 times the share of the checks that hold, in place of 25 or 0."""

    guards: bool = True
    """Whether completions are looked through for reward hacking; see `agentworld_gym.recipe.rl.reward_hacking`."""

    guarded: float = Field(default=0.0, ge=0)
    """The reward of a completion with a flag, out of 25."""

    highest: float = Field(default=FULL, gt=0)
    """The reward that 25 is scaled to: 25 as in the paper, or 1 for shares."""

    seed: int = 0
    """The seed of the draws."""

    @model_validator(mode="after")
    def _gives_something(self) -> RewardConfig:
        if not self.rubric + self.verifier:
            raise ValueError("rubric or verifier above 0")
        return self

    @property
    def judged(self) -> bool:
        """Whether a judge is needed."""
        return self.rubric > 0

    @property
    def verifier_share(self) -> float:
        """The share of the verifier, from 0 to 1."""
        return self.verifier / (self.rubric + self.verifier)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One completion for the last turn of a row."""

    row: Row
    """The row."""

    completion: str
    """The completion as the model wrote it."""

    prediction: str | None
    """The observation in the completion; None where there is none or it cannot be read."""

    ended: bool = True
    """Whether the model came to an end by itself."""


@dataclass(frozen=True, slots=True)
class Reward:
    """What a candidate earns."""

    value: float | None
    """The reward; None where nobody could tell."""

    rubric: float | None = None
    """The judge's part, from 0 to 25; None where no judge was asked."""

    verifier: float | None = None
    """The verifier's part, from 0 to 25; None where it was not due."""

    flags: tuple[str, ...] = ()
    """The tricks that were found."""

    dimensions: Mapping[str, int] = field(default_factory=dict)
    """The judge's scores by dimension, from 1 to 5."""

    verdict: RuleVerdict | None = None
    """The verdict of the rules, where they were due."""

    failure: Failure | None = None
    """Why a judge gave no answer."""


class PredictionJudge(Protocol):
    """A judge that scores predictions in the five dimensions."""

    def judge(self, cases: Sequence[tuple[Row, str]]) -> list[Judgement | Failure | None]:
        """Judge the observation predicted for the last turn of each row, in order.

        An entry is None for an unreadable verdict, and a failure where there is no verdict at all.
        """
        ...


class HybridReward:
    """Rewards candidates, all of a batch with one wave of judging.

    Args:
        config: The configuration of the reward.
        judge: The judge, which is not needed where the verifiers alone make the reward.

    Raises:
        SpecError: The configuration wants a judge and there is none.
    """

    def __init__(self, config: RewardConfig, judge: PredictionJudge | None = None) -> None:
        if config.judged and judge is None:
            raise SpecError("reward", "rubric", config.rubric, "a judge, or 0 for the verifier alone")
        self._config, self._judge = config, judge

    def __call__(self, candidates: Sequence[Candidate]) -> list[Reward]:
        """Return the reward of each candidate, in order."""
        rewards = [self._by_rules(candidate) for candidate in candidates]
        asked = [
            place
            for place, (candidate, reward) in enumerate(zip(candidates, rewards, strict=True))
            if not reward.flags and self._wants_judge(candidate.row, reward)
        ]
        if asked and self._judge is not None:
            cases = [(candidates[place].row, candidates[place].prediction or "") for place in asked]
            for place, judged in zip(asked, self._judge.judge(cases), strict=True):
                rewards[place] = self._with(rewards[place], judged)
        return rewards

    def by_verifier(self, row: Row) -> bool:
        """Whether the rules verify the last turn of a row: they are due there, by the draw or in a sum, and able to.

        The answer is the same for every candidate of the turn, so that the members of a group can be compared.
        """
        if not self._config.verifier or unverifiable(row):
            return False
        draw = crc32(f"{self._config.seed}/{row.id}/{row.turn_idx}".encode()) / 2**32
        return self._config.mix == "sum" or draw < self._config.verifier_share

    def _by_rules(self, candidate: Candidate) -> Reward:
        """Check a candidate for hacking, and verify it where the rules are due."""
        config = self._config
        hacks = _flags(candidate) if config.guards else ()
        if hacks or candidate.prediction is None:
            return Reward(self._scaled(config.guarded), flags=hacks or ("empty",))
        if not self.by_verifier(candidate.row):
            return Reward(None)
        verdict = verify(candidate.row, candidate.prediction)
        if verdict.skipped:
            return Reward(None, verdict=verdict)
        part = FULL * (verdict.share if config.partial else verdict.passed)
        return Reward(self._scaled(part), verifier=part, verdict=verdict)

    def _wants_judge(self, row: Row, reward: Reward) -> bool:
        """Whether the judge counts: in a draw where the rules are not due, in a sum unless the rules skip the
        prediction.

        A skipped prediction has no reward, because the members of its group are measured otherwise.
        """
        if not self._config.judged:
            return False
        return not self.by_verifier(row) or (self._config.mix == "sum" and reward.verifier is not None)

    def _with(self, reward: Reward, judged: Judgement | Failure | None) -> Reward:
        if isinstance(judged, Failure):
            return Reward(None, verifier=reward.verifier, verdict=reward.verdict, failure=judged)
        scores = {} if judged is None else {name: judged.scores[name] for name in DIMENSIONS if name in judged.scores}
        rubric = 5.0 * sum(scores.values()) / len(scores) if scores else 0.0
        share = 0.0 if reward.verifier is None or self._config.mix == "draw" else self._config.verifier_share
        value = (1 - share) * rubric + share * (reward.verifier or 0.0)
        return Reward(self._scaled(value), rubric, reward.verifier, (), scores, reward.verdict)

    def _scaled(self, value: float) -> float:
        return value / FULL * self._config.highest


def _flags(candidate: Candidate) -> tuple[str, ...]:
    return hacking_flags(candidate.completion, candidate.prediction, Truth.of(candidate.row), candidate.ended)

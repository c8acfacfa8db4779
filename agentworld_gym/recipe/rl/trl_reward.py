"""The hybrid reward as a reward function of TRL, and the metrics of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.recipe.rl.hybrid_reward import Candidate, HybridReward, Reward
from agentworld_gym.recipe.rl.turn_dataset import TurnDataset


class TrlReward:
    """The reward function that TRL calls with a batch of completions; it logs what the rewards are made of.

    Args:
        turns: The turns that are trained on.
        rewards: The hybrid reward.
        end: The token that ends a completion.
    """

    __name__ = "hybrid"

    def __init__(self, turns: TurnDataset, rewards: HybridReward, end: int) -> None:
        self._turns, self._rewards, self._end = turns, rewards, end

    def __call__(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        number: Sequence[int],
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        """Return the reward of each completion; None leaves it out of its group."""
        candidates = [
            self._candidate(int(turn), text[0]["content"], bool(ids) and ids[-1] == self._end)
            for turn, text, ids in zip(number, completions, completion_ids, strict=True)
        ]
        rewards = self._rewards(candidates)
        if log_metric is not None:
            for name, value in reward_metrics(rewards).items():
                log_metric(name, value)
        return [reward.value for reward in rewards]

    def _candidate(self, number: int, completion: str, ended: bool) -> Candidate:
        row, completion = self._turns[number], self._turns.restore_tokens(completion)
        text = parse_completion(completion)
        try:
            prediction = self._turns.read(row, text) if text is not None else None
        except AnswerError:
            prediction = None
        return Candidate(row, completion, prediction, ended)


def reward_metrics(rewards: Sequence[Reward]) -> dict[str, float]:
    """Return the means of the rewards' parts over those that have the part, and the shares of all that were flagged or
    failed.

    >>> reward_metrics([Reward(25.0, verifier=25.0), Reward(0.0, flags=("copy",))])
    {'format_valid': 1.0, 'flagged': 0.5, 'flag/copy': 0.5, 'unscored': 0.0, 'judge_failures': 0.0, 'verifier': 25.0}
    """
    count = len(rewards)
    flags = Counter(flag for reward in rewards for flag in reward.flags)
    unreadable = sum("empty" in reward.flags for reward in rewards)
    metrics = {"format_valid": 1 - unreadable / count, "flagged": sum(bool(reward.flags) for reward in rewards) / count}
    metrics |= {f"flag/{flag}": number / count for flag, number in sorted(flags.items())}
    metrics["unscored"] = sum(reward.value is None for reward in rewards) / count
    metrics["judge_failures"] = sum(reward.failure is not None for reward in rewards) / count
    for name in ("rubric", "verifier"):
        values = [value for reward in rewards if (value := getattr(reward, name)) is not None]
        if values:
            metrics[name] = sum(values) / len(values)
    dimensions = sorted({name for reward in rewards for name in reward.dimensions})
    for name in dimensions:
        scores = [reward.dimensions[name] for reward in rewards if name in reward.dimensions]
        metrics[f"rubric/{name}"] = sum(scores) / len(scores)
    return metrics

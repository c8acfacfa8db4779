"""The rubric of five dimensions as a reward: verdicts on predictions, asked for in waves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.llm.judging.bench_rows import bench_row
from agentworld_gym.llm.judging.judge import Judge
from agentworld_gym.llm.prompting.parsing import Judgement
from agentworld_gym.llm.rows.row import Row

UNANSWERED = Failure(FailureKind.MALFORMED, "the judge gave no answer for this request", retryable=True)


@dataclass(frozen=True)
class DimensionJudge:
    """Asks for a verdict on each prediction, all of them in one wave.

    A verdict can be read where it has all five dimensions, in one block and on the scale. It is asked for again where
    it cannot be read, or where the generator failed for a passing reason. A verdict that stays unreadable is None: the
    judge gave one, and the paper counts it as 0. Where the generator gives no answer at all the result is a failure.

    >>> from agentworld_gym.llm.generators import ScriptedGenerator
    >>> row = Row(task="terminal", id="a", system_str="", prompt=["ls"], response=["a"], current_prompt="ls",
    ...           turn_idx=1, total_turns=1, actions=["ls"], observations=["a"], spans=[[]])
    >>> scores = '{"format": 5, "factuality": 3, "consistency": 4, "realism": 4, "quality": 3}'
    >>> verdict = '<final_evaluation>{"scores": ' + scores + '}</final_evaluation>'
    >>> judge = DimensionJudge(Judge(ScriptedGenerator(lambda request: verdict)))
    >>> [found.score for found in judge.judge([(row, "b")])]
    [0.7]
    """

    judge_of_one: Judge

    def judge(self, cases: Sequence[tuple[Row, str]]) -> list[Judgement | Failure | None]:
        """Return one judgement for each pair of a row and the observation predicted for its last turn, in order."""
        judge = self.judge_of_one
        rows = [(bench_row(row, 0), prediction) for row, prediction in cases]
        judgements: list[Judgement | Failure | None] = [UNANSWERED] * len(cases)
        waiting = list(range(len(cases)))
        for attempt in range(judge.tries):
            if not waiting:
                break
            requests = [judge.request(*rows[place], attempt) for place in waiting]
            for position, answer in judge.generator.submit(requests):
                verdict = judge.read_whole(answer)
                unreadable = isinstance(verdict, Failure) and not isinstance(answer, Failure)
                judgements[waiting[position]] = None if unreadable else verdict
            waiting = [place for place in waiting if _again(judgements[place])]
        return judgements


def _again(found: Judgement | Failure | None) -> bool:
    return found is None or (isinstance(found, Failure) and found.retryable)

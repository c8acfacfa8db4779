"""A Python function as the judge of rubrics."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real

from agentworld_gym.core.contracts import Failure, FailureKind, Usage
from agentworld_gym.core.flow import BatchedCall, Work
from agentworld_gym.llm.judging.rubric import JudgedEpisode, JudgeVerdict, shortened
from agentworld_gym.worlds.concurrency import side_by_side

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FunctionJudge:
    """Asks a function for the score of each case.

    The cases of a wave that wait for an answer are asked together, in threads where the function takes long.

    Args:
        function: A function that returns a score from 0 to 1.

    >>> from agentworld_gym.core.domain.task import Task
    >>> from agentworld_gym.core.flow import in_one_wave
    >>> task = Task(id="t", domain="terminal", instruction="Greet.", success=[{"rubric": "Is it a greeting?"}])
    >>> judge = FunctionJudge(lambda episode: float("hello" in (episode.answer or "")))
    >>> [verdict] = in_one_wave([judge.judging(JudgedEpisode(task, ["Is it a greeting?"], (), "hello there"))])
    >>> verdict.score
    1.0
    """

    function: Callable[[JudgedEpisode], float]

    def judging(self, case: JudgedEpisode) -> Work[JudgeVerdict | Failure]:
        """Judge one case, as a piece of work; a function that raises, or returns no score, is a failure."""
        answer: JudgeVerdict | Failure = yield BatchedCall(self._judge, (case,))
        return answer

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the name of the function, which is only declared."""
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return {"function": (f"{named.__module__}:{named.__qualname__}", False)}

    def close(self) -> None:
        """Do nothing: a function holds nothing."""

    def _judge(self, cases: Sequence[JudgedEpisode]) -> list[JudgeVerdict | Failure]:
        return side_by_side([partial(self._verdict, case) for case in cases])

    def _verdict(self, case: JudgedEpisode) -> JudgeVerdict | Failure:
        try:
            score: object = self.function(case)
            worth = float(score) if isinstance(score, Real) else math.nan
        except Exception as error:  # A judge that fails costs one episode, not its wave.
            log.error("the judge failed on task %s", case.task.id, exc_info=error)
            return Failure(FailureKind.MALFORMED, f"{type(error).__name__}: {error}")
        if 0 <= worth <= 1:
            return JudgeVerdict(worth, Usage())
        return Failure(FailureKind.MALFORMED, f"it returned {shortened(repr(score))}, no number from 0 to 1")

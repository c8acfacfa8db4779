"""The checks that are due after a step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.checks import brought_about, carried_out, due, is_deed, passed, score
from agentworld_gym.core.checks.dialect_checks import partial_of
from agentworld_gym.core.checks.probes import ProbeRun, probing
from agentworld_gym.core.checks.success_protocols import KnowsCollateral, RunsSuccessCode, SuccessFinding
from agentworld_gym.core.contracts import Failure, FailureKind, World
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.flow import BatchedCall, Work, in_one_wave
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.envs.episodes.step import CheckResults, EpisodeStep, Moment
from agentworld_gym.llm.judging.rubric import EpisodeJudge, JudgedEpisode

ROUNDING = 1e-9
"""How far sums of weights may lie below what they stand for."""


class Checker:
    """Tests the checks of tasks: patterns at once, then all probes, each on a fork, then verifiers, then all rubrics.

    Args:
        spec: The domain.
        world: The world that probes are run in, and that may know what an episode changed.
        parser: The reader of actions.
        judge: The judge of rubrics; without one they have no verdict.
    """

    def __init__(self, spec: DomainSpec, world: World[Any], parser: ActionParser, judge: EpisodeJudge | None) -> None:
        self._spec, self._world, self._parser, self._judge = spec, world, parser, judge
        self._accountable = world if isinstance(world, KnowsCollateral) else None
        self.output = re.compile(spec.observation.output) if spec.observation.output else None

    def test(self, steps: Sequence[EpisodeStep]) -> None:
        """Test what is due after each step of a wave, and enter the results into the steps; probes run together."""
        if asked := [step for step in steps if _asks(step)]:
            in_one_wave(map(self.testing, asked))

    def testing(self, step: EpisodeStep) -> Work[None]:
        """Test what is due after a step, as a piece of work, and enter the results into the step."""
        if step.moment is None or not _asks(step):
            return
        task, over = step.episode.task, step.moment is not Moment.STEP
        numbers = due(task, step.moment)
        results = step.results = CheckResults()
        probed: list[int] = []
        verified: list[int] = []
        judged: list[int | None] = []
        for number in numbers:
            check = task.success[number]
            if check.probe is not None:
                probed.append(number)
            elif check.code is not None:
                verified.append(number)
            elif check.rubric is not None:
                judged.append(number)
            else:
                found = self._matched(check, step)
                if isinstance(found, Failure):
                    results.failure = found
                else:
                    results.passed[number] = found
        if over and self._spec.reward.rubric:
            judged.append(None)
        if probed:
            yield from self._probing(step, results, probed)
        evidence: dict[int, str] = {}
        if verified:
            evidence = yield from self._verifying(step, results, verified)
            judged = [*evidence, *judged]
        if judged:
            yield from self._judging(step, results, judged, evidence)
        yield from self._telling_collateral(step, results)

    def _matched(self, check: Check, step: EpisodeStep) -> float | Failure:
        """Return how much of a pattern check passes; a failure where what the world shows does not tell."""
        actions = step.episode.taken if check.answer is None else []
        outcomes = brought_about(actions, step.episode.observations[: len(actions) + 1])
        if check.observation is not None and (partial := partial_of(self._spec, step.episode.session)):
            return partial.score(check.observation, list(filter(is_deed, actions)), outcomes)
        return passed(check, carried_out(actions), outcomes, step.action.answer, step.episode.task.instruction)

    def _probing(self, step: EpisodeStep, results: CheckResults, numbers: Sequence[int]) -> Work[None]:
        """Run the probes of some checks, each on a fork of its own."""
        episode = step.episode
        probes: list[ProbeRun] = []
        try:
            for number in numbers:
                sight = Sight(episode.task.domain, episode.observations)
                probes.append(ProbeRun(episode.task, episode.task.success[number], episode.session.probe(), sight))
        except EngineError as error:  # A live system may not be able to repeat an episode.
            for probe in probes:
                probe.session.close()
            results.failure = Failure(FailureKind(error.kind), f"a probe needs a fork: {error}")
            return
        yield [probing(self._world, self._parser, probe, self.output) for probe in probes]
        for number, probe in zip(numbers, probes, strict=True):
            results.usage += probe.usage
            results.answers += probe.answers
            if probe.score is not None:
                results.passed[number] = probe.score
            results.failure = probe.failure or results.failure

    def _verifying(self, step: EpisodeStep, results: CheckResults, numbers: Sequence[int]) -> Work[dict[int, str]]:
        """Let the world run the verifiers of some checks, and return what a judge has to read, by check."""
        session, task, evidence = step.episode.session, step.episode.task, dict[int, str]()
        if not isinstance(self._world, RunsSuccessCode):
            told = (
                "only the world that a task comes from runs its verifier, and only a live one runs commands of checks"
            )
            results.failure = Failure(FailureKind.UNJUDGED, told)
            return evidence
        for number in numbers:
            check = task.success[number]
            answer = yield BatchedCall(self._world.verify, (session, check.code, step.action.answer))
            if isinstance(answer, Failure):
                results.failure = replace(answer, retryable=False)
            elif isinstance(answer, SuccessFinding) and check.expect is not None:
                results.passed[number] = check.expect.score(answer.evidence)
            elif isinstance(answer, SuccessFinding) and answer.score is not None:
                results.passed[number] = answer.score
            else:
                evidence[number] = answer.evidence
        return evidence

    def _judging(
        self, step: EpisodeStep, results: CheckResults, numbers: Sequence[int | None], evidence: Mapping[int, str]
    ) -> Work[None]:
        """Have rubrics judged: those of checks, with what verifiers found, and by None the domain's own."""
        if self._judge is None:
            results.failure = Failure(FailureKind.UNJUDGED, "a rubric has no verdict without a judge")
            return
        episode = step.episode
        turns = list(zip(episode.taken, episode.observations[1:], strict=True))
        cases = []
        for number in numbers:
            check = None if number is None else episode.task.success[number]
            question = None if check is None else check.rubric
            if number is not None and number in evidence:
                question = f"{question}\n\nThe program found:\n{escape(evidence[number])}"
            criteria = self._spec.rubric if question is None else [question]
            classes = {} if check is None else check.classes
            cases.append(JudgedEpisode(episode.task, criteria, turns, step.action.answer, classes))
        verdicts = yield [self._judge.judging(case) for case in cases]
        for number, verdict in zip(numbers, verdicts, strict=True):
            if isinstance(verdict, Failure):
                message = (
                    verdict.message if verdict.kind is FailureKind.ENGINE else f"the judge failed: {verdict.message}"
                )
                results.failure = replace(verdict, message=message, retryable=False)
                results.usage += verdict.spent
                continue
            results.usage += verdict.usage
            if number is None:
                results.rubric = verdict.score
            else:
                results.passed[number] = verdict.score

    def _telling_collateral(self, step: EpisodeStep, results: CheckResults) -> Work[None]:
        """Ask a world that knows its state what an episode with the score of a success changed beside its task."""
        solved = not results.failure and is_solved(step.episode.task, score(step.episode.task, results.passed))
        if not solved or self._accountable is None:
            return
        answer = yield BatchedCall(self._accountable.collateral, (step.episode.session,))
        if isinstance(answer, Failure):
            message = f"the state cannot be told: {answer.message}"
            results.failure = replace(answer, message=message, retryable=False)
        else:
            results.collateral = answer


def _asks(step: EpisodeStep) -> bool:
    """Return whether anything is to be tested after a step: its episode ends, or some checks of its task are due."""
    task = step.episode.task
    return (
        step.moment is not None and bool(task.success) and (step.moment is not Moment.STEP or bool(due(task, "step")))
    )


def is_solved(task: Task, reached: float) -> bool:
    """Return whether a score is enough for the success of a task."""
    return reached >= task.success_at - ROUNDING

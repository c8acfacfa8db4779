"""The checks that are due after a wave of steps, each kind of them tested for all episodes at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.checks.checks import brought_about, carried_out, due, is_deed, passed, score
from agentworld_gym.checks.probes import Probe, run_probes
from agentworld_gym.checks.rubric import Case, RubricJudge
from agentworld_gym.checks.untold import partial_of
from agentworld_gym.contracts import Accountable, Action, Failure, World
from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.domain.task import Check
from agentworld_gym.episodes.episode import Episode
from agentworld_gym.episodes.step import CheckResults, Moment, Step
from agentworld_gym.screens.sight import Sight

SOLVED = 1.0 - 1e-9
"""The score from which a task is solved."""


class Checker:
    """Tests the checks of tasks: patterns at once, probes on forks in one wave, rubrics in another.

    Args:
        spec: The domain.
        world: The world that probes are run in, and that may know what an episode changed.
        parser: The reader of actions.
        judge: The judge of rubrics; None where no task needs one.
    """

    def __init__(self, spec: DomainSpec, world: World[Any], parser: ActionParser, judge: RubricJudge | None) -> None:
        self._spec, self._world, self._parser, self._judge = spec, world, parser, judge
        self.output = re.compile(spec.observation.output) if spec.observation.output else None

    def test(self, steps: Sequence[Step]) -> None:
        """Test what is due at the moment of each step, and enter the results into the steps."""
        tested: list[Step] = []
        probes: list[tuple[Step, int]] = []
        rubrics: list[tuple[Step, int | None]] = []
        for step in steps:
            if step.moment is None:
                continue
            task, over = step.episode.task, step.moment is not Moment.STEP
            numbers = due(task, step.moment)
            if not numbers and not over:
                continue
            results = step.results = CheckResults()
            tested.append(step)
            for number in numbers:
                check = task.success[number]
                if check.probe is not None:
                    probes.append((step, number))
                elif check.rubric is not None:
                    rubrics.append((step, number))
                else:
                    found = self._matched(check, step)
                    if isinstance(found, Failure):
                        results.failure = found
                    else:
                        results.passed[number] = found
            if over and self._spec.reward.rubric:
                rubrics.append((step, None))
        if probes:
            self._run_probes(probes)
        if rubrics:
            self._ask_judge(rubrics)
        self._ask_collateral(tested)

    def _matched(self, check: Check, step: Step) -> float | Failure:
        """Return how much of a pattern check passes; a failure where what the world shows does not tell."""
        actions = self._parsed(step.episode) if check.answer is None else []
        outcomes = brought_about(actions, step.episode.observations[: len(actions) + 1])
        if check.observation is not None and (partial := partial_of(self._spec, step.episode.session)):
            return partial.score(check.observation, list(filter(is_deed, actions)), outcomes)
        return passed(check, carried_out(actions), outcomes, step.action.answer)

    def _parsed(self, episode: Episode) -> list[Action]:
        return [self._parser.parse(text, episode.task.tools) for text in episode.actions]

    def _run_probes(self, wanted: Sequence[tuple[Step, int]]) -> None:
        probes = []
        for step, number in wanted:
            episode = step.episode
            sight = Sight(episode.task.domain, episode.observations)
            probes.append(Probe(episode.task, episode.task.success[number], episode.session.probe(), sight))
        run_probes(self._world, self._parser, probes, self.output)
        for (step, number), probe in zip(wanted, probes, strict=True):
            results = _results(step)
            results.usage += probe.usage
            if probe.score is not None:
                results.passed[number] = probe.score
            results.failure = probe.failure or results.failure

    def _ask_judge(self, wanted: Sequence[tuple[Step, int | None]]) -> None:
        """Have rubrics judged: those of checks, and with the number None the domain's own."""
        assert self._judge is not None
        cases = []
        for step, number in wanted:
            episode = step.episode
            question = None if number is None else episode.task.success[number].rubric
            criteria = self._spec.rubric if question is None else [question]
            turns = list(zip(self._parsed(episode), episode.observations[1:], strict=True))
            cases.append(Case(episode.task, criteria, turns, step.action.answer))
        for (step, number), verdict in zip(wanted, self._judge.judge(cases), strict=True):
            results = _results(step)
            if isinstance(verdict, Failure):
                results.failure = replace(verdict, message=f"the judge failed: {verdict.message}", retryable=False)
                continue
            results.usage += verdict.usage
            if number is None:
                results.rubric = verdict.score
            else:
                results.passed[number] = verdict.score

    def _ask_collateral(self, steps: Sequence[Step]) -> None:
        """Ask a world that knows its state what the episodes that pass all checks changed beside their tasks."""
        solved = [step for step in steps if not _results(step).failure and _is_solved(step)]
        if not solved or not isinstance(self._world, Accountable):
            return
        answers = self._world.collateral([step.episode.session for step in solved])
        for step, answer in zip(solved, answers, strict=True):
            if isinstance(answer, Failure):
                message = f"the state cannot be told: {answer.message}"
                _results(step).failure = replace(answer, message=message, retryable=False)
            else:
                _results(step).collateral = answer


def _results(step: Step) -> CheckResults:
    assert step.results is not None
    return step.results


def _is_solved(step: Step) -> bool:
    return score(step.episode.task, _results(step).passed) >= SOLVED

"""Runs probes: actions on a fork of a session, the last observation of which is tested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.checks.checks import output_of
from agentworld_gym.checks.untold import in_first_dialect, partial_of
from agentworld_gym.contracts import Action, Failure, Session, Testing, Usage, World
from agentworld_gym.domain.task import Check, Task
from agentworld_gym.screens.sight import Sight


@dataclass(slots=True)
class Probe:
    """One probe on a session of its own. `run_probes` gives it a `score`, or a `failure` of its world."""

    task: Task
    """The task of the episode."""

    check: Check
    """The check that the probe belongs to."""

    session: Session
    """The fork on which the probe is run."""

    sight: Sight
    """What the agent saw last."""

    left: list[str] = field(default_factory=list)
    """The actions that are left, the next one last."""

    score: float | None = None
    """How much of the check is passed, from 0 to 1."""

    failure: Failure | None = None
    """The failure of the world, if it failed."""

    usage: Usage = field(default_factory=Usage)
    """The tokens that the probe took."""

    def __post_init__(self) -> None:
        self.left = list(reversed(self.check.probes))


def run_probes(
    world: World[Any], parser: ActionParser, probes: Sequence[Probe], output: re.Pattern[str] | None
) -> None:
    """Carry out probes and close their sessions. In every wave each probe does one action.

    A check fails whose action cannot be read, or names an element that is not on the screen. Where a check holds tests
    and the world runs them itself, the verdict of the world stands in the place of what the actions would show. A check
    that asks for what the world's dialect does not show has a failure in the place of a score.
    """
    try:
        going = _tested(world, probes)
        while going:
            going = _wave(world, parser, going, output)
    finally:
        for probe in probes:
            probe.session.close()


def _tested(world: World[Any], probes: Sequence[Probe]) -> list[Probe]:
    """Let the world run the tests of the probes that hold some; returns the probes that are left."""
    asked = [probe for probe in probes if probe.check.tests]
    if not asked or not isinstance(world, Testing):
        return list(probes)
    answers = world.passes([probe.session for probe in asked], [probe.check.tests for probe in asked])
    for probe, answer in zip(asked, answers, strict=True):
        if isinstance(answer, Failure):
            probe.failure = replace(answer, message=f"a probe failed: {answer.message}", retryable=False)
        elif answer is not None:
            probe.score = float(answer)
    return [probe for probe in probes if probe.score is None and probe.failure is None]


def _wave(
    world: World[Any], parser: ActionParser, probes: Sequence[Probe], output: re.Pattern[str] | None
) -> list[Probe]:
    """Carry out the next action of each probe; returns the probes that have another one."""
    asked: list[tuple[Probe, Action]] = []
    for probe in probes:
        text = probe.sight.resolve(probe.left.pop())
        action = None if text is None else parser.parse(text, probe.task.tools)
        if action is None or action.error is not None:
            probe.score = 0.0
        else:
            asked.append((probe, action))
    going: list[Probe] = []
    sessions, actions = [probe.session for probe, _ in asked], [action for _, action in asked]
    for (probe, action), answer in zip(asked, world.step(sessions, actions) if asked else (), strict=True):
        if isinstance(answer, Failure):
            probe.failure = replace(answer, message=f"a probe failed: {answer.message}", retryable=False)
            continue
        probe.usage += answer.usage
        observation = in_first_dialect(parser.spec, probe.session, action, answer)
        if probe.left:
            probe.sight.see(observation)
            going.append(probe)
        else:
            assert probe.check.expect is not None
            partial, tested = partial_of(parser.spec, probe.session), output_of(observation, output)
            expect = probe.check.expect
            score = expect.score(tested) if partial is None else partial.score(expect, [action], [tested])
            if isinstance(score, Failure):
                probe.failure = score
            else:
                probe.score = score
    return going

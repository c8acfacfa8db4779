"""Runs probes: actions on a fork of a session, the last observation of which is tested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.checks import output_of
from agentworld_gym.core.checks.dialect_checks import in_first_dialect, partial_of
from agentworld_gym.core.checks.success_protocols import RunsTests
from agentworld_gym.core.contracts import Failure, Session, Usage, World
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.flow import BatchedCall, Work, answering_of, in_one_wave
from agentworld_gym.core.screens.sight import Sight

ASKED = "asked"
"""The key under which the answers of the world itself are counted."""


@dataclass(slots=True)
class ProbeRun:
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

    answers: Counter[str] = field(default_factory=Counter)
    """How many of its actions the world itself was `asked`, and how many were answered in its place, by the source."""

    def __post_init__(self) -> None:
        self.left = list(reversed(self.check.probes))


def run_probes(
    world: World[Any], parser: ActionParser, probes: Sequence[ProbeRun], output: re.Pattern[str] | None
) -> None:
    """Carry out probes, all of them at once, and close their sessions; see `probing`."""
    in_one_wave(probing(world, parser, probe, output) for probe in probes)


def probing(world: World[Any], parser: ActionParser, probe: ProbeRun, output: re.Pattern[str] | None) -> Work[None]:
    """Carry out a probe, as a piece of work that asks the world, and close its session.

    A check fails whose action cannot be read, or names an element that is not on the screen. Where a check holds tests
    and the world runs them itself, the verdict of the world replaces what the actions would show. A check
    that asks for what the world's dialect does not show has a failure instead of a score.
    """
    try:
        if probe.check.tests and isinstance(world, RunsTests):
            verdict = yield BatchedCall(world.passes, (probe.session, probe.check.tests))
            if isinstance(verdict, Failure):
                probe.failure = _failed(verdict)
            elif verdict is not None:
                probe.score = float(verdict)
        while probe.score is None and probe.failure is None:
            yield from _acting(world, parser, probe, output)
    finally:
        probe.session.close()


def _acting(world: World[Any], parser: ActionParser, probe: ProbeRun, output: re.Pattern[str] | None) -> Work[None]:
    """Carry out the next action of a probe."""
    text = probe.sight.resolve(probe.left.pop())
    action = None if text is None else parser.parse(text, probe.task.tools)
    if action is None or action.error is not None:
        probe.score = 0.0
        return
    answer = yield from answering_of(world)(probe.session, action)
    probe.usage += answer.spent
    if isinstance(answer, Failure):
        probe.failure = _failed(answer)
        return
    probe.answers[ASKED if answer.source is None else answer.source.value] += 1
    observation = in_first_dialect(parser.spec, probe.session, action, answer)
    if probe.left:
        probe.sight.see(observation)
        return
    expect = probe.check.expect
    assert expect is not None
    partial, tested = partial_of(parser.spec, probe.session), output_of(observation, output)
    if partial is None:
        score: float | Failure = expect.score(tested, probe.task.instruction)
    else:
        score = partial.score(expect, [action], [tested])
    if isinstance(score, Failure):
        probe.failure = score
    else:
        probe.score = score


def _failed(failure: Failure) -> Failure:
    return replace(failure, message=f"a probe failed: {failure.message}", retryable=False)

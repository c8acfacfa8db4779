"""The checks of a task as a verifier: what of them is missing in a session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing

from agentworld_gym.core.domain.task import Check
from agentworld_gym.domains.mcp.synth.machines import WorldMachine
from agentworld_gym.domains.mcp.synth.task_validation import Verdict

_SHOWN = 300


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """Return the verifier of some checks, which are probes and tests of the answer."""

    def missing(machine: WorldMachine, answer: str | None) -> Sequence[str]:
        return [fault for check in checks if (fault := _missing(check, machine, answer))]

    return missing


def held_at_start(checks: Sequence[Check], start: WorldMachine) -> list[str]:
    """Return in words which checks hold at the start: each pays its weight, and nothing was done."""
    places = [place for place, check in enumerate(checks, 1) if not _missing(check, start, None)]
    return [f"success: test {place} holds at the start already, and would pay for nothing" for place in places]


def _missing(check: Check, machine: WorldMachine, answer: str | None) -> str:
    """Return what a check misses; an empty text where it holds."""
    if check.answer is not None:
        return "" if answer is not None and check.answer.holds(answer) else f"the answer {answer!r} does not fit"
    shown = ""
    with closing(machine.fork()) as fork:
        for probe in check.probes:
            shown = fork.act(json.loads(probe))
    held = check.expect is not None and check.expect.holds(shown)
    return "" if held else f"the probe {check.probes[-1]} shows {shown[:_SHOWN]}"

"""Patterns of free values that free nothing, such as a mistyped one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.checks.collateral import matches
from agentworld_gym.core.contracts import World
from agentworld_gym.core.domain.task import Task
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld

NAMED = 5
"""The fields that an error names."""


def refuse_idle_patterns(world: World[Any], task: Task, file: str) -> None:
    """Refuse a pattern of free values of a task that matches nothing which its expert changes.

    The expert is played once. Where it cannot be played, or the world knows no state, nothing is ever compared, and the
    task is taken as it is.

    Args:
        world: The world that plays the task.
        task: The task.
        file: Where the task stands, for the error.

    Raises:
        SpecError: There is such a pattern.
    """
    world = world.inner if isinstance(world, RecordingWorld) else world
    grounded = world.grounded if isinstance(world, LanguageWorld) else world
    if not isinstance(grounded, GroundedWorld) or not task.judged_values:
        return
    changed = grounded.changed_by_expert(task)
    if changed is None:
        return
    for key, pattern in _patterns(task):
        if not any(matches(pattern, field) for field in changed):
            known = ", ".join(nearest(pattern, changed)[:NAMED]) or "it changes none"
            raise SpecError(file, key, pattern, f"a pattern of a field that the task's expert changes: {known}")


def _patterns(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the patterns of a task with their keys."""
    for place, pattern in enumerate(task.free_values):
        yield f"free_values.{place}", pattern
    for number, check in enumerate(task.success):
        for place, pattern in enumerate(check.judges):
            yield f"success.{number}.judges.{place}", pattern

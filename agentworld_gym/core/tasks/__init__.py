"""Seeded task generators: a domain's family, a level and a seed give a task, and every seed gives another one."""

from __future__ import annotations

import random
from collections.abc import Mapping

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.domain.task import Task, split_of
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.tasks.family import COMPOSED, LEVELS, MENU_MIN, Family, TaskDraft

__all__ = ["Family", "TaskDraft", "families", "generate", "levels", "task_of"]

ATTEMPTS = 20
"""How many drafts with too short a menu are dropped before a family gives up."""


def families(domain: str) -> Mapping[str, Family]:
    """Return the task families of a domain by their names; a domain without generators has none.

    >>> sorted(families("terminal"))[:3], dict(families("chess"))
    (['aggregate_csv', 'archive', 'change_config'], {})
    """
    found = find_domain(domain)
    registered: Mapping[str, Family] | None = None if found is None else found.part("families")
    return {} if registered is None else registered


def levels(domain: str) -> tuple[int, ...]:
    """Return the levels that a domain has tasks of: 1 to 3, and 4 and 5 where it composes tasks.

    >>> levels("terminal"), levels("chess")
    ((1, 2, 3, 4, 5), (1, 2, 3))
    """
    found = find_domain(domain)
    return LEVELS if found is None or found.composition is None else (*LEVELS, *COMPOSED)


def generate(domain: str, family: str, level: int, seed: int) -> Task:
    """Generate one task; equal arguments give equal tasks.

    Args:
        domain: The domain, such as `terminal`.
        family: The name of one of its families.
        level: The level, from 1 to 3; a task of level 4 or 5 is composed of several tasks, one of them of the family.
        seed: The seed, which also decides the split of the task.

    >>> task = generate("terminal", "copy_move", 1, 39)
    >>> task.id, task.split, task.expert[-1], set(task.expert) <= set(task.menu)
    ('copy_move-1-39', 'test', 'finish', True)

    Raises:
        SpecError: the domain has no such family, or no tasks of the level.
    """
    registered = families(domain)
    if family not in registered:
        names = ", ".join(sorted(registered)) or "no families"
        raise SpecError(f"tasks of {domain}", "family", family, f"one of {names}")
    if level not in levels(domain):
        raise SpecError(f"tasks of {domain}", "level", level, one_of_levels(domain))
    return task_of(domain, family, _made(domain, family, level), level, seed, f"{domain}/{family}/{level}/{seed}")


def _made(domain: str, family: str, level: int) -> Family:
    """Return what makes the tasks of a family at a level."""
    if level in LEVELS:
        return families(domain)[family]
    found = find_domain(domain)
    assert found is not None
    composed: Family = found.part("composition")(family)
    return composed


def one_of_levels(domain: str) -> str:
    """Return the words for the levels that a domain has, for errors.

    >>> one_of_levels("terminal")
    '1, 2, 3, 4 or 5'
    """
    *others, last = map(str, levels(domain))
    return f"{', '.join(others)} or {last}"


def task_of(domain: str, name: str, family: Family, level: int, seed: int, key: str) -> Task:
    """Make the task of a family for a level and a seed.

    Args:
        domain: The domain.
        name: The name of the family.
        family: The family.
        level: The level.
        seed: The seed that names the task and decides its split.
        key: The text that the random numbers of the task follow from.

    Raises:
        RuntimeError: the family gives no task with a menu that is long enough.
    """
    rng, split = random.Random(key), split_of(seed)
    for _ in range(ATTEMPTS):
        with deferred_interrupt():  # Most families play their expert in an engine.
            draft = family(rng, level, split)
        menu = draft.menu(rng, level)
        if len(menu) >= MENU_MIN:
            break
    else:
        raise RuntimeError(
            f"family {name} of {domain} gave menus of {len(menu)} actions, at least {MENU_MIN} wanted: add distractors"
        )
    expert = (*draft.expert, draft.finish)
    return Task(
        id=f"{name}-{level}-{seed}",
        domain=domain,
        instruction=draft.instruction,
        state=dict(draft.state),
        hidden=dict(draft.hidden),
        tools=draft.tools,
        first_observation=draft.first_observation,
        success=draft.success,
        max_steps=COMPOSED.get(level) or 2 * len(expert) + 2,
        split=split,
        family=name,
        level=level,
        seed=seed,
        menu=menu,
        expert=expert,
        free=draft.free,
        free_values=draft.free_values,
        controls=dict(draft.controls),
        control_seed=draft.control_seed,
        user=draft.user,
    )

"""Policies that play tasks for recordings: experts, menu agents, mixtures of both, explorers, explorers beside these,
and free agents, which do what people and language models do.

Each policy is a generator that yields actions and is sent what each of them showed, so that policies which read and
policies which do not are driven alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from agentworld_gym.actions.finish import finishes
from agentworld_gym.domain.task import Task
from agentworld_gym.policies.exploring import EXPLORERS, explore, explore_beside
from agentworld_gym.policies.exploring.free import FREE
from agentworld_gym.policies.exploring.terminal import compute_policy, explore_policy
from agentworld_gym.policies.scripted import expert_policy, menu_policy, mixed_policy
from agentworld_gym.recipe.collect.config import CollectConfig, PolicyName
from agentworld_gym.screens.sight import ActionStream
from agentworld_gym.tasks.control_cases import ControlCase, control_cases

AWARE = "aware"
"""The name of the policy in sessions where a solver faces a control that it knows."""

EXPLORED = (8, 20)
"""The fewest and the most actions of an explorer, except in the terminal."""

BLENDED = (3, 10)
"""The fewest and the most explored actions beside another policy's, except in the terminal."""

_FILE = re.compile(r"[A-Za-z][\w./-]*\.[a-z]+")


def policy_shares(domain: str, shares: Mapping[PolicyName, float]) -> dict[PolicyName, float]:
    """Return the policies that can play a domain, with their shares: exploring needs an explorer of the domain, and
    acting freely a free agent.

    >>> policy_shares("mcp", {"expert": 1, "explore": 2}), policy_shares("chess", {"expert": 1, "free": 2})
    ({'expert': 1, 'explore': 2}, {'expert': 1})
    """
    missing: set[PolicyName] = set() if domain == "terminal" or domain in EXPLORERS else {"explore", "blend"}
    if domain != "terminal":
        missing.add("compute")
    if domain not in FREE:
        missing.add("free")
    return {name: share for name, share in shares.items() if name not in missing}


def solver_cases(domain: str, families: Sequence[str], levels: Iterable[int]) -> list[ControlCase]:
    """Return the controls that a domain has solvers for, in some families and levels; there are none without
    solvers.
    """
    try:
        cases = control_cases(domain)
    except ModuleNotFoundError as error:
        if error.name != f"agentworld_gym.tasks.{domain}.control_cases":
            raise
        return []
    wanted = set(levels)
    return [case for case in cases if case.family in families and case.level in wanted]


def policy_actions(policy: PolicyName, task: Task, rng: random.Random, config: CollectConfig) -> ActionStream:
    """Return the actions of a policy on a task; equal random numbers give equal actions."""
    return _STREAMS[policy](task, rng, config)


def _explore(task: Task, rng: random.Random, config: CollectConfig) -> ActionStream:
    if task.domain == "terminal":
        return explore_policy(task, rng, rng.randint(4, 10))
    return explore(task, rng, rng.randint(*EXPLORED))


def _blend(task: Task, rng: random.Random, config: CollectConfig) -> ActionStream:
    """Play one of the policies that follow the task, with explored actions in between."""
    if task.domain == "terminal":
        streams = (expert_policy(task), mixed_policy(task, rng, config.slip), menu_policy(task, rng))
        return _blend_terminal(task, rng, rng.choice(streams))
    # The mixed policy that errs with probability 0 is an expert who skips what the exploring made impossible.
    streams = (mixed_policy(task, rng, 0.0), mixed_policy(task, rng, config.slip), menu_policy(task, rng))
    return explore_beside(rng.choice(streams), task, rng, rng.randint(*BLENDED))


def _blend_terminal(task: Task, rng: random.Random, actions: ActionStream) -> ActionStream:
    """Play a policy on a terminal task, and look in between at what was there and at the files that it touches."""
    touched: list[str] = []
    finish: list[str] = []
    for action in actions:
        if finishes(action):
            finish.append(action)
        else:
            yield action
            touched += _FILE.findall(action)
        while rng.random() < 0.4:
            if touched and rng.random() < 0.6:
                yield _look(rng, touched)
            else:
                yield from explore_policy(task, rng, 2 if rng.random() < 0.2 else 1)
    # `yield from` would send what the action showed to the list.
    for action in finish:
        yield action


def _look(rng: random.Random, names: Sequence[str]) -> str:
    """Return a command that shows what became of one of some files."""
    name = rng.choice(names)
    return rng.choice([f"cat {name}"] * 5 + [f"wc -l {name}", f"head -n 1 {name}", "ls", "ls -1", f"stat -c %a {name}"])


_STREAMS: Mapping[PolicyName, Callable[[Task, random.Random, CollectConfig], ActionStream]] = {
    "expert": lambda task, rng, config: expert_policy(task),
    "mixed": lambda task, rng, config: mixed_policy(task, rng, config.slip),
    "menu": lambda task, rng, config: menu_policy(task, rng),
    "explore": _explore,
    "compute": lambda task, rng, config: compute_policy(task, rng, rng.randint(4, 12)),
    "blend": _blend,
    "free": lambda task, rng, config: FREE[task.domain](task, rng, rng.randint(*EXPLORED)),
}

"""Policies that play tasks for recordings: experts, menu agents, mixtures of both, explorers, explorers beside these,
and free agents, which do what people and language models do.

Each policy is a generator that yields actions and is sent what each of them showed, so that policies which read and
policies which do not are driven alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

from agentworld_gym.agents.collect.config import CollectConfig, PolicyName
from agentworld_gym.agents.policies.exploring import explore, explore_beside
from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.agents.policies.exploring.refusals import refusals, refused_beside
from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain, resolved
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks.control_cases import ControlCase, control_cases

AWARE = "aware"
"""The name of the policy in sessions where a solver faces a control that it knows."""

BLENDED = (3, 10)
"""The fewest and the most explored actions beside another policy's."""

Stream = Callable[[Task, random.Random, float], ActionStream]
"""A policy: a function of a task, random numbers and the probability of a slip."""


def policy_shares(domain: str, shares: Mapping[PolicyName, float]) -> dict[PolicyName, float]:
    """Return the policies that can play a domain, with their shares: exploring needs an explorer of the domain, and
    acting freely a free agent.

    >>> policy_shares("mcp", {"expert": 1, "explore": 2}), policy_shares("chess", {"expert": 1, "free": 2})
    ({'expert': 1, 'explore': 2}, {'expert': 1})
    """
    return {name: share for name, share in shares.items() if _stream(domain, name) is not None}


def solver_cases(domain: str, families: Sequence[str], levels: Iterable[int]) -> list[ControlCase]:
    """Return the controls that a domain has solvers for, in some families and levels; there are none without
    solvers.
    """
    wanted = set(levels)
    return [case for case in control_cases(domain) if case.family in families and case.level in wanted]


def policy_actions(policy: PolicyName, task: Task, rng: random.Random, config: CollectConfig) -> ActionStream:
    """Return the actions of a policy on a task; equal random numbers give equal actions.

    Raises:
        SpecError: The domain has no such policy.
    """
    stream = _stream(task.domain, policy)
    if stream is None:
        raise SpecError(task.id, "policy", policy, f"a policy that the domain {task.domain} has")
    return stream(task, rng, config.slip)


def _stream(domain: str, policy: PolicyName) -> Stream | None:
    """Return a policy of a domain: its own one, or else the one of all domains; None where it has none."""
    found = find_domain(domain)
    if found is not None and policy in found.policies:
        own: Stream = resolved(found.policies[policy])
        return own
    if policy in _WITH_EXPLORER and (found is None or found.explorer is None):
        return None
    if policy == "refusals" and (found is None or found.refusals is None):
        return None
    return _STREAMS.get(policy)


def _explore(task: Task, rng: random.Random, slip: float) -> ActionStream:
    return explore(task, rng, rng.randint(*SESSION))


def _blend(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Play one of the policies that follow the task, with explored actions in between."""
    # The mixed policy that errs with probability 0 is an expert who skips what the exploring made impossible.
    streams = (mixed_policy(task, rng, 0.0), mixed_policy(task, rng, slip), menu_policy(task, rng))
    return explore_beside(rng.choice(streams), task, rng, rng.randint(*BLENDED))


def _refusals(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Play the expert, or explore where there is none, with attempts in between."""
    exploring = None if task.expert else _stream(task.domain, "explore")
    steps = mixed_policy(task, rng, 0.0) if exploring is None else exploring(task, rng, slip)
    return refused_beside(steps, refusals(task, rng), rng)


_STREAMS: Mapping[PolicyName, Stream] = {
    "expert": lambda task, rng, slip: expert_policy(task),
    "mixed": mixed_policy,
    "menu": lambda task, rng, slip: menu_policy(task, rng),
    "explore": _explore,
    "blend": _blend,
    "refusals": _refusals,
}
_WITH_EXPLORER = frozenset({"explore", "blend"})

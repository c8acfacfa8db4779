"""One task of a family, played by its expert and on both branches of a fork: whether a grounded domain holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.core.screens.sight import on_screen
from agentworld_gym.envs.env import AgentWorldEnv


class Trial(NamedTuple):
    """What became of one task."""

    task: str
    """The id of the task."""

    steps: int
    """How many actions the expert took."""

    success: bool
    """Whether the expert solved the task."""

    problem: str | None
    """Why it did not, where the world says so."""

    departure: str | None
    """Where the two branches of the fork part; None where they agree."""


def try_task(env: AgentWorldEnv, options: Mapping[str, Any], seed: int = 0) -> Trial:
    """Let the expert of a task play, fork in the middle, and take its remaining actions on the fork too.

    Args:
        env: An environment with a grounded world.
        options: The options of its `reset`, such as `family` and `level`.
        seed: The seed of the episode.

    Raises:
        AgentWorldError: The world cannot begin.

    >>> env = AgentWorldEnv(spec="terminal", world="grounded")
    >>> try_task(env, {"family": "copy_move", "level": 1})
    Trial(task='copy_move-1-0', steps=4, success=True, problem=None, departure=None)
    >>> env.close()
    """
    env.reset(seed=seed, options=dict(options))
    task, middle = env.task, len(env.task.expert) // 2
    actions = on_screen(expert_policy(task), task.domain, env.episode.observations[-1])
    twin: AgentWorldEnv | None = None
    taken: list[str] = []
    seen: list[dict[str, Any]] = []
    info: Mapping[str, Any] = {}
    try:
        action = next(actions, None)
        while action is not None and not env.episode.over:
            if len(taken) == middle:
                twin = env.fork()
            shown = env.step(action)
            taken.append(action)
            seen.append(_seen(env, shown))
            info = shown[-1]
            try:
                action = actions.send(env.episode.observations[-1])
            except StopIteration:
                break
        failure = info.get("failure")
        problem = None if failure is None else str(failure["message"])
        departure = None if twin is None else _departure(twin, taken, seen, middle)
        return Trial(task.id, len(taken), info.get("success") is True, problem, departure)
    finally:
        actions.close()
        if twin is not None:
            twin.close()


def _departure(twin: AgentWorldEnv, taken: list[str], seen: list[dict[str, Any]], middle: int) -> str | None:
    """Take the actions from the middle on in a fork, and say at which of them it first shows something else."""
    for number, (action, expected) in enumerate(zip(taken[middle:], seen[middle:], strict=True), middle + 1):
        found = _seen(twin, twin.step(action))
        parts = [name for name, value in expected.items() if found[name] != value]
        if parts:
            return f"step {number}, {action!r}: another {' and '.join(parts)}"
    return None


def _seen(env: AgentWorldEnv, shown: tuple[str, Any, bool, bool, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what has to be equal on both branches after a step."""
    observation, reward, terminated, truncated, info = shown
    session: Any = env.episode.session
    return {
        "observation": observation,
        "reward": reward,
        "end": (terminated, truncated),
        "success": info.get("success"),
        "state": dict(session.machine.state()),
    }

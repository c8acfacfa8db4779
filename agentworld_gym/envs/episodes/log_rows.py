"""The rows of the two logs for the start of an episode, a fork, and each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agentworld_gym.core.contracts import Action, ActionKind, Failure, Observation
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.traces.log import Logs
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.step import EpisodeStep, Transition


def log_starts(logs: Logs, episodes: Sequence[Episode], seconds: float) -> None:
    """Write the start of some episodes, which have just begun.

    Args:
        logs: The logs to write.
        episodes: The episodes.
        seconds: How long all of them took to begin.

    Raises:
        TraceError: A log cannot be written.
    """
    world, agent = [], []
    for episode in episodes:
        row = _start(episode)
        world.append({**row, "system": episode.session.system, "observation": episode.session.observation})
        took = {"begin_s": round(seconds / len(episodes), 4)}
        agent.append({**row, **took, "observation": episode.observation, **_task_fields(episode.task)})
    logs.write(world, agent)


def log_fork(logs: Logs, twin: Episode, parent: Episode) -> None:
    """Write where a fork leaves the episode that it was made of.

    Raises:
        TraceError: A log cannot be written.
    """
    row = {**_start(twin), "parent": parent.id, "parent_turn": len(parent.actions)}
    agent = {**row, "observation": twin.observation, **_task_fields(twin.task)}
    logs.write([{**row, "system": twin.session.system}], [agent])


def log_steps(logs: Logs, steps: Iterable[tuple[EpisodeStep, Transition]]) -> None:
    """Write some steps.

    Args:
        logs: The logs to write.
        steps: The steps, entered into their episodes, each with what the agent got.

    Raises:
        TraceError: A log cannot be written.
    """
    world, agent = [], []
    for step, transition in steps:
        episode, answer = step.episode, step.answer
        row = {"episode": episode.id, "turn": turn_of(step), "action": step.action.raw, **_agent_fields(step.action)}
        if answer is not None:
            world.append({**row, "wave_s": step.latency, **_answer_fields(answer)})
        agent.append(
            {
                **row,
                "observation": transition.observation,
                "reward": transition.reward,
                "terminated": transition.terminated,
                "truncated": transition.truncated,
                "info": transition.info,
                **({} if step.results is None else {"checks_s": step.checking}),
            }
        )
    logs.write(world, agent)


def turn_of(step: EpisodeStep) -> int:
    """Return the number of a step in its episode, from 1 on; a step whose world failed is not entered into it."""
    return len(step.episode.actions) + isinstance(step.answer, Failure)


def _start(episode: Episode) -> dict[str, Any]:
    row = {"episode": episode.id, "turn": 0, "task_id": episode.task.id, "seed": episode.seed}
    return row if episode.agents == 1 else {**row, "agents": episode.agents}


def _agent_fields(action: Action) -> dict[str, Any]:
    """Return who acted, where several agents share an episode, and what the action was for beside acting."""
    if action.agent is None:
        return {}
    return {"agent": action.agent, **({} if action.kind is ActionKind.ACT else {"kind": action.kind.value})}


def _answer_fields(answer: Observation | Failure) -> dict[str, Any]:
    """Return the fields of the world log for an answer."""
    if isinstance(answer, Failure):
        return {"failure": answer.as_dict(), "tokens": answer.spent.as_dict()}
    row: dict[str, Any] = {"observation": answer.text, "tokens": answer.spent.as_dict()}
    if answer.verdict is not None:
        row["verdict"] = answer.verdict.as_dict()
    if answer.repairs:
        row["repairs"] = answer.repairs
    if answer.confidence is not None:
        row["confidence"] = answer.confidence
    if answer.source is not None:
        row["source"] = answer.source.value
    if answer.prompt:
        row |= {"prompt": answer.prompt, "completion": answer.completion}
        row |= {"reasoning": answer.reasoning, "seed": answer.seed}
    return row


def _task_fields(task: Task) -> dict[str, Any]:
    """Return the fields of the agent log by which a task can be played again; without a seed it is written whole."""
    row: dict[str, Any] = {"family": task.family, "level": task.level}
    if task.controls:
        row |= {"controls": task.controls, "control_seed": task.control_seed}
    if task.seed is None:
        row["task"] = task.model_dump(mode="json", exclude_defaults=True)
    return row

"""The actions of an agent log, played again in any world: what the agent would have seen there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentworld_gym.base.errors import TraceError
from agentworld_gym.core.contracts import Action, ActionKind, FailureKind, Observation
from agentworld_gym.core.traces.diff import EpisodeDiff, TraceTurn, agreeing, compare, turns_of
from agentworld_gym.core.traces.log import TraceEpisode, read_trace
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner


def replay(path: Path, runner: EpisodeRunner) -> Iterator[EpisodeDiff]:
    """Play every episode's actions in the runner's world, and compare.

    An episode begins with its recorded task, seed and controls; a fork begins with the turns of its parent. All actions
    are played, whatever the world answers, up to the first failure or the end of the episode. What the user said stays
    as it was recorded.

    Args:
        path: The folder of a trace, or one of its files.
        runner: The runner of the world to play in.

    Yields:
        The differences of each episode: the trace is the left side, the replay the right one.

    Raises:
        MissingFile: There is nothing.
        TraceError: The path holds no trace, or a fork of an episode that the trace does not hold.
        SpecError: The runner's domain has no such task.
    """
    turns_by_id: dict[str, list[TraceTurn]] = {}
    for episode in read_trace(path):
        recorded = turns_by_id[episode.id] = _whole(episode, turns_by_id)
        played = _play(episode, recorded, runner)
        task, seed = str(episode.start["task_id"]), episode.start["seed"]
        alike = agreeing(recorded, played)
        yield EpisodeDiff(
            task, seed, episode.id, episode.id, len(recorded) - 1, compare(recorded, played), agreed=alike
        )


def _whole(episode: TraceEpisode, turns_by_id: Mapping[str, list[TraceTurn]]) -> list[TraceTurn]:
    """Return the turns of an episode, those before it was forked included."""
    turns = turns_of(episode)
    if "parent" not in episode.start:
        return turns
    parent = turns_by_id.get(episode.start["parent"])
    if parent is None:
        raise TraceError(f"episode {episode.id} is a fork of {episode.start['parent']}, which is not in the trace")
    return [*parent[: episode.start["parent_turn"] + 1], *turns[1:]]


def _play(episode: TraceEpisode, recorded: Sequence[TraceTurn], runner: EpisodeRunner) -> list[TraceTurn]:
    start = episode.start
    options = {"task": start.get("task") or start["task_id"]}
    options |= {name: start[name] for name in ("controls", "control_seed") if start.get(name) is not None}
    ((copy, first, _),) = runner.start([start["seed"]], options, start.get("agents", 1))
    played = [TraceTurn(0, "", first)]
    try:
        for turn in recorded[1:]:
            action = _as_taken(turn, copy, runner)
            if action.kind is ActionKind.ASK and turn.observation is not None:
                runner.accept(copy, action, Observation(turn.observation))
                played.append(TraceTurn(turn.number, turn.action, turn.observation))
                continue
            (step,) = runner.advance([copy], [action])
            failure = step.info.get("failure")
            if failure and failure["kind"] == FailureKind.UNJUDGED and turn.failure is None:
                failure = None  # The world answered; only the verdict is missing here.
            asked = turn.observation is not None or turn.failure is not None
            observation = step.observation if asked and not failure else None
            played.append(TraceTurn(turn.number, turn.action, observation, failure["message"] if failure else None))
            if failure or step.terminated or step.truncated:
                break
    finally:
        copy.session.close()
    return played


def _as_taken(turn: TraceTurn, episode: Episode, runner: EpisodeRunner) -> Action:
    """Return the action of a turn as the exact parser reads it; where roles decided how it was read, or a tolerant
    reader refused it, it is read so again."""
    step, action = turn.step, runner.parser.parse(turn.action, episode.task.tools, shown=episode.session.observation)
    error = None if step is None else step.info.get("action_error")
    if step is None or step.agent is None:
        return action if error is None or action.error is not None else Action(turn.action, error=error)
    # Each agent confirms its own wish to finish only, which the episode as a whole does not know.
    episode.confirming = step.kind == ActionKind.FINISH
    if step.kind == ActionKind.MESSAGE:
        return Action(turn.action, kind=ActionKind.MESSAGE, agent=step.agent)
    return action if error is None else Action(turn.action, error=error, agent=step.agent)

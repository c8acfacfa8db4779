"""How recorded episodes ended: one result for each, whoever played them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.core.traces.log import TraceEpisode, agent_logs, read_header, read_trace

Counts = tuple[int, int, int]
"""The tokens of prompts, of completions, and of prompts from a cache."""

Ending = Literal["finish", "left", "limit", "failure", "open"]
"""How an episode ended: by its agent, or because the task was solved; its agent left without a word, and the state was
scored as it was; at the step limit; by a failure of the world or of a judge; or not at all."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How one recorded episode ended.

    Only where `success` is a truth value is there a verdict on the agent: an episode in which the world failed, or
    that did not end, says nothing of it.
    """

    run: str
    """The id of the run, which is the name of its two files."""

    episode: str
    """The id of the episode in its run."""

    env_id: str
    """The id of the environment."""

    fingerprint: str
    """The digest of the world's fingerprint."""

    task_id: str
    """The id of the task."""

    family: str | None
    """The family of the task, `handwritten` where nobody generated it; None where the trace does not tell."""

    level: int | None
    """The level of the task; None where the trace does not tell."""

    seed: int
    """The seed of the episode."""

    ending: Ending
    """How it ended."""

    success: bool | None
    """Whether the task was solved; None where that was not tested."""

    score: float | None
    """The weighted share of the checks that passed, from 0 to 1; None where none was tested."""

    reward: float
    """The sum of the rewards."""

    steps: int
    """How many steps were taken, the `finish` included."""

    refused: int
    """How many actions could not be read, or were calls of no tool."""

    failure: str | None
    """What failed in the world or in a judge; None where nothing did."""

    world_tokens: int | None
    """The tokens of prompts and completions that the steps cost the world; None where its server does not tell."""

    world_counts: Counts | None = (0, 0, 0)
    """All the tokens that the world cost, those of probes and judges included; None where a server does not tell."""

    log: Path = Path()
    """The agent log that the episode stands in."""

    task_seed: int | None = None
    """The seed that a generated task was made from, which says its split; None of another one."""


def episodes_of(path: Path) -> Iterator[EpisodeResult]:
    """Yield how the episodes of a folder of traces ended, run by run; forks are left out.

    Args:
        path: The folder of any number of runs, or either of the two files of a run.

    Raises:
        MissingFile: There is nothing.
        TraceError: A file is no trace, or a line is no row of one.

    >>> from tempfile import TemporaryDirectory
    >>> import gymnasium as gym
    >>> with TemporaryDirectory() as folder:
    ...     env = gym.make("AgentWorld/Terminal-v0", world="grounded", traces=folder)
    ...     _ = env.reset(seed=0), env.step("<think>unclosed"), env.step("finish")
    ...     env.close()
    ...     (result,) = episodes_of(Path(folder))
    >>> result.level, result.ending, result.success, result.score, result.steps, result.refused
    (1, 'finish', False, 0.0, 2, 1)
    """
    for log in agent_logs(path):
        header = read_header(log)
        fingerprint = Fingerprint.from_dict(header["fingerprint"]).digest
        for episode in read_trace(log):
            if "parent" not in episode.start:
                yield _result(log, str(header["run"]), str(header["env"]), fingerprint, episode)


def _result(log: Path, run: str, env_id: str, fingerprint: str, episode: TraceEpisode) -> EpisodeResult:
    start, steps = episode.start, episode.steps
    infos = [step.info for step in steps]
    last = infos[-1] if infos else {}
    failure = last.get("failure")
    taken = _spent(infos, "tokens")
    return EpisodeResult(
        run=run,
        episode=episode.id,
        env_id=env_id,
        fingerprint=fingerprint,
        task_id=str(start["task_id"]),
        family=start.get("family"),
        level=start.get("level"),
        seed=int(start["seed"]),
        ending=_ending(episode),
        success=last.get("success"),
        score=last.get("score"),
        reward=float(sum(step.reward for step in steps)),
        steps=len(steps),
        refused=sum("action_error" in info for info in infos),
        failure=None if failure is None else str(failure["message"]),
        world_tokens=None if taken is None else taken[0] + taken[1],
        world_counts=_spent(infos, "tokens", "check_tokens"),
        log=log,
        task_seed=_task_seed(start),
    )


def _task_seed(start: Mapping[str, Any]) -> int | None:
    """Return the seed of a task, by the row of a start.

    >>> _task_seed({"task_id": "copy_move-1-9", "family": "copy_move", "level": 1}), _task_seed({"task_id": "mine-1-9"})
    (9, None)
    """
    name, _, seed = str(start["task_id"]).rpartition("-")
    generated = "task" not in start and name == f"{start.get('family')}-{start.get('level')}"
    return int(seed) if generated and seed.isdecimal() else None


def _spent(infos: Sequence[Mapping[str, Any]], *keys: str) -> Counts | None:
    told = [info[key] for info in infos for key in keys if key in info]
    if not all(told):
        return None
    prompt, completion, cached = (sum(one.get(name, 0) for one in told) for name in ("prompt", "completion", "cached"))
    return prompt, completion, cached


def _ending(episode: TraceEpisode) -> Ending:
    if not episode.steps:
        return "open"
    last = episode.steps[-1]
    if "failure" in last.info:
        return "failure"
    if last.terminated:
        return "left" if last.info.get("written") == "" else "finish"
    return "limit" if last.truncated else "open"

"""Policies that play tasks to their end, many at a time, in any world.

A `Policy` sees all episodes that are ready at a time, so that one that is a network answers for them at once. Equal
seeds give equal draws in every world: only what a world shows makes a policy act otherwise.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, Protocol, runtime_checkable

from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.contracts import Action, ActionKind, Failure, Usage
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import Work
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.core.tasks.source import DecidedBySeed, TaskSource
from agentworld_gym.envs.episodes.episode import Episode, no_tokens
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.episodes.stream import EpisodeStream

logger = logging.getLogger(__name__)

WAVE = 64


class Policy(Protocol):
    """Chooses the actions of many episodes at once."""

    @property
    def name(self) -> str:
        """The name of the policy in results."""
        ...

    def begin(self, episode: Episode) -> Any:
        """Return what the policy keeps of an episode that begins."""
        ...

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        """Return the next action of each episode."""
        ...


@runtime_checkable
class WaitingPolicy(Protocol):
    """A policy that is waited for in each episode on its own, as one that asks a server."""

    def acting(self, episode: Episode, kept: Any) -> Work[str | Action | Failure]:
        """Choose the next action of an episode, as a piece of work; a failure says nothing of the policy."""
        ...


@dataclass(frozen=True)
class ScriptedPolicy:
    """A policy that plays a script of each task, with random numbers that follow the seed of the episode."""

    name: str
    """The name of the policy in results."""

    script: Callable[[Task, random.Random], ActionStream]
    """A function that gives the actions for a task; where they end, the policy finishes."""

    draw: int = 0
    """The number of the draw; another one gives another script, where the policy draws any."""

    def begin(self, episode: Episode) -> ActionStream:
        """Begin the script, whose locators are resolved on what the world shows; of an episode that has a past, go on
        where the script is after it."""
        script = self.script(episode.task, self.random_numbers(episode))
        stream = on_screen(script, episode.task.domain, episode.observations[0])
        if episode.steps:
            with suppress(StopIteration):
                next(stream)
                for shown in episode.observations[1:-1]:
                    stream.send(shown)
        return stream

    def act(self, episodes: Sequence[Episode], kept: Sequence[ActionStream]) -> list[str]:
        """Go one step further in each script."""
        return [next_action(episode, script) for episode, script in zip(episodes, kept, strict=True)]

    def random_numbers(self, episode: Episode) -> random.Random:
        """Return the random numbers of an episode."""
        return random.Random(f"{self.name}/{self.draw}/{episode.seed}")


@dataclass(frozen=True)
class FunctionPolicy:
    """A policy made of a function of an episode (its `task`, `observation`, `actions`, `messages()`).

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> runner = EnvOptions(spec="terminal", world="scripted").runner()
    >>> policy = FunctionPolicy("brief", lambda episode: "finish" if len(episode.messages()) > 2 else "ls")
    >>> [len(played.actions) for played in play(runner, policy, range(2))]
    [2, 2]
    >>> runner.close()
    """

    name: str
    """The name of the policy in results."""

    function: Callable[[Episode], str]
    """A function that returns the next action of an episode."""

    threads: int = 1
    """How many calls of the function may be under way at a time. A function that waits for a server answers that many
    episodes of a wave together; it then has to bear calls from several threads."""

    def begin(self, episode: Episode) -> None:
        """Keep nothing, because the episode holds what happened."""

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        """Call the function for each episode, in as many threads as the policy may use."""
        if self.threads == 1 or len(episodes) == 1:
            return [self.function(episode) for episode in episodes]
        with ThreadPoolExecutor(min(self.threads, len(episodes)), thread_name_prefix="agentworld-policy") as pool:
            calls = [pool.submit(self.function, episode) for episode in episodes]
            try:
                return [call.result() for call in calls]
            finally:  # After an error or an interrupt no further call begins.
                pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Played:
    """One episode that is over."""

    place: int
    """The place of the episode's seed among the seeds."""

    id: str
    """The name of the episode in the traces."""

    task: Task
    """The task that was played."""

    seed: int
    """The seed of the episode."""

    success: bool | None
    """Whether the task was solved; None where that is not known, because the world failed or nothing was checked."""

    reward: float
    """The sum of the rewards."""

    actions: tuple[str, ...]
    """The actions."""

    observations: tuple[str, ...]
    """The observations: one at the start, and one after each action."""

    failure: str | None
    """The kind of the world's failure, if it failed."""

    failure_message: str | None
    """What the failure says."""

    step_usage: Usage
    """The tokens that the steps cost."""

    check_usage: Usage
    """The tokens that probes and judges cost."""

    score: float | None = None
    """The share of the checks that pass; None where that is not known."""

    end: str = VERB
    """How the episode ended: `finish`, `success` before that, `limit` of steps, `stopped: REASON` where the agent gave
    up, `world failed` or `agent failed`."""

    refused: int = 0
    """How many of the actions could not be read, or called what cannot be called."""

    agent_usage: Usage = field(default_factory=Usage)
    """The tokens that the agent cost, where it is a language model."""

    agent_lost: Usage = field(default_factory=Usage)
    """The tokens of the agent's answers that were asked for again, or failed."""

    calls: Literal["native", "text"] | None = None
    """How a language model called tools at last: apart from its text, or in it; None where there is no such thing."""

    agent_failure: str | None = None
    """The kind of the failure of whoever runs the agent, as its server; nothing is known of the agent then."""

    agent_message: str | None = None
    """What that failure says."""

    @property
    def usage(self) -> Usage:
        """The tokens that the world cost."""
        return self.step_usage + self.check_usage


def play(
    runner: EpisodeRunner,
    policy: Policy,
    seeds: Iterable[int],
    *,
    wave: int = WAVE,
    on_progress: Callable[[int], None] | None = None,
) -> Generator[Played, None, None]:
    """Play one episode for each seed; as one ends, the next takes its place.

    Every episode goes on as its own answer comes, and the policy acts in those that are ready at a time.

    Args:
        runner: The world and its tasks.
        policy: The policy that acts.
        seeds: The seeds; equal seeds give equal tasks in every world. Each is taken when its episode begins.
        wave: The number of episodes that run at a time.
        on_progress: A function that is called with the number of episodes that are over.

    Yields:
        Episodes in the order in which they end.
    """
    waiting = enumerate(seeds)
    live: dict[str, _Live] = {}
    stream = EpisodeStream(runner)
    ready: list[_Live] = []
    done = 0
    try:
        while (fresh := list(islice(waiting, wave - len(live)))) or live:
            begun = runner.start([seed for _, seed in fresh], {}) if fresh else []
            for (place, _), (episode, _, _) in zip(fresh, begun, strict=True):
                live[episode.id] = _Live(place, episode, policy.begin(episode))
                ready.append(live[episode.id])
            if ready:
                episodes = [member.episode for member in ready]
                kept = [member.kept for member in ready]
                if isinstance(policy, WaitingPolicy):
                    stream.send(episodes, [policy.acting(*one) for one in zip(episodes, kept, strict=True)])
                else:
                    stream.send(episodes, policy.act(episodes, kept))
            ready, before = [], done
            for episode, step in stream.recv():
                member = live[episode.id]
                member.reward += step.reward
                member.step_usage += Usage.read(step.info["tokens"])
                member.check_usage += Usage.read(step.info.get("check_tokens", no_tokens()))
                if not (step.terminated or step.truncated):
                    ready.append(member)
                    continue
                del live[episode.id]
                episode.session.close()
                done += 1
                yield member.played(step)
            if on_progress and done > before:
                on_progress(done)
    finally:
        stream.close()
        for member in live.values():
            member.episode.session.close()


def one_a_task(source: TaskSource, seeds: Sequence[int]) -> list[int]:
    """Return the seeds; of those that give the same task only the first, so that intervals count independent tasks.

    A spec without families has few tasks, which the seeds repeat; a warning in the log says that some are left out.
    Where the seed decides what an episode of a task is, all seeds stay.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> one_a_task(TaskSource(load_spec("terminal"), task="copy_move-1-5"), range(3, 9))
    [3]
    """
    pool: object = source.pool
    if isinstance(pool, DecidedBySeed) and pool.by_seed:
        return list(dict.fromkeys(seeds))
    first: dict[str, int] = {}
    for seed in seeds:
        first.setdefault(source.pick(seed, {}).id, seed)
    if len(first) < len(seeds):
        logger.warning("%d seeds give %d different tasks; each is played once", len(seeds), len(first))
    return list(first.values())


def next_action(episode: Episode, script: ActionStream) -> str:
    """Return the next action of a script for an episode; `finish` at the script's end."""
    try:
        return script.send(episode.observations[-1]) if episode.steps else next(script)
    except StopIteration:
        return "finish"


@dataclass(slots=True)
class _Live:
    """An episode that is being played."""

    place: int
    episode: Episode
    kept: Any
    reward: float = 0.0
    step_usage: Usage = field(default_factory=Usage)
    check_usage: Usage = field(default_factory=Usage)

    def played(self, step: Transition) -> Played:
        """Return what is known at the end of the episode."""
        episode, info = self.episode, step.info
        failure, lost = info.get("failure"), info.get("agent_failure")
        known = not failure and not lost
        return Played(
            self.place,
            episode.id,
            episode.task,
            episode.seed,
            info.get("success") if known else None,
            self.reward,
            tuple(episode.actions),
            tuple(episode.observations),
            failure["kind"] if failure else None,
            failure["message"] if failure else None,
            self.step_usage,
            self.check_usage,
            score=info.get("score") if known else None,
            end=self._end(step),
            refused=sum(action.error is not None for action in episode.taken),
            agent_usage=getattr(self.kept, "usage", Usage()),
            agent_lost=getattr(self.kept, "lost", Usage()),
            calls=getattr(self.kept, "calls", None),
            agent_failure=lost["kind"] if lost else None,
            agent_message=lost["message"] if lost else None,
        )

    def _end(self, step: Transition) -> str:
        if "failure" in step.info:
            return "world failed"
        if "agent_failure" in step.info:
            return "agent failed"
        if (stopped := getattr(self.kept, "stopped", None)) is not None:
            return f"stopped: {stopped}"
        if step.truncated:
            return "limit"
        return VERB if self.episode.taken[-1].kind is ActionKind.FINISH else "success"

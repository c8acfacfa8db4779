"""Policies that play tasks to their end, many at a time, in any world.

A `Policy` sees all episodes that are ready at a time, so that one that is a network answers for them at once. Equal
seeds give equal draws in every world: only what a world shows makes a policy act otherwise.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy, nothing_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Usage
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.episode import Episode, no_tokens
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.stream import EpisodeStream

logger = logging.getLogger(__name__)

WAVE = 64
SLIP = 0.3
"""The probability that the policy `mixed` errs before a step."""

HANDLES = "expert, mixed, menu, nothing, or the path of a MaskablePPO (.zip)"


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
        """Begin the script, whose locators are resolved on what the world shows."""
        script = self.script(episode.task, self.random_numbers(episode))
        return on_screen(script, episode.task.domain, episode.observations[-1])

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

    @property
    def usage(self) -> Usage:
        """The tokens that the episode cost."""
        return self.step_usage + self.check_usage


def play(
    runner: EpisodeRunner,
    policy: Policy,
    seeds: Iterable[int],
    *,
    wave: int = WAVE,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Played]:
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
                stream.send(episodes, policy.act(episodes, [member.kept for member in ready]))
            ready, before = [], done
            for episode, step in stream.recv():
                member = live[episode.id]
                member.reward += step.reward
                member.step_usage += Usage(*step.info["tokens"].values())
                member.check_usage += Usage(*step.info.get("check_tokens", no_tokens()).values())
                if not (step.terminated or step.truncated):
                    ready.append(member)
                    continue
                del live[episode.id]
                episode.session.close()
                done += 1
                yield member.played(step.info)
            if on_progress and done > before:
                on_progress(done)
    finally:
        stream.close()
        for member in live.values():
            member.episode.session.close()


def one_a_task(source: TaskSource, seeds: Sequence[int]) -> list[int]:
    """Return the seeds; of those that give the same task only the first, so that intervals count independent tasks.

    A spec without families has few tasks, which the seeds repeat; a warning in the log says that some are left out.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> one_a_task(TaskSource(load_spec("terminal"), task="copy_move-1-5"), range(3, 9))
    [3]
    """
    first: dict[str, int] = {}
    for seed in seeds:
        first.setdefault(source.pick(seed, {}).id, seed)
    if len(first) < len(seeds):
        logger.warning("%d seeds give %d different tasks; each is played once", len(seeds), len(first))
    return list(first.values())


def open_policy(handle: str, spec: DomainSpec, draw: int = 0) -> Policy:
    """Return the policy that a handle names.

    Args:
        handle: The name of a scripted policy, or the path of a MaskablePPO (.zip).
        spec: The domain.
        draw: The number of the draw; another one gives other actions for each task, where the policy draws any.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> open_policy("expert", load_spec("terminal")).name
    'expert'

    Raises:
        SpecError: The handle names no policy, or a file that holds none.
        ImportError: An agent needs the extra `sb3`.
    """
    scripts: dict[str, Callable[[Task, random.Random], ActionStream]] = {
        "expert": lambda task, rng: expert_policy(task),
        "mixed": lambda task, rng: mixed_policy(task, rng, SLIP),
        "menu": menu_policy,
        "nothing": lambda task, rng: nothing_policy(),
    }
    if handle in scripts:
        return ScriptedPolicy(handle, scripts[handle], draw)
    path = Path(handle)
    if path.suffix != ".zip" or not path.is_file():
        raise SpecError("command line", "policy", handle, HANDLES)
    from agentworld_gym.agents.policies.menu_agent import MenuAgent
    from agentworld_gym.agents.policies.saved_policy import SavedPolicy

    return MenuAgent(path.stem, SavedPolicy(path), spec)


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

    def played(self, info: Any) -> Played:
        """Return what is known at the end of the episode."""
        episode, failure = self.episode, info.get("failure")
        return Played(
            self.place,
            episode.id,
            episode.task,
            episode.seed,
            None if failure else info.get("success"),
            self.reward,
            tuple(episode.actions),
            tuple(episode.observations),
            failure["kind"] if failure else None,
            failure["message"] if failure else None,
            self.step_usage,
            self.check_usage,
        )

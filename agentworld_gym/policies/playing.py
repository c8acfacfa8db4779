"""Policies that play tasks to their end, many at a time, in whatever world.

A `Policy` sees episodes a wave at a time, so that one that is a network answers for all of them at once. Equal seeds
give equal draws in every world: only what a world shows makes a policy act otherwise.
"""

from __future__ import annotations

import inspect
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agentworld_gym.contracts import Usage
from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.domain.task import Task
from agentworld_gym.episodes.episode import Episode, no_tokens
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.errors import SpecError
from agentworld_gym.policies.scripted import expert_policy, menu_policy, mixed_policy, nothing_policy
from agentworld_gym.screens.sight import Way, on_screen
from agentworld_gym.tasks.source import TaskSource

logger = logging.getLogger(__name__)

WAVE = 64
SLIP = 0.3
"""How often the policy `mixed` errs before a step."""

HANDLES = "expert, mixed, menu, nothing, or the path of a MaskablePPO (.zip)"


class Policy(Protocol):
    """Chooses the actions of many episodes at once; `begin` gives what it keeps of one episode."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    def begin(self, episode: Episode) -> Any:
        """What the policy keeps of an episode that begins."""
        ...

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        """The next action of each episode."""
        ...


@dataclass(frozen=True)
class WayPolicy:
    """A way through each task, drawn from the seed of its episode; `finish` where it ends."""

    name: str
    way: Callable[[Task, random.Random], Way]
    draw: int = 0

    def begin(self, episode: Episode) -> Way:
        """The way, with its locators resolved on what the world shows."""
        way = self.way(episode.task, random.Random(f"{self.name}/{self.draw}/{episode.seed}"))
        return on_screen(way, episode.task.domain, episode.observation)

    def act(self, episodes: Sequence[Episode], kept: Sequence[Way]) -> list[str]:
        """One step further on each way."""
        return [_onward(episode, way) for episode, way in zip(episodes, kept, strict=True)]


@dataclass(frozen=True)
class FunctionPolicy:
    """A function of an episode (its `task`, `observation`, `actions`, `observations`) that gives the next action."""

    name: str
    function: Callable[[Episode], str]

    def begin(self, episode: Episode) -> None:
        """Nothing is kept: the episode holds what happened."""

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        """One call an episode."""
        return [self.function(episode) for episode in episodes]


class MenuAgent:
    """An agent of Stable-Baselines3 that chooses from the menu, such as a `MaskablePPO`.

    An algorithm that takes no masks may choose what is not on offer: it gets the next entry that is. A recurrent one
    keeps a state of its own for each episode.

    Args:
        name: what results call it.
        model: has `predict(vectors, deterministic=…)`, with or without `action_masks`, `state` and `episode_start`.
        spec: the domain.
        encoder: the one it was trained with; None takes the default with the model's number of choices.
        deterministic: take the best choice instead of drawing one.

    Raises:
        SpecError: the model was trained on other observations than those of the encoder.
    """

    def __init__(
        self, name: str, model: Any, spec: DomainSpec, encoder: Any = None, deterministic: bool = True
    ) -> None:
        from agentworld_gym.policies.encoder import TextEncoder

        self.name, self._model, self._spec, self._deterministic = name, model, spec, deterministic
        space = getattr(model, "action_space", None)
        self._encoder = encoder or (TextEncoder() if space is None else TextEncoder(max_menu=int(space.n)))
        self._takes = set(inspect.signature(model.predict).parameters)
        seen = getattr(model, "observation_space", None)
        shapes = {key: part.shape for key, part in getattr(seen, "spaces", {None: seen}).items() if part is not None}
        wanted = {(self._encoder.size,): "vector", (self._encoder.max_menu,): "mask"}
        self._parts = {key: wanted.get(shape) for key, shape in shapes.items()} or {None: "vector"}
        if None in self._parts.values() or "vector" not in self._parts.values() or self._parts.get(None) == "mask":
            shape = shapes.get(None, shapes)
            raise SpecError(name, "observation_space", shape, f"the {self._encoder.size} numbers of a TextEncoder")

    def begin(self, episode: Episode) -> list[Any]:
        """The episode seen through its menu, the choice whose outcome it has not yet seen, and the model's state."""
        from agentworld_gym.policies.menu import Menu

        return [Menu(self._encoder, self._spec, episode.task, episode.observation), None, None]

    def act(self, episodes: Sequence[Episode], kept: Sequence[list[Any]]) -> list[str]:
        """One prediction for all episodes."""
        for episode, one in zip(episodes, kept, strict=True):
            if one[1] is not None:
                one[0].observe(one[1], episode.observation)
        for one, choice in zip(kept, self._predict(kept), strict=True):
            one[1] = one[0].entry(int(choice))
        return [one[0].action(one[1]) for one in kept]

    def _predict(self, kept: Sequence[list[Any]]) -> Any:
        masks = np.stack([menu.masks() for menu, _, _ in kept])
        parts = {"vector": np.stack([menu.vector() for menu, _, _ in kept]), "mask": masks.astype(np.int8)}
        seen = {key: parts[part or "vector"] for key, part in self._parts.items()}
        options: dict[str, Any] = {"deterministic": self._deterministic}
        if "action_masks" in self._takes:
            options["action_masks"] = masks
        if "state" in self._takes:
            options["state"] = _batched([state for _, _, state in kept])
        if "episode_start" in self._takes:
            options["episode_start"] = np.array([choice is None for _, choice, _ in kept])
        choices, states = self._model.predict(seen.get(None, seen), **options)
        if states is not None and "state" in self._takes:
            for index, one in enumerate(kept):
                one[2] = tuple([part[:, index] for part in states])
        return choices


def _batched(states: Sequence[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """The states of episodes side by side on the second axis; zeros where an episode begins."""
    known = next((state for state in states if state is not None), None)
    if known is None:
        return None
    rows = [tuple([np.zeros_like(part) for part in known]) if state is None else state for state in states]
    return tuple([np.stack(parts, axis=1) for parts in zip(*rows, strict=True)])


@dataclass(frozen=True, slots=True)
class Played:
    """One episode that is over. `success` is None where the world failed: nothing is known then.

    `place` is that of its seed among the seeds, `id` that of the traces. `observations` has one entry more than
    `actions`, the first being the start. `usage` is what its steps and its checks cost.
    """

    place: int
    id: str
    task: Task
    seed: int
    success: bool | None
    reward: float
    actions: tuple[str, ...]
    observations: tuple[str, ...]
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)


def play(
    runner: EpisodeRunner,
    policy: Policy,
    seeds: Sequence[int],
    *,
    wave: int = WAVE,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Played]:
    """Play one episode a seed; as one ends, the next takes its place in the wave.

    Args:
        runner: the world and its tasks.
        policy: who acts.
        seeds: equal seeds give equal tasks in every world.
        wave: how many episodes run at a time.
        on_progress: called with the number of episodes that are over.

    Yields:
        Episodes in the order in which they end.
    """
    waiting = list(enumerate(seeds))[::-1]
    live: list[_Live] = []
    done = 0
    try:
        while waiting or live:
            fresh = [waiting.pop() for _ in range(min(wave - len(live), len(waiting)))]
            begun = runner.start([seed for _, seed in fresh], {}) if fresh else []
            for (place, _), (episode, _, _) in zip(fresh, begun, strict=True):
                live.append(_Live(place, episode, policy.begin(episode)))
            episodes = [member.episode for member in live]
            steps = runner.advance(episodes, policy.act(episodes, [member.kept for member in live]))
            going = []
            for member, step in zip(live, steps, strict=True):
                member.reward += step.reward
                for tokens in (step.info["tokens"], step.info.get("check_tokens", no_tokens())):
                    member.usage += Usage(*tokens.values())
                if not (step.terminated or step.truncated):
                    going.append(member)
                    continue
                member.episode.session.close()
                done += 1
                yield member.played(step.info)
            if on_progress and len(going) < len(live):
                on_progress(done)
            live = going
    finally:
        for member in live:
            member.episode.session.close()


def one_a_task(source: TaskSource, seeds: Sequence[int]) -> list[int]:
    """The seeds, of those that give the same task only the first, so that intervals count independent tasks.

    A spec without families has few tasks, which the seeds repeat; that some are left out is logged.

    >>> from agentworld_gym.domain.spec import load_spec
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
    """The policy that a handle names; another `draw` gives another way through each task, where the policy draws any.

    >>> from agentworld_gym.domain.spec import load_spec
    >>> open_policy("expert", load_spec("terminal")).name
    'expert'

    Raises:
        SpecError: it names none, or a file that holds none.
        ImportError: an agent needs the extra `sb3`.
    """
    ways: dict[str, Callable[[Task, random.Random], Way]] = {
        "expert": lambda task, rng: expert_policy(task),
        "mixed": lambda task, rng: mixed_policy(task, rng, SLIP),
        "menu": menu_policy,
        "nothing": lambda task, rng: nothing_policy(),
    }
    if handle in ways:
        return WayPolicy(handle, ways[handle], draw)
    path = Path(handle)
    if path.suffix != ".zip" or not path.is_file():
        raise SpecError("command line", "policy", handle, HANDLES)
    from agentworld_gym.policies.saved import SavedPolicy

    return MenuAgent(path.stem, SavedPolicy(path), spec)


def _onward(episode: Episode, way: Way) -> str:
    try:
        return way.send(episode.observation) if episode.steps else next(way)
    except StopIteration:
        return "finish"


@dataclass(slots=True)
class _Live:
    """An episode that is being played."""

    place: int
    episode: Episode
    kept: Any
    reward: float = 0.0
    usage: Usage = field(default_factory=Usage)

    def played(self, info: Any) -> Played:
        """What is known at its end."""
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
            self.usage,
        )

"""Sessions as Minari datasets: texts, and the numbers of the menu environments.

Each session is played again in the grounded world, which gives the rewards and the ends that an environment gives.
The extra `minari` brings its library, which writes HDF5; with pyarrow instead of h5py it writes a folder an episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.text_encoder import TextEncoder
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.recipe.export.replays import Replays

Kind = Literal["texts", "menu"]

TOGETHER = 64
"""How many episodes of a dataset are written together."""


class MinariEpisodes:
    """Plays sessions again, as episodes of a dataset."""

    def __init__(self) -> None:
        self._replays, self._encoder = Replays(), TextEncoder()

    def of(self, session: AgentSession) -> list[dict[str, Any]] | str:
        """Return the episode of a session, with the fields that it has in texts, and those that it has in a menu where
        all of its actions stood there; or why it is left out.

        Raises:
            WorldNotConfigured: The domain has no grounded world.
        """
        task = session.find_task()
        if task is None:
            return "its task cannot be made again"
        texts = self._played(session, task)
        if isinstance(texts, str):
            return texts
        numbers = _in_numbers(self._encoder, session, task, texts)
        menu = None if numbers is None else {**texts, **numbers}
        return [{"spec": session.spec.source, "texts": texts, "menu": menu}]

    def close(self) -> None:
        """Close the worlds."""
        self._replays.close()

    def _played(self, session: AgentSession, task: Task) -> dict[str, Any] | str:
        """Play a session again; return the fields of its episode in texts, or why it is left out."""
        runner, episode = self._replays.begin(session, task)
        steps: list[Transition] = []
        first = episode.observation
        try:
            for action in session.replayed:
                steps += runner.advance([episode], [action])
                if "failure" in steps[-1].info:
                    return "the world failed when it was played again"
                if episode.over:
                    break
        finally:
            episode.session.close()
        last = steps[-1]
        if bool(last.info.get("success")) != bool(session.success):
            return "it ends otherwise when it is played again"
        # The session of a row may end without `finish`: only a limit would end its episode.
        cut = last.truncated or not last.terminated
        options: dict[str, Any] = {"task": session.task_id}
        if task.controls:
            options |= {"controls": dict(task.controls), "control_seed": task.control_seed}
        return {
            "observations": [first, *(step.observation for step in steps)],
            "actions": list((*session.actions, VERB)[: len(steps)]),
            "rewards": [step.reward for step in steps],
            "terminations": [step.terminated for step in steps],
            "truncations": [*(step.truncated for step in steps[:-1]), cut],
            "seed": task.seed,
            "options": options,
        }


class MinariDatasets:
    """The datasets of a folder that Minari finds where `MINARI_DATASETS_PATH` names it.

    Their ids are `agentworld/DOMAIN-texts-SPLIT-v0` and `agentworld/DOMAIN-menu-SPLIT-v0`, with the dialect behind the
    domain where it is not the first one.

    Args:
        folder: The folder.

    Raises:
        AgentWorldError: Minari is not installed, or pillow, or neither h5py nor pyarrow.
    """

    def __init__(self, folder: Path) -> None:
        if not (find_spec("minari") and find_spec("PIL") and (find_spec("h5py") or find_spec("pyarrow"))):
            raise AgentWorldError('Minari datasets need Minari: pip install "minari[hdf5]" pillow')
        self._folder = folder.resolve()  # Minari joins a relative path to itself.
        self._form = "hdf5" if find_spec("h5py") else "arrow"
        self._storages: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {}

    def write(self, split: str, episode: Mapping[str, Any]) -> None:
        """Add an episode to its datasets; its fields are those of `MinariEpisodes`."""
        from minari.data_collector.episode_buffer import EpisodeBuffer

        kinds: tuple[Kind, ...] = ("texts", "menu")
        for kind in kinds:
            if episode[kind] is None:
                continue
            name = f"{episode['spec'].replace(':', '-')}-{kind}-{split}-v0"
            if name not in self._storages:
                self._storages[name] = self._opened(name, episode["spec"], kind)
            waiting = self._waiting.setdefault(name, [])
            waiting.append(EpisodeBuffer(**episode[kind]))
            if len(waiting) >= TOGETHER:
                self._flush(name)

    def close(self) -> None:
        """Write what waits."""
        for name in self._waiting:
            self._flush(name)

    def _opened(self, name: str, source: str, kind: Kind) -> Any:
        import minari
        from minari.dataset.minari_storage import MinariStorage

        spec = load_spec(source)
        domain = find_domain(spec.id)
        assert domain is not None
        options: dict[str, Any] = {} if spec.speaks_first_dialect else {"dialect": spec.dialect}
        env: Any = gym.make(domain.env_id if kind == "texts" else domain.menu_id, world="grounded", **options)
        try:
            place = self._folder / "agentworld" / name / "data"
            place.mkdir(parents=True)
            storage = MinariStorage.new(
                place, env.observation_space, env.action_space, env_spec=env.spec, data_format=self._form
            )
        finally:
            env.close()
        storage.update_metadata(
            {"dataset_id": f"agentworld/{name}", "minari_version": minari.__version__, "algorithm_name": "recorded"}
        )
        return storage

    def _flush(self, name: str) -> None:
        self._storages[name].update_episodes(self._waiting[name])
        self._waiting[name].clear()


def _in_numbers(
    encoder: TextEncoder, session: AgentSession, task: Task, texts: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return observations, actions and infos as the menu environment has them; None where an action was not on offer.

    Args:
        encoder: The encoder of the environment.
        session: The session.
        task: The task of the session.
        texts: The fields of its episode in texts.
    """
    if not 1 <= len(task.menu) <= encoder.max_menu:
        return None
    first, *shown = texts["observations"]
    menu = Menu(encoder, session.spec, task, first)
    vectors, masks, choices = [menu.vector()], [menu.masks().astype(np.int8)], list[int]()
    for action, observation in zip(texts["actions"], shown, strict=True):
        if action not in menu.offers:
            return None
        choices.append(menu.offers.index(action))
        menu.observe(choices[-1], observation)
        vectors.append(menu.vector())
        masks.append(menu.masks().astype(np.int8))
    return {"observations": vectors, "actions": choices, "infos": {"action_mask": masks}}

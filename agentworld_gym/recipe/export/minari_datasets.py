"""Sessions as Minari datasets: texts, and the numbers of the menu environments.

Each session is played again in the grounded world, which gives the rewards and the ends that an environment gives.
Minari is no extra of this package: `pip install "minari[hdf5]"`, or `"minari[arrow]"`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gymnasium as gym

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.registration import find_domain
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.text_encoder import TextEncoder
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.recipe.export.replays import Replays

Kind = Literal["texts", "menu"]

TOGETHER = 64
"""How many episodes of a dataset are written together."""


class _Episode(NamedTuple):
    """An episode in texts, and in numbers where every action stood in the menu."""

    texts: dict[str, Any]
    menu: dict[str, Any] | None


class MinariDatasets:
    """The datasets of a folder that Minari finds where `MINARI_DATASETS_PATH` names it.

    Their ids are `agentworld/DOMAIN-texts-SPLIT-v0` and `agentworld/DOMAIN-menu-SPLIT-v0`, with the dialect behind the
    domain where it is not the first one.

    Args:
        folder: The folder.

    Raises:
        AgentWorldError: Minari is not installed, or neither h5py nor pyarrow.
    """

    def __init__(self, folder: Path) -> None:
        if find_spec("minari") is None or not (find_spec("h5py") or find_spec("pyarrow")):
            raise AgentWorldError('Minari datasets need Minari: pip install "minari[hdf5]"')
        self._folder, self._replays, self._encoder = folder, Replays(), TextEncoder()
        self._form = "hdf5" if find_spec("h5py") else "arrow"
        self._storages: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {}

    def add(self, session: AgentSession) -> str | None:
        """Play a session again and add it to its datasets; return why it is left out, or else None.

        Raises:
            WorldNotConfigured: The domain has no grounded world.
        """
        played = self._played(session)
        if isinstance(played, str):
            return played
        self._keep(session, "texts", played.texts)
        if played.menu is not None:
            self._keep(session, "menu", played.menu)
        return None

    def close(self) -> None:
        """Write what waits, and close the worlds."""
        try:
            for name in self._waiting:
                self._flush(name)
        finally:
            self._replays.close()

    def _played(self, session: AgentSession) -> _Episode | str:
        task = session.find_task()
        if task is None:
            return "its task cannot be made again"
        runner, episode = self._replays.begin(session, task)
        fits = 1 <= len(task.menu) <= self._encoder.max_menu
        menu = Menu(self._encoder, session.spec, task, episode.observation) if fits else None
        seen, vectors, choices = [episode.observation], [menu.vector()] if menu else [], list[int]()
        masks = [menu.masks().astype("int8")] if menu else []
        rewards, ends = list[float](), list[tuple[bool, bool]]()
        actions, success = list[str](), None
        try:
            for place, action in enumerate(session.actions):
                choice = menu.offers.index(action) if menu is not None and action in menu.offers else None
                (step,) = runner.advance([episode], [session.taken(place)])
                if "failure" in step.info:
                    return "the world failed when it was played again"
                actions.append(action)
                seen.append(step.observation)
                rewards.append(float(step.reward))
                ends.append((step.terminated, step.truncated))
                success = step.info.get("success")
                if choice is None:
                    menu = None
                if menu is not None and choice is not None:
                    menu.observe(choice, step.observation)
                    choices.append(choice)
                    vectors.append(menu.vector())
                    masks.append(menu.masks().astype("int8"))
                if step.terminated or step.truncated:
                    break
        finally:
            episode.session.close()
        if bool(success) != bool(session.success):
            return "it ends otherwise when it is played again"
        shared = {
            "rewards": rewards,
            "terminations": [terminated for terminated, _ in ends],
            # An agent that stopped without a word leaves an episode that only a limit would end.
            "truncations": [cut or (place + 1 == len(ends) and not over) for place, (over, cut) in enumerate(ends)],
            "seed": task.seed,
            "options": {"task": session.task_id},
        }
        texts = {**shared, "observations": seen, "actions": actions}
        if menu is None:
            return _Episode(texts, None)
        return _Episode(texts, {**shared, "observations": vectors, "actions": choices, "infos": {"action_mask": masks}})

    def _keep(self, session: AgentSession, kind: Kind, data: dict[str, Any]) -> None:
        from minari.data_collector.episode_buffer import EpisodeBuffer

        name = f"{session.spec.source.replace(':', '-')}-{kind}-{session.split}-v0"
        if name not in self._storages:
            self._storages[name] = self._opened(name, session, kind)
        waiting = self._waiting.setdefault(name, [])
        waiting.append(EpisodeBuffer(**data))
        if len(waiting) >= TOGETHER:
            self._flush(name)

    def _opened(self, name: str, session: AgentSession, kind: Kind) -> Any:
        import minari
        from minari.dataset.minari_storage import MinariStorage

        domain = find_domain(session.spec.id)
        assert domain is not None
        told: dict[str, Any] = {} if session.spec.speaks_first_dialect else {"dialect": session.spec.dialect}
        env: Any = gym.make(domain.env_id if kind == "texts" else domain.menu_id, world="grounded", **told)
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

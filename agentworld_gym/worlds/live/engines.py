"""The live systems of one world: that of its configuration, and those that tasks name."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.registration import all_domains, live_opener, resolved
from agentworld_gym.kit.live import LiveEngine, LiveSource
from agentworld_gym.kit.live.config import FOLDER

KEY = "live"
"""The key of a task's state that names the system on which it is played: its configuration, or the path of that."""


class LiveEngines:
    """Opens the engines of live systems as they are needed, each once.

    Args:
        spec: The domain.
        source: The configuration; None where each task names its own.

    Raises:
        WorldNotConfigured: The domain has no live world.
    """

    def __init__(self, spec: DomainSpec, source: LiveSource | None) -> None:
        self.spec, self.source = spec, source
        require_live(spec)
        self._open: dict[str, LiveEngine[Any]] = {}
        self._lock = threading.Lock()

    @property
    def usual(self) -> LiveEngine[Any] | None:
        """The engine of the configuration; None where each task names its own."""
        return None if self.source is None else self._engine(self.source)

    @property
    def scarce(self) -> bool:
        """Whether a system that is open has too few sessions for an episode and the next one at a time."""
        with self._lock:
            return any(engine.scarce for engine in self._open.values())

    def of(self, task: Task) -> LiveEngine[Any]:
        """Return the engine on which a task is played.

        Raises:
            SpecError: The task names none, and there is no configuration.
            WorldNotConfigured: The system cannot run here.
        """
        named = task.state.get(KEY)
        source = self.source if named is None else LiveSource.of(named)
        if source is None:
            expected = "the configuration of a live system, or live={...} beside world='live'"
            raise SpecError(f"task {task.id}", f"state.{KEY}", None, expected)
        return self._engine(source)

    def _engine(self, source: LiveSource) -> LiveEngine[Any]:
        key = json.dumps([dict(source.data), str(source.folder)], sort_keys=True, default=str)
        with self._lock:
            if key not in self._open:
                opener = live_opener(self.spec.id)
                assert opener is not None
                try:
                    self._open[key] = resolved(opener)(source)
                except EngineError as error:
                    raise WorldNotConfigured(f"{source.file}: the live system cannot run here: {error}") from error
            return self._open[key]

    def close(self) -> None:
        """End all systems; a second call does nothing."""
        with self._lock:
            engines = list(self._open.values())
            self._open.clear()
        for engine in engines:
            engine.close()


def require_live(spec: DomainSpec) -> None:
    """Make sure that a domain has a live world.

    Raises:
        WorldNotConfigured: It has none.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> require_live(load_spec("mcp"))
    """
    if live_opener(spec.id) is None:
        having = ", ".join(one.env_id for one in all_domains().values() if one.live is not None)
        raise WorldNotConfigured(f"{spec.env_id} has no live world; these have one: {having}")


def state_of(task: Task) -> Mapping[str, Any]:
    """Return what a task states to the system, without the name of it."""
    return {key: value for key, value in task.state.items() if key != KEY}


def located(task: Task, folder: Path) -> Task:
    """Return a task whose system is named by a whole path, or has paths that count from a folder."""
    named = task.state.get(KEY)
    if isinstance(named, str):
        named = str(folder / os.path.expanduser(named))
    elif isinstance(named, Mapping) and isinstance(named.get(FOLDER, "."), str):
        named = {**named, FOLDER: str(folder.absolute() / os.path.expanduser(named.get(FOLDER, ".")))}
    else:
        return task
    return task.model_copy(update={"state": {**task.state, KEY: named}})

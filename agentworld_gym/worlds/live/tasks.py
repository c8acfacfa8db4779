"""The tasks of a live world: those of its configuration, or free play."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import read_yaml, validated
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import FREE_PLAY, Split, Task
from agentworld_gym.core.tasks.source import check_actions, with_usable_tools
from agentworld_gym.kit.live import LiveSource
from agentworld_gym.worlds.live.engines import LiveEngines, located


class LiveTasks:
    """The tasks of a configuration, in its order; without any there is one, which tests nothing.

    What a task leaves out follows from the system, once that runs: its tools, its menu, the first observation, and what
    a language model is told of the state.

    Args:
        engines: The systems.
        spec: The domain, which reads the actions of the tasks.
    """

    def __init__(self, engines: LiveEngines, spec: DomainSpec) -> None:
        self._engines, self._spec, self._parser = engines, spec, ActionParser(spec)
        self._judged = True
        self._split: Split = "train"
        self._whole: dict[str, Task] = {}

    @cached_property
    def _written(self) -> dict[str, Task]:
        """The tasks by their ids, as they were written."""
        source, tasks = self._engines.source, dict[str, Task]()
        engine = self._engines.usual
        for task in self._read(source, engine.config.tasks) if source is not None and engine is not None else ():
            if task.id in tasks:
                raise SpecError(source.file if source else "tasks", "tasks", task.id, "tasks with different names")
            tasks[task.id] = task
        if not tasks and engine is not None:
            instruction = engine.config.instruction
            tasks[FREE_PLAY] = Task(
                id=FREE_PLAY, domain=self._spec.id, instruction=instruction, family=FREE_PLAY, success=()
            )
        return tasks

    def _read(self, source: LiveSource, named: tuple[str | dict[str, Any], ...]) -> Iterator[Task]:
        for number, one in enumerate(named, 1):
            if isinstance(one, Mapping):
                yield self._task({"id": f"task-{number}", **one}, source.file, source.folder)
                continue
            found = glob(os.path.expanduser(one), root_dir=source.folder, recursive=True)
            paths = sorted(map(source.path, found)) if set("*?[") & set(one) else [source.path(one)]
            if not paths:
                raise MissingFile(source.folder / one, "at least one task")
            for path in paths:
                data = read_yaml(path, "a task")
                yield self._task({"id": path.stem, **data} if isinstance(data, dict) else data, path, path.parent)

    def _task(self, data: Any, file: str | Path, folder: Path) -> Task:
        told = {"domain": self._spec.id, **data} if isinstance(data, dict) else data
        task = validated(Task, told, file)
        if task.domain != self._spec.id:
            raise SpecError(file, "domain", task.domain, self._spec.id)
        return located(task, folder)

    def foreseen(self) -> tuple[Task, ...]:
        """Return no task: which tools a system has is known once it runs."""
        return ()

    def pick(self, seed: int) -> Task:
        """Return the task of a seed: consecutive seeds walk through all tasks.

        Raises:
            SpecError: There is none, or it is wrong.
        """
        names = [
            name for name, task in self._written.items() if self._judged or not any(c.rubric for c in task.success)
        ]
        if not names:
            if self._engines.source is None:
                raise SpecError("options", "live", None, "the configuration of a live system, or a task that names one")
            raise SpecError("options", "judge", None, "a judge, as all tasks of the live system need one")
        return self.complete(self._in_split(self._written[names[seed % len(names)]]))

    def find(self, name: str) -> Task | None:
        """Return the task of an id; None where there is none."""
        task = self._written.get(name)
        return None if task is None else self.complete(self._in_split(task))

    @property
    def by_seed(self) -> bool:
        """Whether the seed of an episode decides what it is, as in an environment that draws its games."""
        engine = self._engines.usual
        return engine is not None and engine.splits

    def draw_from(self, split: Split) -> bool:
        """Draw from a split from now on; false where the system knows no splits."""
        if self.by_seed:
            self._split = split
        return self.by_seed

    def _in_split(self, task: Task) -> Task:
        return task if self._split == task.split else task.model_copy(update={"split": self._split})

    def without_judge(self) -> None:
        """Leave out the tasks that only a judge can decide: there is none."""
        self._judged = False

    def told(self, task: Task) -> Task:
        """Return a task as a language world is told of it.

        Of the files that the system brings itself it has so many characters as the key `told_chars` says.
        """
        engine = self._engines.of(task)
        brought = dict(engine.about().task.get("state", {}).get("files") or {})
        left, told = engine.config.told_chars, dict[str, Any]()
        for path, text in dict(task.state.get("files") or {}).items():
            own = brought.get(path) != text
            left -= 0 if own else len(path) + len(text)
            if own or left >= 0:
                told[path] = text
        if told == task.state.get("files", {}):
            return task
        return task.model_copy(update={"state": {**task.state, "files": told}})

    def complete(self, task: Task, folder: Path | None = None) -> Task:
        """Return a task with what it leaves out.

        Args:
            task: The task.
            folder: The folder from which the path of its system counts; None takes the current one.

        Raises:
            SpecError: The task names an action that cannot be read.
            EngineError: The system cannot be started.
        """
        task = task if folder is None else located(task, folder)
        key = task.model_dump_json()
        if key not in self._whole:
            engine = self._engines.of(task)
            told = {name: value for name, value in engine.about().task.items() if not getattr(task, name)}
            state = {**engine.about().task.get("state", {}), **task.state}
            whole = with_usable_tools(task.model_copy(update={**told, "state": state}))
            check_actions(whole, self._parser, f"task {task.id}")
            if not engine.config.forks and any(check.probes for check in whole.success):
                raise SpecError(f"task {task.id}", "success", "probe", "run: the configuration says forks: false")
            self._whole[key] = whole
        return self._whole[key]

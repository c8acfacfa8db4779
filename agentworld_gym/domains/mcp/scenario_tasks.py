"""The tasks that lie in a scenario's own folder, for tool servers that a user or a pipeline has made."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import read_yaml, validated
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Scalar
from agentworld_gym.core.tasks.source import check_actions
from agentworld_gym.domains.mcp.engine.answer import greeting
from agentworld_gym.domains.mcp.engine.scenario import FILES
from agentworld_gym.domains.mcp.engine.service import Service, load_service
from agentworld_gym.kit.tables.database import open_image, tables_of

logger = logging.getLogger(__name__)

DOMAIN = "mcp"
"""The domain whose scenarios these are."""

TASKS = "tasks"
"""The folder of the tasks in a scenario's folder."""


def scenario_folders(folder: Path) -> list[Path]:
    """Return the folder of a scenario itself, or the scenarios that lie in a folder, by their names.

    Raises:
        MissingFile: There is no scenario.
    """
    if (folder / "scenario.yaml").is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob("*/scenario.yaml"))
    if not found:
        raise MissingFile(folder / "scenario.yaml", "a scenario, or a folder with folders of scenarios")
    return found


def scenarios_digest(folder: Path) -> str:
    """Return a digest of what the scenarios in a folder are played by: their descriptions, tables, rows and tools.

    Raises:
        MissingFile: There is no scenario, or the only one lacks a file.
    """
    contents: list[list[str | None]] = []
    folders = scenario_folders(folder)
    for place in folders:
        for name in FILES:
            there = (place / name).is_file()
            if not there and len(folders) == 1:
                raise MissingFile(place / name, "a file of the scenario")
            contents.append([place.resolve().name, name, (place / name).read_bytes().hex() if there else None])
    return digest_of(contents)


class ScenarioTasks:
    """The tasks `tasks/*.yaml` of a scenario's folder, or of all scenarios in a folder.

    A file holds a task as `agentworld_gym.core.domain.task.Task` has it, without `domain`; its id is the scenario's
    name and the name of the file. What it leaves out follows from the scenario: the state with all rows, the tools and
    the first observation.

    Args:
        folder: The folder of a scenario, or of several.
        spec: The domain, which reads the actions of the tasks.

    Raises:
        MissingFile: There is no scenario, or none has a task.
    """

    digest = staticmethod(scenarios_digest)

    def __init__(self, folder: Path, spec: DomainSpec) -> None:
        self._parser, self._folder = ActionParser(spec), folder
        files = {path: sorted((path / TASKS).glob("*.yaml"), key=_in_order) for path in scenario_folders(folder)}
        self._files = {path: tasks for path, tasks in files.items() if tasks}
        if not self._files:
            raise MissingFile(folder / TASKS, "at least one task of a scenario (tasks/*.yaml)")
        self._made: dict[Path, Task] = {}
        self.dropped: dict[str, str] = {}
        """The tasks that cannot be played, by their ids, with the reason; tasks enter as their seeds are drawn."""

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of all tasks."""
        return tuple(_id_of(file) for files in self._files.values() for file in files)

    def foreseen(self) -> Iterator[Task]:
        """Yield the first task of each scenario; one that cannot be played raises an error when it is drawn."""
        for files in self._files.values():
            with suppress(SpecError):
                yield self._task(files[0])

    def pick(self, seed: int) -> Task:
        """Return the task of a seed: consecutive seeds walk through the scenarios, then through the tasks of each.

        Where a task of one of several scenarios is wrong, a warning names it, and the next one is taken.

        Raises:
            SpecError: The only scenario, or its task, is wrong; the error names file, key, value and what was expected.
        """
        if len(self._files) == 1:
            return self._task(self._file(seed))
        most = len(self._files) * max(map(len, self._files.values()))
        for file in dict.fromkeys(self._file(seed + offset) for offset in range(most)):
            try:
                return self._task(file)
            except SpecError as error:
                self._drop(file, str(error))
        raise SpecError(self._folder, "tasks", next(iter(self.dropped.values())), "a task that can be played")

    def _file(self, seed: int) -> Path:
        rounds, place = divmod(seed, len(self._files))
        files = list(self._files.values())[place]
        return files[rounds % len(files)]

    def _drop(self, file: Path, reason: str) -> None:
        if _id_of(file) not in self.dropped:
            self.dropped[_id_of(file)] = reason
            logger.warning("task %s cannot be played: %s", _id_of(file), reason)

    def find(self, name: str) -> Task | None:
        """Return the task of an id; None where there is none."""
        for files in self._files.values():
            for file in files:
                if _id_of(file) == name:
                    return self._task(file)
        return None

    def _task(self, file: Path) -> Task:
        if file not in self._made:
            task = read_scenario_task(file, load_service(_name_of(file.parent.parent)))
            check_actions(task, self._parser, file)
            self._made[file] = task
        return self._made[file]


def read_scenario_task(file: Path, service: Service) -> Task:
    """Read a task that lies in a scenario's folder.

    Raises:
        SpecError: The task is wrong.
    """
    data = read_yaml(file)
    if not isinstance(data, dict):
        raise SpecError(file, "the whole document", data, "a task")
    return validated(Task, completed(data, service, _id_of(file)), file)


def completed(data: dict[str, Any], service: Service, name: str) -> dict[str, Any]:
    """Return what a task's file says with what follows from its scenario: state, tools and first observation."""
    scenario, about = service.scenario, service.scenario.about
    given = data.get("state")
    state: dict[str, Any] = {"scenario": _name_of(scenario.folder), "now": about.now, "user": about.user}
    state |= given if isinstance(given, dict) else {}
    if "tables" not in state:
        state["tables"] = initial_rows(service)
    follows = {
        "id": name,
        "domain": DOMAIN,
        "tools": service.listed,
        "first_observation": greeting(scenario.name, state["user"], state["now"]),
        "family": scenario.name,
    }
    return {**follows, **data, "state": state}


def initial_rows(service: Service) -> dict[str, list[dict[str, Scalar]]]:
    """Return the rows by table with which the tasks of a scenario begin: all of its small database of seed 0."""
    connection = open_image(service.generated("small", 0))
    try:
        return tables_of(connection, service.keys)
    finally:
        connection.close()


def _name_of(folder: Path) -> str:
    """Return the text by which the state of a task names the folder of a scenario.

    >>> _name_of(Path("clinic")), _name_of(Path("my/clinic"))
    ('./clinic', 'my/clinic')
    """
    text = str(folder)
    return text if "/" in text else f"./{text}"


def _id_of(file: Path) -> str:
    return f"{file.parent.parent.resolve().name}-{file.stem}"


def _in_order(file: Path) -> list[tuple[int, str]]:
    """Return a key that sorts numbers by their value: 2.yaml comes before 10.yaml."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", file.stem)]

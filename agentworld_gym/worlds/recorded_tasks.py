"""Language worlds of a system that is not here: recordings told its tasks, and nothing can run them for real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.base.fingerprint import Fingerprint, Part, digest_of
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation, Session, World
from agentworld_gym.core.domain.task import Split, Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.worlds.dreamed import DreamedWorld, Opening
from agentworld_gym.worlds.own_tasks import language_part

if TYPE_CHECKING:
    from agentworld_gym.worlds.options import WorldOptions


Offered = Callable[[str, str], tuple[str, ...] | None]
"""A function of the text of a screen and of an instruction that returns the actions that can be done; None where the
text is no screen."""


class RecordedTasks(Strict):
    """The tasks of recorded sessions, as a file holds them."""

    domain: str
    """The domain."""

    tools: tuple[dict[str, Any], ...] = ()
    """The tools that were called, which every task has."""

    tasks: tuple[Task, ...]
    """The tasks, without these tools."""

    @classmethod
    def read(cls, path: Path) -> RecordedTasks:
        """Read a file.

        Raises:
            SpecError: There is no such file, or it holds something else.
        """
        if not path.is_file():
            raise MissingFile(path, "one that `agentworld adopt --traces` leaves in the folder of a world", "tasks")
        try:
            return validated(cls, orjson.loads(path.read_bytes()), path)
        except orjson.JSONDecodeError as error:
            raise SpecError(path, "file", path.name, f"JSON ({error})") from error


class RecordedTaskPool:
    """The tasks of recorded sessions, by split.

    >>> task = {"id": "a", "domain": "mcp", "instruction": "Try it.", "family": "free_play", "success": []}
    >>> pool = RecordedTaskPool(RecordedTasks(domain="mcp", tools=({"name": "look"},), tasks=(task,)), "tasks.json")
    >>> pool.pick(7).id, pool.find("a").tools, pool.find("b")
    ('a', ({'name': 'look'},), None)

    Args:
        recorded: The tasks.
        file: What holds them, for errors.
    """

    def __init__(self, recorded: RecordedTasks, file: str | Path) -> None:
        self._file, self._split = file, "train"
        self._tasks = {
            task.id: task.model_copy(update={"tools": (*task.tools, *recorded.tools)}) for task in recorded.tasks
        }

    def foreseen(self) -> tuple[Task, ...]:
        """Return all tasks."""
        return tuple(self._tasks.values())

    def pick(self, seed: int) -> Task:
        """Return the task of a seed: consecutive seeds walk through all tasks of the split.

        Raises:
            SpecError: The split has none.
        """
        tasks = [task for task in self._tasks.values() if task.split == self._split]
        if not tasks:
            raise SpecError(self._file, "tasks", 0, f"at least one of the split {self._split}")
        return tasks[seed % len(tasks)]

    def find(self, name: str) -> Task | None:
        """Return the task of an id; None where there is none."""
        return self._tasks.get(name)

    def draw_from(self, split: Split) -> bool:
        """Draw from a split from now on."""
        self._split = split
        return True

    def without_judge(self) -> None:
        """Do nothing: no judge decides these tasks."""


class NoSystem:
    """Stands where a language world has the system that it has to be true to: every episode of it fails.

    Args:
        tasks: The tasks of the system.
        file: The file that holds them.
        offered: A function of a screen and an instruction that returns the actions that can be done; None where nothing
            tells them.
    """

    truth: None = None
    """There is none behind it."""

    deterministic = True
    """It always fails alike."""

    def __init__(self, tasks: RecordedTaskPool, file: Path, offered: Offered | None = None) -> None:
        self.tasks, self._file, self._offered = tasks, file, offered
        self.versions: dict[str, str] = {}
        digest = digest_of([task.model_dump(mode="json") for task in tasks.foreseen()])
        self.fingerprint = Fingerprint({"world": Part("none", True), "tasks": Part(digest, True)})

    def opened(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[Opening | Failure]:
        """Return how episodes begin: as they were recorded."""
        return [Opening(task) for task in tasks]

    def told(self, task: Task) -> Task:
        """Return a task as it is: a language world may be told all of it."""
        return task

    def pays(self, task: Task) -> bool:
        """Return that nobody pays here: the language world does, if anyone."""
        return False

    def offers(self, task: Task, screen: str) -> tuple[str, ...] | None:
        """Return the actions that can be done, where the screen tells them; None where it does not."""
        return self._offered(screen, task.instruction) if self._offered is not None else None

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[Session | Failure]:
        """Begin nothing: each failure says that there is no system."""
        return [
            Failure(FailureKind.ENGINE, f"{self._file}: recordings told these tasks; no system runs") for _ in tasks
        ]

    def step(self, sessions: Sequence[Session], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Answer nothing: there are no sessions."""
        return []

    def verify(
        self, sessions: Sequence[Session], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Find nothing: there are no sessions."""
        return []

    def close(self) -> None:
        """Do nothing: nothing is held."""


def open_recorded_tasks(
    handle: str, options: WorldOptions, open_world: Callable[[str, WorldOptions], World[Any]]
) -> DreamedWorld:
    """Open a language world of recorded tasks by its handle, `tasks:FILE+WORLD`.

    Args:
        handle: The handle.
        options: The domain, and how the language world is prompted and sampled.
        open_world: The function that opens the language world behind the plus.

    Raises:
        SpecError: The file holds no tasks of the domain, or a guard asks for a system to ground steps in.
        WorldNotConfigured: No language world stands behind the plus.
    """
    named, _, dreamer = handle.partition("+")
    if not dreamer:
        raise WorldNotConfigured(f"world={handle!r}: no system runs these tasks; pass {handle}+WORLD, a language world")
    file = Path(named.partition(":")[2])
    recorded = RecordedTasks.read(file)
    if recorded.domain != options.spec.id:
        raise SpecError("options", "spec", options.spec.id, f"{recorded.domain}, the domain of the tasks in {file}")
    if options.guard is not None and options.guard.get("remedy") == "ground":
        expected = "end, or live= with the configuration of the system: this world was made of recordings alone"
        raise SpecError("options", "language.guard.remedy", "ground", expected)
    dream = open_world(language_part(dreamer), options)
    domain, pays = find_domain(recorded.domain), getattr(dream, "pays", None) is not None
    # Only where pages pay is the next action a choice among what they show, written as the first dialect writes it.
    offered = domain.part("offers") if domain is not None and pays and options.spec.speaks_first_dialect else None
    truth = NoSystem(RecordedTaskPool(recorded, file), file, offered)
    return DreamedWorld.over(dream, truth, handle, "tasks:FILE", lambda part: part == "tasks")


def has_no_system(world: World[Any]) -> bool:
    """Return whether nothing can be done for real in a world, as its tasks were recorded elsewhere."""
    return isinstance(world, NoSystem)

"""The source of tasks: it decides which task a reset gets."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError, one_of
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.toolset import UNKNOWN_TOOL
from agentworld_gym.core.actions.usable_tools import usable_tools
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Split, Task, load_task, split_seed
from agentworld_gym.core.screens import stand_in
from agentworld_gym.core.tasks import families, generate, one_of_levels
from agentworld_gym.core.tasks import levels as levels_of

logger = logging.getLogger(__name__)

SPLITS = ("train", "validation", "test")
RESET_OPTIONS = ("task", "family", "level", "controls", "control_seed")


class TaskPool(Protocol):
    """The tasks that a world brings."""

    def foreseen(self) -> Iterable[Task]:
        """Yield tasks that show, before any seed is drawn, what all of them bring; none where that is not known yet."""
        ...

    def pick(self, seed: int) -> Task:
        """Return the task of a seed."""
        ...

    def find(self, name: str) -> Task | None:
        """Return the task of an id; None where there is none."""
        ...


@runtime_checkable
class CompletesTasks(Protocol):
    """A pool that fills in what a user's own task leaves out, as a live system knows its tools."""

    def complete(self, task: Task, folder: Path | None = None) -> Task:
        """Return a task with what it leaves out.

        Args:
            task: The task.
            folder: The folder of its file, from which its paths count; None takes the current one.
        """
        ...


@runtime_checkable
class DrawsSplits(Protocol):
    """A pool that may have other episodes in each split, as a live environment draws them by seed."""

    def draw_from(self, split: Split) -> bool:
        """Draw from a split from now on; false where the pool knows no splits."""
        ...


@runtime_checkable
class DecidedBySeed(Protocol):
    """A pool in which episodes of one task may be different ones, as a live environment makes another game of each
    seed."""

    @property
    def by_seed(self) -> bool:
        """Whether the seed of an episode decides what it is."""
        ...


class TaskSource:
    """A source that picks the task of an episode by the seed of the episode.

    Seeds walk through all families, then all levels, then the task seeds of the split, so that any run of consecutive
    seeds covers them evenly. A domain without families takes its hand-written tasks in turn.

    Args:
        spec: The spec of the domain.
        names: The families to draw from; None takes all families of the spec.
        levels: The levels to draw from.
        split: The split to draw from: `train`, `validation` or `test`.
        task: The one task of all episodes: the id of a hand-written or generated task, or the path of a YAML file.
            Seeds walk through a list of them.
        controls: The strengths of controls by their names, for every task.
        pool: The tasks that the world brings, to draw from instead of all others; they know no levels, and splits only
            where the pool `DrawsSplits`.

    Raises:
        SpecError: an unknown family, level, split, task or control.
    """

    def __init__(
        self,
        spec: DomainSpec,
        *,
        names: Sequence[str] | None = None,
        levels: Sequence[int] = (1,),
        split: Split = "train",
        task: str | Mapping[str, Any] | Task | Sequence[str | Mapping[str, Any] | Task] | None = None,
        controls: Mapping[str, float] | None = None,
        pool: TaskPool | None = None,
    ) -> None:
        self.pool = pool
        self.spec, self.split, self.levels = spec, split, tuple(levels)
        self.names = tuple(spec.tasks.families if names is None else names)
        if pool is not None:
            drawn = "train" if isinstance(pool, DrawsSplits) and split in SPLITS and pool.draw_from(split) else split
            for option, value, default in (
                ("families", names, None),
                ("levels", self.levels, (1,)),
                ("split", drawn, "train"),
            ):
                if value != default:
                    raise SpecError("options", option, value, "its default: the world brings its tasks")
        for name in self.names:
            if name not in spec.tasks.families:
                expected = f"some of {', '.join(spec.tasks.families) or 'none'}, the families of {spec.id}"
                raise SpecError("options", "families", name, expected)
        known = levels_of(spec.id)
        if not self.levels or any(type(level) is not int or level not in known for level in self.levels):
            expected = f"some of {', '.join(map(str, known))}, the levels of {spec.id}"
            raise SpecError("options", "levels", list(levels), expected)
        if split not in SPLITS:
            raise SpecError("options", "split", split, "one of train, validation, test")
        self.controls = checked_controls(spec, controls or {})
        self._families = families(spec.id)
        for name in self.names:
            if name not in self._families:
                raise SpecError(spec.path, "tasks.families", name, f"one of {', '.join(self._families) or 'none'}")
        self._parser = ActionParser(spec)
        self._handwritten = {task.id: task for task in spec.handwritten_tasks()}
        for written in self._handwritten.values():
            check_actions(written, self._parser, spec.path, f"task {written.id}: ")
        self._fixed = self._named(task)
        given = [task] if isinstance(task, str | Mapping | Task) else task or []
        self.own = [(found, file) for found, one in zip(self._fixed, given, strict=True) if (file := file_of(one))]
        """The tasks that the caller wrote, each with the file that it stands in."""
        if not self.names and not self._handwritten and task is None and pool is None:
            raise SpecError(spec.path, "tasks", spec.tasks.model_dump(), "at least one family or file, or pass task=…")

    def foreseen(self) -> Iterable[Task]:
        """Return the tasks that are known before any seed is drawn; none where families make them."""
        if self._fixed:
            return self._fixed
        if self.pool is not None:
            return self.pool.foreseen()
        return () if self.names else tuple(self._handwritten.values())

    def pick(self, seed: int, options: Mapping[str, Any]) -> Task:
        """Return the task of a seed.

        Args:
            seed: The seed of the episode.
            options: The options of a reset, which may name a `task`, `family`, `level`, `controls` or `control_seed`.

        Raises:
            SpecError: an unknown option, or a value that does not fit.
        """
        for name, value in options.items():
            if name not in RESET_OPTIONS:
                raise SpecError("options", name, value, f"one of {', '.join(RESET_OPTIONS)}")
        task = self._pick(seed, options)
        controls = {**self.controls, **checked_controls(self.spec, options.get("controls") or {})}
        control_seed = options.get("control_seed", task.control_seed)
        if control_seed is not None and (isinstance(control_seed, bool) or not isinstance(control_seed, int)):
            raise SpecError("options", "control_seed", control_seed, "an integer")
        if controls or control_seed != task.control_seed:
            changed = {"controls": {**task.controls, **controls}, "control_seed": control_seed}
            return task.model_copy(update=changed)
        return task

    def _pick(self, seed: int, options: Mapping[str, Any]) -> Task:
        if options.get("task") is not None:
            return self.find(options["task"])
        if self._fixed:
            return self._fixed[seed % len(self._fixed)]
        if self.pool is not None:
            for name in ("family", "level"):
                if options.get(name) is not None:
                    raise SpecError("options", name, options[name], "None: the world brings its tasks")
            return self.pool.pick(seed)
        if not self.names:
            tasks = list(self._handwritten.values())
            return tasks[seed % len(tasks)]
        # A family or level that the options name takes no part of the seed, so the next seeds give other tasks of it.
        index, family, level = seed, options.get("family"), options.get("level")
        if family is None:
            index, position = divmod(index, len(self.names))
            family = self.names[position]
        if level is None:
            index, place = divmod(index, len(self.levels))
            level = self.levels[place]
        if family not in self._families:
            raise SpecError("options", "family", family, f"one of {', '.join(self.names)}")
        if level not in levels_of(self.spec.id):
            raise SpecError("options", "level", level, one_of_levels(self.spec.id))
        return generate(self.spec.id, family, level, split_seed(self.split, index))

    def _named(
        self, task: str | Mapping[str, Any] | Task | Sequence[str | Mapping[str, Any] | Task] | None
    ) -> tuple[Task, ...]:
        if task is None:
            return ()
        if isinstance(task, str | Mapping | Task):
            return (self.find(task),)
        if not task:
            raise SpecError("options", "task", task, "at least one task")
        return tuple(self.find(one) for one in task)

    def find(self, task: str | Mapping[str, Any] | Task) -> Task:
        """Return a task that is named by its id or by the path of its file, or given as a mapping or as a task.

        Raises:
            SpecError: there is no such task, it is broken, or it belongs to another domain.
        """
        if isinstance(task, Mapping):
            task = validated(Task, {"id": "inline", "domain": self.spec.id, **task}, "options.task")
        file, is_named = "options.task", isinstance(task, str)
        if isinstance(task, str):
            loaded = self._handwritten.get(task)
            if loaded is None and task.endswith((".yaml", ".yml")):
                loaded, file, is_named = load_task(Path(task), self.spec.id), task, False
            if loaded is None and self.pool is not None:
                loaded = self.pool.find(task)
            if loaded is None:
                loaded = self._generated(task)
            if loaded is None:
                names = ", ".join(sorted(self._handwritten)) or "none"
                brought = "" if self.pool is None else "the id of a task that the world brings, "
                expected = f"{brought}a YAML file, FAMILY-LEVEL-SEED, or one of: {names}"
                raise SpecError("options", "task", task, expected)
            task = loaded
        if task.domain != self.spec.id:
            raise SpecError("options", "task.domain", task.domain, self.spec.id)
        if task.seed is None and task is not self._handwritten.get(task.id):
            if not is_named:
                task = with_usable_tools(self._completed(task, file))
            check_actions(task, self._parser, file)
            checked_controls(self.spec, task.controls, file)
        return task

    def _completed(self, task: Task, file: str) -> Task:
        """Return a user's own task with what it leaves out, where the pool knows that."""
        pool: object = self.pool
        if not isinstance(pool, CompletesTasks):
            return task
        return pool.complete(task, Path(file).parent if file.endswith((".yaml", ".yml")) else None)

    def _generated(self, name: str) -> Task | None:
        family, _, rest = name.partition("-")
        level, _, seed = rest.partition("-")
        if family in self._families and level in map(str, levels_of(self.spec.id)) and seed.isdecimal():
            return generate(self.spec.id, family, int(level), int(seed))
        return None


def file_of(task: str | Mapping[str, Any] | Task) -> str | None:
    """Return where a task of one's own stands: its file or the option that holds it; None for the id of a task.

    >>> file_of("my.yaml"), file_of({"instruction": "i"}), file_of("count_lines-1-0")
    ('my.yaml', 'options.task', None)
    """
    if isinstance(task, str):
        return task if task.endswith((".yaml", ".yml")) else None
    made = isinstance(task, Task) and task.seed is not None
    return None if made else "options.task"


def with_usable_tools(task: Task) -> Task:
    """Return a task without those of its tools that nobody can call; a warning names what is left out."""
    usable = usable_tools(task.tools)
    if not usable.left_out:
        return task
    logger.warning(usable.describe_left_out(f"task {task.id}"))
    return task.model_copy(update={"tools": usable.tools})


def check_actions(task: Task, parser: ActionParser, file: str | Path, prefix: str = "") -> None:
    """Check that every action that a task names can be read as an agent's action.

    Raises:
        SpecError: an action cannot be read; the error names its key after the prefix.
    """
    actions = [(f"menu.{place}", action) for place, action in enumerate(task.menu)]
    actions += [(f"expert.{place}", action) for place, action in enumerate(task.expert)]
    actions += [(f"success.{place}.probe", probe) for place, one in enumerate(task.success) for probe in one.probes]
    for key, action in actions:
        problem = parser.parse(stand_in(task.domain, action), task.tools).error
        if problem is not None:
            unknown = problem.removeprefix(UNKNOWN_TOOL)
            if unknown != problem:
                problem += f"; expected {one_of(unknown, [str(tool['name']) for tool in task.tools])}"
            raise SpecError(file, f"{prefix}{key}", action, f"an action that can be read ({problem})")


def checked_controls(spec: DomainSpec, controls: Mapping[str, Any], file: str | Path = "options") -> dict[str, float]:
    """Return controls after checking that their names are known and their strengths lie between 0 and 1.

    Args:
        spec: The spec of the domain.
        controls: The strengths by name.
        file: Where they stand, for errors.

    Raises:
        SpecError: a name is unknown, or a strength is no number from 0 to 1.
    """
    if not isinstance(controls, Mapping):
        raise SpecError(file, "controls", controls, "strengths by name, as in {'pagination': 0.5}")
    for name, strength in controls.items():
        if name not in spec.controls:
            raise SpecError(file, "controls", name, f"one of {', '.join(spec.controls) or 'none'}")
        if isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1:
            raise SpecError(file, f"controls.{name}", strength, "a number from 0 to 1")
    return {name: float(strength) for name, strength in controls.items()}

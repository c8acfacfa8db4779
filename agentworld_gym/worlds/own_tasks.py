"""Worlds that bring their own tasks, such as those of a folder, and how a handle names one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agentworld_gym.core.contracts import World
from agentworld_gym.core.registration import all_domains, resolved
from agentworld_gym.core.tasks.source import TaskPool
from agentworld_gym.worlds.options import WorldOptions

ADOPTED, RECORDED, MODEL, BOOK = "live.yaml", "tasks.json", "model", "worldbook.yaml"
"""What the folder of an adopted world holds: the configuration of its live system, or the tasks that recordings of it
told; the model that plays them; and the worldbook that answers first, where it does."""

TASKS = "tasks:"
"""What stands before the file of recorded tasks in a handle."""

OpenWorld = Callable[[str, str, WorldOptions], World[Any]]
"""A function that opens the world of a handle: it takes the handle, the rest behind its scheme, and the options."""


class OwnTasks(TaskPool, Protocol):
    """The tasks that a world brings."""

    def without_judge(self) -> None:
        """Leave the judge out of the checks of all tasks."""
        ...


@runtime_checkable
class BringsTasks(Protocol):
    """A world that brings its own tasks."""

    @property
    def tasks(self) -> OwnTasks:
        """The tasks."""
        ...

    @property
    def truth(self) -> World[Any] | None:
        """The world that this one has to be true to; None where it is itself the truth."""
        ...

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the libraries that decide what the world shows."""
        ...


def opener_of(scheme: str) -> OpenWorld | None:
    """Return the function that opens the worlds of a scheme; None where no domain has it.

    >>> opener_of("awm").__name__, opener_of("grounded") is None
    ('open_awm', True)
    """
    domain = schemes().get(scheme)
    if domain is None:
        return None
    opener: OpenWorld = resolved(all_domains()[domain].worlds[scheme])
    return opener


def schemes() -> dict[str, str]:
    """Return the domain of each scheme whose worlds bring their own tasks.

    >>> schemes()["awm"]
    'mcp'
    """
    return {scheme: domain.id for domain in all_domains().values() for scheme in domain.worlds}


def brings_tasks(handle: str) -> bool:
    """Return whether the world that a handle names brings its own tasks.

    >>> brings_tasks("awm:worlds"), brings_tasks("record:a.jsonl+awm:worlds"), brings_tasks("grounded")
    (True, True, False)
    """
    return truth_of(handle) != "grounded"


def truth_of(handle: str) -> str:
    """Return the handle of the world that a language world of a handle has to be true to.

    >>> truth_of("tiny"), truth_of("awm:worlds+tiny"), truth_of("live:my.yaml+http://localhost:8000/v1")
    ('grounded', 'awm:worlds', 'live:my.yaml')
    """
    if handle == "auto":
        handle = os.environ.get("AGENTWORLD_WORLD", "")
    inner = unfolded(handle.partition("+")[2] if handle.startswith("record:") else handle)
    if is_live(inner) or inner.startswith(TASKS):
        return inner.partition("+")[0]
    scheme, colon, _ = inner.partition(":")
    return inner.partition("+")[0] if colon and scheme in schemes() else "grounded"


def unfolded(handle: str) -> str:
    """Return the handle of the world that a folder of `agentworld adopt` holds; any other handle as it is.

    >>> unfolded("grounded"), unfolded("runs/nothing/there")
    ('grounded', 'runs/nothing/there')
    """
    if os.sep not in handle or ":" in handle:
        return handle
    folder = Path(handle).expanduser()
    for scheme, name in (("live:", ADOPTED), (TASKS, RECORDED)):
        if (folder / name).is_file():
            book = f"+worldbook:{folder / BOOK}" if (folder / BOOK).is_file() else ""
            return f"{scheme}{folder / name}{book}+{model_of(folder)}"
    return handle


def language_part(handle: str) -> str:
    """Return the handle of the language world in the folder of an adopted world, without the system whose tasks it
    plays; any other handle as it is.

    >>> language_part("tiny"), language_part("runs/nothing/there")
    ('tiny', 'runs/nothing/there')
    """
    inner = unfolded(handle)
    return handle if inner == handle else inner.partition("+")[2]


def model_of(folder: Path) -> str:
    """Return the handle of the model in the folder of an adopted world.

    >>> model_of(Path("runs/mine/world"))
    'transformers:runs/mine/world/model'
    """
    return f"transformers:{folder / MODEL}"


def is_live(handle: str) -> bool:
    """Return whether a handle names a live world, or a language world of its tasks.

    >>> is_live("live"), is_live("live:my.yaml+http://localhost:8000/v1"), is_live("lively")
    (True, True, False)
    """
    return handle.partition("+")[0].partition(":")[0] == "live"


def with_live(handle: str) -> str:
    """Return the handle of a world for the tasks of a live system that an option configures.

    >>> with_live("auto"), with_live("http://localhost:8000/v1"), with_live("record:a.jsonl+live")
    ('live', 'live+http://localhost:8000/v1', 'record:a.jsonl+live')
    """
    if handle == "auto":
        handle = os.environ.get("AGENTWORLD_WORLD") or "live"
    recording, plus, given = handle.partition("+") if handle.startswith("record:") else ("", "", handle)
    inner = language_part(given)  # The option has the tasks.
    if inner.startswith(TASKS):
        inner = inner.partition("+")[2]
    elif is_live(inner) or inner.startswith("recorded:"):
        return handle
    return f"{recording}{plus}live+{inner}"

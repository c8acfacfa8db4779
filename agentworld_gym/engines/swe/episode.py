"""What one episode consists of: files, history, to-do list, processes, the clock, and the perturbations in force."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field

from agentworld_gym.engines.controls import Controls
from agentworld_gym.engines.swe.files import File, Files, relative
from agentworld_gym.engines.swe.git.history import LAST_COMMIT, History
from agentworld_gym.engines.swe.python.sandbox import PythonSandbox
from agentworld_gym.engines.swe.state import RepositoryState

BEGIN = int(LAST_COMMIT.timestamp()) + 3600
STEP_SECONDS = 10
FIRST_PID = 4211


@dataclass(frozen=True, slots=True)
class Todo:
    """An entry of the to-do list."""

    id: str
    content: str
    status: str


@dataclass
class Episode:
    """All that an action can see or change. What it holds is replaced and never changed in place, `files` excepted.

    `stale` maps compiled files to the module and the text they were made of; `tested` and `stopped` are the states of
    the code at the last test run, as the flaky test and the timeout remember it; `reached` says whether the network
    answered when it was last asked. `given` are the files that the episode began with.
    """

    root: str
    version: str
    seed: int
    files: Files
    history: History | None
    sandbox: PythonSandbox
    controls: Controls
    step: int = 0
    todos: tuple[Todo, ...] = ()
    processes: dict[int, str] = field(default_factory=dict)
    next_pid: int = FIRST_PID
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)
    flaky: str = ""
    tested: str = ""
    stopped: str = ""
    reached: bool = True
    attempts: int = 0
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, state: RepositoryState, seed: int, controls: Controls, sandbox: PythonSandbox) -> Episode:
        """The episode at its start, perturbations not yet laid out."""
        files = Files({path: File(text, BEGIN - 600) for path, text in state.files.items()}, (state.root,))
        episode = cls(state.root, state.version, seed, files, None, sandbox, controls, given=state.files)
        if state.git is not None:
            episode.history = History.of(state.git, episode.work())
        return episode

    @property
    def now(self) -> int:
        """The time in seconds since the epoch."""
        return BEGIN + STEP_SECONDS * self.step

    def work(self) -> dict[str, str]:
        """The texts of the working tree by path from the root."""
        return {relative(path, self.root): self.files[path].text for path in self.files.below(self.root)}

    def copy(self) -> Episode:
        """An exact copy."""
        twin = copy(self)
        twin.files = self.files.copy()
        twin.history = self.history.copy() if self.history is not None else None
        return twin

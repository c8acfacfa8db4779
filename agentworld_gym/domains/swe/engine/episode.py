"""The state of one episode: files, history, to-do list, processes, the clock, and the faults in force."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field

from agentworld_gym.core.engines.controls import Controls
from agentworld_gym.domains.swe.engine.files import File, Files, relative
from agentworld_gym.domains.swe.engine.git.history import LAST_COMMIT, GitHistory
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox
from agentworld_gym.domains.swe.engine.state import FOLDERS, RepositoryState

BEGIN = int(LAST_COMMIT.timestamp()) + 3600
STEP_SECONDS = 10
FIRST_PID = 4211


@dataclass(frozen=True, slots=True)
class Todo:
    """An entry of the to-do list."""

    id: str
    content: str
    status: str


@dataclass(frozen=True, slots=True)
class BackgroundShell:
    """A command that was left in the background under a name, and what it printed."""

    command: str
    """The command line."""
    output: str
    """What the command printed and nobody has read yet."""
    exit_code: int | None
    """The exit status; None while the command runs, and where it was stopped."""
    running: bool
    """Whether the command runs."""
    pid: int
    """The number of the process."""


@dataclass
class RepositoryEpisode:
    """Everything that an action can see or change.

    Its values are replaced and never changed in place, except `files`.
    """

    root: str
    """The folder of the repository."""
    version: str
    """The version of Python."""
    seed: int
    """The seed of the episode."""
    files: Files
    """The files of the episode."""
    history: GitHistory | None
    """The content of `.git`, or `None` without version control."""
    sandbox: PythonSandbox
    """The sandbox in which Python runs."""
    controls: Controls
    """The faults in force."""
    step: int = 0
    """The number of actions so far."""
    todos: tuple[Todo, ...] = ()
    """The to-do list."""
    processes: dict[int, str] = field(default_factory=dict)
    """The commands of the processes in the background, by process number."""
    shells: dict[str, BackgroundShell] = field(default_factory=dict)
    """The commands in the background by name, where a scaffold gives them names."""
    memories: tuple[str, ...] = ()
    """The facts that the agent had the scaffold remember."""
    next_pid: int = FIRST_PID
    """The number of the next process."""
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The stale modules by compiled file: the path of the module and the text from which it was compiled."""
    flaky: str = ""
    """The path of the flaky test, if there is one."""
    tested: str = ""
    """The digest of the code at the last test run, as the flaky test remembers it."""
    stopped: str = ""
    """The digest of the code at the last test run, as the timeout remembers it."""
    reached: bool = True
    """Whether the network answered the last time."""
    attempts: int = 0
    """How often the network was asked."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The tests that failed when they were last run (see
    `agentworld_gym.domains.swe.engine.structured_state.test_reports`). A machine notes them when its structured state
    is asked for."""
    initial: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files at the start."""

    @classmethod
    def of(cls, state: RepositoryState, seed: int, controls: Controls, sandbox: PythonSandbox) -> RepositoryEpisode:
        """Return the episode at its start, before faults are laid out."""
        files = Files({path: File(text, BEGIN - 600) for path, text in state.files.items()}, (state.root, *FOLDERS))
        episode = cls(state.root, state.version, seed, files, None, sandbox, controls, initial=state.files)
        if state.git is not None:
            episode.history = GitHistory.of(state.git, episode.work())
        return episode

    @property
    def now(self) -> int:
        """The time in seconds since the epoch."""
        return BEGIN + STEP_SECONDS * self.step

    def work(self) -> dict[str, str]:
        """Return the texts of the working tree by path from the root."""
        return {relative(path, self.root): self.files[path].text for path in self.files.below(self.root)}

    def copy(self) -> RepositoryEpisode:
        """Return an exact copy."""
        twin = copy(self)
        twin.files = self.files.copy()
        twin.history = self.history.copy() if self.history is not None else None
        return twin

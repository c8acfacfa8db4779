"""A queue of training runs that one process works off, one after the other, however often it is stopped.

Each run is `agentworld train` in a process and a folder of its own. A run that was stopped goes on from its last
checkpoint, and one whose folder holds a `model` is finished.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.interrupts import stopped_by_signals
from agentworld_gym.base.process.parallel import bindable_cores
from agentworld_gym.recipe.run_folder import sole_process
from agentworld_gym.recipe.training.metrics import read_metrics
from agentworld_gym.recipe.training.pipeline import MODEL

logger = logging.getLogger(__name__)

Status = Literal["waiting", "begun", "finished", "failed"]


class QueuedRun(Strict):
    """One run of a queue.

    >>> QueuedRun(name="terminal", config="terminal-state", changes={"train.seed": 1}).stage
    'cpt'
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """The name of the run, which is that of its folder."""

    stage: Literal["cpt", "sft", "rl"] = "cpt"
    """The stage, which is the command of `agentworld train`."""

    config: str = Field(min_length=1)
    """The configuration: the name of a shipped one, or the path of a YAML file."""

    changes: dict[str, Any] = Field(default_factory=dict)
    """Values that replace those in the configuration, by dotted key."""

    def command(self, folder: Path) -> list[str]:
        """Return the command line that begins this run in a folder, or goes on with it.

        >>> QueuedRun(name="a", config="search").command(Path("runs/a"))[1:]
        ['-m', 'agentworld_gym', 'train', 'cpt', 'search', '--out', 'runs/a']
        """
        line = [sys.executable, "-m", "agentworld_gym", "train", self.stage, self.config, "--out", str(folder)]
        return line + [part for key, value in self.changes.items() for part in ("--set", f"{key}={json.dumps(value)}")]


class Queue(Strict):
    """Runs in the order in which they are worked off, each with a name of its own.

    >>> [run.name for run in Queue(runs=[{"name": "a", "config": "search"}]).runs]
    ['a']
    """

    runs: tuple[QueuedRun, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [run.name for run in self.runs]
        if len(set(names)) < len(names):
            raise ValueError("runs: names that differ, for each run has a folder of its own")
        return self


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run of a queue stands."""

    name: str
    """The name of the run."""

    status: Status
    """Whether the run is waiting, begun, finished or failed."""

    tokens: int = 0
    """The number of tokens that the run has trained on."""

    exact: float | None = None
    """The share of exact answers in its last validation; None where there was no validation."""


def load_queue(path: Path) -> Queue:
    """Read a queue from a YAML file.

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    return validated(Queue, read_yaml(path), path)


def state_of(run: QueuedRun, folder: Path) -> RunState:
    """Read the state of a run from its folder.

    >>> state_of(QueuedRun(name="a", config="search"), Path("no/such/folder"))
    RunState(name='a', status='waiting', tokens=0, exact=None)
    """
    metrics = read_metrics(folder)
    tokens = max((int(line.get("tokens", 0)) for line in metrics if "progress" in line), default=0)
    exact = next((line["validation_exact"] for line in reversed(metrics) if "validation_exact" in line), None)
    if (folder / MODEL).is_dir():
        return RunState(run.name, "finished", tokens, exact)
    return RunState(run.name, "begun" if folder.is_dir() else "waiting", tokens, exact)


class QueueWorker:
    """Works off a queue in a folder, in which every run has a folder and a log.

    Args:
        queue: The runs.
        folder: The parent of the runs' folders.
        core: The CPU core that the runs are bound to; None leaves it to the system.
        tell: A function that is called with the state of a run when it begins and when it ends.
    """

    def __init__(self, queue: Queue, folder: Path, core: int | None, tell: Callable[[RunState], None]) -> None:
        self._queue, self._folder, self._core, self._tell = queue, folder, core, tell
        self._stopped = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """End the current run at its next step, with a checkpoint, and begin no other; safe in a signal handler."""
        self._stopped.set()
        if self._process is not None:
            self._process.terminate()

    def run(self, seconds: float | None = None) -> list[RunState]:
        """Work until all runs are over, `stop` is called, a signal comes, or the time is up.

        Where a run fails, its state says so, the reason stands in its log, and the next run begins.

        Args:
            seconds: The time in seconds after which the current run is stopped; None sets no end.

        Returns:
            The state of every run.

        Raises:
            TrainingError: Another process works off a queue in this folder.
            SpecError: The core is not one that this process may use.
        """
        if self._core is not None and self._core not in (usable := bindable_cores()):
            expected = (
                f"one of the cores {', '.join(map(str, usable))}" if usable else "no core: this system binds none"
            )
            raise SpecError("queue", "core", self._core, expected)
        failed: set[str] = set()
        with (
            sole_process(self._folder, "works off a queue") as lock,
            stopped_by_signals(self.stop),
            _timed(self.stop, seconds),
        ):
            for run in self._queue.runs:
                if self._stopped.is_set() or self._state(run, failed).status == "finished":
                    continue
                self._tell(self._state(run, failed))
                if self._play(run, lock) and not self._stopped.is_set():
                    failed.add(run.name)
                self._tell(self._state(run, failed))
        return [self._state(run, failed) for run in self._queue.runs]

    def _play(self, run: QueuedRun, lock: int) -> int:
        """Run one run to its end and return its exit status; the run holds the lock too, in case this process dies."""
        with (self._folder / f"{run.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                run.command(self._folder / run.name),
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C then reaches this process alone, which passes it on once
                pass_fds=(lock,),
            )
            if self._core is not None:
                os.sched_setaffinity(self._process.pid, {self._core})
            if self._stopped.is_set():
                self._process.terminate()
            status = self._process.wait()
            self._process = None
        return status

    def _state(self, run: QueuedRun, failed: set[str]) -> RunState:
        state = state_of(run, self._folder / run.name)
        return RunState(state.name, "failed", state.tokens, state.exact) if run.name in failed else state


@contextmanager
def _timed(stop: Callable[[], None], seconds: float | None) -> Iterator[None]:
    """Call `stop` after some seconds, unless the work is over by then."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

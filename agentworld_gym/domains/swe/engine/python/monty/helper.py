"""Runs Python for a forked process in a helper process, because the interpreter's threads stayed with the parent.

The helper is a fresh Python that reads one JSON job a line and answers with one JSON result a line. It ends with its
standard input, and so with the process that started it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.base.process.per_process import PerProcess
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult

HELPER = "agentworld_gym.domains.swe.engine.python.monty.helper_main"
"""The module that the helper runs. It is started by its name, because it needs the sandbox, which needs this module."""


class Helper:
    """A process that runs one job after the other; a process that died is started anew."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def run(self, job: Mapping[str, Any]) -> PythonResult:
        """Run one job."""
        with self._lock:
            if self._process is None:
                command = [sys.executable, "-m", HELPER]
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self._process.stdin is not None and self._process.stdout is not None
            try:
                self._process.stdin.write(json.dumps(job).encode() + b"\n")
                self._process.stdin.flush()
                reply = json.loads(self._process.stdout.readline())
            except (OSError, ValueError):
                self._process.kill()
                self._process = None
                return PythonResult("", "Killed\n", 137)
        return PythonResult(**{**reply, "removed": tuple(reply["removed"])})


_HELPER = PerProcess(Helper)


def relayed(
    files: Mapping[str, str], argv: Sequence[str], *, cwd: str, stdin: str, env: Mapping[str, str], timeout_s: float
) -> PythonResult:
    """Run Python with monty in the helper of this process, which starts with the first run."""
    job = {"files": dict(files), "argv": list(argv), "cwd": cwd, "stdin": stdin, "env": dict(env)}
    return _HELPER().run({**job, "timeout_s": timeout_s})

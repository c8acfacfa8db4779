"""The program `adb`, for one phone: what it runs there, and how it fails."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost

MOST_BYTES = 8 << 20
"""How many bytes `adb` may print to one stream."""

_FAILED = re.compile(r"(?m)^(?:error|adb|\*)[: ]")
"""How `adb` begins what it says of its own failures; a program on the phone may print the same."""


class AdbOutput(NamedTuple):
    """What a call of `adb` gave."""

    status: int
    """Its exit status, which is that of the command on the phone (since Android 7)."""

    output: str
    """What it printed."""

    errors: str
    """What it printed to the standard error."""


class Adb:
    """Runs commands on one phone.

    Args:
        program: The program.
        serial: The serial of the phone.
        env: The environment of the program; None for that of this process.
    """

    def __init__(self, program: str, serial: str, env: Mapping[str, str] | None = None) -> None:
        self.serial = serial
        self._line, self._env = [program, "-s", serial], env

    def shell(self, line: str, seconds: float) -> AdbOutput:
        """Run a line of the phone's shell.

        Args:
            line: The line.
            seconds: How long it may take.

        Raises:
            SystemLost: The phone is not there.
            SystemLate: It does not answer in time.
            EngineError: It prints too much.
        """
        return self.call("shell", line, seconds=seconds)

    def call(self, *words: str, seconds: float) -> AdbOutput:
        """Run `adb` with some words; see `shell`."""
        ran = self._run(words, seconds)
        if ran.status and _FAILED.search(ran.errors) and not self._is_there(seconds):
            raise SystemLost(f"the phone {self.serial} cannot be reached: {ran.errors.strip()[-500:]}")
        return ran

    def _is_there(self, seconds: float) -> bool:
        with suppress(SystemLate):
            return self._run(("get-state",), seconds).output.strip() == "device"
        return False

    def _run(self, words: tuple[str, ...], seconds: float) -> AdbOutput:
        try:
            process = subprocess.Popen(
                [*self._line, *words],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise EngineError(f"{self._line[0]} cannot be started: {error}") from error
        try:
            output, errors = self._read(process, words, time.monotonic() + seconds)
            status = process.wait(5.0)
        except BaseException:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        return AdbOutput(status, output, errors)

    def _read(self, process: subprocess.Popen[bytes], words: tuple[str, ...], until: float) -> tuple[str, str]:
        """Return what a process prints to both of its streams.

        Raises:
            SystemLate: It does not end in time.
            EngineError: It prints too much.
        """
        told = {"output": bytearray(), "errors": bytearray()}
        with selectors.DefaultSelector() as waiting:
            for stream, name in ((process.stdout, "output"), (process.stderr, "errors")):
                assert stream is not None
                waiting.register(stream, selectors.EVENT_READ, name)
            while waiting.get_map():
                left = until - time.monotonic()
                ready = waiting.select(left) if left > 0 else []
                if not ready:
                    raise SystemLate(f"the phone {self.serial} did not answer `{' '.join(words)[:200]}` in time")
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        waiting.unregister(key.fileobj)
                    told[key.data] += data
                    if len(told[key.data]) > MOST_BYTES:
                        raise EngineError(f"the phone {self.serial} prints more than {MOST_BYTES >> 20} MiB")
        output, errors = (bytes(one).decode("utf-8", "replace").replace("\r\n", "\n") for one in told.values())
        return output, errors

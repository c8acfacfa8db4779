"""The server of one session: a command that serves the site, which nobody else can reach."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.domains.web.live.config import SiteConfig
from agentworld_gym.kit.live import Confinement
from agentworld_gym.kit.live.process_watch import end_tree, family_of, process_watch

DIALER = Path(__file__).with_name("dialer.py")
"""The program that runs the server."""

LAST_WORDS = 2000
"""How many bytes of the standard error are kept."""

PAUSE = 0.05
"""How many seconds are between two attempts to connect to a server that is starting."""


class LiveSiteServer:
    """A server, started and ready. In the sandbox it listens on the port of the site.

    Args:
        config: The site.
        confinement: How its command runs.

    Raises:
        SystemLost: It ended.
        SystemLate: It does not listen in time.
        EngineError: It cannot be started.
    """

    def __init__(self, config: SiteConfig, confinement: Confinement) -> None:
        assert config.command is not None
        self._config = config
        port = config.origin[1]
        if config.trusted or config.network is True:  # It shares the network of this machine.
            port = free_port()
        self.port = port
        """The port at which it listens."""
        command = confinement.inside([word.replace("{port}", str(port)) for word in config.command])
        variables = {"PORT": str(port)}
        words = confinement.command([sys.executable, str(DIALER), str(port), *command], env=variables)
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock, self._errors = threading.Lock(), b""
        try:
            with theirs:
                self._process = subprocess.Popen(
                    words,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=confinement.environment(variables),
                    cwd=str(confinement.folder) if config.trusted else "/",
                    start_new_session=True,
                )
        except OSError as error:
            self._link.close()
            raise EngineError(f"the server of the site cannot be started: {error}") from error
        self._watched = process_watch().add(self._process.pid, config.limits)
        self._reading = threading.Thread(target=self._keep_errors, name="agentworld-live-errors", daemon=True)
        self._reading.start()
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def _wait(self) -> None:
        """Wait until it listens."""
        seconds = self._config.limits.start_seconds
        until = time.monotonic() + seconds
        while True:
            with suppress(ConnectionRefusedError):
                self.connect().close()
                return
            if time.monotonic() > until:
                raise SystemLate(f"the server of the site does not listen within {seconds:g} s{self._said()}")
            time.sleep(PAUSE)

    def connect(self) -> socket.socket:
        """Return a connection to the server.

        Raises:
            ConnectionRefusedError: Nothing listens at its port.
            SystemLost: It ended.
            SystemLate: It does not answer in time.
        """
        with self._lock:
            try:
                self._link.settimeout(self._config.limits.step_seconds)
                self._link.send(b"?")
                told, files, _, _ = socket.recv_fds(self._link, 64, 1)
            except TimeoutError as error:
                raise SystemLate("the server of the site accepts no connection in time") from error
            except OSError as error:
                raise SystemLost(f"the server of the site ended: {self.why}") from error
        if files:
            found = socket.socket(fileno=files[0])
            found.settimeout(self._config.limits.step_seconds)
            return found
        if told == b"n":
            raise ConnectionRefusedError("nothing listens at the port of the site")
        if told.startswith(b"e"):
            raise SystemLost(f"the server of the site ended with status {told[1:].decode()}{self._said()}")
        raise SystemLost(f"the server of the site ended: {self.why}")

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process, which holds the server."""
        return self._process.pid

    @property
    def why(self) -> str:
        """Why it ended, with the last that it wrote to its standard error."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        status = self._process.returncode
        how = self._watched.broken or (f"its status is {status}" if status is not None else "it closed the connection")
        return how + self._said()

    def _said(self) -> str:
        self._reading.join(0.1)
        said = self._errors.decode("utf-8", "replace").strip()[-500:]
        return f"; it wrote: {said}" if said else ""

    def _keep_errors(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 65536):
                self._errors = (self._errors + data)[-LAST_WORDS:]

    def close(self) -> None:
        """End it with all that it started; a second call does nothing."""
        process_watch().remove(self._watched)
        if self._process.poll() is None:
            family = family_of(self._process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            end_tree(family)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)
        self._link.close()
        self._reading.join(1.0)
        if self._process.stderr is not None:
            self._process.stderr.close()


def free_port() -> int:
    """Return a port of this machine at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

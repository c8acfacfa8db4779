"""The first process in the sandbox: it has the libraries loaded and forks a process for each world and verdict.

It never runs foreign code itself. What it forks may start no process, send no signal and open no socket.
"""

from __future__ import annotations

import itertools
import os
import select
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.inside.frames import Frames
from agentworld_gym.domains.mcp.awm.engine.inside.process_copies import Listener

FOLDER = "/verdict"
"""The folder of the databases that a verifier reads, and of the files that it makes; it is emptied after each."""

MAX_ENTRIES = 10_000
"""How many files, folders and links a verifier may make. They take memory of the kernel that no other limit counts."""

STACK = 512 << 10
LOOK = 0.002
LOOK_AT_FILES = 0.05
PATIENCE = 1.0
"""The seconds that a process whose socket is closed has to end."""


def main(number: int, worlds: bool) -> None:
    """Serve the host until it is gone.

    Args:
        number: The number of the socket to the host.
        worlds: Whether worlds are played here, so that their libraries are loaded; otherwise verdicts are.
    """
    from agentworld_gym.domains.mcp.awm.engine.inside.limits import close_to_others, silence

    close_to_others()
    silence()
    threading.stack_size(STACK)
    end = socket.socket(fileno=number)
    frames = Frames(end, takes_files=worlds)
    fork_server = _Worlds(frames) if worlds else _Verdicts(frames)
    frames.send({"ready": os.getpid()})
    while True:
        try:
            message, blob = frames.receive()
        except EOFError:
            os._exit(0)
        fork_server.answer(message, blob)


class _Worlds:
    def __init__(self, frames: Frames) -> None:
        import asyncio.events  # noqa: F401
        import gc

        import anyio.to_thread  # noqa: F401
        import fastapi.middleware.cors
        import fastapi.openapi.utils  # noqa: F401
        import jsonschema  # noqa: F401
        import pydantic  # noqa: F401
        import sqlalchemy.dialects.sqlite
        import sqlalchemy.ext.declarative
        import sqlalchemy.orm  # noqa: F401

        with suppress(ImportError):
            import uvicorn  # noqa: F401

        from agentworld_gym.domains.mcp.awm.engine.inside.worker import work

        self._frames, self._work, self._ended = frames, work, dict[int, str]()
        self._living = dict[int, Listener | None]()
        gc.collect()
        gc.freeze()

    def answer(self, message: dict[str, Any], blob: bytes) -> None:
        if message["do"] == "end":
            self._frames.send({"how": self._end(message["pid"], PATIENCE if message["gone"] else 0.0)})
        else:
            number = self._frames.files.pop()
            try:
                told = self._forked(number, message) if message["do"] == "fork" else self._copied(number, message)
            except OSError as error:
                told = {"error": str(error)}
            os.close(number)
            self._frames.send(told)
        for pid in list(self._living):
            with suppress(ChildProcessError):
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    self._forget(pid)
                    self._ended[pid] = _how(status)

    def _forked(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        """Start a process whose socket has a number; it may be copied where the kernel knows how."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            pid = os.fork()
            if pid == 0:
                self._frames.close()
                ours.close()
                for other in set(filter(None, self._living.values())):  # They belong to other worlds.
                    other.close()
                self._work(Frames(socket.socket(fileno=number)), theirs, message["memory"])
            theirs.close()
            _, files, _, _ = socket.recv_fds(ours, 1, 1)
        listener = Listener(files[0]) if files else None
        if listener is not None and not listener.usable:
            listener.close()
            listener = None
        self._living[pid] = listener
        return {"pid": pid, "copyable": listener is not None}

    def _copied(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        """Let a process be copied; the socket of the copy has a number."""
        listener = self._living.get(message["pid"])
        if listener is None:
            raise ProcessLookupError(f"there is no process {message['pid']} that may be copied")
        try:
            pid = listener.let(message["pid"], number, self._living)
        except OSError:
            self._end_strays()
            raise
        self._living[pid] = listener
        return {"pid": pid, "copyable": True}

    def _end_strays(self) -> None:
        """End the copies that never asked for their socket: all processes here that nobody knows."""
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if pid != os.getpid() and pid not in self._living:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _forget(self, pid: int) -> None:
        listener = self._living.pop(pid)
        if listener is not None and listener not in self._living.values():
            listener.close()

    def _end(self, pid: int, patience: float) -> str:
        """Kill a process that does not end within some seconds, and return how it ended by itself."""
        if pid in self._living:
            found, status = os.waitpid(pid, os.WNOHANG)
            until = time.monotonic() + patience
            while not found and time.monotonic() < until:
                time.sleep(LOOK)
                found, status = os.waitpid(pid, os.WNOHANG)
            if not found:
                os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
            self._forget(pid)
            return _how(status) if found else ""
        return self._ended.pop(pid, "")


class _Verdicts:
    def __init__(self, frames: Frames) -> None:
        from agentworld_gym.domains.mcp.awm.engine.inside.verdicts import verdict

        self._frames, self._verdict = frames, verdict

    def answer(self, message: dict[str, Any], blob: bytes) -> None:
        job = {**message, "initial": f"{FOLDER}/initial.db", "final": f"{FOLDER}/final.db"}
        for path, image in ((job["initial"], blob[: message["split"]]), (job["final"], blob[message["split"] :])):
            with open(path, "wb") as file:
                file.write(image)
            os.chmod(path, 0o444)
        readable, writable = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(readable)
            self._frames.close()
            self._verdict(writable, job, message["memory"])
        os.close(writable)
        data, late = _read(readable, message["seconds"])
        os.close(readable)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        how = _how(status)
        if _too_many_files():
            data, how = b"", f"made more than {MAX_ENTRIES} files"
        try:
            empty(FOLDER)
        except OSError:
            os._exit(1)  # The host tells of it as a failure of this episode alone, and starts another sandbox.
        self._frames.send({"told": data.decode("utf-8", "replace"), "late": late, "how": how})


def empty(folder: str) -> None:
    """Remove all that is in a folder, however deep it is and whatever its modes are; no link is followed.

    Folders are moved up before they are looked into, so that no path is longer than the kernel takes. No other process
    may be at work in the folder.

    Args:
        folder: The path of the folder.

    Raises:
        OSError: Something cannot be removed.
    """
    names = (f"{folder}/{number}" for number in itertools.count())
    free = (name for name in names if not os.path.lexists(name))
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        with os.scandir(path) as entries:
            found = list(entries)
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                os.remove(entry)
                continue
            os.chmod(entry, 0o700)
            place = entry.path if path == folder else next(free)
            if place != entry.path:
                os.rename(entry, place)
            waiting.append(place)
        if path != folder:
            os.rmdir(path)


def _read(pipe: int, seconds: float) -> tuple[bytes, bool]:
    """Return what comes through a pipe until its other end is closed, and whether that took too long.

    It also returns when there are too many files.
    """
    data, until = b"", time.monotonic() + seconds
    while len(data) < 2 << 20 and not _too_many_files():
        ready, _, _ = select.select([pipe], [], [], max(0.0, min(LOOK_AT_FILES, until - time.monotonic())))
        if not ready and time.monotonic() >= until:
            return data, True
        if not ready:
            continue
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        data += part
    return data, False


def _too_many_files() -> bool:
    told = os.statvfs(FOLDER)
    return told.f_files - told.f_ffree > MAX_ENTRIES


def _how(status: int) -> str:
    """Return how a process ended, in words; nothing where it ended by itself."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return f"ended by signal {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code else ""

"""A process that plays one world: it holds the world's app and the databases of its sessions."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.inside.answers import Answers, is_seen
from agentworld_gym.domains.mcp.awm.engine.inside.app import AwmApp, Stopped
from agentworld_gym.domains.mcp.awm.engine.inside.clock import SessionClock
from agentworld_gym.domains.mcp.awm.engine.inside.databases import Guest, Held, OpenDatabase
from agentworld_gym.domains.mcp.awm.engine.inside.frames import Frames
from agentworld_gym.domains.mcp.awm.engine.inside.limits import confine
from agentworld_gym.domains.mcp.awm.engine.inside.mutation_watch import Watch
from agentworld_gym.domains.mcp.awm.engine.inside.process_copies import Copier
from agentworld_gym.domains.mcp.awm.engine.inside.random_numbers import RandomNumbers
from agentworld_gym.domains.mcp.awm.engine.inside.sharing_analysis import guards, reasons_against

Reply = tuple[dict[str, Any], bytes]


class WorkerSession:
    """One episode: its database with the number of its state, its seed, and how many actions it has seen."""

    def __init__(self, database: OpenDatabase, seed: int, steps: int = 0, state: int = 0) -> None:
        self.database, self.seed, self.steps, self.state = database, seed, steps, state


class SessionWorker:
    """Answers the host's messages, one after the other."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        """The messages to the host; a copy of this process has others."""
        self._clock, self._chance = SessionClock(), RandomNumbers()
        self._clock.install()
        self._chance.install()
        self._start = OpenDatabase(self._clock, self._chance)
        self._current = self._start
        self._sessions: dict[int, WorkerSession] = {}
        self._app: AwmApp | None = None
        self._answers: Answers | None = None
        self._watch: Watch | None = None
        self._copier = Copier()
        self._before = b""  # The database before the code was loaded, where verifiers shall compare with that.

    def serve(self) -> None:
        """Answer until the host is gone."""
        actions: dict[str, Callable[[dict[str, Any], bytes], Reply]] = {
            "build": self._build,
            "begin": self._begin,
            "fork": self._fork,
            "image": self._image,
            "fields": self._fields,
            "stored": self._stored,
            "end": self._end,
            "may copy": lambda message, blob: ({"copyable": self._has_one_thread()}, b""),
        }
        while True:
            try:
                message, blob = self.frames.receive()
            except EOFError:
                return
            if message["do"] == "call":
                for asked in message["calls"]:
                    told = self._called(asked)
                    self.frames.send(told)
                    if "changed" in told:
                        return  # Another session shall not see what this one left.
            elif message["do"] == "load":
                self._load(message["code"], message["alone"])
            elif message["do"] == "rest":
                self._rest()
            elif message["do"] == "copy":
                self._copy(message["session"], message["twin"])
            else:
                self.frames.send(*actions[message["do"]](message, blob))

    def _rest(self) -> None:
        """Wait to be copied, over and over; go on in each copy."""
        self.frames.close()
        while (number := self._copier.copy()) is None:
            pass
        self.frames = Frames(socket.socket(fileno=number))

    def _copy(self, session: int, twin: int) -> None:
        """Be copied with a session, which has another number in the copy."""
        number = self._copier.copy()
        if number is None:
            self.frames.send({})
            return
        self.frames.socket.detach()
        self.frames = Frames(socket.socket(fileno=number))
        self._sessions = {twin: self._sessions.pop(session)}

    def _has_one_thread(self) -> bool:
        """Return whether this process has one thread, as a copy has no other. What ends soon is waited for."""
        for _ in range(50):
            if len(os.listdir("/proc/self/task")) == 1:
                return True
            self._clock.wait(0.001)
        return False

    def _lend(self, types: int = 0) -> Held | Guest:
        return self._current.lend(types)

    def _build(self, message: dict[str, Any], blob: bytes) -> Reply:
        """Fill the first database from a file or by statements, and tell which of these failed."""
        self._clock.start = message["moment"]
        self._at(self._start, 0, 0)
        if blob:
            self._start.fill(blob)
        errors = self._start.run(message["statements"], message["tables"] if message["as_in_awm"] else None)
        self._before = self._start.image() if message["as_in_awm"] else b""
        return {"errors": errors}, b""

    def _load(self, code: str, alone: list[str]) -> None:
        """Execute the code of the world; whether it may be shared is decided before, where it cannot lie."""
        try:
            reasons = alone or reasons_against(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.frames.send({"error": f"{type(error).__name__}: {error}"})
            return
        self.frames.send({"alone": reasons})
        self._chance.drawn_by_module = bool(reasons) or "random" in code
        self._at(self._start, 0, 0)
        try:
            self._app = AwmApp(code, self._clock, self._lend, {} if reasons else guards())
        except BaseException as error:
            self.frames.send({"error": f"{type(error).__name__}: {error}"[:2000]})
            return
        self._start.settle()
        if not reasons:
            self._watch = self._app.watched()
            self._answers = Answers() if is_seen(code) else None
        # What is there now stays for ever, so that the collector need not look at it again.
        gc.collect()
        gc.freeze()
        told = {"tools": self._app.tools, "left_out": self._app.left_out, "copyable": self._has_one_thread()}
        if self._watch is not None and self._watch.unknown:
            told["alone"] = [self._watch.unknown]
        self.frames.send({**told, "split": len(self._before)}, self._before + self._start.image())

    def _at(self, database: OpenDatabase, seed: int, steps: int) -> None:
        self._current = database
        self._clock.set(steps)
        self._chance.set(seed, steps)

    def _begin(self, message: dict[str, Any], blob: bytes) -> Reply:
        self._sessions[message["session"]] = WorkerSession(self._start.copy(), message["seed"])
        return {}, b""

    def _fork(self, message: dict[str, Any], blob: bytes) -> Reply:
        old = self._sessions[message["session"]]
        self._sessions[message["twin"]] = WorkerSession(old.database.copy(), old.seed, old.steps, old.state)
        return {}, b""

    def _image(self, message: dict[str, Any], blob: bytes) -> Reply:
        return {}, self._sessions[message["session"]].database.image()

    def _fields(self, message: dict[str, Any], blob: bytes) -> Reply:
        return {"fields": self._sessions[message["session"]].database.fields()}, b""

    def _stored(self, message: dict[str, Any], blob: bytes) -> Reply:
        return self._sessions[message["session"]].database.stored(message["most"]), b""

    def _end(self, message: dict[str, Any], blob: bytes) -> Reply:
        session = self._sessions.pop(message["session"], None)
        if session is not None:
            session.database.close()
        return {}, b""

    def _called(self, asked: dict[str, Any]) -> dict[str, Any]:
        session, name, arguments = self._sessions[asked["session"]], asked["name"], asked["arguments"]
        session.steps += 1
        known = None if self._answers is None else self._answers.find(session.state, name, arguments)
        if known is not None:
            return {"text": known[0], "refused": known[1]}
        before = session.database.version()
        told: dict[str, Any]
        try:
            answer = self._asked(session, asked)
            raised = "" if self._app is None else self._app.raised
            told = {"text": answer[0], "refused": answer[1], "raised": raised}
        except Stopped as stopped:
            told = {"stopped": str(stopped)}
        except Exception as error:
            told = {"stopped": f"the code could not be called: {type(error).__name__}: {error}"[:500]}
        changed = "" if self._watch is None else self._watch.changed()
        if changed:
            return {**told, "changed": changed}
        if "stopped" in told:
            return told
        if self._answers is not None:
            assert self._app is not None
            seen = self._clock.seen or self._chance.seen
            if self._app.reads(name) and not seen and session.database.version() == before:
                if not told["raised"]:  # What the code raised is reported each time.
                    self._answers.keep(session.state, name, arguments, answer)
            else:
                drawn = self._clock.seen and session.steps, self._chance.seen and (session.seed, session.steps)
                session.state = self._answers.after(session.state, name, arguments, drawn)
        return told

    def _asked(self, session: WorkerSession, asked: dict[str, Any]) -> tuple[str, bool]:
        """Let the app answer.

        Raises:
            Stopped: The code cannot go on.
        """
        assert self._app is not None
        self._at(session.database, session.seed, session.steps)
        try:
            return self._app.call(asked["name"], asked["arguments"], asked["check"])
        finally:
            self._app.close_sessions()
            session.database.settle()
            self._current = self._start


def work(frames: Frames, fork_server: socket.socket, memory: int) -> None:
    """Be a worker until the host is gone; this process then ends.

    Args:
        frames: The messages from and to the host.
        fork_server: A socket that takes the listener by which this process may be copied.
        memory: The bytes of memory that the worker may take beyond those that it has.
    """
    try:
        _serve(SessionWorker(frames), fork_server, memory)
    finally:
        os._exit(0)


def _serve(worker: SessionWorker, fork_server: socket.socket, memory: int) -> None:
    try:
        listener = confine(memory, copyable=True)
        socket.send_fds(fork_server, [b"f"], [] if listener is None else [listener])
        fork_server.close()
        if listener is not None:
            os.close(listener)
        worker.serve()
    except Exception as error:
        worker.frames.send({"error": f"{type(error).__name__}: {error}"[:2000]})

"""Plays one scenario: its processes in the sandbox, and what they say of its database and its tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

from agentworld_gym.base.documents.plain_yaml import MAX_DEPTH
from agentworld_gym.core.actions.usable_tools import usable_tools
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.beginning import Beginning
from agentworld_gym.domains.mcp.awm.engine.files import AwmScenario
from agentworld_gym.domains.mcp.awm.engine.inside.frames import FrameError, Frames
from agentworld_gym.domains.mcp.awm.engine.process_limit import ProcessLimit
from agentworld_gym.domains.mcp.awm.engine.sandbox import Sandbox

LOAD_SECONDS = 60.0
"""How long a world may take to build its database and to load."""

CALL_SECONDS = 10.0
"""How long a call of a tool may take."""

SESSIONS = 512
"""How many sessions one process holds."""

STORED_BYTES = 200_000
"""The largest number of bytes of the rows of a table in the prompt of a language world."""


class AwmCall(NamedTuple):
    """One call of a tool."""

    name: str
    """The name of the tool."""

    arguments: dict[str, Any]
    """The arguments."""

    check: bool = False
    """Whether the arguments may not fit the schema of the tool."""


class AwmAnswer(NamedTuple):
    """What a tool answered."""

    text: str
    """The text that an MCP client gets."""

    refused: bool
    """Whether it is an error."""

    raised: str = ""
    """What the code raised, with the lines that led there. No client gets it; it helps whoever writes the code."""


@dataclass(eq=False)
class ScenarioProcess:
    """A process that plays a scenario."""

    pid: int
    """The number of the process in its sandbox."""

    frames: Frames
    """The messages to it."""

    sandbox: Sandbox
    """The sandbox that it runs in."""

    sessions: set[int] = field(default_factory=set)
    """The numbers of its sessions."""

    dead: bool = False
    """Whether it has ended."""


@dataclass(frozen=True)
class About:
    """What a scenario turned out to be when it was loaded."""

    tools: tuple[dict[str, Any], ...]
    """Its tools: name, description, and the JSON Schema of the arguments under `parameters`."""

    left_out: Mapping[str, str]
    """The tools that no client can use, with the reason; the server refuses each of their calls."""

    checked: frozenset[str]
    """The tools for which only the server can say whether arguments fit."""

    initial: bytes
    """The database that verifiers compare the end with, as the bytes of an SQLite file."""

    start: bytes
    """The database that an episode begins with; it is another one only where the world makes rows when it starts, and
    AWM's own way of beginning is taken."""

    failed: tuple[tuple[str, str], ...]
    """The statements that failed while the database was built, each with its error."""

    alone: tuple[str, ...]
    """Why each of its sessions has a process of its own; they share one where it is empty."""


class Stored(NamedTuple):
    """What a database holds at the start."""

    schema: str
    """The statements that make its tables and indexes."""

    tables: Mapping[str, list[dict[str, Any]]]
    """The rows by table, each as its values by column; of long tables the first ones."""

    counts: Mapping[str, int]
    """How many rows each table has."""


class ServerPlace(NamedTuple):
    """Where a session is played."""

    worker: ScenarioProcess
    """The process."""

    session: int
    """The number of the session in it."""


class ProcessLimits(NamedTuple):
    """How many processes the scenarios of an engine have together."""

    processes: ProcessLimit
    """How many processes play one session each."""

    loaded: ProcessLimit
    """How many scenarios stay loaded while nobody plays them."""

    worlds: ProcessLimit
    """How many scenarios have processes, played or not."""


class ScenarioServer:
    """Plays one scenario.

    Args:
        scenario: The scenario.
        sandbox: A function that returns the sandbox of worlds, as long as that lives.
        limits: How many processes there may be.
        beginning: How episodes begin.
    """

    def __init__(
        self,
        scenario: AwmScenario,
        sandbox: Callable[[], Sandbox],
        limits: ProcessLimits,
        beginning: Beginning = Beginning(),  # noqa: B008  (it cannot be changed)
    ) -> None:
        self.scenario, self.limits, self.beginning = scenario, limits, beginning
        self._rests = False
        self._sandbox = sandbox
        self._workers: list[ScenarioProcess] = []
        self._template: ScenarioProcess | None = None
        self._numbers = count(1)
        self._about: About | None = None

    @property
    def about(self) -> About:
        """What the scenario turned out to be, which loads it.

        Raises:
            EngineError: It cannot be loaded.
        """
        if self._about is None:
            self._load()
        assert self._about is not None
        return self._about

    @cached_property
    def stored(self) -> Stored:
        """What the database holds at the start.

        Raises:
            EngineError: The scenario cannot be loaded.
        """
        place = self.begin(0)
        told, _ = self.ask(place.worker, {"do": "stored", "session": place.session, "most": STORED_BYTES})
        self.leave(place)
        return Stored(str(told["schema"]), told["tables"], told["counts"])

    def begin(self, seed: int) -> ServerPlace:
        """Begin a session.

        Raises:
            EngineError: The scenario cannot be loaded.
        """
        alone = bool(self.about.alone)
        self._note_loaded()
        self._workers = [worker for worker in self._workers if not worker.dead]
        room = 1 if alone else SESSIONS
        worker = next((worker for worker in self._workers if len(worker.sessions) < room), None)
        fresh = None
        if worker is None:
            worker = fresh = self._another()
        place = ServerPlace(worker, next(self._numbers))
        worker.sessions.add(place.session)
        self.use(place)
        try:
            self.ask(worker, {"do": "begin", "session": place.session, "seed": seed})
        except EngineError:
            if not worker.dead or worker is fresh:
                raise
            return self.begin(seed)  # The process had ended before; another one is made.
        return place

    def fork(self, place: ServerPlace) -> ServerPlace | None:
        """Return a copy of a session; None where only the same calls again can make one."""
        worker = place.worker
        if worker.dead:
            return None
        twin = ServerPlace(worker, next(self._numbers))
        message = {"session": place.session, "twin": twin.session}
        if self.about.alone:
            if self._template is None or not self.ask(worker, {"do": "may copy"})[0]["copyable"]:
                return None
            self.tell(worker, {"do": "copy", **message})
            twin = ServerPlace(self._copied(worker), twin.session)
            try:
                self.hear(worker, LOAD_SECONDS)
            except BaseException:
                self.lose(twin.worker)
                raise
        else:
            self.ask(worker, {"do": "fork", **message})
        twin.worker.sessions.add(twin.session)
        self.use(twin)
        return twin

    def use(self, place: ServerPlace) -> None:
        """Note that a session acts. Where there are too many processes, those of the least recently used ones end."""
        self.limits.worlds.use(self, self._rest_all)
        if self.about.alone:
            self.limits.processes.use(place.worker, partial(self._lose_session, place.worker))

    def leave(self, place: ServerPlace) -> None:
        """End a session."""
        worker = place.worker
        worker.sessions.discard(place.session)
        if worker.dead:
            return
        # What the code kept shall not be seen by the next session.
        if self.about.alone or (self._rests and not worker.sessions):
            self.lose(worker)
        else:
            self.ask(worker, {"do": "end", "session": place.session})

    def ask(self, worker: ScenarioProcess, message: dict[str, Any], blob: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Send a message to a process and return its reply.

        Raises:
            EngineError: The process is gone, or does not reply in time.
        """
        self.tell(worker, message, blob)
        told, reply = self.hear(worker, LOAD_SECONDS)
        if "error" in told:
            self.lose(worker)
            raise EngineError(f"{self.scenario.name} cannot be played: {told['error']}")
        return told, reply

    def tell(self, worker: ScenarioProcess, message: dict[str, Any], blob: bytes = b"") -> None:
        """Send a message to a process.

        Raises:
            EngineError: The process is gone.
        """
        try:
            worker.frames.send(message, blob, LOAD_SECONDS)
        except OSError as error:
            raise EngineError(self._lost(worker, "does not read")) from error

    def hear(self, worker: ScenarioProcess, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Return the next reply of a process.

        Raises:
            EngineError: The process is gone, or does not reply in time.
        """
        if worker.dead:
            raise EngineError(f"the world {self.scenario.name} has ended")
        try:
            return worker.frames.receive(seconds)
        except TimeoutError as error:
            raise EngineError(self._lost(worker, f"took longer than {seconds:g} s")) from error
        except (EOFError, FrameError) as error:
            gone = isinstance(error, EOFError)
            raise EngineError(self._lost(worker, "wrote what is no answer", gone)) from error

    def lose(self, worker: ScenarioProcess, gone: bool = False) -> str:
        """End a process, and return how it ended by itself.

        Args:
            worker: The process.
            gone: Whether it closed its socket, so that it is about to end.
        """
        if worker.dead:
            return ""
        worker.dead = True
        self.limits.processes.forget(worker)
        worker.frames.close()
        return worker.sandbox.end(worker.pid, gone)

    def set_apart(self, reason: str) -> None:
        """Give each session a process of its own from now on; what was shared is ended, as it cannot be trusted.

        Args:
            reason: What is kept outside the database.
        """
        self.close()
        self._about = replace(self.about, alone=(reason,))

    def _note_loaded(self) -> None:
        self._rests = False
        self.limits.loaded.use(self, self._rest)
        self.limits.worlds.use(self, self._rest_all)

    def _rest(self) -> bool:
        """End the processes that play no session, now or when their last one ends; the next one loads the code anew."""
        self._rests = True
        for worker in self._workers:
            if not worker.sessions:
                self.lose(worker)
        self._lose_template()
        return False

    def _rest_all(self) -> bool:
        """End all processes of the scenario, and return whether a session played in one of them."""
        played = any(worker.sessions and not worker.dead for worker in self._workers)
        self.close()
        return played

    def _lose_session(self, worker: ScenarioProcess) -> bool:
        self.lose(worker)
        return True

    def _lose_template(self) -> None:
        if self._template is not None:
            self.lose(self._template)
            self._template = None

    def close(self) -> None:
        """End all processes of the scenario."""
        for worker in self._workers:
            self.lose(worker)
        self._workers.clear()
        self._lose_template()
        self.limits.worlds.forget(self)

    def _lost(self, worker: ScenarioProcess, what: str, gone: bool = False) -> str:
        how = self.lose(worker, gone)
        return f"the code of {self.scenario.name} {how or what}"

    def _another(self) -> ScenarioProcess:
        """Return a process without sessions: a copy of the one that loaded the code, or else one that loads it."""
        template = self._template
        if template is not None and template.sandbox is self._sandbox():
            with suppress(EngineError):
                return self._copied(template)
        self._lose_template()
        self._load(self.about.alone)
        return self._workers[-1] if self._template is None else self._copied(self._template)

    def _copied(self, worker: ScenarioProcess) -> ScenarioProcess:
        """Return a copy of a process that waits for it."""
        pid, frames, _ = worker.sandbox.copy(worker.pid)
        copy = ScenarioProcess(pid, frames, worker.sandbox)
        self._workers.append(copy)
        return copy

    def _load(self, alone: Sequence[str] = ()) -> None:
        """Load the code in a process, which waits to be copied from then on, or else holds sessions itself.

        Args:
            alone: Why sessions are known not to share a process.

        Raises:
            EngineError: It cannot be loaded.
        """
        sandbox = self._sandbox()
        pid, frames, copyable = sandbox.fork()
        worker = ScenarioProcess(pid, frames, sandbox)
        try:
            statements = self.scenario.statements
            order = {"do": "build", "statements": statements, "tables": self.scenario.tables}
            told, _ = self.ask(worker, order | self.beginning._asdict(), self.scenario.image)
            failed = tuple(_failures(statements, told))
            self.tell(worker, {"do": "load", "code": self.scenario.code, "alone": list(alone)})
            reasons, _ = self.hear(worker, LOAD_SECONDS)
            told, images = ({}, b"") if "error" in reasons else self.hear(worker, LOAD_SECONDS)
            problem = reasons.get("error") or told.get("error")
            if problem:
                raise EngineError(f"the code of {self.scenario.name} cannot be loaded: {problem}")
            if told.get("alone"):
                self.lose(worker)
                return self._load(told["alone"])
            if self._about is None:
                tools, left_out, checked = client_tools(told["tools"])
                left_out |= {str(name): str(reason) for name, reason in told["left_out"].items()}
                start = images[told["split"] :]
                initial = images[: told["split"]] or start
                self._about = About(tools, left_out, checked, initial, start, failed, tuple(reasons["alone"]))
            copyable = copyable and bool(told["copyable"])
            if copyable:
                self.tell(worker, {"do": "rest"})
        except BaseException:
            self.lose(worker)
            raise
        if copyable:
            worker.frames.close()
            self._template = worker
        else:
            self._workers.append(worker)
        self._note_loaded()


def _failures(statements: Sequence[str], told: dict[str, Any]) -> list[tuple[str, str]]:
    return [(statement, error) for statement, error in zip(statements, told["errors"], strict=True) if error]


PATTERNS = ("pattern", "patternProperties")
"""The keys of a JSON Schema that hold regular expressions."""


class ClientTools(NamedTuple):
    """The tools of a world."""

    tools: tuple[dict[str, Any], ...]
    """Those that can be called."""

    left_out: dict[str, str]
    """Those that cannot, with the reason."""

    checked: frozenset[str]
    """The tools whose patterns only the server can read; it has to check all arguments of their calls itself."""


def client_tools(told: Sequence[Any]) -> ClientTools:
    r"""Return the tools that a server told of, and whose words nobody vouches for.

    Patterns are those of Python there, and of ECMAScript here. A tool with a pattern that cannot be read here loses its
    patterns.

    >>> number = {"type": "string", "pattern": r"\d+\Z"}
    >>> found = client_tools([{"name": "get", "parameters": {"properties": {"number": number}}}])
    >>> found.tools[0]["parameters"]["properties"], found.checked
    ({'number': {'type': 'string'}}, frozenset({'get'}))
    """
    known = {tool["name"] for tool in usable_tools(told).tools}
    told = [tool if _name_of(tool) in known else _without_patterns(tool) for tool in told]
    tools, left_out = usable_tools(told)
    return ClientTools(tools, left_out, frozenset(tool["name"] for tool in tools) - known)


def _name_of(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, Mapping) else None


def _without_patterns(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_without_patterns(item, depth + 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept = {key: item for key, item in value.items() if key not in PATTERNS or _is_name(key, item)}
    return {key: _without_patterns(item, depth + 1) for key, item in kept.items()}


def _is_name(key: str, value: Any) -> bool:
    """Return whether a key is the name of an argument: a schema stands behind it, and no pattern."""
    return key == "pattern" and isinstance(value, Mapping | bool)

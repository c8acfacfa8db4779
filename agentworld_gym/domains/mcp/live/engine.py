"""The engine of a user's tool servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError, one_of
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.syntaxes import read_json
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction, example_call
from agentworld_gym.core.actions.usable_tools import usable_tools
from agentworld_gym.core.engines import EngineError, Inspection, SystemLost
from agentworld_gym.domains.mcp.live.config import ServerCommandReset, ServerConfig, ServerSpec, ToolReset
from agentworld_gym.domains.mcp.live.connection import Connection, ServerAnswer, require_client
from agentworld_gym.kit.live import Confinement, LiveAbout, LiveEngine, LiveSession, LiveSource, LiveStart

DOMAIN = "mcp"
"""The domain of tool servers."""

FETCHING = frozenset({"npx", "uvx", "bunx"})
"""Programs that fetch from the network what they run."""

FAULT = '{"status": "error", "code": 503, "message": "Service Unavailable: upstream timeout, please retry"}'
"""What a call shows that the control `intermittent-errors` strikes."""


class SetupCall(Strict):
    """A call that a task has made before the agent acts."""

    name: str
    """The tool, as agents call it."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments."""


class _State(Strict):
    """What a task states to its servers."""

    calls: tuple[SetupCall, ...] = ()
    """Calls that are made before the agent acts, in their order; each has to succeed."""


def open_live(source: LiveSource) -> ServerEngine:
    """Open a user's tool servers.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: Commands cannot be confined here.
        AgentWorldError: The MCP SDK is not installed.
    """
    require_client()
    return ServerEngine(source.read(ServerConfig, DOMAIN), source.file, source.folder)


class ServerEngine(LiveEngine[ServerConfig]):
    """Starts sessions with some servers.

    Args:
        config: The servers.
        file: Where the configuration stands, for errors.
        folder: The folder from which its paths count.
    """

    controls = frozenset({"intermittent-errors"})

    def __init__(self, config: ServerConfig, file: str, folder: Path) -> None:
        self.file = file
        self.confinement: Confinement | None = None
        commands = {
            "command" if config.command is not None else f"servers.{name}.command": spec.command
            for name, spec in config.all_servers.items()
            if spec.command is not None
        }
        self.verified: str | None = None
        """What the call that verifies resets showed at first, where all episodes share a server."""
        self.playing: ServerSession | None = None
        """The session whose episode reset the servers last, where all episodes share one."""
        if commands or isinstance(config.reset, ServerCommandReset):
            self.confinement = Confinement(config, file, folder)
            for key, words in commands.items():
                self.confinement.show(words, key)
                if words[0].rpartition("/")[2] in FETCHING and not (config.network or config.trusted):
                    expected = f"true, as {words[0]} fetches what it runs; or a program that is installed under `{key}`"
                    raise SpecError(file, "network", config.network, expected)
            if isinstance(config.reset, ServerCommandReset):
                self.confinement.show_reset(config.reset.command)
        for spec in config.all_servers.values():
            host = urlsplit(spec.url or "http://localhost").hostname or ""
            if not config.allows(host):
                raise SpecError(file, "network", config.network, f"true, or [{host}], which the URL {spec.url} needs")
        super().__init__(config)

    def open_session(self) -> ServerSession:
        """Start all servers."""
        return ServerSession(self)

    def connect(self, spec: ServerSpec) -> Connection:
        """Start one server, and connect to it.

        Raises:
            EngineError: It cannot be started.
        """
        limits = self.config.limits
        seconds = (limits.start_seconds, limits.step_seconds)
        if spec.command is None:
            return Connection(None, spec.url or "", spec.headers, seconds)
        from agentworld_gym.domains.mcp.live.transport import ServerProcess

        assert self.confinement is not None
        words = self.confinement.command(spec.command, env=spec.env)
        cwd = str(self.confinement.folder) if self.config.trusted else "/"
        process = ServerProcess(words, self.confinement.environment(spec.env), cwd, limits)
        return Connection(process, "", {}, seconds)

    def misread(self, raw: str) -> Any | None:
        """Return the call that a text is whose tool or arguments the task's tools do not admit: the server refuses it
        in its own words, or knows the tool by now.
        """
        with suppress(UnreadableAction):
            call = read_json(raw)
            if isinstance(call, dict) and isinstance(call.get("name"), str):
                arguments = call.get("arguments") or {}
                if isinstance(arguments, dict):
                    return {"name": call["name"], "arguments": arguments}
        return None

    def close(self) -> None:
        """End all sessions."""
        super().close()
        if self.confinement is not None:
            self.confinement.close()


class ServerSession(LiveSession):
    """All servers of a configuration, running, and who calls their tools.

    Args:
        engine: The engine.

    Raises:
        EngineError: A server cannot be started.
    """

    def __init__(self, engine: ServerEngine) -> None:
        self._engine, self._config = engine, engine.config
        self._servers: dict[str, Connection] = {}
        self._start = LiveStart()
        self._calls, self._failed = 0, ""
        self._verified = ""
        try:
            for name, spec in engine.config.all_servers.items():
                connection = engine.connect(spec)
                self._servers[name or _name_of(connection.server)] = connection
            self._listed = self._tools()
            self._begun_tools = digest_of(self._listed)
            self._check_reset()
            self._verified = "" if self._config.shared else self._verification()
        except BaseException:
            self.close()
            raise

    def _tools(self) -> list[dict[str, Any]]:
        """Return all tools that agents get, under the names by which they call them."""
        wanted = self._config.tools
        tools = [
            {**tool, "name": f"{name}-{tool['name']}"}
            for name, connection in self._servers.items()
            for tool in connection.tools
            if not wanted or tool["name"] in wanted
        ]
        unknown = sorted(set(wanted) - {tool["name"].partition("-")[2] for tool in tools})
        if unknown:
            known = ", ".join(tool["name"] for one in self._servers.values() for tool in one.tools)
            raise SpecError(self._engine.file, "tools", unknown[0], f"one of {known}")
        return tools

    def about(self) -> LiveAbout:
        """Return the tools, and what the servers are."""
        told = usable_tools(self._listed)
        versions = {name: f"{one.server} {one.version}".strip() for name, one in self._servers.items()}
        says = [one.instructions.strip() for one in self._servers.values() if one.instructions.strip()]
        calls = dict.fromkeys(example_call(tool) for tool in told.tools)
        return LiveAbout(
            {**versions, "tools": self._begun_tools},
            {
                "tools": told.tools,
                "menu": (*(call for call in calls if self._fits(call, told.tools)), "finish"),
                "simulation": "\n\n".join(says) or None,
                "first_observation": self._greeting(),
                "state": {"servers": versions},
            },
        )

    def _fits(self, call: str, tools: Sequence[Mapping[str, Any]]) -> bool:
        read = json.loads(call)
        try:
            Toolset(tools, self._engine.file).call(read["name"], read["arguments"])
        except UnreadableAction:
            return False
        return True

    def _greeting(self) -> str:
        named = ", ".join(f"{one.server} {one.version}".strip() for one in self._servers.values())
        servers = "server" if len(self._servers) == 1 else "servers"
        return f"Connected to {servers} {named}."

    def begin(self, start: LiveStart) -> str:
        """Make the calls that the task states."""
        self._start, self._calls, self._failed = start, 0, ""
        state = {key: value for key, value in start.state.items() if key != "servers"}
        wanted = validated(_State, state, "task state")
        if self._config.shared:
            self._engine.playing = self
            self._reset_servers()
        for number, call in enumerate(wanted.calls):
            answer = self._made(call.name, call.arguments)
            if answer.refused:
                expected = f"a call that succeeds; the server answers {answer.text[:300]!r}"
                raise SpecError("task state", f"calls.{number}", call.model_dump(), expected)
        return self._greeting()

    def act(self, action: Any) -> str:
        """Call a tool, and return its answer; where the server changed its tools, what is new stands below."""
        if self._config.shared and self._engine.playing is not self:
            raise SystemLost("another episode has reset the servers since, which all of them share")
        self._calls += 1
        name = action.get("name") if isinstance(action, dict) else None
        arguments = action.get("arguments", {}) if isinstance(action, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return "MCP error -32602: Invalid params: a tool call needs a 'name' and an object of 'arguments'"
        key = json.dumps([name, arguments], sort_keys=True, default=str)
        if self._start.controls.strikes("intermittent-errors", self._calls) and key != self._failed:
            self._failed = key
            return FAULT
        self._failed = ""
        answer = self._made(name, arguments)
        return "\n".join([answer.text, *self._news()])

    def _made(self, name: str, arguments: Mapping[str, Any]) -> ServerAnswer:
        """Call a tool by the name that agents have for it."""
        server, _, tool = name.partition("-")
        connection = self._servers.get(server)
        if connection is None or not tool or (self._config.tools and tool not in self._config.tools):
            return ServerAnswer(f"Unknown tool: {name[:200]}", True)
        return connection.call(tool, arguments)

    def _news(self) -> Iterator[str]:
        """Tell what changed in the lists of tools since the last call."""
        for name, connection in self._servers.items():
            fresh, gone = connection.changes()
            for tool in fresh:
                told = {**tool, "name": f"{name}-{tool['name']}"}
                yield f"The server now has the tool {json.dumps(told, ensure_ascii=False)}"
            for one in gone:
                yield f"The server no longer has the tool {name}-{one}"

    def inspect(self, command: str) -> Inspection:
        """Call the tool that a check names as JSON."""
        call = self._engine.misread(command)
        if call is None:
            expected = 'a call of a tool, such as {"name": "memory-read_graph", "arguments": {}}'
            raise SpecError("task success", "run", command, expected)
        answer = self._made(call["name"], call["arguments"])
        return Inspection(not answer.refused, answer.text)

    def _check_reset(self) -> None:
        """Make sure that the tools of a reset are there.

        Raises:
            SpecError: One is not.
        """
        reset, known = self._config.reset, [tool["name"] for tool in self._listed]
        calls = {
            "reset.tool": reset if isinstance(reset, ToolReset) else None,
            "reset.verify.tool": self._config.verify,
        }
        for key, call in calls.items():
            if call is not None and (tool := call.tool) not in known:
                raise SpecError(self._engine.file, key, tool, one_of(tool, known))

    def _verification(self) -> str:
        """Return what the call that verifies resets shows, without what varies; an empty text where there is none.

        Raises:
            SpecError: It fails.
        """
        if (verify := self._config.verify) is None:
            return ""
        answer = self._made(verify.tool, verify.arguments)
        if answer.refused:
            expected = f"a call that succeeds; it answers {answer.text[:300]!r}"
            raise SpecError(self._engine.file, "reset.verify", verify.tool, expected)
        return self._engine.masks.without(answer.text)

    def _reset_servers(self) -> None:
        """Bring the servers back to their start, and make sure that they are there.

        Raises:
            EngineError: They are not.
        """
        reset, engine = self._config.reset, self._engine
        assert not isinstance(reset, str)
        if isinstance(reset, ToolReset):
            answer = self._made(reset.tool, reset.arguments)
            if answer.refused:
                raise EngineError(f"the servers cannot be reset: {reset.tool} answers {answer.text[:300]!r}")
        else:
            assert engine.confinement is not None
            engine.confinement.reset(reset.command)
        for connection in self._servers.values():
            connection.changes()
        if digest_of(self._tools()) != self._begun_tools:
            raise EngineError("the reset did not bring the servers back: they have other tools than at first")
        shown = self._verification()
        if self._config.shared and engine.verified is None:
            engine.verified = shown  # The first reset shows what the others have to.
        first = engine.verified if self._config.shared else self._verified
        if shown != first:
            raise EngineError(
                f"the reset did not bring the servers back: verify shows {shown[:300]!r}, "
                f"and at first {(first or '')[:300]!r}"
            )

    def reset(self) -> bool:
        """Reset the servers as the configuration says, and check that they are as at their start. Those that all
        episodes share are reset when the next one begins.
        """
        if self._config.reset == "restart" or self._config.shared:
            return False
        self._reset_servers()
        return True

    @property
    def alive(self) -> bool:
        """Whether all servers can be called."""
        return all(one.alive for one in self._servers.values())

    @property
    def pids(self) -> list[int]:
        """The processes of the servers."""
        found = [one.process.pid for one in self._servers.values() if one.process is not None]
        return [pid for pid in found if pid is not None]

    def close(self) -> None:
        """End all servers."""
        for connection in self._servers.values():
            connection.close()


def _name_of(server: str) -> str:
    """Return the name of a server as the names of its tools begin.

    >>> _name_of("memory-server"), _name_of("secure filesystem!")
    ('memory_server', 'secure_filesystem')
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", server).strip("_") or "server"

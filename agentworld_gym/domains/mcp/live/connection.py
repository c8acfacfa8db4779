"""One server that a client is connected to. All connections of a process share one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import TimeoutError as LateError
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from agentworld_gym.base.errors import AgentWorldError, install
from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.domains.mcp.live.results import text_of_result
from agentworld_gym.llm.generators.server.background_loop import background_loop

if TYPE_CHECKING:
    from mcp import Client

    from agentworld_gym.domains.mcp.live.transport import ServerProcess

PAGES = 100
"""How many pages a list of tools may have."""


def require_client() -> None:
    """Make sure that the SDK is installed.

    Raises:
        AgentWorldError: The extra `live-mcp` is not installed.
    """
    if find_spec("mcp") is None:
        raise AgentWorldError(f"live tool servers need the MCP SDK: {install('live-mcp')}")


class ServerAnswer(NamedTuple):
    """What a call of a tool gave."""

    text: str
    """What the client reads."""

    refused: bool
    """Whether it is an error."""


class Connection:
    """A client of one server.

    Args:
        process: The process of the server; None where it lies behind a URL.
        url: The URL, or an empty text.
        headers: The headers of requests to the URL.
        seconds: How long the server may take to start, and to answer a call.

    Raises:
        SystemLost: The server ended, or cannot be reached.
        SystemLate: It did not start in time.
    """

    def __init__(
        self, process: ServerProcess | None, url: str, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> None:
        self.process, self._url, self._headers = process, url, headers
        self._start_seconds, self._call_seconds = seconds
        self._loop = background_loop()
        self._client: Client | None = None
        self._problem = ""
        self._changed = False
        self.server = self.version = self.instructions = ""
        self.tools: list[dict[str, Any]] = []
        """Its tools: name, description, and the JSON Schema of the arguments under `parameters`."""
        self._stop: asyncio.Event | None = None
        started = self._loop.run(self._begun())
        self._serving = self._loop.start(self._serve(started))
        self._loop.close_at_exit(self)
        try:
            self._wait(started.wait(), self._start_seconds, "start")
            self._introduce(self._client)
            self.tools = self._list()
        except BaseException:
            self.close()
            raise

    def _introduce(self, client: Client | None) -> None:
        """Keep what the server tells of itself: its name, its version, and how it is to be used."""
        if client is None:
            raise SystemLost(f"{self.name} cannot be used: {self._told()}")
        info = client.server_info
        self.server = info.name if info is not None else "server"
        self.version = info.version if info is not None else ""
        self.instructions = client.instructions or ""

    async def _begun(self) -> asyncio.Event:
        self._stop = asyncio.Event()
        return asyncio.Event()

    async def _serve(self, started: asyncio.Event) -> None:
        """Hold the client open; a scope of the SDK is entered and left by one task."""
        from mcp import Client, MCPError
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        assert self._stop is not None
        try:
            async with Client(self._transport(), mode="legacy", message_handler=self._note, cache=None) as client:
                self._client = client
                started.set()
                await self._stop.wait()
        except Exception as error:
            cause = _first(error)
            misspoke = isinstance(cause, MCPError) and cause.code != CONNECTION_CLOSED
            if self.process is None or misspoke or isinstance(cause, ValidationError):  # Else it ended, and says why.
                self._problem = self._problem or _words(cause)[:300]
        finally:
            self._client = None
            started.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        """Hold open what the client writes to and reads from."""
        async with AsyncExitStack() as held:
            if self.process is not None:
                yield await held.enter_async_context(self.process.streams())
                return
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            http = None
            if self._headers:  # The SDK closes its own client alone.
                given = httpx2.AsyncClient(headers=dict(self._headers), timeout=self._call_seconds)
                http = await held.enter_async_context(given)
            yield await held.enter_async_context(streamable_http_client(self._url, http_client=http))

    async def _note(self, message: Any) -> None:
        from mcp_types import ToolListChangedNotification

        self._changed = self._changed or isinstance(message, ToolListChangedNotification)

    @property
    def name(self) -> str:
        """What errors call the server."""
        return f"the server {self.server or self._url}".strip()

    @property
    def alive(self) -> bool:
        """Whether calls can be made."""
        return self._client is not None and (self.process is None or self.process.pid is not None)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ServerAnswer:
        """Call a tool.

        Raises:
            SystemLost: The server ended.
            SystemLate: It did not answer in time.
            EngineError: Its answer is none of the protocol's.
        """
        answer: ServerAnswer = self._wait(self._called(tool, dict(arguments)), self._call_seconds, f"answer {tool}")
        return answer

    async def _called(self, tool: str, arguments: dict[str, Any]) -> ServerAnswer:
        import mcp_types as types
        from mcp import MCPError
        from pydantic import ValidationError

        client = self._open()
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        if self.process is not None:
            self.process.printed = 0
        try:
            result = await client.session.send_request(request, types.CallToolResult)
        except MCPError as error:
            if self.process is not None and error.code == types.CONNECTION_CLOSED:
                await self.process.ended()
            if error.code == types.CONNECTION_CLOSED or not self.alive:
                raise SystemLost(f"{self.name} ended at {tool}: {self._told()}") from error
            return ServerAnswer(f"MCP error {error.code}: {error.message}", True)
        except ValidationError as error:
            raise EngineError(f"{self.name} answers {tool} by what is no result: {_words(error)[:300]}") from error
        return ServerAnswer(text_of_result(result), bool(result.is_error))

    def changes(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        """Return the tools that are new or other ones since the last look, and the names of those that are gone.

        Raises:
            EngineError: The server cannot list them.
        """
        if not self._changed:
            return (), ()
        self._changed = False
        before = {tool["name"]: tool for tool in self.tools}
        self.tools = self._list()
        names = {tool["name"] for tool in self.tools}
        return [tool for tool in self.tools if before.get(tool["name"]) != tool], [
            one for one in before if one not in names
        ]

    def _list(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._wait(self._listed(), self._start_seconds, "list its tools")
        return listed

    async def _listed(self) -> list[dict[str, Any]]:
        import mcp_types as types
        from mcp import MCPError
        from pydantic import ValidationError

        client, tools, cursor = self._open(), list[dict[str, Any]](), None
        try:
            for _ in range(PAGES):
                page = await client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
                for tool in page.tools:
                    told = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
                    tools.append(told)
                cursor = page.next_cursor
                if cursor is None:
                    break
        except MCPError as error:
            if not self.alive:
                raise SystemLost(f"{self.name} ended: {self._told()}") from error
            raise EngineError(f"{self.name} lists no tools: {error.message}") from error
        except ValidationError as error:
            raise EngineError(f"{self.name} lists what are no tools: {_words(error)[:300]}") from error
        return tools

    def _open(self) -> Client:
        if self._client is None:
            raise SystemLost(f"{self.name} has ended: {self._told()}")
        return self._client

    def _wait(self, work: Any, seconds: float, what: str) -> Any:
        try:
            return self._loop.run(work, seconds)
        except LateError as error:
            said = self.process.said if self.process is not None else ""
            raise SystemLate(f"{self.name} took longer than {seconds:g} s to {what}{said}") from error

    def _told(self) -> str:
        """Return why the connection ended."""
        ended = "it closed the connection" if self.process is None else self.process.why
        return self._problem or ended

    def close(self) -> None:
        """End the connection and the server; a second call does nothing."""
        if self.process is not None and not self.alive:
            self.process.kill()
        with suppress(Exception):
            self._loop.run(self.aclose(), 10.0)

    async def aclose(self) -> None:
        """End the connection and the server, on the loop."""
        if self._stop is not None:
            self._stop.set()
        with suppress(Exception):
            await asyncio.wait_for(asyncio.wrap_future(self._serving), 8.0)


def _first(error: BaseException) -> BaseException:
    """Return an exception, and of a group the first one in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    """Return what an exception says, and of an answer that is none of the protocol's its first defect."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{error.title}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

"""Episodes over streamable HTTP: each session of the protocol is an episode of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import anyio
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.base.process.protocol_server import MAX_BYTES, PATH, run_http
from agentworld_gym.integrations.mcp.host import EpisodeHost
from agentworld_gym.integrations.mcp.server import episode_server

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
IDLE_S = 1800.0
"""After how many seconds without a request an agent counts as gone."""

_VERSION_HEADER = "mcp-protocol-version"
_HOSTS = (LOOPBACK, "localhost")
"""The names of this machine in a request; any other one comes from a page in a browser."""


class Sessions:
    """The ASGI application of a host, in which a session of the protocol is an episode.

    Versions of the protocol without sessions have no such thing as a connection over HTTP. A client that asks for one
    is told those that have, which clients then fall back to.

    Args:
        host: Who plays the episodes.
    """

    def __init__(self, host: EpisodeHost) -> None:
        self._host = host
        self._open: dict[str, StreamableHTTPServerTransport] = {}
        self._tasks: TaskGroup | None = None
        self._security = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=[f"{host}:*" for host in _HOSTS],
                allowed_origins=[f"http://{host}:*" for host in _HOSTS],
            )
        )

    @asynccontextmanager
    async def running(self, _app: Starlette) -> AsyncIterator[None]:
        """Serve sessions in the block; at its end those that are open are scored."""
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        if (refusal := await self._security.validate_request(request, request.method == "POST")) is not None:
            await refusal(scope, receive, send)
            return
        version, name = request.headers.get(_VERSION_HEADER), request.headers.get(MCP_SESSION_ID_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            known = types.UnsupportedProtocolVersionErrorData(
                supported=list(HANDSHAKE_PROTOCOL_VERSIONS), requested=version
            )
            message = f"an episode is a session, which version {version} does not have over HTTP"
            await _error(400, types.UNSUPPORTED_PROTOCOL_VERSION, message, known)(scope, receive, send)
        elif name is not None and name in self._open:
            await self._open[name].handle_request(scope, receive, send)
        elif name is None and request.method == "POST":
            await self._opening(scope, receive, send)
        else:
            await _error(404, types.INVALID_REQUEST, "there is no such session")(scope, receive, send)

    async def _opening(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._tasks is not None
        transport = StreamableHTTPServerTransport(uuid4().hex, idle_timeout=IDLE_S)
        try:
            await self._tasks.start(self._session, transport)
        except AgentWorldError as error:
            message = f"the episode cannot begin: {error}"
            await _error(500, types.INTERNAL_ERROR, message)(scope, receive, send)
            return
        accepted = False

        async def watched(message: Message) -> None:
            nonlocal accepted
            if message["type"] == "http.response.start":
                accepted = message["status"] < 400
            await send(message)

        try:
            await transport.handle_request(scope, receive, watched)
        finally:
            if not accepted:  # It was no request that opens a session.
                with anyio.CancelScope(shield=True):
                    await transport.terminate()

    async def _session(
        self, transport: StreamableHTTPServerTransport, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Play an episode until its session ends, and score it."""
        episode = await asyncio.wrap_future(self._host.begin())
        name = str(transport.mcp_session_id)
        try:
            async with transport.connect() as (incoming, outgoing):
                self._open[name] = transport
                task_status.started()
                server = episode_server(self._host, episode)
                with transport.idle_scope or anyio.CancelScope():
                    await server.run(incoming, outgoing, server.create_initialization_options())
        except Exception:
            logger.exception("a session broke")
        finally:
            self._open.pop(name, None)
            with anyio.CancelScope(shield=True):
                if not transport.is_terminated:
                    await transport.terminate()
                await asyncio.wrap_future(self._host.leave(episode))


def _error(status: int, code: int, message: str, known: BaseModel | None = None) -> Response:
    data = types.ErrorData(code=code, message=message, data=None if known is None else known.model_dump())
    body = types.JSONRPCError(jsonrpc="2.0", id=None, error=data)
    text = body.model_dump_json(by_alias=True, exclude_none=True)
    return Response(text, status_code=status, media_type="application/json")


def episode_app(host: EpisodeHost) -> Starlette:
    """Return the web application of a host: every session at `PATH` is an episode of its own.

    Args:
        host: Who plays the episodes.
    """
    sessions = Sessions(host)
    return Starlette(
        routes=[Route(PATH, endpoint=RequestBodyLimitMiddleware(sessions, MAX_BYTES))], lifespan=sessions.running
    )


def serve_http(host: EpisodeHost, port: int) -> None:
    """Play an episode with each client on a port of this machine, until Ctrl-C; then score those under way.

    Args:
        host: Who plays the episodes.
        port: The port; the server listens on the loopback address alone.

    Raises:
        OSError: The server cannot listen on the port.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    run_http(episode_app(host), LOOPBACK, port)

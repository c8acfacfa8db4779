"""A local HTTP server that answers the Chromium of each session from the sites of that session."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Mapping
from contextlib import nullcontext
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Internet, Response

SESSION = "x-agentworld-session"
"""The header that names the session of a request, since one server and one browser serve all sessions."""

MAX_BODY = 1_000_000
RETRY_S = 0.3
"""The time in seconds within which Chromium by itself repeats a request that was reset."""

TLS = b"\x16"
"""The first byte of a browser that wants https; the sites answer http only."""

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}


class SessionServer:
    """An HTTP server for any number of sessions, in one event loop.

    `internets` maps the name of a session to its sites. No control strikes in the sessions of `undisturbed`. `log`
    lists the requests of each session.
    """

    def __init__(self) -> None:
        self.internets: dict[str, Internet] = {}
        self.log: dict[str, list[str]] = {}
        self.undisturbed: set[str] = set()
        self._broken: dict[str, tuple[str, float]] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen on a free local port, and return it."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first = await reader.readexactly(1)
            if first == TLS:
                writer.write(_wire(Response(400), ""))
                return
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            length = min(int(headers.get("content-length", "0") or 0), MAX_BODY)
            body = (await reader.readexactly(length)).decode("utf-8", "replace") if length else ""
            self._answer(writer, method, target, headers, body)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, OSError):
            pass
        finally:
            writer.close()

    def _answer(
        self, writer: asyncio.StreamWriter, method: str, target: str, headers: Mapping[str, str], body: str
    ) -> None:
        session = headers.get(SESSION, "")
        internet = self.internets.get(session)
        if internet is None or target == "/favicon.ico":
            writer.write(_wire(Response(204 if internet else 404), ""))
            return
        host = headers.get("host", "").removesuffix(":80")
        url = f"http://{host}{target}"
        form = tuple(parse_qsl(body, keep_blank_values=True)) if method == "POST" else ()
        broken, when = self._broken.pop(session, ("", 0.0))
        try:
            if broken == url and time.monotonic() - when < RETRY_S:
                raise ConnectionReset(
                    url
                )  # This is the browser's own second attempt, which the sites have not been asked for.
            with suspended() if session in self.undisturbed else nullcontext():
                response = internet.fetch(HttpRequest(method, url, form, _cookies(headers.get("cookie", ""))))
        except ConnectionReset:
            self._broken[session] = ("" if broken == url else url, time.monotonic())
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        if response is None:
            response = Response(502, "<title>502</title>No such host")
        if not target.startswith("/static/"):
            self.log.setdefault(session, []).append(
                f"[{method}] {url} => [{response.status}] {_reason(response.status)}"
            )
        writer.write(_wire(response, target.partition("?")[0]))


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}


def _wire(response: Response, path: str) -> bytes:
    """Return the bytes of a response. The browser may not cache it, so that Back asks again."""
    kind = next((kind for ending, kind in _KINDS.items() if path.endswith(ending)), "text/html")
    body = response.body.encode("utf-8", "replace")
    lines = [
        f"HTTP/1.1 {response.status} {_reason(response.status)}",
        f"Content-Type: {kind}; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if response.location is not None:
        lines.append(f"Location: {response.location}")
    for name, value in response.cookies.items():
        lines.append(f"Set-Cookie: {name}={value}; Path=/" + ("" if value else "; Max-Age=0"))
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""

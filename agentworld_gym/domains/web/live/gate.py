"""The gate of a browser context: a SOCKS proxy that decides which hosts its pages reach, and how."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[str, int], Awaitable[Streams]]
"""A function that connects to a port of a host. It raises PermissionError where the host may not be reached."""

_CONNECT, _IPV4, _NAME, _IPV6 = 1, 1, 3, 4
_DONE, _FORBIDDEN, _UNREACHABLE, _NOT_SUPPORTED = 0, 2, 4, 7
_CHUNK = 1 << 16


class Gate:
    """A SOCKS proxy (RFC 1928) of one browser context. Its methods run on the loop of the browsers.

    Args:
        dial: The function that connects.
    """

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        """The port on this machine at which it listens."""

    async def open(self) -> Gate:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def close(self) -> None:
        """End all connections; a second call does nothing."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with suppress(OSError, EOFError, UnicodeError):
                await self._relay(reader, writer)
        finally:
            self._open.discard(writer)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        _, command, _, kind = await reader.readexactly(4)
        if kind == _NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii")
        else:
            family, size = (socket.AF_INET, 4) if kind == _IPV4 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(size))
        (port,) = struct.unpack("!H", await reader.readexactly(2))
        status, far = _NOT_SUPPORTED, None
        if command == _CONNECT:
            try:
                far, status = await self._dial(host, port), _DONE
            except PermissionError:
                status = _FORBIDDEN
            except OSError:
                status = _UNREACHABLE
        writer.write(bytes((5, status, 0, _IPV4)) + bytes(6))
        await writer.drain()
        if far is None:
            return
        self._open.add(far[1])
        try:
            await asyncio.gather(_pump(reader, far[1]), _pump(far[0], writer))
        finally:
            self._open.discard(far[1])
            far[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()

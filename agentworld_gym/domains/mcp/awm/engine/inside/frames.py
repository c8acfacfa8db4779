"""Messages over a socket: a JSON object and some bytes, each after its length. Host and sandbox both speak them."""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

HEADER = struct.Struct(">II")
MAX_MESSAGE = 8 << 20
"""The bytes of the JSON object of a message."""

MAX_BLOB = 256 << 20
"""The bytes that a message carries beside its object."""


class FrameError(Exception):
    """The other side wrote something that is no message."""


class Frames:
    """Sends and receives messages over a connected stream socket.

    Args:
        end: The socket.
        takes_files: Whether files come beside messages, on a Unix socket; those of a sender who is not trusted are not
            taken.

    >>> one, other = (Frames(end) for end in socket.socketpair())
    >>> one.send({"do": "image"}, b"bytes")
    >>> other.receive()
    ({'do': 'image'}, b'bytes')
    """

    def __init__(self, end: socket.socket, takes_files: bool = False) -> None:
        self.socket = end
        self.files: list[int] = []
        """The numbers of the files that came; who uses one takes it off the list."""
        self._takes_files = takes_files
        self._read = bytearray()

    def send(
        self, message: dict[str, Any], blob: bytes = b"", seconds: float | None = None, file: int | None = None
    ) -> None:
        """Send a message.

        Args:
            message: The object.
            blob: The bytes.
            seconds: How long the other side may take to accept it; None waits for ever.
            file: The number of a file that the other side gets too, on a Unix socket.

        Raises:
            OSError: The other side is gone, or took too long.
        """
        data = json.dumps(message).encode()
        self.socket.settimeout(seconds)
        head = HEADER.pack(len(data), len(blob))
        if file is not None:
            socket.send_fds(self.socket, [head[:1]], [file])
            head = head[1:]
        self.socket.sendall(b"".join((head, data, blob)))

    def receive(self, seconds: float | None = None) -> tuple[dict[str, Any], bytes]:
        """Return the next message.

        Args:
            seconds: How long to wait for it; None waits for ever.

        Raises:
            EOFError: The other side is gone.
            TimeoutError: Nothing came in time.
            FrameError: What came is no message, or is too long.
        """
        until = None if seconds is None else time.monotonic() + seconds
        length, size = HEADER.unpack(self._take(HEADER.size, until))
        if length > MAX_MESSAGE or size > MAX_BLOB:
            raise FrameError(f"a message of {length} and {size} bytes")
        data, blob = self._take(length, until), self._take(size, until)
        try:
            message = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FrameError(f"no JSON ({error})") from error
        if not isinstance(message, dict):
            raise FrameError("no JSON object")
        return message, blob

    def close(self) -> None:
        """Close the socket; a second call does nothing."""
        self.socket.close()

    def _take(self, count: int, until: float | None) -> bytes:
        while len(self._read) < count:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            size = max(65536, min(count - len(self._read), 1 << 20))
            try:
                if self._takes_files:
                    part, files, _, _ = socket.recv_fds(self.socket, size, 1)
                    self.files += files
                else:
                    part = self.socket.recv(size)
            except ConnectionError as error:
                raise EOFError from error
            if not part:
                raise EOFError
            self._read += part
        data = bytes(self._read[:count])
        del self._read[:count]
        return data

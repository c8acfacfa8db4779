"""The bodies of a server's responses, which are read and unpacked up to a bound."""

from __future__ import annotations

import zlib
from typing import Any

import aiohttp

ACCEPTED = "gzip, deflate"
"""The encodings that can be unpacked, as the header Accept-Encoding names them."""

ERROR_BYTES = 2**16
"""The number of bytes that the page of an error may have."""

LOOKUP_BYTES = 2**20
"""The number of bytes that the list of models and the version may have."""

STREAMED = 2
"""How many times as long an answer may be that comes as a stream of events, one for each token."""

_ANSWER_BYTES = 2**18
_TOKEN_BYTES = 2**8
_SCORED_TOKEN_BYTES = 2**11
_GZIP = 31


class BodyError(Exception):
    """A body is too long or cannot be unpacked; the message says why."""


def answer_bytes(max_tokens: int, scored: bool) -> int:
    """Return the number of bytes that an answer of some tokens may have.

    Args:
        max_tokens: The number of tokens.
        scored: Whether the answer holds log-probabilities.

    >>> answer_bytes(4096, scored=False)
    1310720
    """
    return _ANSWER_BYTES + max_tokens * (_SCORED_TOKEN_BYTES if scored else _TOKEN_BYTES)


async def read_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the unpacked body of a response, whose session must not unpack by itself.

    No memory is taken for what exceeds the limit: a response that goes on is closed, and unpacking stops.

    Args:
        response: The response.
        limit: The number of bytes that the body may have.

    Raises:
        BodyError: The body is longer than the limit, packed or unpacked, or cannot be unpacked.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    unpacker = None if encoding in ("", "identity") else _Unpacker(encoding)
    taken, length, received = [], 0, 0
    async for chunk in response.content.iter_any():
        received += len(chunk)
        part = chunk if unpacker is None else unpacker.feed(chunk, limit - length + 1)
        length += len(part)
        if max(length, received) > limit:
            response.close()
            raise BodyError(f"longer than {limit} bytes")
        taken.append(part)
    if unpacker is not None:
        unpacker.end()
    return b"".join(taken)


class _Unpacker:
    def __init__(self, encoding: str) -> None:
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise BodyError(f"packed as {encoding[:40]!r}, which was not asked for")
        self._encoding = encoding
        self._engine: Any = None

    def feed(self, chunk: bytes, most: int) -> bytes:
        """Return what a chunk unpacks to, but at most `most` bytes."""
        if self._engine is None:
            # Some servers send deflate without the header of zlib, whose last four bits are an 8.
            bare = -zlib.MAX_WBITS if chunk[0] & 15 != 8 else zlib.MAX_WBITS
            self._engine = zlib.decompressobj(bare if self._encoding == "deflate" else _GZIP)
        try:
            unpacked: bytes = b"" if self._engine.eof else self._engine.decompress(chunk, most)
        except zlib.error as error:
            raise BodyError(f"no {self._encoding} ({error})") from error
        return unpacked

    def end(self) -> None:
        """Check that the body is complete."""
        if self._engine is None or not self._engine.eof:
            raise BodyError(f"cut off ({self._encoding})")

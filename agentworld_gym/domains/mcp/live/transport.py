"""A server's standard input and output as the SDK's client takes them, with bounds on what it may print."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from agentworld_gym.kit.live.config import LiveLimits
from agentworld_gym.kit.live.process_watch import Watched, end_tree, family_of, process_watch

LONGEST_LINE = 8 << 20
"""The longest message of a server, in bytes."""

FLOOD = 64 << 20
"""What a server may print between two calls, in bytes."""

LAST_WORDS = 2000
"""How many bytes of its standard error are kept."""

GRACE = 0.5
"""How many seconds a server has to end by itself once its input is closed."""


class ServerProcess:
    """The process of a server, and why it ended.

    Args:
        words: The command, with its sandbox.
        env: The environment of the command.
        cwd: The folder in which it starts.
        limits: What it may take.
    """

    def __init__(self, words: Sequence[str], env: dict[str, str], cwd: str, limits: LiveLimits) -> None:
        self._words, self._env, self._cwd, self._limits = words, env, cwd, limits
        self.process: asyncio.subprocess.Process | None = None
        self.watched: Watched | None = None
        self.printed = 0
        """The bytes that it printed since the last call."""
        self._why = ""
        self._errors = b""
        self._strange = b""
        """The first line of its output that is no message."""

    @property
    def pid(self) -> int | None:
        """The number of the process, while it runs."""
        process = self.process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def why(self) -> str:
        """Why it ended, with the last that it wrote to its standard error."""
        status = None if self.process is None else self.process.returncode
        how = (self.watched.broken if self.watched else "") or self._why
        if not how and status is not None:
            how = f"it ended with status {status}" if status >= 0 else f"it was ended by signal {-status}"
        return (how or "it closed its output") + self.said

    @property
    def said(self) -> str:
        """The last that it wrote to its standard error, and what it printed that is no message, as the end of a
        sentence; an empty text where it wrote neither.
        """
        said = self._errors.decode("utf-8", "replace").strip()[-500:]
        strange = self._strange.decode("utf-8", "replace").strip()[:200]
        printed = f"; it printed what is no message of the protocol: {strange}" if strange else ""
        return (f"; it wrote: {said}" if said else "") + printed

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Any]:
        """Run the process, and yield the streams of its messages.

        Raises:
            OSError: It cannot be started.
        """
        pipe = asyncio.subprocess.PIPE
        # The sandbox dies with the thread that starts it, which is that of the loop.
        self.process = process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=self._env,
            cwd=self._cwd,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        self.watched = process_watch().add(process.pid, self._limits)
        heard, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, to_write = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(self._hear(heard)),
            asyncio.create_task(self._tell(to_write, heard)),
            asyncio.create_task(self._keep_errors()),
        ]
        try:
            yield reading, writing
        finally:
            await self._end(tasks)
            for stream in (heard, reading, writing, to_write):
                stream.close()

    async def _hear(self, heard: Any) -> None:
        assert self.process is not None and self.process.stdout is not None
        async with heard:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
                while line := await self._line(self.process.stdout):
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:  # As a line of a log is none.
                        self._strange = self._strange or line[:LAST_WORDS].strip()
                        continue
                    await heard.send(SessionMessage(message))

    async def _line(self, stdout: asyncio.StreamReader) -> bytes:
        """Return the next line; nothing at the end, and where the server prints too much."""
        try:
            line = await stdout.readline()
        except ValueError:
            self._flooded(f"it wrote a line of more than {LONGEST_LINE >> 20} MiB")
            return b""
        self.printed += len(line)
        if self.printed > FLOOD:
            self._flooded(f"it wrote more than {FLOOD >> 20} MiB at once")
            return b""
        return line

    def _flooded(self, why: str) -> None:
        self._why = self._why or why
        self.kill()

    async def _tell(self, to_write: Any, heard: Any) -> None:
        assert self.process is not None and self.process.stdin is not None
        try:
            async with to_write:
                async for message in to_write:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self.process.stdin.write(f"{text}\n".encode("utf-8", "replace"))
                    await self.process.stdin.drain()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            await heard.aclose()

    async def _keep_errors(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        with suppress(ConnectionError):
            while data := await self.process.stderr.read(65536):
                self._errors = (self._errors + data)[-LAST_WORDS:]

    async def _end(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """End the process with all that it started, in a bounded time."""
        process = self.process
        assert process is not None and process.stdin is not None
        process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        self.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5.0)
        with suppress(TimeoutError):  # The last words of a process that ended by itself.
            await asyncio.wait_for(tasks[-1], 0.2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.watched is not None:
            process_watch().remove(self.watched)

    async def ended(self) -> None:
        """Wait a moment for the end of a process that closed its output, so that `why` tells how it ended."""
        if self.process is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), GRACE)

    def kill(self) -> None:
        """End the process at once, with all that it started."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        family = family_of(process.pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        end_tree(family)

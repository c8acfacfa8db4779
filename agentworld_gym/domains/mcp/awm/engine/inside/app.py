"""The app of a world: its code is executed here, and its endpoints are called in process, over ASGI."""

from __future__ import annotations

import ast
import asyncio
import builtins
import json
import math
import re
import sys
import traceback
import types
from collections.abc import Callable
from contextlib import suppress
from json.encoder import encode_basestring as quoted
from typing import Any
from urllib.parse import unquote, urlencode

from agentworld_gym.domains.mcp.awm.engine.inside.clock import HOOK, SessionClock
from agentworld_gym.domains.mcp.awm.engine.inside.library_binding import (
    Lend,
    bind_class_of_connections,
    bind_engines,
    bind_typed_dicts,
    without_threads,
)
from agentworld_gym.domains.mcp.awm.engine.inside.loop import install
from agentworld_gym.domains.mcp.awm.engine.inside.mutation_watch import Watch
from agentworld_gym.domains.mcp.awm.engine.inside.openapi import Operation, refused, tools_of

MODULE = "awm_world"
"""The name of the module that the code of a world runs in."""

FILE = f"/{MODULE}.py"
"""The file that the code takes itself for; there is none."""

MAX_ANSWER = 1_000_000
"""The bytes of an answer."""

TURNS = 100
"""How often work that a request started, and does not wait for, gets its turn before it is ended. A message that is
sent later ends by itself; a loop that looks for one every minute does not."""

MAX_FRAMES = 5
"""The largest number of lines of a traceback."""

MAX_TOLD = 600
"""The largest number of characters of an error."""

THREADED = re.compile(r"anyio|asyncio|\bthreading\b|\b_thread\b|contextvars|concurren")
"""What code names that may find out which thread it runs in; `check_same_thread` of an engine is no such name."""


class Stopped(Exception):
    """The code of a world cannot go on: it ended its process, took too much memory, or answered too much."""


class AwmApp:
    """A world's app.

    Args:
        code: The code.
        clock: The clock that its dates look at.
        lend: A function that returns a connection to the database of the session that acts.
        guard: Functions instead of Python's own, by name, where sessions share the process.

    Raises:
        Exception: The code raised it.
    """

    def __init__(self, code: str, clock: SessionClock, lend: Lend, guard: dict[str, Callable[..., Any]]) -> None:
        # How often the loop looks at the clock depends on threads, so it looks at another one.
        self._loop = install(clock.of_machine)
        bind_engines(lend)
        bind_typed_dicts()
        if guard:
            bind_class_of_connections()
        if not THREADED.search(code):
            without_threads()
        self._code = code
        module = types.ModuleType(MODULE)
        module.__dict__.update({HOOK: clock.member, "__builtins__": {**vars(builtins), **guard}, "__file__": FILE})
        sys.modules[MODULE] = module
        tree = clock.rewritten(ast.parse(code))
        exec(compile(tree, FILE, "exec", dont_inherit=True), module.__dict__)
        self.app = _app_in(module)
        self._run(self._started())
        self.close_sessions()
        described = self.app.openapi_schema
        self.tools, self._operations = _tools_of(self.app)
        # The app keeps its description, hundreds of containers, which would be watched for changes at every call.
        self.app.openapi_schema = described
        self._validators: dict[str, Any] = {}
        self.raised = ""
        """What the code raised in the last call, with the lines that led there; empty where it raised nothing."""

    async def _started(self) -> None:
        lifespan = self.app.router.lifespan_context(self.app)
        await lifespan.__aenter__()

    def watched(self) -> Watch:
        """Return a watch over what the code holds, when libraries have made what they make at the first call."""
        from sqlalchemy.orm import configure_mappers

        with suppress(Exception):  # Each call reports what is wrong with them.
            configure_mappers()
        with suppress(Exception):
            self.app.middleware_stack = self.app.middleware_stack or self.app.build_middleware_stack()
        return Watch(sys.modules[MODULE], self.app, self._code)

    def close_sessions(self) -> None:
        """Close the ORM sessions that are left; one at the top of the module begins anew when it is used again."""
        from sqlalchemy.orm import close_all_sessions

        with suppress(Exception):
            close_all_sessions()

    @property
    def left_out(self) -> dict[str, str]:
        """The tools that no client can use, with the reason."""
        return {name: operation.refusal for name, operation in self._operations.items() if operation.refusal}

    def reads(self, name: str) -> bool:
        """Return whether a tool is an endpoint that reads, by its method."""
        return name in self._operations and self._operations[name].method == "GET"

    def call(self, name: str, arguments: dict[str, Any], check: bool) -> tuple[str, bool]:
        """Call a tool.

        Args:
            name: The name of the tool.
            arguments: The arguments.
            check: Whether the arguments may not fit the schema of the tool.

        Returns:
            The text that an MCP client gets, and whether it is an error.

        Raises:
            Stopped: The code cannot go on.
        """
        self.raised = ""
        operation = self._operations.get(name)
        if operation is None:
            return f"Unknown tool: {name}", True
        if operation.refusal:
            return operation.refusal, True
        if check and (problem := self._problem(name, operation, arguments)):
            return problem, True
        status, body = self._response(operation, arguments)
        if len(body) > MAX_ANSWER:
            raise Stopped(f"an answer of {name} has {len(body)} bytes or more, the limit is {MAX_ANSWER}")
        text = body.decode("utf-8", "replace")
        if 400 <= status < 600:
            return f"Error calling {name}. Status code: {status}. Response: {text}", True
        try:
            return laid_out(json.loads(text)), False
        except (ValueError, RecursionError):
            return text, False

    def _problem(self, name: str, operation: Operation, arguments: dict[str, Any]) -> str:
        """Return what is wrong with arguments, in the words of MCP servers in Python and of their library."""
        import jsonschema

        validator = self._validators.get(name)
        if validator is None:
            validator = jsonschema.validators.validator_for(operation.schema)(operation.schema)
            self._validators[name] = validator
        try:
            error = jsonschema.exceptions.best_match(validator.iter_errors(arguments))
        except MemoryError as short:
            raise Stopped("the check of the arguments took more memory than it may have") from short
        except Exception as odd:  # The schema is one, and leads nowhere all the same.
            return str(odd) or type(odd).__name__
        return "" if error is None else f"Input validation error: {error.message}"

    def _response(self, operation: Operation, arguments: dict[str, Any]) -> tuple[int, bytes]:
        left = dict(arguments)
        path = operation.path
        for name in operation.places["path"]:
            if name in left:
                path = path.replace(f"{{{name}}}", str(left.pop(name)))
        path = unquote(path.partition("#")[0].partition("?")[0])
        query = {name: left.pop(name) for name in operation.places["query"] if name in left}
        headers = [(name.lower(), str(left.pop(name))) for name in operation.places["header"] if name in left]
        body = b""
        if left and operation.method not in ("GET", "DELETE"):
            body = json.dumps(left, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            headers.append(("content-type", "application/json"))
        headers += [("host", "apiserver"), ("accept", "*/*"), ("content-length", str(len(body)))]
        pairs = [(name, _plain(item)) for name, value in query.items() for item in _items(value)]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": operation.method,
            "headers": [tuple(text.encode("utf-8", "replace") for text in header) for header in headers],
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "replace"),
            "query_string": urlencode(pairs, errors="replace").encode("ascii"),
            "server": ("apiserver", None),
            "client": ("127.0.0.1", 123),
            "root_path": "",
        }
        try:
            answered: tuple[int, bytes] = self._run(self._answered(scope, body))
        except MemoryError as error:
            raise Stopped("the code took more memory than it may have") from error
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            raise Stopped(f"the code tried to end its process ({type(error).__name__})") from error
        return answered

    async def _answered(self, scope: dict[str, Any], body: bytes) -> tuple[int, bytes]:
        status, size, parts = 500, 0, list[bytes]()
        asked, ended = False, asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if asked:
                await ended.wait()
                return {"type": "http.disconnect"}
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > MAX_ANSWER:
                    raise OverflowError("the answer is too long")

        try:
            await self.app(scope, receive, send)
        except MemoryError:
            raise
        except Exception as error:
            self.raised = _traceback_end(error, self._code)
            # Starlette answers with a plain 500 and then raises what the code raised, for the log of a server.
            if not parts:
                return 500, b"Internal Server Error"
        return status, b"".join(parts)

    def _run(self, work: Any) -> Any:
        try:
            return self._loop.run_until_complete(work)
        finally:
            if asyncio.all_tasks(self._loop):
                self._end_what_is_left()

    def _end_what_is_left(self) -> None:
        """End what a request leaves running: it shall not go on in the request of another session."""
        try:
            self._loop.run_until_complete(self._loop.let_others_run(TURNS))
        finally:
            while left := asyncio.all_tasks(self._loop):
                for task in left:
                    task.cancel()
                self._loop.run_until_complete(asyncio.wait(left))


def _traceback_end(error: Exception, code: str) -> str:
    """Return the end of a traceback: the last lines of the code that led to an error, and the error."""
    lines = code.splitlines()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    told = [
        f"  line {frame.lineno}, in {frame.name}\n    {lines[frame.lineno - 1].strip()}"
        for frame in frames[-MAX_FRAMES:]
        if frame.lineno and frame.lineno <= len(lines)
    ]
    return "\n".join([*told, f"{type(error).__name__}: {error}"[:MAX_TOLD]])


def _tools_of(app: Any) -> tuple[list[dict[str, Any]], dict[str, Operation]]:
    """Return the tools of an app and its operations. Where it cannot describe itself, each endpoint is looked at alone,
    and those that cannot be described are refused."""
    try:
        return tools_of(app.openapi())
    except Exception:
        from fastapi.openapi.utils import get_openapi

        tools, operations = dict[str, dict[str, Any]](), dict[str, Operation]()
        for route in app.routes:
            name = getattr(route, "operation_id", None) or getattr(route, "unique_id", None)
            if name is None or not route.include_in_schema:
                continue
            try:
                found, more = tools_of(get_openapi(title="one", version="1", routes=[route]))
            except Exception as error:
                found, more = [], {name: refused(error)}
            tools |= {tool["name"]: tool for tool in found}
            operations |= more
        return list(tools.values()), operations


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _plain(value: Any) -> str:
    return {True: "true", False: "false", None: ""}[value] if value is None or isinstance(value, bool) else str(value)


def _app_in(module: types.ModuleType) -> Any:
    """Return the app of a module: the one called `app`, or else the first one.

    Raises:
        LookupError: There is none.
    """
    from fastapi import FastAPI

    found = [value for value in (module.__dict__.get("app"), *module.__dict__.values()) if isinstance(value, FastAPI)]
    if not found:
        raise LookupError("the code makes no FastAPI app")
    return found[0]


def laid_out(value: Any, line: str = "\n") -> str:
    """Return a value that was read from JSON as `json.dumps(value, indent=2, ensure_ascii=False)` does.

    Args:
        value: The value.
        line: What begins a line at the depth of the value.

    >>> value = {"a": [1, 2.5, None], "b": {}, "c": "\\u00e4", "d": [True, float("inf")]}
    >>> laid_out(value) == json.dumps(value, indent=2, ensure_ascii=False)
    True
    """
    match value:
        case str():
            return quoted(value)
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case float() if not math.isfinite(value):
            return json.dumps(value)
        case dict() if value:
            inner = line + "  "
            parts = [f"{quoted(key)}: {laid_out(part, inner)}" for key, part in value.items()]
            return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
        case list() if value:
            inner = line + "  "
            return f"[{inner}{f',{inner}'.join([laid_out(part, inner) for part in value])}{line}]"
    return str(value)

"""The server of the playground: it listens on this machine alone, and answers who knows the token of its address."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson

from agentworld_gym.base.errors import AgentWorldError, ClosedError
from agentworld_gym.evaluation.playground.desk import Playground
from agentworld_gym.evaluation.playground.game import Stale
from agentworld_gym.evaluation.playground.page import playground_page, policy

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
HOSTS = frozenset({LOOPBACK, "localhost", "[::1]"})
"""The names of this machine. Another name in the header `Host` is that of a page elsewhere which was made to lead here
(DNS rebinding), or a tunnel under another name. The port is free, because a tunnel may have another one."""

MAX_BYTES = 1 << 20
"""The longest request; an action is far shorter."""

PATIENCE_S = 30
"""How long a client may take to send its request."""

JSON, HTML, TEXT = "application/json", "text/html; charset=utf-8", "text/plain; charset=utf-8"


class PlayServer:
    """Serves one desk on a port of this machine, from threads of its own.

    Args:
        desk: The desk.
        port: The port; 0 takes a free one.

    Raises:
        OSError: The server cannot listen on the port.
    """

    def __init__(self, desk: Playground, port: int = 0) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        self._page = playground_page()
        self._server = ThreadingHTTPServer((LOOPBACK, port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="agentworld-play")
        self._thread.daemon = True

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self._server.server_port}/{self.token}/"

    def __enter__(self) -> PlayServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"
            server_version, sys_version = "agentworld", ""
            timeout = PATIENCE_S

            def do_GET(self) -> None:
                self._answer(served.read)

            def do_POST(self) -> None:
                self._answer(served.change)

            def _answer(self, does: Callable[[BaseHTTPRequestHandler, str], PageResponse]) -> None:
                response = served.refusal(self)
                if response is None:
                    response = does(self, _split(self.path).path.split("/", 2)[2])
                self.send_response(response.status)
                for name, value in {**HEADERS, **response.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", response.kind)
                self.send_header("Content-Length", str(len(response.body)))
                if response.status >= HTTPStatus.BAD_REQUEST:
                    self.close_connection = True  # What a refused client still sends is not read.
                    self.send_header("Connection", "close")
                with suppress(ConnectionError):  # The page was closed before its answer came.
                    self.end_headers()
                    self.wfile.write(response.body)

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing: the path of a request holds the token."""

        return Handler

    def refusal(self, request: BaseHTTPRequestHandler) -> PageResponse | None:
        """Return why a request is refused; None where it is not."""
        host = request.headers.get("Host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name.lower() not in HOSTS:
            return PageResponse.text(HTTPStatus.FORBIDDEN, "This server answers to the names of this machine alone.")
        origin = request.headers.get("Origin")
        if origin is not None and _split(origin).netloc.lower() != host.lower():
            return PageResponse.text(HTTPStatus.FORBIDDEN, "Another page may not ask this server.")
        parts = _split(request.path).path.split("/", 2)
        if len(parts) < 3 or not secrets.compare_digest(parts[1].encode(), self.token.encode()):
            told = "The address lacks its token: open the whole address that agentworld play printed."
            return PageResponse.text(HTTPStatus.FORBIDDEN, told)
        return None

    def read(self, request: BaseHTTPRequestHandler, path: str) -> PageResponse:
        """Answer a request that changes nothing."""
        kind, _, name = path.partition("/")
        if path == "":
            return PageResponse(
                HTTPStatus.OK, self._page.encode(), HTML, {"Content-Security-Policy": policy(self._page)}
            )
        if path == "alive":
            status = HTTPStatus.SERVICE_UNAVAILABLE if self.desk.closed else HTTPStatus.OK
            return PageResponse.json(status, {"version": self.desk.version, "busy": self.desk.busy})
        if kind == "picture" and name:
            return self._picture(name)
        if path == "saved" and (saved := self.desk.saved) is not None:
            with suppress(OSError):  # Somebody removed it.
                return PageResponse(HTTPStatus.OK, saved.read_bytes(), HTML, {})
        return PageResponse.text(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _picture(self, name: str) -> PageResponse:
        try:
            found = self.desk.picture(name)
        except AgentWorldError as error:
            return PageResponse.text(HTTPStatus.NOT_IMPLEMENTED, str(error))
        if found is None:
            return PageResponse.text(HTTPStatus.NOT_FOUND, "There is no such picture.")
        return PageResponse(HTTPStatus.OK, found, "image/webp", {"Cache-Control": "private, max-age=86400, immutable"})

    def change(self, request: BaseHTTPRequestHandler, path: str) -> PageResponse:
        """Do what a request asks for."""
        try:
            size = int(request.headers.get("Content-Length", ""))
        except ValueError:
            return _problem(HTTPStatus.LENGTH_REQUIRED, "request", "its length is missing")
        if not 0 <= size <= MAX_BYTES:
            return _problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "request", f"the limit is {MAX_BYTES} bytes")
        if request.headers.get_content_type() != JSON:
            return _problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "request", f"expected {JSON}")
        try:
            asked = orjson.loads(request.rfile.read(size))
        except orjson.JSONDecodeError as error:
            return _problem(HTTPStatus.BAD_REQUEST, "request", f"no JSON: {error}")
        if not isinstance(asked, dict):
            return _problem(HTTPStatus.BAD_REQUEST, "request", "expected an object")
        try:
            return PageResponse.json(HTTPStatus.OK, self.desk.ask(path, asked))
        except ClosedError as error:
            return _problem(HTTPStatus.SERVICE_UNAVAILABLE, type(error).__name__, str(error))
        except Stale as error:
            return _problem(HTTPStatus.CONFLICT, type(error).__name__, str(error))
        except (AgentWorldError, OSError, ImportError) as error:
            return _problem(HTTPStatus.BAD_REQUEST, type(error).__name__, str(error))
        except Exception as error:
            logger.exception("the playground failed on %s", path)
            return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, type(error).__name__, str(error))


class PageResponse:
    """What is sent back."""

    def __init__(self, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.status, self.body, self.kind, self.headers = status, body, kind, headers

    @classmethod
    def text(cls, status: int, text: str) -> PageResponse:
        """Return a response that is a plain text."""
        return cls(status, f"{text}\n".encode(), TEXT, {})

    @classmethod
    def json(cls, status: int, value: Any) -> PageResponse:
        """Return a response that is JSON; a lone surrogate in a text becomes a question mark."""
        return cls(status, _dumped(value), JSON, {})


HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""The headers of every response, unless it has others of its own."""


def _split(address: str) -> SplitResult:
    """Return the parts of an address; one that is none has empty parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _dumped(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:
        return orjson.dumps(_plain(value), option=orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _problem(status: int, kind: str, message: str) -> PageResponse:
    return PageResponse.json(status, {"error": {"kind": kind, "message": message}})

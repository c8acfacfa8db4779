"""A local HTTP server of the sites for real browsers. The Host header chooses the site."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from urllib.parse import parse_qsl

from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Internet, Response

LOOPBACK = "127.0.0.1"
MAX_BODY = 400_000
"""The largest number of bytes in the body of a request."""

TIMEOUT_S = 30.0

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}


class SiteServer:
    """The sites behind a port of this machine, as a context manager.

    A site answers to its own host (`shop.example`, for a browser that maps it to the port) and to the same name under
    `localhost` (`http://shop.localhost:8000/`, which browsers resolve by themselves).

    >>> from agentworld_gym.domains.web.engine.sites import Sites
    >>> with SiteServer(Sites.start({"open": "http://wiki.example/"}, seed=0)) as server:
    ...     server.address("wiki.example").startswith("http://wiki.localhost:")
    True
    """

    def __init__(self, internet: Internet, port: int = 0) -> None:
        """Bind a port; 0 takes any free one.

        Raises:
            OSError: The port is taken.
        """
        self.internet = internet
        self._lock = Lock()
        self._http = _Server((LOOPBACK, port), _Handler)
        self._http.site_server = self
        self._thread: Thread | None = None

    @property
    def port(self) -> int:
        """The port."""
        return int(self._http.server_address[1])

    def address(self, host: str) -> str:
        """Return the URL at which a person's browser finds the site of a host."""
        return f"http://{host.rpartition('.')[0]}.localhost:{self.port}/"

    def start(self) -> None:
        """Answer requests in threads, and return at once."""
        if self._thread is None:
            self._thread = Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
            self._thread.start()

    def run(self) -> None:
        """Answer requests until an interrupt."""
        self._http.serve_forever()

    def close(self) -> None:
        """Stop answering; the sites stay as they are. It may be called twice."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()

    def __enter__(self) -> SiteServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def fetch(self, request: HttpRequest) -> Response | None:
        """Fetch one request at a time, since the sites are not thread-safe.

        Raises:
            ConnectionReset: The connection has to break.
        """
        with self._lock:
            return self.internet.fetch(request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site_server: SiteServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a browser may close its connection at any time."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_S
    server: _Server

    def do_GET(self) -> None:
        self._answer("GET", ())

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            self._send(
                Response(413, "<!DOCTYPE html>\n<title>Payload Too Large</title>\n<h1>413 Payload Too Large</h1>")
            )
            return
        body = self.rfile.read(int(length)).decode("utf-8", "replace")
        try:
            form = tuple(parse_qsl(body, keep_blank_values=True, max_num_fields=1000, errors="replace"))
        except ValueError:
            self._send(Response(400, "<!DOCTYPE html>\n<title>Bad Request</title>\n<h1>400 Bad Request</h1>"))
            return
        self._answer("POST", form)

    def _answer(self, method: str, form: tuple[tuple[str, str], ...]) -> None:
        host = self.headers.get("Host", "").partition(":")[0].lower()
        if host.endswith(".localhost"):
            host = f"{host.removesuffix('.localhost')}.example"
        url = f"http://{host}{self.path}" if self.path.startswith("/") else self.path
        try:
            response = self.server.site_server.fetch(
                HttpRequest(method, url, form, _cookies(self.headers.get("Cookie", "")))
            )
        except ConnectionReset:
            # Closing with a linger of zero sends a reset instead of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        if response is None:
            response = Response(404, "<!DOCTYPE html>\n<title>Not found</title>\n<h1>There is no site here</h1>")
        self._send(response)

    def _send(self, response: Response) -> None:
        body = response.body.encode("utf-8", "replace")
        ending = "." + self.path.partition("?")[0].rpartition(".")[2]
        kind = _TYPES.get(ending, "text/html") if self.path.startswith("/static/") else "text/html"
        self.send_response(response.status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store" if kind == "text/html" else "max-age=600")
        if response.location is not None:
            self.send_header("Location", response.location)
        for name, value in response.cookies.items():
            self.send_header("Set-Cookie", f"{name}={value}; Path=/" + ("" if value else "; Max-Age=0"))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def _cookies(header: str) -> Mapping[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header[:8_000]).items()}
    except CookieError:
        return {}

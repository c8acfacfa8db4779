"""A folder with pages, served on loopback."""

from __future__ import annotations

import logging
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


class _Pages(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Answer a request. A browser asks for an icon that most folders do not have, once and at some time."""
        if self.path == "/favicon.ico" and not Path(self.translate_path(self.path)).is_file():
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Say that each context shall ask again."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Take down what went wrong, as where a browser ended while it was answered."""
        logger.debug("a page was not served", exc_info=True)


class PageFolder:
    """Serves a folder until `close`, at a port of loopback.

    Args:
        folder: The folder.

    >>> import urllib.request
    >>> served = PageFolder(Path(__file__).parent)
    >>> urllib.request.urlopen(f"http://127.0.0.1:{served.port}/page_folder.py").readline()
    b'\"\"\"A folder with pages, served on loopback.\"\"\"\\n'
    >>> served.close()
    """

    def __init__(self, folder: Path) -> None:
        self._server = _Server(("127.0.0.1", 0), partial(_Pages, directory=str(folder)))
        self.port = int(self._server.server_address[1])
        """The port."""
        self._thread = threading.Thread(target=self._server.serve_forever, name="agentworld-pages", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no longer; a second call does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(5.0)
            self._server.server_close()

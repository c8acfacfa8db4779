"""A folder with pages, served to connections of this process alone."""

from __future__ import annotations

import logging
import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


class _Pages(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def send_head(self) -> Any:
        """Answer a request. A browser asks for an icon that most folders do not have, once and at some time.

        Hidden files, links that lead out of the folder and lists of files are not there.
        """
        root, place = Path(self.directory).resolve(), Path(self.translate_path(self.path))
        if self.path == "/favicon.ico" and not place.is_file():
            self.send_response(204)
            self.end_headers()
            return None
        hidden = any(part.startswith(".") or "\0" in part for part in place.relative_to(self.directory).parts)
        asked = (place, place / "index.html", place / "index.htm")
        if hidden or not all(one.resolve().is_relative_to(root) for one in asked):
            self.send_error(404)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        """Tell that there is no such page."""
        self.send_error(404)

    def end_headers(self) -> None:
        """Say that each context shall ask again."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


class PageFolder:
    """Serves a folder. It listens at no port: each connection is a pair of sockets, which ends with the other side.

    Args:
        folder: The folder.

    >>> link = PageFolder(Path(__file__).parent).connect()
    >>> link.sendall(b"GET /page_folder.py HTTP/1.0\\r\\n\\r\\n")
    >>> link.recv(15)
    b'HTTP/1.1 200 OK'
    >>> link.close()
    """

    def __init__(self, folder: Path) -> None:
        self._handler = partial(_Pages, directory=str(folder))

    def connect(self) -> socket.socket:
        """Return a connection."""
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(theirs,), name="agentworld-pages", daemon=True).start()
        return ours

    def _serve(self, link: socket.socket) -> None:
        with link:
            try:
                self._handler(link, ("", 0), self)  # type: ignore[arg-type]
            except Exception:  # As where a browser ended while it was answered.
                logger.debug("a page was not served", exc_info=True)

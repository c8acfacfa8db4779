"""A small shop, as a program that serves it and as configurations of live sites: `live_site.py PORT`."""

from __future__ import annotations

import json
import sys
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

PAGE = """<title>Shop</title><h1>Items: {count}</h1><ul>{rows}</ul>
<form method=post action=/add><label>Name <input name=name></label><button>Add</button></form>
<button onclick="alert('Hello')">Greet</button> <a href=/file.bin download>File</a>
<a href=/ target=_blank>Again</a> <a href=http://elsewhere.example/>Elsewhere</a>"""


class Shop(ThreadingHTTPServer):
    """The server; `forgets` says whether its reset works, and `asked` counts its connections."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Visit)
        self.items: list[str] = []
        self.forgets = True
        self.asked = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count a connection."""
        self.asked += 1
        super().process_request(request, client_address)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://localhost:{self.server_address[1]}/"


class Visit(BaseHTTPRequestHandler):
    """One request."""

    server: Shop

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Show the items, as a page or as JSON."""
        items = self.server.items
        if self.path == "/api/items":
            self._say(json.dumps(items))
        elif self.path == "/reset":
            if self.server.forgets:
                items.clear()
            self._say("done")
        elif self.path == "/whoami":
            self._say(self.headers.get("Cookie", "nobody"))
        elif self.path == "/":
            rows = "".join(f"<li>{escape(item)}</li>" for item in items)
            self._say(PAGE.format(count=len(items), rows=rows), **{"Set-Cookie": "visitor=ada"})
        else:
            self._say("", 404 if self.path != "/favicon.ico" else 204)

    def do_POST(self) -> None:
        """Add an item."""
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.items += form.get("name", [])
        self._say("", 303, Location="/")

    def _say(self, text: str, status: int = 200, **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Shop(int(sys.argv[1])).serve_forever()

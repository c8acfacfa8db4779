"""A tool server as somebody else may have written it: it keeps notes, and does what servers should not do.

It speaks the protocol by hand, so that it starts quickly, and so that the SDK's client meets another side than its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE: dict[str, Any] = {"type": "object", "properties": {}}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}, "depth": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }
    },
}
"""A schema that refers to itself."""

SCHEMAS = {
    "add_note": TEXT,
    "list_notes": NONE,
    "clear_notes": NONE,
    "count_nodes": TREE,
    "picture": NONE,
    "structured": NONE,
    "told_twice": NONE,
    "clock": NONE,
    "fail": NONE,
    "refuse": NONE,
    "crash": NONE,
    "hang": NONE,
    "flood": NONE,
    "long": NONE,
    "eat": NONE,
    "environment": NONE,
    "read_file": TEXT,
    "keep": NONE,
    "grow": NONE,
}

Answer = dict[str, Any]


class Refused(Exception):
    """A call that the protocol answers by an error."""


class Notes:
    """The server's state. A broken one does not clear its notes."""

    def __init__(self, broken: bool) -> None:
        self.notes: list[str] = []
        self.names = list(SCHEMAS)
        self.broken = broken

    def tools(self) -> list[Answer]:
        return [
            {"name": name, "description": f"Does {name}.", "inputSchema": SCHEMAS.get(name, NONE)}
            for name in self.names
        ]

    def call(self, name: str, arguments: Answer) -> Answer:
        match name:
            case "add_note":
                self.notes.append(arguments["text"])
                return told(f"Note {len(self.notes)} added")
            case "list_notes":
                return told("\n".join(map(str, self.notes)) or "no notes")
            case "clear_notes":
                self.notes = self.notes if self.broken else []
                return told("cleared")
            case "count_nodes":
                return told(str(count(arguments["root"])))
            case "picture":
                image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
                return {"content": [{"type": "text", "text": "A dot:"}, image]}
            case "structured":
                return {**told("done"), "structuredContent": {"count": len(self.notes)}}
            case "told_twice":
                return {**told('{"count":0}'), "structuredContent": {"count": 0}}
            case "clock":
                return told(f'{{"pid": {os.getpid()}, "now": {time.time():.6f}, "fixed": 7}}')
            case "fail":
                return {**told("there is no such thing"), "isError": True}
            case "refuse":
                raise Refused("refused")
            case "environment":
                return told(" ".join(sorted(os.environ)))
            case "read_file":
                try:
                    with open(arguments["text"], encoding="utf-8") as file:
                        return told(file.read()[:200])
                except OSError as error:
                    return told(type(error).__name__)
            case "keep":
                try:
                    with open(f"{__file__}.kept", "w", encoding="utf-8"):
                        return told("kept")
                except OSError as error:
                    return told(str(error))
            case "grow":
                self.names.append("harvest")
                send({"method": "notifications/tools/list_changed"})
                return told("grown")
            case "harvest" if name in self.names:
                return told("harvested")
        return misbehave(name)


def misbehave(name: str) -> Answer:
    """Do what no server should do."""
    match name:
        case "crash":
            print("about to die", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            print("deep in thought", file=sys.stderr, flush=True)
            time.sleep(3600)
        case "flood":
            while True:
                os.write(1, b"x" * 65536)
        case "long":
            return told("y" * 100_000)
        case "eat":
            eaten = []
            while True:
                eaten.append(bytearray(64 << 20))
                time.sleep(0.01)
    return {**told(f"no tool {name}"), "isError": True}


def told(text: str) -> Answer:
    return {"content": [{"type": "text", "text": text}]}


def count(node: Any) -> int:
    return 1 + sum(map(count, node.get("children", ()))) if isinstance(node, dict) else 0


def send(message: Answer) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main(broken: bool) -> None:
    """Serve one client over standard input and output."""
    notes = Notes(broken)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        parameters = request.get("params") or {}
        try:
            match request["method"]:
                case "initialize":
                    result: Answer = {
                        "protocolVersion": parameters["protocolVersion"],
                        "capabilities": {"tools": {"listChanged": True}},
                        "serverInfo": {"name": "note-keeper", "version": "1.0"},
                        "instructions": "Keeps notes.",
                    }
                case "tools/list":
                    result = {"tools": notes.tools()}
                case "tools/call":
                    result = notes.call(parameters["name"], parameters.get("arguments") or {})
                case method:
                    raise Refused(f"no method {method}")
            send({"id": request["id"], "result": result})
        except (Refused, KeyError) as error:
            send({"id": request["id"], "error": {"code": -32603, "message": str(error)}})


if __name__ == "__main__":
    main("--broken" in sys.argv)

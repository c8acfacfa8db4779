"""A tool server as somebody else may have written it: it keeps notes, and does what servers should not do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

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
    "grow": NONE,
}


class Notes:
    """The server's state."""

    def __init__(self, broken: bool = False) -> None:
        self.notes: list[str] = []
        self.grown = False
        self.broken = broken

    def tools(self) -> list[types.Tool]:
        names = [*SCHEMAS, *(["harvest"] if self.grown else [])]
        return [
            types.Tool(name=name, description=f"Does {name}.", input_schema=SCHEMAS.get(name, NONE)) for name in names
        ]

    async def call(self, context: Any, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        text, blocks, structured = "", None, None
        match name:
            case "add_note":
                self.notes.append(arguments["text"])
                text = f"Note {len(self.notes)} added"
            case "list_notes":
                text = "\n".join(self.notes) or "no notes"
            case "clear_notes":
                if not self.broken:
                    self.notes.clear()
                text = "cleared"
            case "count_nodes":
                text = str(_count(arguments["root"]))
            case "picture":
                blocks = [types.TextContent(text="A dot:"), types.ImageContent(data=PIXEL, mime_type="image/png")]
            case "structured":
                text, structured = "done", {"count": len(self.notes)}
            case "told_twice":
                text, structured = '{"count":0}', {"count": 0}
            case "clock":
                text = f'{{"pid": {os.getpid()}, "now": {time.time():.6f}, "fixed": 7}}'
            case "fail":
                return types.CallToolResult(content=[types.TextContent(text="there is no such thing")], is_error=True)
            case "refuse":
                raise ValueError("refused")
            case "crash":
                print("about to die", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                await asyncio.sleep(3600)
            case "flood":
                text = "x" * (20 << 20)
            case "long":
                text = "y" * 100_000
            case "eat":
                eaten = []
                while True:
                    eaten.append(bytearray(16 << 20))
                    await asyncio.sleep(0.01)
            case "environment":
                text = " ".join(sorted(os.environ))
            case "read_file":
                try:
                    with open(arguments["text"], encoding="utf-8") as file:
                        text = file.read()[:200]
                except OSError as error:
                    text = type(error).__name__
            case "grow":
                self.grown = True
                await context.session.send_tool_list_changed()
                text = "grown"
            case "harvest":
                text = "harvested"
            case _:
                return types.CallToolResult(content=[types.TextContent(text=f"no tool {name}")], is_error=True)
        content = blocks or [types.TextContent(text=text)]
        return types.CallToolResult(content=content, structured_content=structured)


def _count(node: Any) -> int:
    return 1 + sum(map(_count, node.get("children", ())))


async def main(broken: bool) -> None:
    """Serve one client over standard input and output."""
    notes = Notes(broken)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=notes.tools())

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await notes.call(context, params.name, params.arguments or {})

    server: Server[Any] = Server(
        "note-keeper", version="1.0", instructions="Keeps notes.", on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main("--broken" in sys.argv))

"""Runs a world of AWM as AWM does, with FastAPI-MCP over a database file, and prints what a client gets.

It is executed by an interpreter that has fastapi-mcp: `python awm_reference.py JOB.json`, where the job holds the
`code`, the `statements` of the database, and the `calls`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import sys
import tempfile
import types as python_types
from typing import Any


def main() -> None:
    """Run the job that the command line names."""
    from fastapi_mcp import FastApiMCP
    from mcp import types

    logging.disable(logging.CRITICAL)
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    path = os.path.join(tempfile.mkdtemp(), "world.db")
    os.environ["DATABASE_PATH"] = f"sqlite:///{path}"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    for statement in job["statements"]:
        try:
            connection.execute(statement)
        except sqlite3.Error:
            if "\\'" in statement:  # A quote that is escaped as in other languages.
                connection.execute(statement.replace("\\'", "''"))
    connection.commit()
    connection.close()
    module = python_types.ModuleType("world")
    sys.modules["world"] = module
    exec(job["code"], module.__dict__)
    handlers = FastApiMCP(module.app).server.request_handlers

    async def answers() -> dict[str, Any]:
        listed = await handlers[types.ListToolsRequest](types.ListToolsRequest(method="tools/list"))
        texts = []
        for name, arguments in job["calls"]:
            params = types.CallToolRequestParams(name=name, arguments=arguments)
            told = await handlers[types.CallToolRequest](types.CallToolRequest(method="tools/call", params=params))
            texts.append([told.root.content[0].text, told.root.isError])
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.inputSchema}
            for tool in listed.root.tools
        ]
        return {"tools": tools, "answers": texts}

    print(json.dumps(asyncio.run(answers())))


if __name__ == "__main__":
    main()

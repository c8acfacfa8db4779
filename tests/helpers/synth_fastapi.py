"""Writes the tools of a sheet as AWM's models write them: a FastAPI app over SQLAlchemy, and verifiers in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

HEAD = """import os
from datetime import datetime
from typing import Literal, Optional

from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, Field
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker

DATABASE_PATH = os.getenv("DATABASE_PATH", "sqlite:///world.db")
engine = create_engine(DATABASE_PATH, connect_args={"check_same_thread": False})
SessionLocal = sessionmaker(bind=engine)
app = FastAPI(title=%r)


def now() -> str:
    return datetime.utcnow().strftime("%%Y-%%m-%%dT%%H:%%M:%%SZ")


def rows(session, sql, values):
    return [dict(row._mapping) for row in session.execute(text(sql), values)]
"""

TYPES = {"integer": "int", "string": "str", "number": "float", "boolean": "bool"}
BOUNDS = {"minimum": "ge", "maximum": "le", "minLength": "min_length", "maxLength": "max_length"}


def code(sheet: dict[str, Any]) -> str:
    """The app of a sheet."""
    return HEAD % sheet["title"] + "".join(_endpoint(tool) for tool in sheet["tools"])


def verifier(task: dict[str, Any]) -> str:
    """The verifier of a task: facts of the final database, and the answer."""
    answer = None if task.get("answer") is None else str(task["answer"])
    return f"""import sqlite3


def verify_task_completion(initial_db_path, final_db_path, final_answer=None):
    final = sqlite3.connect(f"file:{{final_db_path}}?mode=ro", uri=True)
    facts = {task["facts"]!r}
    held = all((final.execute(sql).fetchone() or [None])[0] == value for sql, value in facts)
    final.close()
    answered = {answer!r} is None or str(final_answer or "").strip() == {answer!r}
    return {{"result": "complete" if held and answered else "others"}}
"""


def _endpoint(tool: dict[str, Any]) -> str:
    parameters = tool.get("parameters", {})
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    name, lines = tool["name"], []
    if tool["writes"]:
        model = "".join(part.title() for part in name.split("_")) + "In"
        fields = [_field(key, schema, key in required, "Field") for key, schema in properties.items()]
        lines += ["", "", f"class {model}(BaseModel):", *(f"    {line}" for line in fields)]
        signature, method = f"body: {model}", "post"
        values = {key: f"body.{key}" for key in properties}
    else:
        signature = ", ".join(_field(key, schema, key in required, "Query") for key, schema in properties.items())
        method, values = "get", {key: key for key in properties}
    told = json.dumps(tool["description"])
    lines += ["", "", f'@app.{method}("/api/{name}", summary={told}, operation_id="{name}")']
    lines += [f"async def {name}({signature}):", "    session = SessionLocal()", "    try:"]
    bound = ", ".join(f'"{key}": {value}' for key, value in values.items())
    lines += [f'        values = {{{bound}{", " if bound else ""}"now": now()}}', *_body(tool["body"])]
    lines += ["    finally:", "        session.close()"]
    return "\n".join(lines) + "\n"


def _field(name: str, schema: dict[str, Any], required: bool, kind: str) -> str:
    hint = f"Literal[{', '.join(map(repr, schema['enum']))}]" if "enum" in schema else TYPES[schema["type"]]
    options = [f"{BOUNDS[key]}={value}" for key, value in schema.items() if key in BOUNDS]
    given = ", ".join(["..." if required else "None", *options, f"description={schema['description']!r}"])
    return f"{name}: {hint if required else f'Optional[{hint}]'} = {kind}({given})"


def _body(body: dict[str, Any]) -> Iterator[str]:
    pad = "        "
    for check in body.get("checks", ()):
        missing = "missing" in check
        yield f"{pad}found = rows(session, {check['missing' if missing else 'found']!r}, values)"
        seen = "**values" if missing else "**values, **(found[0] if found else {})"
        yield f"{pad}if {'not ' if missing else ''}found:"
        detail = f"{check['message']!r}.format(**{{{seen}}})"
        yield f"{pad}    raise HTTPException(status_code={check['status']}, detail={detail})"
        if missing:
            yield f"{pad}values = {{**found[0], **values}}"
    for step in body.get("run", ()):
        if isinstance(step, str):
            yield f"{pad}done = session.execute(text({step!r}), values)"
            if re.match("insert", step, re.IGNORECASE):
                yield f'{pad}values["new_id"] = done.lastrowid'
        else:
            for key, sql in step.items():
                yield f'{pad}values["{key}"] = session.execute(text({sql!r}), values).scalar()'
    if body.get("run"):
        yield f"{pad}session.commit()"
    result = body["result"]
    if "many" in result:
        yield f"{pad}listed = rows(session, {result['many']!r}, values)"
        yield f'{pad}return {{"{result["key"]}": listed, "count": len(listed)}}'
        return
    yield f"{pad}answer = rows(session, {result['one']!r}, values)[0]"
    for key, sql in result.get("nested", {}).items():
        yield f'{pad}answer["{key}"] = rows(session, {sql!r}, values)'
    yield f"{pad}return answer"

"""Writes worlds into AWM's files, one JSON object a line, and the recorded solutions beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.json_lines import read_jsonl
from agentworld_gym.domains.mcp.awm.engine.files import (
    CODE,
    DATABASES,
    DECIDED,
    DESCRIPTIONS,
    INTERFACES,
    ROWS,
    TABLES,
    TASKS,
    scenario_name,
)
from agentworld_gym.domains.mcp.synth.database import statements_of
from agentworld_gym.domains.mcp.synth.draft import Sketch, Solved, WorldDraft

SOLUTIONS = "gen_solution.jsonl"
"""The file of recorded solutions, which AWM does not have."""

CALLS = "gen_calls.jsonl"
"""The file with a right and a wrong call of each tool, which AWM does not have."""

_TABLE = re.compile(r"(?:TABLE|INTO|ON)\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def write_worlds(folder: Path, drafts: Sequence[WorldDraft]) -> None:
    """Write worlds into AWM's files; files that are there are replaced, one after the other.

    Args:
        folder: The folder of the files.
        drafts: The finished worlds. Only tasks that hold are written, and counted from 0.
    """
    written: dict[str, Iterable[Mapping[str, Any]]] = {
        DESCRIPTIONS: ({"name": one.name, "description": one.brief.description} for one in drafts),
        TASKS: ({"scenario": one.name, "tasks": [one.tasks[task.number] for task in one.solved]} for one in drafts),
        TABLES: ({"scenario": one.name, "db_schema": {"tables": _tables(one)}} for one in drafts),
        ROWS: ({"scenario": one.name, "sample_data": {"tables": _rows(one)}} for one in drafts),
        INTERFACES: ({"scenario": one.name, "api_spec": {"api_groups": [_group(one)]}} for one in drafts),
        CODE: (_code(one) for one in drafts),
        DECIDED: (row for one in drafts for row in _verifiers(one)),
        SOLUTIONS: (row for one in drafts for row in _solutions(one)),
        CALLS: ({"scenario": one.name, "calls": [sketch.model_dump() for sketch in one.sketches]} for one in drafts),
    }
    for file, rows in written.items():
        write_atomically(folder / file, "".join(orjson.dumps(row).decode() + "\n" for row in rows))


def recorded_solutions(folder: Path, name: str) -> dict[int, Solved]:
    """Return the recorded solutions of a world by the number of their task; there are none in AWM's own folders."""
    path = folder / SOLUTIONS
    rows = read_jsonl(path) if path.is_file() else ()
    return {
        row["task_idx"]: Solved.model_validate({**row["solution"], "number": row["task_idx"]})
        for row in rows
        if scenario_name(row["scenario"]) == name
    }


def recorded_calls(folder: Path, name: str) -> tuple[Sketch, ...]:
    """Return the tools of a world with their recorded calls; there are none in AWM's own folders."""
    path = folder / CALLS
    rows = read_jsonl(path) if path.is_file() else ()
    return tuple(
        Sketch.model_validate(one) for row in rows if scenario_name(row["scenario"]) == name for one in row["calls"]
    )


def _tables(draft: WorldDraft) -> list[dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for statement in statements_of(draft.sql):
        name = _table_of(statement)
        if re.match(r"CREATE\s+TABLE", statement, re.IGNORECASE):
            tables[name] = {"name": name, "ddl": f"{statement};", "indexes": []}
        else:
            tables[name]["indexes"].append(f"{statement};")
    return list(tables.values())


def _rows(draft: WorldDraft) -> list[dict[str, Any]]:
    """Return the statements by table; a table comes again where its rows are inserted in several places."""
    parts: list[dict[str, Any]] = []
    for statement in draft.statements:
        name = _table_of(statement)
        if not parts or parts[-1]["table_name"] != name:
            parts.append({"table_name": name, "insert_statements": []})
        parts[-1]["insert_statements"].append(f"{statement};")
    return parts


def _table_of(statement: str) -> str:
    """Return the table that a statement makes, indexes or fills.

    >>> _table_of("CREATE INDEX by_name ON tools (name)"), _table_of("INSERT INTO loans (id) VALUES (1)")
    ('tools', 'loans')
    """
    found = (
        re.search(r"\bON\s+[\"`\[]?(\w+)", statement, re.IGNORECASE) if " INDEX " in statement.upper()[:20] else None
    )
    match = found or _TABLE.search(statement)
    return match.group(1) if match else ""


def _group(draft: WorldDraft) -> dict[str, Any]:
    endpoints = [
        {"operation_id": one.name, "summary": one.description, "parameters": one.parameters, "writes": one.writes}
        for one in draft.sketches
    ]
    return {"group_name": draft.brief.title, "endpoints": endpoints}


def _code(draft: WorldDraft) -> dict[str, Any]:
    code = draft.implementation.code if draft.implementation else ""
    return {"scenario": draft.name, "db_path": f"./{DATABASES}/{draft.name}.db", "full_code": code}


def _verifiers(draft: WorldDraft) -> Iterator[dict[str, Any]]:
    for number, task in enumerate(draft.solved):
        verification = {"code": task.code, "raw_response": ""}
        sentence = draft.tasks[task.number]
        yield {"scenario": draft.name, "task_idx": number, "task": sentence, "verification": verification}


def _solutions(draft: WorldDraft) -> Iterator[dict[str, Any]]:
    for number, task in enumerate(draft.solved):
        solution = task.model_dump(mode="json", include={"solution", "answer", "free_values", "neighbours"})
        yield {"scenario": draft.name, "task_idx": number, "solution": solution}

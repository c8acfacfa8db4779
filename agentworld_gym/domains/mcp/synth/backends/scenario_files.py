"""Writes a world in the declarative form: the files of a scenario, its tasks, and the calls that tried its tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.domains.mcp.engine.scenario import ToolScenario
from agentworld_gym.domains.mcp.synth.draft import CallDraft, Solved, WorldDraft
from agentworld_gym.domains.mcp.synth.neighbours import other_answers

CALLS = "calls.yaml"
"""The file with a right and a wrong call of each tool, which a check of the folder makes again."""

MENU = 10
"""How many wrong calls the menu of a task offers at most."""


def action_text(call: CallDraft, prefix: str) -> str:
    """Return a call as agents write it.

    >>> action_text(CallDraft(name="get_order", arguments={"id": 7}), "shop-")
    '{"name": "shop-get_order", "arguments": {"id": 7}}'
    """
    return json.dumps({"name": prefix + call.name, "arguments": call.arguments}, ensure_ascii=False)


def write_scenario(folder: Path, draft: WorldDraft, scenario: ToolScenario) -> None:
    """Write the files of a world; what is there already is replaced, file by file.

    Args:
        folder: The folder of the scenario.
        draft: The finished world.
        scenario: The same world as a scenario.
    """
    about = scenario.about.model_dump(exclude={"words"})
    tools = [_tool(draft, number) for number in range(len(draft.sketches))]
    calls = {one.name: {"writes": one.writes, "right": one.right, "wrong": one.wrong} for one in draft.sketches}
    _write(folder / "scenario.yaml", about)
    write_atomically(folder / "schema.sql", draft.sql.strip() + "\n")
    rows = {table: [dict(row) for row in rows] for table, rows in scenario.rows.rows.items()}
    _write(folder / "rows.yaml", {"rows": rows, "sizes": {"small": {}, "full": {}}})
    _write(folder / "tools.yaml", {"tools": tools})
    _write(folder / CALLS, {"calls": calls})
    for solved in draft.solved:
        _write(folder / "tasks" / f"{solved.number + 1}.yaml", task_document(draft, solved))


def task_document(draft: WorldDraft, solved: Solved) -> dict[str, Any]:
    """Return a task as its file holds it: instruction, success, step limit, menu and expert."""
    prefix = f"{draft.name}-"
    finish = "finish" if solved.answer is None else f"finish: {solved.answer}"
    expert = [*(action_text(call, prefix) for call in solved.solution), finish]
    wrong = [action_text(call, prefix) for call in solved.neighbours[:MENU]]
    others = ["finish", *(f"finish: {other}" for other in other_answers(solved.answer))] if solved.answer else []
    document: dict[str, Any] = {
        "instruction": draft.tasks[solved.number],
        "success": [dict(check) for check in solved.checks],
    }
    if solved.free_values:
        document["free_values"] = list(solved.free_values)
    menu = sorted(dict.fromkeys([*expert, *wrong, *others]))
    return {**document, "max_steps": 2 * len(expert) + 2, "menu": menu, "expert": expert}


def _tool(draft: WorldDraft, number: int) -> dict[str, Any]:
    sketch = draft.sketches[number]
    body = draft.implementation.tools[sketch.name] if draft.implementation else {}
    return {"name": sketch.name, "description": sketch.description, "parameters": sketch.parameters, **body}


def _write(path: Path, data: Any) -> None:
    plain = json.loads(json.dumps(data))  # Tuples become lists, and no value is written as an alias of another.
    write_atomically(path, yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


class _Dumper(yaml.SafeDumper):
    """A dumper that writes long SQL in lines and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True

"""Explains the answers of tool servers: the tool, the rows that it touches, and whether the service refuses."""

from __future__ import annotations

import json
from typing import Any

from agentworld_gym.recipe.thinking.explainers.state_changes import record_clauses, words
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, plain, read_call, several


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a tool server's answer."""
    name, arguments = read_call(turn.action)
    quotes = [f"{words(key)} {quote}" for key, value in arguments.items() if (quote := turn.cite(_scalar(value)))]
    asks = f"The agent calls {turn.cite(name) or 'a tool'}"
    asks += f" with {several(quotes, 4)}" if quotes else " without arguments" if not arguments else ""
    return Explanation(asks, _rows(turn, arguments), record_clauses(turn), _shows(turn))


def _rows(turn: Situation, arguments: dict[str, Any]) -> list[str]:
    """Describe the records of the state that the arguments name by their key."""
    clauses = []
    keys = {plain(value) for name, value in arguments.items() if name.endswith("_id") or "id" in name.split("_")}
    keys |= {value for value in arguments.values() if isinstance(value, str) and "@" in value}
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for field, value in turn.state.items() if keys and turn.state else ():
        table, _, rest = field.partition("/")
        key, _, column = rest.rpartition("/")
        if key in keys and _names(table, key, arguments):
            records.setdefault((table, key), {})[column] = value
    for (table, key), row in list(records.items())[:2]:
        values = [f"{words(column)} {quote}" for column, value in row.items() if (quote := turn.cite(value, 40))]
        others = [item for item in values if not item.endswith(f"`{key}`")]
        if others:
            clauses.append(f"{turn.cite(key) or 'That one'} in {words(table)} has {several(others, 4)}")
    return clauses


def _names(table: str, key: str, arguments: dict[str, Any]) -> bool:
    """Whether an argument of this value can mean a record of this table."""
    for name, value in arguments.items():
        if plain(value) == key:
            stem = name.removesuffix("_id").rpartition("_")[2]
            return not name.endswith("_id") or stem in table
    return False


def _shows(turn: Situation) -> str:
    text = turn.observation
    if "validation error" in text.split("\n")[0]:
        return f"The arguments break the schema of the tool, so the answer is pydantic's report, {turn.show(text)}"
    if text.startswith("Unknown tool"):
        return "No tool has that name, and the answer says so"
    try:
        data = json.loads(text)
    except ValueError:
        return f"The tool answers with a text, {turn.show(text)}" if text else "The tool answers with nothing"
    if not isinstance(data, dict):
        return "The answer is one JSON value on one line"
    if data.get("status") == "error":
        parts = [turn.show(plain(data.get(key))) for key in ("code", "message")]
        return f"The service refuses with code {parts[0]}: {parts[1]}. A call that fails changes nothing"
    lists = [(key, value) for key, value in data.items() if isinstance(value, list)]
    if lists and next(iter(data)) == lists[0][0]:
        return _listed(turn, *lists[0])
    verb = "as it is afterwards" if turn.changes else "as it stands"
    values = [f"{words(key)} {quote}" for key, value in data.items() if (quote := turn.show(plain(_scalar(value)), 40))]
    return f"The answer is the record {verb} on one line of JSON, beginning with {several(values)}"


def _listed(turn: Situation, name: str, rows: list[Any]) -> str:
    if not rows:
        return f"Nothing matches, and that is no error: the list of {words(name)} is empty"
    first = [turn.show(plain(_scalar(value)), 40) for value in list(rows[0].values())[:3]] if _is_row(rows[0]) else []
    begins = f", the first one with {several(first)}" if any(first) else ""
    verb = "fits" if len(rows) == 1 else "fit"
    return f"{turn.count(len(rows), 'row').capitalize()} of {words(name)} {verb}, in the order of the tool{begins}"


def _is_row(row: Any) -> bool:
    return isinstance(row, dict)


def _scalar(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value

"""Worlds whose authors wrote what no JSON Schema may hold, beside tools that are as they should be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import awm_worlds

ODD_PATHS = {
    "examples_by_name": 'Path(..., examples={"example": {"value": 15}})',
    "examples_as_text": 'Path(..., examples="abc")',
    "unknown_type": 'Path(..., json_schema_extra={"type": "int"})',
    "broken_pattern": 'Path(..., json_schema_extra={"pattern": "[a-"})',
    "described_by_a_number": 'Path(..., json_schema_extra={"description": 5})',
    "object_as_enum": 'Path(..., json_schema_extra={"enum": {"a": 1}})',
}
"""Tools that a client cannot use, each with what its author wrote of its parameter."""

ODD_ENDPOINTS = {
    "parameters_as_text": '@app.get("/api/a", operation_id="{name}", openapi_extra={{"parameters": "abc"}})\n'
    "async def {name}(): return 1",
    "no_json": '@app.get("/api/b", operation_id="{name}", openapi_extra={{"x": datetime.utcnow}})\n'
    "async def {name}(): return 1",
    "odd_body": "class OddBody(BaseModel):\n"
    '    note: str = Field(..., examples={{"e": {{"value": 1}}}})\n'
    '@app.post("/api/c", operation_id="{name}")\nasync def {name}(body: OddBody): return 1',
}
"""Tools that cannot even be described, each with its code; without them, the app describes itself."""

USABLE = {
    "end_in_python": r'Path(..., json_schema_extra={"pattern": r"(?P<all>[0-9]+)\Z"})',
    "not_a_number": 'Path(..., json_schema_extra={"maximum": float("nan")})',
    "leads_nowhere": 'Path(..., json_schema_extra={"$dynamicRef": "#nowhere"})',
    "any_value": 'Path(..., json_schema_extra={"enum": [{"a": 1}, [2], 3]})',
    "endless_text": 'Path(..., json_schema_extra={"type": "string", "minLength": 10**12})',
}
"""Odd tools that a client of AWM's server can use."""


def endpoints(written: dict[str, str]) -> str:
    """Return endpoints that read a number of their path, of which their authors wrote the given things."""
    return "\n".join(
        f'@app.get("/api/{name}/{{number}}", operation_id="{name}")\n'
        f'async def {name}(number: int = {parameter}):\n    return {{"number": number}}\n'
        for name, parameter in written.items()
    )


def odd(name: str = "odd", others: Iterable[str] = ODD_ENDPOINTS) -> dict[str, list[dict[str, Any]]]:
    """Return the easy world with the odd tools.

    Args:
        name: The name of the scenario.
        others: The tools that cannot be described and are there too.
    """
    world = awm_worlds.scenario(
        name, awm_worlds.LIBRARY, awm_worlds.LIBRARY_TABLES, awm_worlds.LIBRARY_ROWS, awm_worlds.LIBRARY_TASKS
    )
    code = endpoints(ODD_PATHS | USABLE) + "\n".join(ODD_ENDPOINTS[other].format(name=other) + "\n" for other in others)
    [row] = world["gen_envs.jsonl"]
    row["full_code"] = row["full_code"].replace('if __name__ == "__main__":', f'{code}\nif __name__ == "__main__":')
    return world

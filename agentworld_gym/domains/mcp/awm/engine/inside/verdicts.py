"""Runs a verifier: code that compares the database of the start with that of the end."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import sqlite3
import sys
import types
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.inside.clock import HOOK, SessionClock
from agentworld_gym.domains.mcp.awm.engine.inside.databases import MAX_BYTES, connect_really, register
from agentworld_gym.domains.mcp.awm.engine.inside.limits import confine
from agentworld_gym.domains.mcp.awm.engine.inside.loop import install
from agentworld_gym.domains.mcp.awm.engine.inside.random_numbers import RandomNumbers

NAMES = ("verify_task_completion", "verify_task")
"""The names of the function that verifies."""

MAX_RESULT = 1_000_000
"""The bytes of what a verifier returns, as JSON."""


def verdict(pipe: int, job: dict[str, Any], memory: int) -> None:
    """Run a verifier and write what it returned, or raised, to a pipe as JSON; this process then ends.

    Args:
        pipe: The number of the pipe.
        job: `code`, the paths `initial` and `final`, the agent's `answer`, `steps`, how many actions it took, and
            `moment`, when the first one was.
        memory: The bytes of memory that the verifier may take.
    """
    try:
        clock, chance = SessionClock(), RandomNumbers()
        clock.install()
        chance.install()
        clock.start = job["moment"]
        clock.set(job["steps"])
        chance.set(0, job["steps"])
        confine(memory, writes=MAX_BYTES)
        try:
            told: dict[str, Any] = {"returned": _returned(job, clock, chance)}
            text = json.dumps(_with_keys_of_json(told), default=_as_json)
        except BaseException as error:
            text = json.dumps({"raised": f"{type(error).__name__}: {error}"[:2000]})
        if len(text) > MAX_RESULT:
            text = json.dumps({"raised": f"the result has {len(text)} bytes, the limit is {MAX_RESULT}"})
        data = text.encode()
        while data:
            data = data[os.write(pipe, data) :]
    finally:
        os._exit(0)


def _returned(job: dict[str, Any], clock: SessionClock, chance: RandomNumbers) -> Any:
    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect_really(*arguments, **options)
        register(connection, clock, chance)
        return connection

    setattr(sqlite3, "connect", connect)  # noqa: B010  (mypy takes no assignment)
    module = types.ModuleType("awm_verifier")
    sys.modules[module.__name__] = module
    module.__dict__.update({HOOK: clock.member, "sqlite3": sqlite3, "json": json, "os": os, "re": re})
    tree = ast.parse(job["code"])
    exec(compile(clock.rewritten(tree), "awm_verifier.py", "exec", dont_inherit=True), module.__dict__)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # Helpers may have such names too.
    chosen = (
        [name for name in NAMES if name in names] or [name for name in names if name.startswith("verify_")] or names
    )
    if not chosen:
        raise LookupError("the code defines no function verify_...")
    function = module.__dict__[chosen[0]]
    result = _called(
        function, {"initial_db_path": job["initial"], "final_db_path": job["final"], "final_answer": job["answer"]}
    )
    if inspect.iscoroutine(result):
        result = install(clock.of_machine).run_until_complete(result)
    return result


def _called(function: Callable[..., Any], given: dict[str, str | None]) -> Any:
    """Call a function with values by their names, or by their order where its parameters have other names."""
    parameters = inspect.signature(function).parameters
    kinds = {one.kind for one in parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return function(*given.values())
    named = {name: value for name, value in given.items() if name in parameters}
    left = {name: value for name, value in given.items() if name not in parameters}
    others = [name for name, one in parameters.items() if name not in given and one.kind is one.POSITIONAL_OR_KEYWORD]
    named.update(zip(others, left.values(), strict=False))
    if inspect.Parameter.VAR_KEYWORD in kinds:
        named |= dict(list(left.items())[len(others) :])
    return function(**named)


def _with_keys_of_json(value: Any) -> Any:
    """Return a value in which keys that JSON does not know, such as tuples, are texts."""
    if isinstance(value, dict):
        return {_key_of_json(key): _with_keys_of_json(part) for key, part in value.items()}
    return [_with_keys_of_json(part) for part in value] if isinstance(value, list | tuple) else value


def _key_of_json(key: Any) -> Any:
    return key if key is None or isinstance(key, str | int | float) else str(key)


def _as_json(value: Any) -> Any:
    """Return something that JSON has instead of what it has not: a row by its columns, a text of all else."""
    return dict(zip(value.keys(), value, strict=True)) if isinstance(value, sqlite3.Row) else str(value)

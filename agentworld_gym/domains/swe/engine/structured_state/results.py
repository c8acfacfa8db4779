"""The last result of a machine as plain JSON data, which another dialect may be asked to print."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.domains.swe.engine import results
from agentworld_gym.domains.swe.engine.results import Match, Refused, Result
from agentworld_gym.domains.swe.engine.structured_state.files import plain_text, text_of_plain


def plain_result(result: Result) -> list[Any]:
    """Return a result as plain data: its kind and its fields.

    >>> plain_result(results.Written("/repo/a.py", there=False))
    ['Written', {'path': '/repo/a.py', 'there': False}]
    """
    if isinstance(result, Refused):
        return ["Refused", {"reason": result.reason, **result.details}]
    fields = {field.name: _plain(getattr(result, field.name)) for field in dataclasses.fields(result)}
    return [type(result).__name__, fields]


def result_of(plain: Any) -> Result:
    """Return the result that `plain_result` was given."""
    kind, fields = plain
    made: type[Any] = Envelope if kind == "Envelope" else getattr(results, kind)
    values: dict[str, Any] = {
        name: result_of(value) if name == "outcome" else _value(value)  # An outcome is a result itself.
        for name, value in fields.items()
    }
    if kind == "LinesFound":
        values["matches"] = [Match(*match) for match in values["matches"]]
    result: Result = made(**values)
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, Envelope):
        return plain_result(value)
    if isinstance(value, str):
        return plain_text(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return text_of_plain(value)
    return [_value(item) for item in value] if isinstance(value, list) else value

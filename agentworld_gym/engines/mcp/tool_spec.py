"""The words of `tools.yaml`: a tool as checks, writes and a result in SQL."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.engines.tables.statements import statement


class CheckStep(Strict):
    """A condition of a call: `missing` must find a row, `found` must find none; else the call is refused.

    `message` is a text with `{name}` for arguments, values and columns of the row that was found. What a `missing`
    check finds is there for everything after it, by the names of its columns.
    """

    missing: str | None = None
    found: str | None = None
    status: int = Field(default=400, ge=400, le=599)
    message: str

    @field_validator("missing", "found")
    @classmethod
    def _clean(cls, sql: str | None) -> str | None:
        return None if sql is None else statement(sql)

    @model_validator(mode="after")
    def _one(self) -> CheckStep:
        if (self.missing is None) == (self.found is None):
            raise ValueError("exactly one of missing, found")
        return self


Step = str | dict[str, str]
"""A statement that writes (its last row id is then `:new_id`), or values by name, each the first column of a SELECT."""


class EachBlock(Strict):
    """What happens for every item of a list argument: `:item`, or `:item_KEY` for the keys of an object."""

    over: str
    checks: tuple[CheckStep, ...] = ()
    run: tuple[Step, ...] = ()

    @field_validator("run")
    @classmethod
    def _clean(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_clean(step) for step in steps)


class ResultSpec(Strict):
    """What a call returns, exactly one of: `one` row, `many` rows under `key`, or a `text` template.

    A column called `name?` becomes a boolean `name`, and `name[]` holds JSON. `nested` adds lists of rows to one row.
    `total` counts everything that matched. `optional` columns of a list are those that a more specific tool also knows.
    """

    one: str | None = None
    many: str | None = None
    text: str | None = None
    key: str | None = None
    total: str | None = None
    nested: dict[str, str] = Field(default_factory=dict)
    optional: tuple[str, ...] = ()

    @field_validator("one", "many", "total")
    @classmethod
    def _clean(cls, sql: str | None) -> str | None:
        return None if sql is None else statement(sql)

    @field_validator("nested")
    @classmethod
    def _clean_nested(cls, nested: dict[str, str]) -> dict[str, str]:
        return {key: statement(sql) for key, sql in nested.items()}

    @model_validator(mode="after")
    def _one_kind(self) -> ResultSpec:
        if sum(kind is not None for kind in (self.one, self.many, self.text)) != 1:
            raise ValueError("exactly one of one, many, text")
        if (self.many is None) != (self.key is None):
            raise ValueError("`many` and `key` together")
        if self.nested and self.one is None:
            raise ValueError("`nested` with `one` only")
        if (self.total or self.optional) and self.many is None:
            raise ValueError("`total` and `optional` with `many` only")
        return self


class ToolSpec(Strict):
    """One tool. In this order: `checks`, `run`, `each`, `then`, `result`, all in one transaction.

    `parameters` is a JSON Schema of an object. Every property is a named parameter of the SQL: its default or NULL
    where the call leaves it out, lists and objects as JSON text. `:now` and `:user` are always there.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    checks: tuple[CheckStep, ...] = ()
    run: tuple[Step, ...] = ()
    each: EachBlock | None = None
    then: tuple[Step, ...] = ()
    result: ResultSpec

    @field_validator("run", "then")
    @classmethod
    def _clean(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_clean(step) for step in steps)

    @property
    def writes(self) -> bool:
        """Whether a call can change the database."""
        steps = (*self.run, *self.then, *(self.each.run if self.each else ()))
        return any(isinstance(step, str) for step in steps)


class ToolFile(Strict):
    """`tools.yaml`: the tools of a scenario."""

    tools: tuple[ToolSpec, ...] = Field(min_length=1)


def _clean(step: Step) -> Step:
    if isinstance(step, str):
        return statement(step)
    return {name: statement(sql) for name, sql in step.items()}

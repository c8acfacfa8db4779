"""The schema of `tools.yaml`: a tool as checks, writes and a result in SQL."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.tables.statements import statement


class CheckStep(Strict):
    """A condition of a call, of which exactly one of `missing` and `found` is given; otherwise the call is refused."""

    missing: str | None = None
    """A SELECT that must find a row; everything after the check can use the row's columns by their names."""
    found: str | None = None
    """A SELECT that must find no row."""
    status: int = Field(default=400, ge=400, le=599)
    """The status code of the refusal."""
    message: str
    """The text of the refusal, with `{name}` for arguments, values and columns of the row that was found."""

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
"""A statement that writes (`:new_id` is then its last row id), or values by name, each the first column of a SELECT."""


class EachBlock(Strict):
    """What happens for every item of a list argument.

    `:item` is the item, and `:item_KEY` is a key of an item that is an object.
    """

    over: str
    """The list argument."""
    checks: tuple[CheckStep, ...] = ()
    """The conditions that each item must meet."""
    run: tuple[Step, ...] = ()
    """The statements that run for each item."""

    @field_validator("run")
    @classmethod
    def _clean(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_clean(step) for step in steps)


class ResultSpec(Strict):
    """The result of a call: exactly one of `one` row, `many` rows under `key`, or a `text` template.

    A column called `name?` becomes a boolean `name`, and a column called `name[]` holds JSON.
    """

    one: str | None = None
    """A SELECT whose first row is the result."""
    many: str | None = None
    """A SELECT whose rows are the result."""
    text: str | None = None
    """A template of the result, with `{name}` for arguments and values."""
    key: str | None = None
    """The key under which the rows of `many` are returned."""
    total: str | None = None
    """A SELECT that counts everything that matched; its value is returned as `total`."""
    nested: dict[str, str] = Field(default_factory=dict)
    """SELECTs whose rows are added to the result of `one`, by their keys."""
    optional: tuple[str, ...] = ()
    """Columns of a list that a more specific tool also returns."""

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
    """One tool; `checks`, `run`, `each`, `then` and `result` are executed in this order, all in one transaction."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """The name of the tool, without the name of its server."""
    description: str = Field(min_length=1)
    """The description that agents read."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The JSON Schema of the arguments. Every property is a named parameter of the SQL: its default or NULL where the
    call leaves it out, and JSON text where it is a list or an object. `:now` and `:user` always exist."""
    checks: tuple[CheckStep, ...] = ()
    """The conditions that the call must meet."""
    run: tuple[Step, ...] = ()
    """The statements that run after the checks."""
    each: EachBlock | None = None
    """What happens for every item of a list argument."""
    then: tuple[Step, ...] = ()
    """The statements that run after all items."""
    result: ResultSpec
    """The result of the call."""

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
    """The tools in the order in which they are listed."""


def _clean(step: Step) -> Step:
    if isinstance(step, str):
        return statement(step)
    return {name: statement(sql) for name, sql in step.items()}

"""The schema of `rows.yaml`: how the rows of a scenario are made from a seed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.tables.statements import statement

Size = Literal["small", "full"]
Words = Mapping[str, tuple[Any, ...]]
"""Word lists by name. An entry is a scalar, or a mapping whose keys `field` and text templates can read."""

SMALL_ROWS = 60
"""The number of rows that the small size of a scenario may have, all tables together."""

FULL_ROWS = 50_000
"""The number of rows that the full size of a scenario may have."""

KINDS = ("count", "value", "integer", "money", "date", "time", "choice", "draw", "of", "after", "text", "field")


class Recipe(Strict):
    """How one column gets its value: exactly one kind of recipe, and the options that go with it."""

    count: int | None = None
    """A kind: a number that counts up from here by `step`."""
    step: int = 1
    """The step of `count`."""
    value: str | int | float | None = None
    """A kind: a constant."""
    integer: tuple[int, int] | None = None
    """A kind: an integer between these two, both included."""
    money: tuple[float, float] | None = None
    """A kind: an amount with two decimals between these two."""
    date: tuple[str, str] | None = None
    """A kind: a date between these two, both included."""
    time: tuple[str, str] | None = None
    """A kind: a time between these two, both included."""
    between: tuple[int, int] | None = None
    """The hours of the day between which `time` draws."""
    grid: int = Field(default=0, ge=0)
    """The number of minutes of which the minutes of `time` are a multiple."""
    weekdays: bool = False
    """Whether `date` and `time` draw from Monday to Friday only."""
    choice: str | dict[str | int, float] | tuple[Any, ...] | None = None
    """A kind: an entry of a list, of a word list, or of values with weights."""
    draw: str | tuple[Any, ...] | None = None
    """A kind: as `choice`, but never the same entry twice in a table."""
    of: str | None = Field(default=None, pattern=r"^\w+\.\w+$")
    """A kind: `table.column`, the value of a row of another table, or of an earlier row of this one."""
    where: dict[str, Any] = Field(default_factory=dict)
    """The values that columns of the row must have from which `of` takes."""
    by: str | None = None
    """The column of this row whose row `of` takes as well."""
    spread: bool = False
    """Whether `of` takes each row once before any row comes again."""
    after: str | None = None
    """A kind: a time that lies some `days`, `hours` or `minutes` after the date or time in this column."""
    days: tuple[int, int] | None = None
    """The least and the greatest number of days between `after` and the value."""
    hours: tuple[int, int] | None = None
    """The least and the greatest number of hours between `after` and the value."""
    minutes: tuple[int, int] | None = None
    """The least and the greatest number of minutes between `after` and the value."""
    text: str | tuple[str, ...] | None = None
    """A kind: a template over the row, or one of several templates."""
    field: str | None = None
    """A kind: the value under this key of the word list's entry that another column drew."""
    empty: float = Field(default=0.0, ge=0, le=1)
    """The share of nulls, from 0 to 1."""
    sorted: bool = False
    """Whether the values of a table are handed out in ascending order."""

    @field_validator("date", "time", mode="before")
    @classmethod
    def _plain_dates(cls, ends: Any) -> Any:
        if not isinstance(ends, list):
            return ends
        return [end.isoformat() if isinstance(end, datetime.date) else end for end in ends]

    @field_validator("date", "time")
    @classmethod
    def _are_times(cls, ends: tuple[str, str] | None) -> tuple[str, str] | None:
        for end in ends or ():
            datetime.datetime.fromisoformat(end)
        return ends

    @model_validator(mode="after")
    def _one_kind(self) -> Recipe:
        kinds = [kind for kind in KINDS if kind in self.model_fields_set]
        if len(kinds) != 1:
            raise ValueError(f"exactly one of {', '.join(KINDS)} (got {kinds or 'none'})")
        return self

    @property
    def kind(self) -> str:
        """The kind of the recipe."""
        return next(kind for kind in KINDS if kind in self.model_fields_set)


class RowFile(Strict):
    """`rows.yaml`: rows that are always there, how many rows other tables have at each size and how their columns are
    made, and SQL that runs at the end.

    A column that is a bare value instead of a recipe is a constant. A column whose name starts with `_` is not stored;
    the other columns of its row can use it. Tables and columns are filled in the order of the file. A row that a UNIQUE
    or CHECK constraint refuses is made again.
    """

    rows: dict[str, tuple[dict[str, str | int | float | None], ...]] = Field(default_factory=dict)
    """Rows by table, which are there at every size and for every seed. Recipes may refer to them."""
    sizes: dict[Size, dict[str, int]] = Field(default_factory=dict)
    """The number of rows of each table with recipes, at each size."""
    tables: dict[str, dict[str, Recipe]] = Field(default_factory=dict)
    """The recipes of each table's columns."""
    then: tuple[str, ...] = ()
    """SQL statements that run after all tables are filled."""

    @field_validator("tables", mode="before")
    @classmethod
    def _constants(cls, tables: Any) -> Any:
        if not isinstance(tables, dict):
            return tables
        return {
            table: {name: recipe if isinstance(recipe, dict) else {"value": recipe} for name, recipe in columns.items()}
            if isinstance(columns, dict)
            else columns
            for table, columns in tables.items()
        }

    @field_validator("then")
    @classmethod
    def _clean(cls, then: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(statement, then))

    @model_validator(mode="after")
    def _sizes_fit(self) -> RowFile:
        if both := sorted(self.rows.keys() & self.tables):
            raise ValueError(f"tables.{both[0]}: a table under rows or under tables, not under both")
        for size in ("small", "full"):
            if set(self.sizes.get(size, ())) != set(self.tables):
                raise ValueError(f"sizes.{size} with one number for each of {', '.join(self.tables)}")
        if (total := sum(self.sizes.get("small", {}).values())) > SMALL_ROWS:
            raise ValueError(f"at most {SMALL_ROWS} rows at size small (got {total})")
        if (total := sum(self.sizes.get("full", {}).values()) + sum(map(len, self.rows.values()))) > FULL_ROWS:
            raise ValueError(f"at most {FULL_ROWS} rows at size full (got {total})")
        return self

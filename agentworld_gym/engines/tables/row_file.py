"""How the rows of a scenario come out of a seed: the words of `rows.yaml`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.engines.tables.statements import statement

Size = Literal["small", "full"]
Words = Mapping[str, tuple[Any, ...]]
"""Word lists by name; an entry is a scalar, or a mapping whose keys `field` and text templates can take."""

SMALL_ROWS = 60
"""How many rows the small size of a scenario may have, all tables together."""

FULL_ROWS = 50_000
"""How many rows its full size may have."""

KINDS = ("count", "value", "integer", "money", "date", "time", "choice", "draw", "of", "after", "text", "field")


class Recipe(Strict):
    """How one column gets its value: exactly one kind, and what goes with it.

    Kinds: `count` (counts up from there by `step`), `value` (a constant), `integer`, `money` (two decimals), `date`
    and `time` (both ends included; `between` hours, on a `grid` of minutes, on `weekdays` only), `choice` (one of a
    list, of a word list, or of values with weights), `draw` (as `choice`, but never the same entry twice in a table),
    `of` (a column of a row of another table, or of an earlier row of this one), `after` (some `days`, `hours` or
    `minutes` after another date or time of the row), `text` (a template over the row, or one of several) and `field`
    (a key of a word list's entry that another column drew).

    `of` takes any row; with `where` one whose columns have these values, with `spread` each row once before any comes
    again, and with `by` the row that another column of this row has taken. `empty` is the share of nulls. `sorted`
    hands the values of a table out in ascending order.
    """

    count: int | None = None
    step: int = 1
    value: str | int | float | None = None
    integer: tuple[int, int] | None = None
    money: tuple[float, float] | None = None
    date: tuple[str, str] | None = None
    time: tuple[str, str] | None = None
    between: tuple[int, int] | None = None
    grid: int = Field(default=0, ge=0)
    weekdays: bool = False
    choice: str | dict[str | int, float] | tuple[Any, ...] | None = None
    draw: str | tuple[Any, ...] | None = None
    of: str | None = Field(default=None, pattern=r"^\w+\.\w+$")
    where: dict[str, Any] = Field(default_factory=dict)
    by: str | None = None
    spread: bool = False
    after: str | None = None
    days: tuple[int, int] | None = None
    hours: tuple[int, int] | None = None
    minutes: tuple[int, int] | None = None
    text: str | tuple[str, ...] | None = None
    field: str | None = None
    empty: float = Field(default=0.0, ge=0, le=1)
    sorted: bool = False

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
        """Which of the kinds it is."""
        return next(kind for kind in KINDS if kind in self.model_fields_set)


class RowFile(Strict):
    """`rows.yaml`: how many rows each table has at each size, how its columns are made, and SQL that runs at the end.

    A column that is a bare value instead of a recipe is a constant. A column whose name starts with `_` is not stored;
    the other columns of its row can use it. Tables are filled in the order they stand, columns likewise. A row that a
    UNIQUE or CHECK constraint refuses is made again.
    """

    sizes: dict[Size, dict[str, int]]
    tables: dict[str, dict[str, Recipe]]
    then: tuple[str, ...] = ()

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
        for size in ("small", "full"):
            if set(self.sizes.get(size, ())) != set(self.tables):
                raise ValueError(f"sizes.{size} with one number for each of {', '.join(self.tables)}")
        if (total := sum(self.sizes["small"].values())) > SMALL_ROWS:
            raise ValueError(f"at most {SMALL_ROWS} rows at size small (got {total})")
        if (total := sum(self.sizes["full"].values())) > FULL_ROWS:
            raise ValueError(f"at most {FULL_ROWS} rows at size full (got {total})")
        return self

"""A fictional web: one relational database and the pages that tell of it, both a function of a theme and a seed."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agentworld_gym.domains.search.engine.pages import WebPage, render_pages
from agentworld_gym.domains.search.engine.theme import Theme, load_theme
from agentworld_gym.domains.search.engine.world_database import build_database, read_tables
from agentworld_gym.kit.tables.database import open_image

__all__ = ["FictionalWorld", "WebPage", "build_world"]

_KEPT = 96
"""The number of worlds that the cache holds; one takes about half a megabyte."""


@dataclass(frozen=True, slots=True)
class FictionalWorld:
    """One world of a theme. Its pages, in the order of their addresses, state what its rows say and nothing else."""

    theme: str
    seed: int
    pages: Sequence[WebPage] = field(repr=False)
    database: bytes = field(repr=False)

    @property
    def now(self) -> str:
        """The day of an episode in this world, in ISO form."""
        return self.recipe.now

    @property
    def recipe(self) -> Theme:
        """The theme from which the world is made."""
        return load_theme(self.theme)

    def connect(self) -> sqlite3.Connection:
        """Connect to a private copy of the database with all rows; the caller closes the connection."""
        return open_image(self.database)

    def tables(self) -> Mapping[str, list[dict[str, Any]]]:
        """All rows, by table."""
        connection = self.connect()
        try:
            return read_tables(connection, self.recipe)
        finally:
            connection.close()


@lru_cache(maxsize=_KEPT)
def build_world(theme: str, seed: int) -> FictionalWorld:
    """Return the world of a theme and a seed, which is built once while it is in use.

    Args:
        theme: the name of a shipped theme, or the path of a theme's folder.
        seed: the seed of the rows and of the wording.

    >>> world = build_world("harbours", 12)
    >>> 300 <= sum(map(len, world.tables().values())) <= 500, world.pages[0].url.startswith("https://")
    (True, True)

    Raises:
        SpecError: there is no such theme, or it is wrong; the error names file, key, value and what was expected.
    """
    recipe = load_theme(theme)
    database = build_database(recipe, random.Random(f"{theme.rsplit('/', 1)[-1]}/{seed}"))
    connection = open_image(database)
    try:
        tables = read_tables(connection, recipe)
    finally:
        connection.close()
    return FictionalWorld(theme, seed, render_pages(recipe, theme, seed, tables), database)

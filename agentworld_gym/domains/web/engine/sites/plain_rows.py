"""The rows of a site as plain JSON data, and its database from them: see `agentworld_gym.kit.tables.plain_rows`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.domains.web.engine.sites.database import Image
from agentworld_gym.domains.web.engine.sites.site import load_site
from agentworld_gym.kit.tables.plain_rows import PlainTables, image_of_rows, plain_tables, sequences_of


def rows_of(image: Image) -> PlainTables:
    """Return the rows of a database by table. Nothing in them is shared."""
    with image.lock:
        return plain_tables(image.database.reading(), image.keys)


def image_of(folder: str, tables: Mapping[str, Any], sequences: Mapping[str, int]) -> Image:
    """Return the database of a site, by its folder, with these rows.

    Args:
        folder: The folder of the site.
        tables: The rows by table.
        sequences: The last number that was given, by table, where a row of a higher number has gone.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The site has no such rows, or one refers by a text to a row
            that is not there.
    """
    return _image(folder, compact(tables), compact(sequences))


@lru_cache(maxsize=64)
def _image(folder: str, tables: str, sequences: str) -> Image:
    """Return the database of some rows; sessions that have the same rows share it."""
    site = load_site(folder)
    rows = image_of_rows(site.empty, site.keys, json.loads(tables), json.loads(sequences), site.references)
    return Image(rows, site.keys)


def sequences(image: Image) -> dict[str, int]:
    """Return the last number that was given, by table, where no row has it any more."""
    with image.lock:
        return sequences_of(image.database.reading(), image.keys)

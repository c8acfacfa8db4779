"""Many worlds in the form of AWM's files that differ in all they have: tables, columns, tools, rows and size."""

from __future__ import annotations

from random import Random
from typing import Any

import awm_worlds

OWNERS = ("clinic", "school", "studio", "garden", "kitchen", "museum", "theatre", "factory", "library", "station")
THINGS = (
    *("asset", "badge", "booking", "bundle", "contract", "course", "device", "entry", "event", "grant"),
    *("invoice", "journal", "lesson", "member", "note", "order", "parcel", "permit", "plan", "quote"),
    *("record", "report", "review", "route", "sample", "session", "sheet", "ticket", "tour", "visit"),
)
QUALITIES = (
    *("amount", "area", "author", "budget", "category", "channel", "city", "colour", "comment", "country", "depth"),
    *("email", "floor", "grade", "height", "label", "language", "length", "level", "limit_value", "location", "mode"),
    *("origin", "owner", "phone", "place", "price", "priority", "quantity", "rating", "reason", "region", "score"),
    *("season", "size", "source", "stage", "status", "street", "subject", "target", "theme", "title", "unit"),
)
VALUES = {"str": "'text {n}'", "int": "{n}", "float": "{n}.5"}


def different(number: int) -> dict[str, list[dict[str, Any]]]:
    """Return a world of 15 to 25 endpoints in 29 to 62 kB of code, as AWM's own have; no two numbers give one world.

    Args:
        number: Which of them.
    """
    draw = Random(number)
    owner = draw.choice(OWNERS)
    tables = {
        f"{owner}_{thing}_{number}s": [
            (f"{name}_{number}", kind, VALUES[kind])
            for name in draw.sample(QUALITIES, draw.randint(26, 34))
            for kind in [draw.choice(("str", "str", "int", "float"))]
        ]
        for thing in draw.sample(THINGS, draw.randint(3, 5))
    }
    first = next(iter(tables))
    verifier = awm_worlds.decides(f'len(rows("final", "SELECT id FROM {first}")) == 19')
    task = f"Remove number 3 of {first.replace('_', ' ')}."
    return awm_worlds.over_tables(f"{owner} {number}", tables, 20, [(task, verifier)])

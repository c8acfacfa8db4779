"""A tool server as plain JSON data, in two parts: what the view reads, and what updates alone need.

`shown` has the scenario, the time and the user, the controls in force, the rows (`rows`, see
`agentworld_gym.kit.tables.plain_rows`), and the last answer (`said`, see `agentworld_gym.domains.mcp.engine.answer`).
`kept` has counters, identifiers, what was shown before, and calls that are carried out later.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agentworld_gym.core.domain.view import StructuredState, compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.mcp.engine.scenario import scenario_folder
from agentworld_gym.domains.mcp.engine.service import Service, load_service
from agentworld_gym.domains.mcp.engine.tool import CallContext
from agentworld_gym.kit.tables.database import Database, SeededTokens
from agentworld_gym.kit.tables.plain_rows import image_of_rows, plain_tables, sequences_of


class Server(NamedTuple):
    """What a structured state says of a server beside its rows and its last answer."""

    service: Service
    context: CallContext
    controls: Controls


def plain_server(server: Server) -> StructuredState:
    """Return the part of a state that calls do not change."""
    shown: StructuredState = {
        "scenario": _name(server.service.scenario.folder),
        "now": server.context.now,
        "user": server.context.user,
    }
    strengths = {name: server.controls.strength(name) for name in server.controls.strengths}
    if any(strengths.values()):
        shown |= {"controls": strengths, "control_seed": server.controls.seed}
    return shown


def server_of(shown: Mapping[str, Any]) -> Server:
    """Return the server of a state.

    Raises:
        SpecError, LookupError, TypeError, ValueError: The state is none of a server.
    """
    controls = Controls(shown.get("controls", {}), shown.get("control_seed", 0))
    return Server(load_service(shown["scenario"]), CallContext(shown["now"], shown["user"]), controls)


def image_of(service: Service, rows: Mapping[str, Any], sequences: Mapping[str, int]) -> bytes:
    """Return the bytes of a database with these rows.

    Args:
        service: The scenario.
        rows: The rows by table.
        sequences: The last number that was given, by table, where a row of a higher number has gone.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The scenario has no such rows.
    """
    return _image(service.scenario.folder, service.empty, compact(rows), compact(sequences))


@lru_cache(maxsize=256)
def _image(folder: Path, empty: bytes, rows: str, sequences: str) -> bytes:
    """Return the database of some rows; several views of one state ask for it."""
    return image_of_rows(empty, load_service(_name(folder)).keys, json.loads(rows), json.loads(sequences))


def _name(folder: Path) -> str:
    """Return how a state names the scenario of a folder."""
    return folder.name if folder.parent == scenario_folder() else str(folder)


@contextmanager
def read_database(service: Service, rows: Mapping[str, Any]) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a database with these rows, within the bounds of one call.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The scenario has no such rows.
    """
    with closing(Database(image_of(service, rows, {}), SeededTokens(0))) as database:
        yield database.connection


def plain_image(service: Service, image: bytes) -> dict[str, Any]:
    """Return the rows of a database, and the last numbers that were given, as plain data."""
    with closing(Database(image, SeededTokens(0))) as database:
        connection = database.connection
        return {
            "rows": plain_tables(connection, service.keys),
            "sequences": sequences_of(connection, service.keys),
        }

"""Reads the files of AWM: `gen_*.jsonl`, each row with the name of its scenario."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.errors import MissingFile, SpecError

DESCRIPTIONS = "gen_scenario.jsonl"
TASKS = "gen_tasks.jsonl"
TABLES = "gen_db.jsonl"
ROWS = "gen_sample.jsonl"
INTERFACES = "gen_spec.jsonl"
CODE = "gen_envs.jsonl"
JUDGED = "gen_verifier.jsonl"
DECIDED = "gen_verifier.pure_code.jsonl"
DATABASES = "databases"

_OUTSIDE = re.compile(r"[^a-z0-9_]")


def scenario_name(name: str) -> str:
    """Return the normal form of a scenario's name, under which all files know it.

    >>> scenario_name("E-Commerce (33)"), scenario_name("__Google  Maps/API__")
    ('e_commerce_33', 'google_maps_api')
    """
    return re.sub(r"_+", "_", _OUTSIDE.sub("_", name.lower())).strip("_")


class AwmVerifier(NamedTuple):
    """The code that tests one task."""

    code: str
    """The code, which defines a function `verify_...`."""

    judged: bool
    """Whether a judge reads what the function returns; otherwise the function decides."""


@dataclass(frozen=True)
class AwmScenario:
    """All that the files say of one scenario."""

    name: str
    """The normal form of its name."""

    title: str
    """Its name as the files write it."""

    description: str
    """What it is about."""

    tasks: tuple[str, ...]
    """What its agents are asked to do, a sentence each."""

    statements: tuple[str, ...]
    """The SQL that makes its database: tables, indexes, then rows."""

    tables: tuple[int, ...]
    """How many of the first statements belong to each table: itself and its indexes."""

    image: bytes
    """The bytes of its database, where the files bring one in place of statements."""

    code: str
    """The code of its app."""

    decided: Mapping[int, AwmVerifier]
    """The verifiers that decide by themselves, by the number of their task."""

    judged: Mapping[int, AwmVerifier]
    """The verifiers that a judge reads, by the number of their task."""


class AwmFiles:
    """The scenarios of a folder.

    Args:
        folder: The folder with the files.

    Raises:
        MissingFile: There is no such folder, or no file with code in it.
        SpecError: A row cannot be read; the error names the file, the line, the value and what was expected.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise MissingFile(folder, f"AWM's files, such as {CODE}", kind="folder")
        if not (folder / CODE).is_file():
            raise MissingFile(folder / CODE, "the code of AWM's worlds, one JSON object a line")
        self.folder = folder
        self._indexes: dict[str, dict[str, list[int]]] = {}
        self._digest = hashlib.blake2b(digest_size=16)
        for file in (DESCRIPTIONS, TASKS, TABLES, ROWS, CODE, DECIDED, JUDGED):
            self._indexes[file] = self._index(file)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all scenarios with code, in the order of the file."""
        return tuple(self._indexes[CODE])

    @property
    def digest(self) -> str:
        """The digest of all that the files say."""
        return self._digest.hexdigest()

    def find(self, name: str) -> str:
        """Return the normal form of the name of a scenario that is there.

        Raises:
            SpecError: There is none of that name.
        """
        normal = scenario_name(name)
        if normal not in self._indexes[CODE]:
            known = ", ".join(nearest(normal, list(self.names))[:8])
            raise SpecError(self.folder / CODE, "scenario", name, f"one of {len(self.names)}, such as {known}")
        return normal

    def sentences(self, name: str) -> tuple[str, ...]:
        """Return what the agents of a scenario are asked to do."""
        row = self._row(TASKS, name)
        if row is None:
            return ()
        return tuple(str(task) for task in _list(row.get("tasks"), self.folder / TASKS, f"tasks of {name}"))

    def scenario(self, name: str) -> AwmScenario:
        """Return a scenario by the normal form of its name.

        Raises:
            SpecError: A row cannot be read.
        """
        about = self._row(DESCRIPTIONS, name) or {}
        code = self._row(CODE, name) or {}
        if not isinstance(code.get("full_code"), str):
            raise SpecError(self.folder / CODE, f"full_code of {name}", code.get("full_code"), "the code of an app")
        tables = list(self._statements_of_tables(name))
        statements = (*chain.from_iterable(tables), *self._statements_of_rows(name))
        return AwmScenario(
            name,
            str(about.get("name") or code.get("scenario") or name),
            str(about.get("description") or ""),
            self.sentences(name),
            statements,
            tuple(map(len, tables)),
            b"" if statements else self._image(name),
            code["full_code"],
            self._verifiers(DECIDED, name),
            self._verifiers(JUDGED, name),
        )

    def _statements_of_tables(self, name: str) -> Iterator[list[str]]:
        schema = (self._row(TABLES, name) or {}).get("db_schema") or {}
        for table in _tables(schema, self.folder / TABLES, f"db_schema of {name}"):
            if isinstance(table, Mapping):
                yield list(_texts([table.get("ddl"), *(table.get("indexes") or ())]))

    def _statements_of_rows(self, name: str) -> Iterator[str]:
        data = (self._row(ROWS, name) or {}).get("sample_data") or {}
        for table in _tables(data, self.folder / ROWS, f"sample_data of {name}"):
            yield from _texts(table.get("insert_statements") or () if isinstance(table, Mapping) else [table])

    def _image(self, name: str) -> bytes:
        for path in (self.folder / DATABASES / f"{name}.db", self.folder / f"{name}.db"):
            if path.is_file():
                return path.read_bytes()
        raise MissingFile(self.folder / TABLES, f"the tables of {name}, or {DATABASES}/{name}.db")

    def _verifiers(self, file: str, name: str) -> dict[int, AwmVerifier]:
        found = {}
        for row in self._rows(file, name):
            verification = row.get("verification")
            code = verification.get("code") if isinstance(verification, Mapping) else row.get("code")
            number = row.get("task_idx")
            if isinstance(code, str) and code.strip() and isinstance(number, int):
                found[number] = AwmVerifier(code, file == JUDGED)
        return found

    def _row(self, file: str, name: str) -> dict[str, Any] | None:
        """Return the row of a scenario, the last one where there are several; None where there is none."""
        rows = self._rows(file, name)
        return rows[-1] if rows else None

    def _rows(self, file: str, name: str) -> list[dict[str, Any]]:
        places = self._indexes[file].get(name, ())
        if not places:
            return []
        with (self.folder / file).open("rb") as opened:
            rows = []
            for place in places:
                opened.seek(place)
                rows.append(orjson.loads(opened.readline()))
        return rows

    def _index(self, file: str) -> dict[str, list[int]]:
        """Return where the rows of each scenario begin in a file; one that is not there has none."""
        index: dict[str, list[int]] = {}
        path = self.folder / file
        if not path.is_file():
            return index
        key = "name" if file == DESCRIPTIONS else "scenario"
        place = 0
        with path.open("rb") as opened:
            for number, line in enumerate(opened, 1):
                if line.strip():
                    name = _name_in(line, key, path, number)
                    index.setdefault(scenario_name(name), []).append(place)
                    self._digest.update(line)
                place += len(line)
        return index


def _name_in(line: bytes, key: str, path: Path, number: int) -> str:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise SpecError(path, f"line {number}", line[:80], f"a JSON object ({error})") from error
    name = row.get(key) if isinstance(row, dict) else None
    if not isinstance(name, str) or not scenario_name(name):
        raise SpecError(path, f"line {number}: {key}", name, "the name of a scenario")
    return name


def _tables(holder: Any, file: Path, key: str) -> Sequence[Any]:
    """Return the list of tables, which stands under `tables` or by itself."""
    return _list(holder.get("tables", ()) if isinstance(holder, Mapping) else holder, file, key)


def _list(value: Any, file: Path, key: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise SpecError(file, key, value, "a list")
    return value


def _texts(values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        text = value if isinstance(value, str) else value.get("sql", "") if isinstance(value, Mapping) else ""
        if text.strip():
            yield text.strip()

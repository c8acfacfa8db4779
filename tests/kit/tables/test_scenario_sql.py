"""The SQL of scenarios, sites and themes does no harm while their folders are read."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.mcp.engine.service import generated, load_service
from agentworld_gym.domains.search.engine.fictional_world import build_world
from agentworld_gym.domains.web.engine.sites.site import load_site

SCENARIOS = data_folder("domain_specs") / "scenarios"

WRITING = (
    "ATTACH DATABASE 'FILE' AS other",
    "VACUUM INTO 'FILE'",
    "VACUUM",
    "CREATE TEMP TABLE spilled (x)",
    "CREATE VIRTUAL TABLE v USING fts5(x)",
    "PRAGMA writable_schema = ON",
    "PRAGMA max_page_count = 1000000000",
    "PRAGMA temp_store_directory = 'FOLDER'",
    "SELECT load_extension('FILE')",
)
ENDLESS = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    "CREATE TABLE big AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    "SELECT length(zeroblob(2000000000))",
    "SELECT length(replace(hex(randomblob(500000)), 'A', 'BBBBBBBB'))",
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str, str], Path]:
    """A copy of a shipped folder, of a name that nothing has loaded before."""

    def copy(kind: str, name: str) -> Path:
        if kind == "web":
            shutil.copytree(SCENARIOS / "web" / "_common", tmp_path / "web" / "_common")
        return Path(shutil.copytree(SCENARIOS / kind / name, tmp_path / kind / name))

    return copy


def changed(file: Path, change: Callable[[Any], None]) -> None:
    data = yaml.safe_load(file.read_text())
    change(data)
    file.write_text(yaml.safe_dump(data))


def filled(sql: str, folder: Path) -> str:
    return sql.replace("FILE", str(folder / "written.db")).replace("FOLDER", str(folder))


def refused(load: Callable[[], object], folder: Path, where: str) -> None:
    """Loading ends soon, with an error that names the place, and writes no file."""
    before = {path for path in folder.rglob("*")}
    begun = time.process_time()
    with pytest.raises(SpecError) as error:
        load()
    assert where in str(error.value)
    assert time.process_time() - begun < 20
    assert {path for path in folder.rglob("*")} == before


@pytest.mark.parametrize("sql", WRITING + ENDLESS)
def test_a_schema_does_no_harm(sql, folder, tmp_path):
    for kind, name, load in (("mcp", "shop", load_service), ("web", "wiki", load_site)):
        place = folder(kind, name)
        file = place / "schema.sql"
        file.write_text(f"{file.read_text()};\n{filled(sql, tmp_path)};")
        refused(lambda load=load, place=place: load(str(place)), tmp_path, "schema.sql")


@pytest.mark.parametrize("sql", [*WRITING, *ENDLESS[:1], *ENDLESS[2:]])
def test_a_tool_does_no_harm_while_it_is_tried(sql, folder, tmp_path):
    place = folder("mcp", "shop")
    changed(
        place / "tools.yaml",
        lambda data: data["tools"][0].update(checks=[{"missing": filled(sql, tmp_path), "message": "x"}]),
    )
    refused(lambda: load_service(str(place)), tmp_path, "tools.yaml")


@pytest.mark.parametrize("sql", WRITING + ENDLESS)
def test_the_statements_after_the_rows_do_no_harm(sql, folder, tmp_path):
    place = folder("mcp", "shop")
    changed(place / "rows.yaml", lambda data: data.update(then=[filled(sql, tmp_path)]))
    refused(lambda: generated(str(place), "small", 1), tmp_path, "rows.yaml")
    place = folder("web", "wiki")
    changed(place / "rows.yaml", lambda data: data.update(then=[filled(sql, tmp_path)]))
    refused(lambda: load_site(str(place)).generated("small", 1), tmp_path, "rows.yaml")


@pytest.mark.parametrize(
    "sql",
    [
        "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n)",
        "load_extension('FILE')",
        "length(zeroblob(2000000000))",
    ],
)
def test_the_sql_of_a_theme_does_no_harm(sql, folder, tmp_path):
    place = folder("search", "harbours")

    def change(data: Any) -> None:
        columns = next(iter(data["tables"].values()))["columns"]
        columns["made"] = {"sql": filled(sql, tmp_path)}

    changed(place / "theme.yaml", change)
    refused(lambda: build_world(str(place), 1), tmp_path, "theme.yaml")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["sizes"]["full"].update({next(iter(data["tables"])): 10**12}),
        lambda data: next(iter(data["tables"].values())).update(_x={"text": "{n:>9999999999}"}),
        lambda data: next(iter(data["tables"].values())).update(
            _x={"date": ["2026-01-03", "2026-01-04"], "weekdays": True}
        ),
        lambda data: next(iter(data["tables"].values())).update(_x={"text": "{n.__class__}"}),
    ],
    ids=["rows without end", "a wide field", "no such day", "no column"],
)
def test_recipes_of_rows_end(change, folder, tmp_path):
    place = folder("mcp", "shop")
    changed(place / "rows.yaml", change)
    refused(lambda: generated(str(place), "full", 1), tmp_path, "rows.yaml")


def test_names_of_tables_and_columns_are_names_whatever_they_hold(folder, tmp_path):
    place = folder("mcp", "shop")
    file = place / "schema.sql"
    name = "x; ATTACH DATABASE ''y'' AS z --"
    file.write_text(f'{file.read_text()};\nCREATE TABLE "{name}" (id INTEGER PRIMARY KEY, "a; b" TEXT);')
    service = load_service(str(place))
    assert service.keys[name] == (("id", "a; b"), (0,))
    assert service.image({name: [{"id": 1, "a; b": "c"}]})


def test_what_shipped_folders_need_is_allowed():
    from agentworld_gym.domains.mcp.engine.scenario import scenario_names
    from agentworld_gym.domains.web.engine.sites.site import site_names

    for name in scenario_names():
        assert generated(name, "full", 3)
    for name in site_names():
        assert load_site(name).generated("full", 3)

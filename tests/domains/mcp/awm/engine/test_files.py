"""How the files of AWM are read."""

from __future__ import annotations

import json
from pathlib import Path

import awm_worlds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles, scenario_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two worlds."""
    return awm_worlds.write(tmp_path / "awm", awm_worlds.library(), awm_worlds.harbor(2))


@given(st.text(max_size=30))
def test_a_normal_name_is_its_own_normal_form(name: str) -> None:
    normal = scenario_name(name)
    assert scenario_name(normal) == normal
    assert set(normal) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")
    assert "__" not in normal and not normal.startswith("_") and not normal.endswith("_")


def test_a_scenario_is_found_by_any_spelling_of_its_name(folder: Path) -> None:
    files = AwmFiles(folder)
    assert files.names == ("corner_library", "harbor_logistics")
    scenario = files.scenario(files.find("Corner  LIBRARY!"))
    assert (scenario.title, len(scenario.tasks), sorted(scenario.decided)) == ("Corner Library", 5, [0, 1, 2, 3])
    assert scenario.statements[1].startswith("CREATE INDEX") and len(scenario.judged) == 5


def test_an_unknown_scenario_is_named_with_those_there_are(folder: Path) -> None:
    with pytest.raises(SpecError, match=r"scenario: got 'corner', expected one of 2, such as corner_library"):
        AwmFiles(folder).find("corner")


def test_the_digest_tells_other_files(folder: Path) -> None:
    before = AwmFiles(folder).digest
    assert AwmFiles(folder).digest == before
    with (folder / "gen_tasks.jsonl").open("a") as file:
        file.write(json.dumps({"scenario": "x", "tasks": []}) + "\n")
    assert AwmFiles(folder).digest != before


def test_a_folder_without_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"gen_envs\.jsonl: no such file"):
        AwmFiles(tmp_path)
    with pytest.raises(MissingFile, match="no such folder"):
        AwmFiles(tmp_path / "nowhere")


@pytest.mark.parametrize(("line", "message"), [("{nonsense", "line 3"), ("[1]", "line 3"), ('{"name": "x"}', "line 3")])
def test_a_broken_line_is_named(folder: Path, line: str, message: str) -> None:
    with (folder / "gen_envs.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(SpecError, match=rf"gen_envs\.jsonl: {message}"):
        AwmFiles(folder)


def test_a_built_database_stands_in_for_statements(folder: Path) -> None:
    (folder / "gen_db.jsonl").unlink()
    (folder / "gen_sample.jsonl").unlink()
    with pytest.raises(MissingFile, match=r"the tables of corner_library"):
        AwmFiles(folder).scenario("corner_library")
    (folder / "databases").mkdir()
    (folder / "databases" / "corner_library.db").write_bytes(b"SQLite format 3")
    scenario = AwmFiles(folder).scenario("corner_library")
    assert scenario.statements == () and scenario.image == b"SQLite format 3"


@given(rows=st.lists(st.sampled_from([None, 3, "INSERT", {"sql": "SELECT 1"}, []]), max_size=4))
def test_rows_of_any_kind_are_read_or_left_out(tmp_path_factory: pytest.TempPathFactory, rows: list[object]) -> None:
    world = awm_worlds.library()
    world["gen_sample.jsonl"][0]["sample_data"] = {"tables": [{"table_name": "t", "insert_statements": rows}]}
    files = AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("awm"), world))
    read = files.scenario("corner_library").statements[3:]
    texts = ["SELECT 1" if row == {"sql": "SELECT 1"} else row for row in rows]
    assert read == tuple(text for text in texts if text in ("INSERT", "SELECT 1"))

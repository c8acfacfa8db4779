"""`agentworld export`: what it says, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec


def export(*arguments: str | Path) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["export", *map(str, arguments)])


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "train.jsonl"
    collect([load_spec("terminal")], file, 6, 0, CollectConfig(policies={"expert": 1.0, "menu": 1.0}))
    return file


def test_it_says_what_was_written_and_what_was_left_out(rows: Path, tmp_path: Path) -> None:
    done = export(rows.parent, "--format", "chat", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "no success" in done.stdout and "of 6 sessions" not in done.stdout
    assert f"{tmp_path / 'out'}: " in done.stdout and done.stdout.endswith("sessions, 6 read\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "train.jsonl"]


def test_where_nothing_is_left_it_exits_with_1_and_writes_nothing(rows: Path, tmp_path: Path) -> None:
    done = export(rows, "--format", "tools", "--only", "all", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "its actions are no calls of tools" in done.stdout
    assert done.stdout.endswith("Nothing to write of 6 sessions\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "rows.jsonl: no such file, expected sessions that `agentworld collect` or `import` wrote, or traces"),
        ('{"a": 1}\n', "command line: RUNS: got "),
        ('{"task": "mcp", "prompt": []}\n', "rows.jsonl: line 1: id: got "),
    ],
)
def test_what_holds_no_sessions_is_named(text: str | None, says: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "rows.jsonl").write_text(text)
    done = export(tmp_path / "rows.jsonl", "--format", "chat", "--out", tmp_path / "out")
    assert done.exit_code == 2 and says in done.stderr and not (tmp_path / "out").exists()


def test_a_library_that_is_missing_is_named(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworld_gym.recipe.export.minari_datasets.find_spec", lambda name: None)
    done = export(rows, "--format", "minari", "--out", tmp_path / "out")
    assert done.exit_code == 1 and 'Minari datasets need Minari: pip install "minari[hdf5]"' in done.stderr
    assert not list(tmp_path.iterdir())

"""The data card: its figures are those of the rows, and its pictures are there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.data_card import card as card
from agentworld_gym.agents.collect.data_card.statistics import KINDS, summarise
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.row import ContentSpan, Row
from agentworld_gym.llm.rows.row_reading import read_rows

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of two splits with its card."""
    folder = tmp_path_factory.mktemp("data")
    for split, count in (("train", 20), ("test", 10)):
        collect([load_spec("terminal")], folder / f"{split}.jsonl", count, 0, CollectConfig(controls_share=0.4), split)  # type: ignore[arg-type]
    card.write_card(folder)
    return folder


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[Row]:
    return [row for file in sorted(folder.glob("*.jsonl")) for row in read_rows(file)]


def cells(text: str, first: str) -> list[str]:
    """The cells of the first table row that begins so."""
    found = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    assert found is not None
    return [cell.strip() for cell in found[1].split("|")]


def test_every_picture_of_the_card_is_a_png_and_shows_something(folder: Path) -> None:
    from matplotlib.image import imread

    text = (folder / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert set(names) == {"families.png", "lengths.png", "actions.png", "turns.png", "success.png"}
    for name in names:
        pixels = imread(folder / name)
        assert min(pixels.shape[:2]) > 150 and pixels.std() > 0.02


def test_the_tables_count_the_rows(folder: Path, rows: list[Row]) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    turns = sum(row.turn_idx for row in rows)
    assert f"30 sessions with {turns:,} turns in 1 domain, in `test.jsonl`, `train.jsonl`" in text
    disturbed = sum(bool(row.controls) for row in rows)
    counted = cells(text, "terminal")
    assert counted[:3] == ["30", "10", "20"]
    assert counted[4] == f"{turns:,}" and counted[-1] == str(disturbed)
    assert disturbed > 0
    controls = Counter(name for row in rows for name in row.controls)
    assert {name: cells(text, name) for name in controls} == {name: [str(n)] for name, n in controls.items()}


def test_success_is_counted_by_policy(rows: list[Row]) -> None:
    (found,) = summarise(rows).values()
    for policy in {row.policy for row in rows}:
        known = [row.success for row in rows if row.policy == policy and row.success is not None]
        assert (found.judged[policy], found.succeeded[policy]) == (len(known), sum(known))


def test_the_kinds_of_content_add_up_to_all_characters(rows: list[Row]) -> None:
    first = (ContentSpan(start=0, end=1, kind="metadata"),)
    marked = [row.model_copy(update={"spans": (first, *row.spans[1:])}) for row in rows[:3]]
    (found,) = summarise(marked).values()
    assert sum(found.kinds[kind] for kind in KINDS) == sum(len(text) for row in marked for text in row.observations)
    assert found.kinds["metadata"] == 3


def test_parquet_files_are_announced_to_datasets(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_bytes((folder / "test.jsonl").read_bytes())
    (tmp_path / "train.parquet").touch()
    head = card.write_card(tmp_path).read_text(encoding="utf-8").split("---")[1]
    assert "split: train" in head and "path: train.parquet" in head


def test_without_matplotlib_a_card_has_no_pictures(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "find_spec", lambda name: None)
    (tmp_path / "train.jsonl").write_bytes((folder / "test.jsonl").read_bytes())
    text = card.write_card(tmp_path).read_text(encoding="utf-8")
    assert "10 sessions" in text and "![" not in text
    assert not list(tmp_path.glob("*.png"))


def test_a_folder_without_rows_has_a_card_that_says_so(tmp_path: Path) -> None:
    assert "0 sessions" in card.write_card(tmp_path).read_text(encoding="utf-8")

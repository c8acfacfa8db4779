"""`benchmarks/research/two_trees.py` finds this tree equal to itself, and every tree that was changed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "benchmarks" / "research"))

import two_trees
from trees import speeds
from trees.compare import Comparison, compare
from trees.worker import PHASES

ROOT = Path(__file__).parent.parent


def altered(folder: Path, files: str, old: str, new: str) -> Path:
    """A copy of the package in which a text was replaced wherever it stands in some files."""
    tree = folder / "tree"
    skipped = shutil.ignore_patterns("__pycache__", "models")
    for name in ("agentworld_gym", "domain_specs", "prompts"):
        shutil.copytree(ROOT / name, tree / name, ignore=skipped)
    (tree / "agentworld_gym" / "models").symlink_to(ROOT / "agentworld_gym" / "models")
    changed = 0
    for path in tree.rglob(files):
        text = path.read_text(encoding="utf-8")
        if path.is_file() and old in text:
            path.write_text(text.replace(old, new), encoding="utf-8")
            changed += 1
    assert changed, f"no file {files} holds {old!r}"
    return tree


def differing(comparison: Comparison) -> set[str]:
    """The areas of the files that differ."""
    return {comparison.area(difference.file) for difference in comparison.differences}


@pytest.mark.parametrize(
    "works",
    [("record", "replay", "collect", "go_on"), ()],
    ids=["some work", "all work"],
)
@pytest.mark.slow
def test_a_tree_equals_itself(tmp_path: Path, works: tuple[str, ...]) -> None:
    comparison = two_trees.compared([ROOT, ROOT], tmp_path, "tiny", chosen=works)
    assert comparison.differences == []
    wanted = {"sessions", "recordings", "replays", "replayed by before", "replayed by after", "rows", "longer"}
    wanted |= set() if works else {"samples", "dreams", "traces", "faces", "cli", "thinking", "served"}
    assert wanted <= set(comparison.files)
    assert all(comparison.lines[area] > 1 for area in wanted)
    assert works or any("the name of a run" in line for line in comparison.left_out)


@pytest.mark.parametrize(
    ("files", "old", "new", "chosen", "areas"),
    [
        pytest.param(
            *("system.j2", "You", "You now", ("collect", "samples"), {"rows", "samples", "thinking"}),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("*.py", "Unknown tool: ", "Unknown tool; ", ("record", "replay"), {"sessions", "recordings", "replays"}),
            marks=pytest.mark.slow,
        ),
        ("*.py", "agentworld-recording-3", "agentworld-recording-4", ("record", "replay"), {"recordings", "others"}),
    ],
    ids=["a prompt", "an engine's message", "the format of recordings"],
)
def test_a_changed_tree_is_noticed(
    tmp_path: Path, files: str, old: str, new: str, chosen: tuple[str, ...], areas: set[str]
) -> None:
    tree = altered(tmp_path, files, old, new)
    comparison = two_trees.compared([ROOT, tree], tmp_path, "tiny", chosen=chosen)
    assert areas <= differing(comparison)
    assert all(difference.before != difference.after for difference in comparison.differences)


def test_what_is_declared_or_allowed_may_differ_and_nothing_else(tmp_path: Path) -> None:
    def write(run: str, seconds: str, text: str) -> Callable[[Path], None]:
        def into(folder: Path) -> None:
            (folder / "traces").mkdir(parents=True)
            line = f'{{"run":"{run}","wave_s":{seconds},"observation":"{text}"}}\n'
            (folder / "traces" / "run.agent.jsonl").write_text(line, encoding="utf-8")

        return into

    before, same, other = tmp_path / "before", tmp_path / "same", tmp_path / "other"
    write("20260102T030405-77-a1b2c3", "0.5", "hi")(before)
    write("20260102T030406-8-00ffee", "1e-07", "hi")(same)
    write("20260102T030406-8-00ffee", "0.5", "ho")(other)
    (other / "more.txt").write_text("more", encoding="utf-8")

    comparison = Comparison()
    compare(before, same, comparison)
    assert comparison.differences == []
    assert sum(comparison.left_out.values()) == 4

    comparison = Comparison()
    compare(before, other, comparison)
    assert [(found.file, found.place.partition(",")[0]) for found in comparison.differences] == [
        ("more.txt", "file"),
        ("traces/run.agent.jsonl", "line 1"),
    ]
    comparison = Comparison()
    compare(before, other, comparison, allowed=["more.txt", "traces/*"])
    assert comparison.differences == []


def test_the_names_of_works_are_those_of_the_worker() -> None:
    assert [name for phase in PHASES.values() for name in phase] == list(two_trees.WORKS)


def test_speeds_are_told_with_an_interval() -> None:
    steady = [[(1.0, 1.01), (2.0, 2.02), (1.5, 1.515)]] * 3
    value, low, high = speeds.ratio(steady)
    assert value == pytest.approx(1.01)
    assert (low, high) == (pytest.approx(1.01), pytest.approx(1.01))
    verdicts = [speeds.verdict(*bounds) for bounds in ((0.98, 1.02), (0.8, 0.9), (1.04, 1.2), (0.9, 1.1))]
    assert verdicts == ["within 3 %", "faster", "SLOWER", "not settled"]
    table = speeds.report({"import gymnasium": steady, "import agentworld_gym": steady, "wave of 64": steady}, 1.0)
    assert "| wave of 64 | 1500.00 | 1515.00 | 1.010 | 1.010 to 1.010 | within 3 % |" in table

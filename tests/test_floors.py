"""The house has floors: no circle of files, and the page on design draws the floors that the linter holds."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs" / "_hooks"))

from floors import floors, plugged_in, redrawn  # noqa: E402

CONTRACT = (ROOT / ".importlinter").read_text(encoding="utf-8")


def imports() -> dict[str, set[str]]:
    """For each file of the package, the files that it imports; a package stands for its `__init__.py`."""
    graph = grimp.build_graph("agentworld_gym", cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def test_no_circle_of_files() -> None:
    TopologicalSorter(imports()).prepare()


def test_a_circle_of_files_would_be_seen() -> None:
    files = imports()
    files["agentworld_gym.base.errors"].add("agentworld_gym.envs.env")
    with pytest.raises(CycleError, match=r"agentworld_gym\.base\.errors"):
        TopologicalSorter(files).prepare()


def test_the_page_draws_the_floors_of_the_contract() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert page == redrawn(page, CONTRACT), "run: python docs/_hooks/floors.py"


def test_there_are_eight_floors_at_most() -> None:
    assert len(floors(CONTRACT)) <= 8


def test_every_room_stands_on_one_floor_or_is_plugged_in() -> None:
    rooms = [room for floor in floors(CONTRACT) for room in floor] + plugged_in(CONTRACT)
    package = ROOT / "agentworld_gym"
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(rooms) == sorted(there - {"__init__", "__main__"})


def public_classes(source: str) -> list[str]:
    """The names of a file's classes that others may import."""
    return [one.name for one in ast.parse(source).body if isinstance(one, ast.ClassDef) and one.name[0] != "_"]


def test_no_public_class_has_the_name_of_another() -> None:
    files = sorted((ROOT / "agentworld_gym").rglob("*.py"))
    names = Counter(name for file in files for name in public_classes(file.read_text(encoding="utf-8")))
    assert not {name for name, count in names.items() if count > 1}

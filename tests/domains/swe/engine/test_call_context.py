"""What a turn tells of a repository beside what a call names: imports that find nothing, and what long lines leave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentworld_gym.domains.swe.engine.structured_state.imports import broken_import
from agentworld_gym.domains.swe.engine.view import SweView

VIEW = SweView()
TEST = {"/repo/test_shop.py": "from shop import total\n"}


def shell(command: str) -> dict[str, Any]:
    return {"name": "run_shell_command", "arguments": json.dumps({"command": command})}


@pytest.mark.parametrize(
    ("module", "failure"),
    [
        ("total = 1\n", None),
        ("from sums import total\n", None),
        ("from sums import *\n", None),
        ("def __getattr__(name):\n    return len\n", None),
        ("import sums\n", "1\nImportError: cannot import name 'total' from 'shop' (/repo/shop.py)"),
        (
            "import sums.more\n",
            "1\nshop.py:1\nModuleNotFoundError: No module named 'sums.more'; 'sums' is not a package",
        ),
    ],
)
def test_an_import_that_finds_nothing_is_told_and_one_that_may_find_it_is_not(module: str, failure: str | None) -> None:
    files = {**TEST, "/repo/shop.py": module, "/repo/sums.py": "total = 1\n"}
    assert broken_import(files, "/repo/test_shop.py", "/repo") == failure


def test_modules_that_import_each_other_are_followed_once() -> None:
    files = {**TEST, "/repo/shop.py": "import test_shop\ntotal = 1\n"}
    assert broken_import(files, "/repo/test_shop.py", "/repo") is None


def test_of_a_line_of_many_steps_the_first_ones_are_followed() -> None:
    shown = VIEW.begin({"files": {"/repo/a.txt": "1\n"}}, 0)
    values, _ = VIEW.named_values(shown, shell("echo 2 > a.txt; " * 40 + "echo 3 > a.txt"))
    assert values["a.txt"] == "2\n"

"""A small repository with tests, the calls that act on it, and how its view tells what they change."""

from __future__ import annotations

import json
from typing import Any

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.swe.engine import SweEngine, SweMachine
from agentworld_gym.domains.swe.engine.view import SweView
from agentworld_gym.llm.prompting.state_answers import StateAnswers

ENGINE = SweEngine("monty")
VIEW = SweView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("swe")))
SHOP = "def total(prices):\n    return sum(prices)\n\n\ndef mean(prices):\n    return total(prices) / len(prices)\n"
TESTS = """\
import pytest

from shop import mean, total


@pytest.mark.parametrize(("prices", "expected"), [([1, 2], 3), ([], 0)])
def test_total(prices, expected):
    assert total(prices) == expected


def test_mean():
    assert mean([1, 3]) == 2


def test_mean_of_nothing():
    assert mean([]) == 0
"""
STATE: dict[str, Any] = {
    "files": {"/repo/shop.py": SHOP, "/repo/tests/test_shop.py": TESTS, "/repo/notes.md": "# Shop\n\nsum and mean\n"},
    "git": {
        "commits": [{"message": "Begin"}],
        "remote": {"commits": [{"message": "Name the authors", "files": {"AUTHORS": "Ada\n"}}]},
    },
}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def shell(command: str) -> dict[str, Any]:
    return call("run_shell_command", command=command)


def edit(old: str, new: str, path: str = "/repo/shop.py", **arguments: Any) -> dict[str, Any]:
    return call("edit", file_path=path, old_string=old, new_string=new, **arguments)


def roundtripped(value: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(json.dumps(value))
    return result


def started(state: dict[str, Any] | None = None, **controls: float) -> SweMachine:
    return ENGINE.start(STATE if state is None else state, 0, Controls(controls, 0))


def change(machine: SweMachine, action: dict[str, Any]) -> list[str]:
    """The lines of the change that an action makes, after which the view prints the answer."""
    before, text = compact(machine.visible_state()), json.dumps(action)
    machine.act(action)
    after = machine.visible_state()
    assert VIEW.view(roundtripped(after)) == machine.observation
    written = ANSWERS.write(None, before, compact(after), text)
    assert json.loads(ANSWERS.read(None, before, written, text)) == after
    return written.split("\n")

"""Phone sessions as AgentWorldBench lays them out, one for each dialect: actions and screens are read."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import Golden

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.domains.android.screen_texts import dialect_of

PARSED: dict[str, list[dict[str, Any]]] = {
    "androidworld": [
        {"action_type": "click", "index": 1},
        {"action_type": "click", "x": 1000, "y": 2200},
        {"action_type": "input_text", "text": "grüner Tee", "index": 1},
    ],
    "droidrun": [
        {"action_type": "click", "index": 8},
        {"action_type": "swipe", "direction": "up", "x": 540, "y": 1800},
        {"action_type": "navigate_back"},
    ],
    "droidbot": [
        {"action_type": "input_text", "text": "dummy_user_input", "x": 540, "y": 951, "clear_text": True},
        {"action_type": "click", "x": 204, "y": 1086},
        {"action_type": "open_app", "app_name": "com.example.shop"},
    ],
}
every_dialect = pytest.mark.parametrize("dialect", PARSED)


@every_dialect
def test_the_actions_of_the_row_are_read_and_shown_as_they_stand(dialect: str) -> None:
    row = Golden(f"android-{dialect}.yaml", f"android:{dialect}")
    parser = ActionParser(row.spec)
    assert [(action.parsed, action.error) for action in row.actions] == [(parsed, None) for parsed in PARSED[dialect]]
    for action, turn in zip(row.actions, row.turns, strict=True):
        assert f"\n{parser.action_block(action)}\n```" in turn


@every_dialect
def test_the_screens_of_the_row_are_read(dialect: str) -> None:
    for screen in Golden(f"android-{dialect}.yaml", f"android:{dialect}").observations:
        assert dialect_of(screen) == dialect and shows("android", screen)
        lines = [line for line in screen.split("\n") if "[" in line or " - (" in line or "bounds=" in line]
        assert len(read_screen("android", screen)) == len(lines)

"""Phone sessions as AgentWorldBench lays them out, one for each dialect: rendered and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.documents.strict import read_yaml
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Task
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.screens import read_screen
from agentworld_gym.screens.android import dialect_of

ROWS = Path(__file__).parent / "rows"
MARKER = "**Environment Observation:**\n"
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


def section(text: str, heading: str) -> str:
    """The text under a heading of a turn, without the blank line after it."""
    return text.partition(f"**{heading}:**\n")[2].partition("\n\n**Action:**")[0]


def written(text: str) -> str:
    """The action in the fence of a turn."""
    return text.partition("**Action:**\n")[2].split("\n", 1)[1].removesuffix("\n```")


@pytest.mark.parametrize("dialect", PARSED)
def test_a_session_has_the_bytes_of_its_row(dialect: str) -> None:
    row: Any = read_yaml(ROWS / f"android-{dialect}.yaml")
    spec = load_spec("android").in_dialect(dialect)
    users = [*row["prompt"], row["current_prompt"]]
    first = section(users[0], "Current State")
    task = Task(
        id="golden",
        domain="android",
        instruction=section(users[0], "Task Instruction").partition("\n\n")[0],
        first_observation=first,
        success=[{"answer": {"equals": "1"}}],
    )
    prompts, parser = Prompts(spec), ActionParser(spec)
    actions = [parser.parse(written(user)) for user in users]
    assert [(action.parsed, action.error) for action in actions] == [(parsed, None) for parsed in PARSED[dialect]]
    shown = [response.removeprefix(MARKER) for response in row["response"]]
    screens = [first, *shown]
    assert [section(user, "Current State") for user in users] == screens[:3]
    for turn, (user, response) in enumerate(zip(users, row["response"], strict=True), 1):
        assert prompts.turn(task, turn, actions[turn - 1], screens[turn - 1]) == user
        assert prompts.observation(shown[turn - 1]) == response


@pytest.mark.parametrize("dialect", PARSED)
def test_the_screens_of_a_row_are_read(dialect: str) -> None:
    row: Any = read_yaml(ROWS / f"android-{dialect}.yaml")
    for response in row["response"]:
        screen = response.removeprefix(MARKER)
        assert dialect_of(screen) == dialect
        lines = [line for line in screen.split("\n") if "[" in line or " - (" in line or "bounds=" in line]
        assert len(read_screen("android", screen)) == len(lines)

"""Sessions of both scaffolds as AgentWorldBench lays them out: rendered, read back, and answered by the engine."""

from __future__ import annotations

import re

import pytest
from golden_rows import Golden

from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.swe.engine import SweEngine

CLI = Golden("swe-cli.yaml", "swe:cli")
CLAUDE_CODE = Golden("swe-claude-code.yaml", "swe:claude-code")
FILES = {
    "/repo/README.md": "Zones of fares.\n",
    "/repo/fare/zones.py": '"""Zones of a fare."""\n\n\ndef zones(of, to):\n    return to - of\n',
}
TASK = Task(id="t", domain="swe", instruction="Count zones.", success=[{"answer": {"equals": "1"}}])
GROUP = re.compile(r"(?m)^Process Group PGID: \d+$")


@pytest.mark.parametrize("row", [CLI, CLAUDE_CODE])
def test_the_session_is_rendered_as_in_the_row(row: Golden) -> None:
    assert row.rendered(TASK) == row.messages


def test_both_scaffolds_write_the_same_action() -> None:
    assert not [action.error for row in (CLI, CLAUDE_CODE) for action in row.actions if action.error]
    assert [action.parsed for action in CLI.actions[:4:3]] == [
        {"name": "list_directory", "arguments": {"path": "/repo"}},
        {
            "name": "edit",
            "arguments": {"file_path": "/repo/fare/zones.py", "old_string": "to - of", "new_string": "abs(to - of)"},
        },
    ]
    assert CLAUDE_CODE.actions[1].parsed == CLI.actions[1].parsed
    assert CLAUDE_CODE.actions[2].parsed == {
        "name": "read_file",
        "arguments": {"absolute_path": "/repo/fare/zones.py", "offset": 3, "limit": 1},
    }
    assert CLAUDE_CODE.actions[3].parsed == CLI.actions[3].parsed


@pytest.mark.parametrize(("row", "dialect"), [(CLI, "cli"), (CLAUDE_CODE, "claude-code")])
def test_the_engine_answers_as_in_the_row(row: Golden, dialect: str) -> None:
    machine = SweEngine("monty").start({"files": FILES}, 0)
    shown = []
    for action in row.actions:
        machine.act(action.parsed)
        shown.append(machine.observation_in(dialect))
    # The process group belongs to the moment of a run.
    assert [GROUP.sub("", text) for text in shown] == [GROUP.sub("", text) for text in row.observations]

"""A terminal session as AgentWorldBench lays it out: read, and shown by the grounded engine."""

from __future__ import annotations

from golden_rows import Golden

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.domains.terminal.engine import TerminalMachine

ROW = Golden("terminal.yaml", "terminal")
STATE = {"user": "root", "host": "3f2a9c01d7be", "cwd": "/app", "files": {"/app/notes.txt": "hello\n"}}


def test_the_engine_shows_what_the_row_shows() -> None:
    machine = TerminalMachine.start(STATE, seed=0)
    assert machine.observation in ROW.turns[0].split("\n")
    assert [machine.act(action.parsed) for action in ROW.actions] == ROW.observations


def test_an_action_is_written_as_in_the_row_whatever_the_agent_leaves_out() -> None:
    parser = ActionParser(ROW.spec)
    assert [parser.action_block(action) for action in ROW.actions] == [action.raw for action in ROW.actions]
    entry = '[\n  {\n    "keystrokes": "größe\\n",\n    "duration": 1.0\n  }\n]'
    for text in ('[{"duration": 1, "keystrokes": "größe\\n"}]', '[{"keystrokes": "größe\\n"}]', "größe"):
        assert parser.action_block(parser.parse(text)) == entry

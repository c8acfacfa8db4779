"""Desktop sessions as AgentWorldBench lays them out, one a dialect: read, and answered by the engine."""

from __future__ import annotations

import pytest
from golden_rows import Golden
from worlds import language_world, predicted

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.domains.desktop.engine.machine import DesktopMachine
from agentworld_gym.domains.desktop.screen_texts import four_columns, seven_columns
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

ROWS = {dialect: Golden(f"desktop-{dialect}.yaml", f"desktop:{dialect}") for dialect in ("osworld", "autoglm")}
LIST = "/home/user/Desktop/list.txt"
STATE = {
    "clock": "2026-04-20T14:30:00",
    "files": {LIST: 'Milk\nTea "green"'},
    "open": [{"program": "editor", "arguments": [LIST]}],
}
TASK = Task(
    id="t",
    domain="desktop",
    instruction='Add an exclamation mark to the end of the list, and make a folder "old" on the desktop.',
    state=STATE,
    success=[{"answer": {"equals": "1"}}],
)
MADE = "import os\nos.makedirs('/home/user/Desktop/old', exist_ok=True)\nprint_result()"
every_dialect = pytest.mark.parametrize("dialect", ROWS)


def state_of(turn: str) -> str:
    """What a turn shows as the current state."""
    return turn.partition("**Current State:**\n")[2].partition("\n\n**Action:**")[0]


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("osworld", ["pyautogui.click(1304, 253)", "pyautogui.write('!')", MADE, "pyautogui.click(1800, 1000)"]),
        ("autoglm", ["Agent.click(coordinates=[1304, 253])", "Agent.type(text='!')", MADE, "Agent.wait()"]),
    ],
)
def test_the_actions_of_the_row_are_read(dialect: str, written: list[str]) -> None:
    assert [action.parsed for action in ROWS[dialect].actions] == written
    assert not [action.error for action in ROWS[dialect].actions if action.error]


@every_dialect
def test_the_engine_answers_as_in_the_row(dialect: str) -> None:
    row, machine = ROWS[dialect], DesktopMachine.start(STATE, seed=0)
    shown = []
    for action in row.actions:
        shown.append(machine.act(action.parsed) if dialect == "osworld" else "")
        if dialect == "autoglm":
            machine.act(action.parsed)
            shown[-1] = machine.observation_in(dialect)
        assert not machine.problem
    assert shown == row.observations
    assert shown[-1] == shown[-2]


@every_dialect
def test_an_agent_is_shown_the_table_of_its_dialect(dialect: str) -> None:
    row = ROWS[dialect]
    runner = EnvOptions(spec="desktop", dialect=dialect).runner()
    ((episode, first, _),) = runner.start([0], {"task": TASK})
    assert first == f"{TASK.instruction}\n\n{state_of(row.turns[0])}"
    steps = [runner.advance([episode], [action.raw])[0] for action in row.actions]
    assert [step.observation for step in steps] == row.observations
    assert episode.observations[1:] == ROWS["osworld"].observations
    runner.close()


def test_both_tables_show_the_same_elements() -> None:
    for seven, four in zip(ROWS["osworld"].observations, ROWS["autoglm"].observations, strict=True):
        assert four_columns(seven) == four
        given, read = read_screen("desktop", seven), read_screen("desktop", four)
        assert [(node.role, node.name, node.box) for node in given] == [
            (node.role, node.name, node.box) for node in read
        ]
        assert seven_columns(four) == seven.replace("\tfocused\t", "\t\t")


def test_a_dream_in_the_second_dialect_is_checked_in_the_first() -> None:
    row = ROWS["autoglm"]
    shown = r'(?m)^text\tlist\.txt\t"Milk!\\nTea ""green"""\t'
    probe = {"probe": "time.sleep(1)", "expect": {"matches": shown}}
    task = TASK.model_copy(update={"success": Task(**{**TASK.model_dump(), "success": [probe]}).success})
    world = language_world(lambda request: predicted(row.observations[2]), "desktop:autoglm")
    runner = EpisodeRunner(row.spec, world, TaskSource(row.spec, task=task))
    ((episode, _, _),) = runner.start([0], {"task": task})
    (step,) = runner.advance([episode], ["Agent.type(text='!')"])
    (end,) = runner.advance([episode], ["Agent.exit(success=True)"])
    assert step.observation == row.observations[2]
    assert episode.observations[1].startswith("tag\tname\t")
    assert end.info["success"]

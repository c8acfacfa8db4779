"""Free agents of repositories: what they are shown is printed again from the answers that a model learns to write."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import closing
from functools import cache

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.swe.engine.view import SweView
from agentworld_gym.domains.swe.free_explorer import free_coder
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.rows.replayed_states import shown_states
from agentworld_gym.llm.rows.rerendering import task_of
from agentworld_gym.llm.rows.row import Row

PARSER = ActionParser(load_spec("swe"))
ANSWERS = StateAnswers(SweView(), PARSER)
SESSIONS = 12


@cache
def sessions(count: int = SESSIONS) -> tuple[Row, ...]:
    config = CollectConfig(policies={"free": 1.0}, engines={"swe": "monty"}, max_turns=12)
    with closing(Recorder([load_spec("swe")], config, 0, "test")) as recorder:
        return tuple(row for row in recorder.rows(range(count)) if row is not None)


@pytest.mark.parametrize("number", range(SESSIONS))
def test_every_observation_is_printed_again_from_the_written_answer(number: int) -> None:
    row = sessions()[number]
    task = task_of(row)
    assert task is not None
    states = shown_states(row, task, PARSER)
    for before, after, action, observation in zip(
        (states.begun, *states.acted), states.acted, row.actions, row.observations, strict=False
    ):
        if PARSER.parse(action, task.tools).error is not None:
            continue
        written = ANSWERS.write(task, before, after, action)
        read = ANSWERS.read(task, before, written, action)
        assert json.loads(read) == json.loads(after)
        assert ANSWERS.printed(read) == observation
        assert ANSWERS.allows(task, before, action)(written, whole=True)


def test_most_answers_to_a_free_agent_have_few_letters() -> None:
    lengths = Counter[bool]()
    for row in sessions():
        task = task_of(row)
        assert task is not None
        states = shown_states(row, task, PARSER)
        for before, after, action in zip((states.begun, *states.acted), states.acted, row.actions, strict=False):
            if PARSER.parse(action, task.tools).error is None:
                lengths[len(ANSWERS.write(task, before, after, action)) <= 60] += 1
    assert lengths[True] > 0.8 * lengths.total()


def test_a_free_agent_writes_files_and_reads_them_back_with_tools_and_lines_of_the_shell() -> None:
    calls = [json.loads(action) for row in sessions() for action in row.actions]
    used = Counter(call["name"] for call in calls)
    assert {"read_file", "write_file", "edit", "list_directory", "run_shell_command"} <= used.keys()
    lines = [json.loads(call["arguments"])["command"] for call in calls if call["name"] == "run_shell_command"]
    for part in ("cat ", " > ", "<<", "rm ", "git ", "sed -i", "mkdir", "python"):
        assert any(part in line for line in lines)
    assert any("not found" in observation for row in sessions() for observation in row.observations)


def test_equal_random_numbers_give_equal_actions() -> None:
    task = generate("swe", sorted(families("swe"))[0], 1, 0)

    def played(seed: int) -> list[str]:
        actions = free_coder(task, random.Random(seed), 10)
        return [next(actions), *(actions.send("") for _ in range(9))]

    assert played(3) == played(3) != played(4)

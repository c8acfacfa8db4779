"""Every row written by hand is rendered by this package to the same bytes, and its actions are read and written."""

from __future__ import annotations

import re

import pytest
from golden_rows import FOLDER, Golden

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting.prompt import Prompts

FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
_BODY = r"\n(.*?)\n\n\*\*(?:Current State|Action):\*\*\n"
_INSTRUCTION = re.compile(r"\*\*Task Instruction:\*\*" + _BODY, re.DOTALL)
_STATE = re.compile(r"\*\*Current State:\*\*" + _BODY, re.DOTALL)
every_row = pytest.mark.parametrize("file", FILES)


def row_of(file: str) -> Golden:
    """The row in a file, whose name is that of the domain, a hyphen and that of the dialect; a further row of the same
    dialect says behind a dot what it is about."""
    return Golden(file, source_of(file).replace("-", ":", 1))


def source_of(file: str) -> str:
    """The first part of the name of a file."""
    return file.partition(".")[0]


@every_row
def test_the_session_has_the_bytes_of_its_row(file: str) -> None:
    row = row_of(file)
    instruction, state = _INSTRUCTION.search(row.turns[0]), _STATE.search(row.turns[0])
    task = Task(
        id="t",
        domain=row.spec.id,
        instruction=instruction[1] if instruction else "Not in the row.",
        first_observation=state[1] if state else "",
        success=[{"answer": {"equals": "1"}}],
    )
    assert row.rendered(task) == row.messages
    last = Prompts(row.spec).observation(row.observations[-1])
    assert last == row.responses[-1]


@every_row
def test_the_actions_of_the_row_are_read_and_written_back(file: str) -> None:
    row = row_of(file)
    parser = ActionParser(row.spec)
    for action in row.actions:
        assert action.error is None and action.parsed is not None
        assert parser.parse(action.raw).parsed == action.parsed


def test_every_domain_has_rows_of_every_dialect() -> None:
    expected = set()
    for domain in DOMAINS:
        dialects = list(load_spec(domain).dialects)
        expected |= {f"{domain}-{dialect}" for dialect in dialects} or {domain}
    # The agents of Agent World Model act in no row of the benchmark.
    assert set(map(source_of, FILES)) == expected - {"mcp-awm"}


def test_the_closing_request_is_laid_out_as_in_the_rows() -> None:
    """A sentence, four requirements, a blank line and the line that asks for the tags."""
    for domain in DOMAINS:
        closing = Prompts(load_spec(domain)).closing
        assert closing.startswith("\n\nPlease analyze the input above")
        sentence, heading, *requirements, blank, last = (
            closing.removeprefix("\n\n").replace("\n\n", "\n", 1).split("\n")
        )
        assert sentence.endswith(".") and heading == "Requirements:" and blank == ""
        assert [line[:2] for line in requirements] == ["- "] * 4
        assert last.endswith("<predicted_observation></predicted_observation>.")

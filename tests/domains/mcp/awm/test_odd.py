"""Worlds of AWM whose authors wrote odd schemas: one tool stops no world, and one world stops no folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import awm_odd
import awm_worlds
import gymnasium as gym
import pytest
from typer.testing import CliRunner

import agentworld_gym  # noqa: F401
from agentworld_gym.cli.app import app
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles
from agentworld_gym.envs.env import AgentWorldEnv

LEFT_OUT = {*awm_odd.ODD_PATHS, *awm_odd.ODD_ENDPOINTS, "leads_nowhere"}
KEPT = [
    "list_books",
    "get_book",
    "borrow_book",
    "return_book",
    *(name for name in awm_odd.USABLE if name not in LEFT_OUT),
]
BORROW = '{"name": "borrow_book", "arguments": {"book_id": 1}}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an odd world, one that cannot be loaded, one whose rows are no rows, and an easy one."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    tables, filled, tasks = awm_worlds.LIBRARY_TABLES, awm_worlds.LIBRARY_ROWS, awm_worlds.LIBRARY_TASKS
    unloadable = awm_worlds.scenario("unloadable", "raise ValueError('no world')", tables, filled, tasks)
    unreadable = awm_worlds.library()
    for rows in unreadable.values():
        for row in rows:
            row["name" if "name" in row else "scenario"] = "unreadable"
    unreadable["gen_envs.jsonl"][0]["full_code"] = 5
    sentences = awm_worlds.scenario("sentences", awm_worlds.LIBRARY, tables, filled, tasks)
    sentences["gen_tasks.jsonl"][0]["tasks"] = "Borrow the book Emma."
    worlds = (awm_odd.odd(), unloadable, unreadable, sentences, awm_worlds.library())
    return awm_worlds.write(tmp_path_factory.mktemp("odd"), *worlds)


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[AwmEngine]:
    """Return an engine of the folder."""
    made = AwmEngine(AwmFiles(folder))
    yield made
    made.close()


def test_the_odd_tools_are_left_out_and_named_and_the_others_are_played(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        env = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"scenario": "odd"})
        _, info = env.reset(options={"task": "odd-0"})
    assert [tool["name"] for tool in info["tools"]] == KEPT
    assert set(env.world.tasks.left_out["odd"]) == LEFT_OUT  # type: ignore[attr-defined]
    [told] = [one.getMessage() for one in caplog.records if "left out" in one.getMessage()]
    assert told.startswith("odd: 10 of 18 tools are left out: ") and all(name in told for name in LEFT_OUT)
    assert json.loads(env.step(BORROW)[0])["book_id"] == 1
    assert env.step("finish")[1] == 1.0
    env.close()


def test_the_server_refuses_an_odd_tool_as_that_of_awm_does(engine: AwmEngine) -> None:
    machine = engine.start("odd", 0)
    for name, words in (("examples_as_text", "'abc' is not of type 'array'"), ("broken_pattern", "is not a 'regex'")):
        machine.act({"name": name, "arguments": {"number": 1}})
        assert machine.refused and words in machine.observation
    for name, arguments in (("parameters_as_text", {}), ("leads_nowhere", {"number": 1})):
        machine.act({"name": name, "arguments": arguments})
        assert machine.refused and machine.observation
    machine.act({"name": "get_book", "arguments": {"book_id": 1}})
    assert not machine.refused
    machine.close()


def test_a_pattern_that_only_python_knows_is_left_to_the_server(folder: Path) -> None:
    env = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"scenario": "odd"})
    env.reset(options={"task": "odd-0"})
    call = {"name": "end_in_python", "arguments": {"number": 7}}
    assert json.loads(env.step(json.dumps(call))[0]) == {"number": 7}
    call["arguments"] = {"number": "seven"}
    assert env.step(json.dumps(call))[0].startswith("Input validation error: ")
    env.close()


def test_a_vector_over_the_folder_plays_the_worlds_that_can_be_played(folder: Path) -> None:
    envs = gym.make_vec("AgentWorld/MCP-v0", num_envs=5, world=f"awm:{folder}")
    _, infos = envs.reset(seed=0)
    assert {task.rpartition("-")[0] for task in infos["task_id"]} == {"odd", "corner_library"}
    dropped = envs.unwrapped.world.tasks.dropped  # type: ignore[attr-defined]
    assert {"unloadable", "unreadable", "sentences"} <= dropped.keys()
    assert "no world" in dropped["unloadable"][0] and "full_code" in dropped["unreadable"][0]
    envs.close()


def test_a_recording_goes_over_the_whole_folder(folder: Path, tmp_path: Path) -> None:
    arguments = ["collect", "mcp", "--world", f"awm:{folder}", "--out", str(tmp_path / "rows.jsonl"), "-n", "6"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert {row["family"] for row in rows} == {"odd", "corner_library"}


def test_the_check_names_and_counts_what_is_left_out_and_fails(folder: Path) -> None:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["mcp", "check", f"awm:{folder}"])
    assert done.exit_code == 1
    for name in (*LEFT_OUT, "unloadable", "unreadable", "sentences"):
        assert name in done.output
    assert "0 of 5 worlds without a problem" in done.output
    assert not any(f"tool {name}" in done.output for name in KEPT)
    assert max(map(len, done.output.splitlines())) <= 80

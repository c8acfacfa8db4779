"""An episode in a world of AWM: what its tools answer, and that sessions, forks and lost processes change nothing."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine import machine as machines
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.libraries import VARIABLE
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine, act_all
from agentworld_gym.domains.mcp.awm.engine.survey import survey

REFERENCE = Path(__file__).resolve().parents[4] / "helpers" / "awm_reference.py"


def called(machine: AwmMachine, name: str, **arguments: Any) -> Any:
    """Return what a tool answers, read as JSON; a refusal stays text."""
    text = machine.act({"name": name, "arguments": arguments})
    return text if machine.refused else json.loads(text)


def test_every_tool_of_the_usual_world_answers_and_every_verifier_runs(engine: AwmEngine) -> None:
    found = survey(engine, "harbor_logistics")
    assert (found.tools, sum(found.answers.values()), found.failed) == (25, 25, 0)
    assert found.problems == () and found.alone == () and found.dropped == {}


def test_a_world_shares_its_process_still_when_all_tools_were_called(engine: AwmEngine) -> None:
    for name in ("harbor_logistics", "corner_library", "diary", "accounts", "factory"):
        machine = engine.start(name, 0)
        for tool in machine.tools:
            machine.act(json.loads(example_call(tool)))
        assert engine.server(name).about.alone == (), name
        machine.close()


def test_statements_that_fail_are_counted_and_quotes_are_mended(engine: AwmEngine) -> None:
    [(statement, error)] = engine.server("corner_library").about.failed
    assert statement.startswith("INSERT INTO loans") and error == "FOREIGN KEY constraint failed"
    machine = engine.start("corner_library", 0)
    assert called(machine, "get_book", book_id=3)["title"] == "Finnegan's Wake"
    machine.close()


CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "corner_library": [
        ("list_books", {}),
        ("list_books", {"word": "E m&a=1", "limit": 5}),
        ("list_books", {"word": None}),
        ("list_books", {"limit": 1000}),
        ("list_books", {"limit": 2.0}),
        ("list_books", {"unknown": 1}),
        ("get_book", {"book_id": 1}),
        ("get_book", {"book_id": 77}),
        ("get_book", {"book_id": "x"}),
        ("get_book", {}),
        ("borrow_book", {"book_id": 1}),
        ("borrow_book", {"book_id": 1, "note": None}),
        ("borrow_book", {"book_id": True}),
        ("borrow_book", {"book_id": 55}),
        ("return_book", {"loan_id": 1}),
        ("return_book", {"loan_id": 9}),
        ("nothing", {}),
    ],
    "harbor_logistics": [
        ("list_ports", {"limit": 2}),
        ("list_ports", {"name": "Port 3"}),
        ("list_ports", {"offset": -1}),
        ("get_port", {"number": 999}),
        ("update_port", {"number": 3, "berths": 7}),
        ("update_port", {"number": 3}),
        ("create_ship", {"name": "Ä\u2028", "port_id": 1, "tonnage": 2}),
        ("delete_port", {"number": 3}),
        ("get_port", {"number": 3}),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CALLS))
def test_tools_and_answers_are_those_that_fastapi_mcp_gives(engine: AwmEngine, name: str, tmp_path: Path) -> None:
    python = os.environ.get(VARIABLE, sys.executable)
    if subprocess.run([python, "-c", "import fastapi_mcp"], capture_output=True, check=False).returncode:
        pytest.skip("fastapi-mcp is not installed beside the libraries of AWM")
    scenario = engine.files.scenario(name)
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"code": scenario.code, "statements": scenario.statements, "calls": CALLS[name]}))
    done = subprocess.run([python, str(REFERENCE), str(job)], capture_output=True, text=True, check=True)
    reference = json.loads(done.stdout)
    machine = engine.start(name, 0)
    assert list(machine.tools) == reference["tools"]
    calls = [{"name": tool, "arguments": arguments} for tool, arguments in CALLS[name]]
    answers = [[machine.act(call), machine.refused] for call in calls]
    assert without_times(answers) == without_times(reference["answers"])
    machine.close()


def without_times(answers: list[list[Any]]) -> list[list[Any]]:
    """Return answers in which every time is the same."""
    return [[re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "TIME", text), refused] for text, refused in answers]


def test_the_clock_and_chance_follow_from_seed_and_actions_alone(engine: AwmEngine) -> None:
    one, same, other = (engine.start("shared", seed) for seed in (5, 5, 6))
    told = called(one, "tell_time")
    assert told["time"].startswith("2026-01-01 09:00:01") and told["day"] == "2026-01-01"
    assert called(same, "tell_time") == told
    assert (drawn := called(one, "draw")) == called(same, "draw") != called(other, "draw")
    assert called(one, "draw") != drawn
    for machine in (one, same, other):
        machine.close()


def test_sessions_of_one_process_do_not_see_each_other(engine: AwmEngine) -> None:
    one, other = engine.start("shared", 0), engine.start("shared", 0)
    assert one.place().worker is other.place().worker
    assert called(one, "note", word="mine") == {"titles": ["mine"]}
    assert called(other, "note", word="yours") == {"titles": ["yours"]}
    one.close()
    other.close()


def test_what_was_read_before_is_read_again_until_something_changes(engine: AwmEngine) -> None:
    one, other = engine.start("corner_library", 0), engine.start("corner_library", 1)
    begun = called(one, "get_book", book_id=1)
    assert called(one, "get_book", book_id=1) == called(other, "get_book", book_id=1) == begun
    called(one, "borrow_book", book_id=1)
    assert called(one, "get_book", book_id=1)["copies"] == begun["copies"] - 1
    assert called(other, "get_book", book_id=1) == begun
    called(other, "borrow_book", book_id=2)
    assert called(other, "get_book", book_id=1) == begun
    one.close()
    other.close()


def test_a_read_that_tells_the_time_or_changes_something_is_made_each_time(engine: AwmEngine) -> None:
    machine = engine.start("timely", 0)
    times = [called(machine, "tell_time")["time"][:19] for _ in range(3)]
    assert times == ["2026-01-01 09:00:01", "2026-01-01 09:00:02", "2026-01-01 09:00:03"]
    assert [len(called(machine, "note", word="a")["titles"]) for _ in range(3)] == [1, 2, 3]
    machine.close()


def test_what_a_failed_call_did_not_commit_is_undone(engine: AwmEngine) -> None:
    machine = engine.start("shared", 0)
    assert called(machine, "leak", word="a") == "Error calling leak. Status code: 500. Response: Internal Server Error"
    assert called(machine, "note", word="b") == {"titles": ["b"]}
    machine.close()


def test_a_call_may_read_by_a_second_database_session_while_the_first_writes(engine: AwmEngine) -> None:
    machine = engine.start("shared", 0)
    assert called(machine, "two_at_once", word="a")["now"] == 4
    assert called(machine, "note", word="b") == {"titles": ["a", "b"]}
    machine.close()


def test_forks_are_exact_and_go_their_own_way(engine: AwmEngine) -> None:
    draw = random.Random(0)
    tools = engine.server("harbor_logistics").about.tools
    for seed in range(5):
        machine = engine.start("harbor_logistics", seed)
        for step in range(12):
            call = json.loads(example_call(draw.choice(tools)))
            if "number" in call["arguments"]:
                call["arguments"]["number"] = draw.randint(1, 45)
            twin = machine.fork()
            assert twin.act(call) == machine.act(call)
            assert twin.state() == machine.state()
            if step % 4 == 0:
                called(twin, "delete_port", number=1)
                assert twin.state() != machine.state() or "ports/1/name" not in machine.state()
            twin.close()
        machine.close()


def test_the_fork_of_a_world_that_keeps_state_keeps_it_too(engine: AwmEngine) -> None:
    machine = engine.start("nasty", 0)
    called(machine, "remember", word="a")
    twin = machine.fork()
    assert called(machine, "remember", word="b") == {"seen": ["a", "b"]}
    assert called(twin, "remember", word="c") == {"seen": ["a", "c"]}
    machine.close()
    twin.close()


def test_a_process_that_loaded_the_code_is_copied_for_each_session_and_each_fork(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = engine.server("nasty")
    engine.start("nasty", 0).close()
    monkeypatch.setattr(server, "_load", lambda: pytest.fail("the code is loaded again"))
    one, other = engine.start("nasty", 0), engine.start("nasty", 1)
    called(one, "remember", word="a")
    twin = one.fork()
    workers = [each.place().worker for each in (one, other, twin)]
    assert len({worker.pid for worker in workers}) == 3
    assert [called(each, "remember", word="b")["seen"] for each in (one, other, twin)] == [
        ["a", "b"],
        ["b"],
        ["a", "b"],
    ]
    server.lose(workers[0])
    assert called(one, "remember", word="c")["seen"] == ["a", "b", "c"]
    for each in (one, other, twin):
        each.close()


def test_a_world_that_starts_a_thread_is_loaded_for_each_session(engine: AwmEngine) -> None:
    server = engine.server("ticking")
    for seed in (0, 1):
        machine = engine.start("ticking", seed)
        assert called(machine, "note", word="a") == {"titles": ["a"]}
        assert server._template is None
        machine.close()


def test_a_machine_whose_process_was_lost_is_as_before(engine: AwmEngine) -> None:
    machine = engine.start("shared", 3)
    called(machine, "note", word="a")
    before = machine.state()
    machine.server.lose(machine.place().worker)
    assert machine.state() == before
    assert called(machine, "note", word="b") == {"titles": ["a", "b"]}
    machine.close()


def test_a_machine_that_cannot_be_made_again_leaves_no_session(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = engine.server("corner_library")
    machine = engine.start("corner_library", 0)
    called(machine, "list_books")
    server.lose(machine.place().worker)
    monkeypatch.setattr(machines, "_exchanged", lambda *_: EngineError("it was stopped"))
    before = server.begin(0)
    held = len(before.worker.sessions)
    with pytest.raises(EngineError, match="cannot be made again: it was stopped"):
        machine.place()
    assert len(before.worker.sessions) == held
    server.leave(before)
    machine.close()


def test_times_are_the_same_in_a_process_that_did_nothing_before(engine: AwmEngine) -> None:
    machine = engine.start("corner_library", 3)
    called(machine, "borrow_book", book_id=1)
    called(machine, "borrow_book", book_id=1)
    before = machine.state()
    machine.server.lose(machine.place().worker)
    assert machine.state() == before
    assert before["books/1/updated_at"].endswith("09:00:02.000001")  # type: ignore[union-attr]
    machine.close()


def test_an_engine_whose_sandboxes_were_killed_starts_others(engine: AwmEngine) -> None:
    machine = engine.start("shared", 3)
    called(machine, "note", word="a")
    initial = engine.server("corner_library").about.initial
    [verifier] = [engine.files.scenario("corner_library").decided[0]]
    assert engine.verdict("corner_library", verifier, initial).complete is False
    for sandbox in (engine._worlds, engine._verdicts):
        assert sandbox is not None
        sandbox._process.kill()
        sandbox._process.wait()
    assert engine.verdict("corner_library", verifier, initial).complete is False
    with pytest.raises(EngineError, match=r"the code of shared ended with its sandbox"):
        called(machine, "note", word="b")
    assert called(machine, "note", word="b") == {"titles": ["a", "b"]}
    machine.close()


def test_in_a_wave_a_call_that_hangs_costs_no_other_session_its_answer(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "CALL_SECONDS", 0.7)
    wave = [engine.start("shared", seed) for seed in range(4)]
    for machine in wave:
        called(machine, "note", word="a")
    calls: list[tuple[Any, bool]] = [({"name": "note", "arguments": {"word": "b"}}, False)] * 4
    calls[1] = ({"name": "endless_sql", "arguments": {}}, False)
    answers = act_all(wave, calls)
    assert [isinstance(answer, EngineError) for answer in answers] == [False, True, False, False]
    titles = [called(machine, "note", word="c")["titles"] for machine in wave]
    assert titles == [["a", "b", "c"], ["a", "c"], ["a", "b", "c"], ["a", "b", "c"]]
    for machine in wave:
        machine.close()

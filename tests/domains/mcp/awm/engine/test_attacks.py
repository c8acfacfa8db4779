"""What hostile code of a world tries, and does not get. Each attempt costs its own session an answer, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from awm_attacks import ANSWERED, AT_IMPORT, LEFT, REFUSED, STOPPED, VERIFIERS

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine import machine as machines
from agentworld_gym.domains.mcp.awm.engine import server as servers
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmVerifier
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine


def called(machine: AwmMachine, name: str, word: str = "") -> Any:
    """Return what a tool answers, read as JSON; a refusal stays text."""
    text = machine.act({"name": name, "arguments": {"word": word}})
    return text if machine.refused else json.loads(text)


@pytest.fixture(scope="module")
def neighbours(engine: AwmEngine) -> Iterator[list[AwmMachine]]:
    """Return two other sessions of the same world, which go on through all attempts."""
    made = [engine.start("nasty", seed) for seed in (8, 9)]
    yield made
    for each in made:
        each.close()


@pytest.fixture(autouse=True)
def undisturbed(neighbours: list[AwmMachine], request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the other sessions act after each attempt: in the same process, and with all that they had seen."""
    places = [each.place() for each in neighbours]
    yield
    for each, place in zip(neighbours, places, strict=True):
        seen = called(each, "remember", request.node.name)["seen"]
        assert each.place() is place and len(seen) == each.steps and seen[-1] == request.node.name


@pytest.mark.parametrize("name", REFUSED)
def test_the_system_refuses(engine: AwmEngine, name: str) -> None:
    machine = engine.start("nasty", 0)
    assert called(machine, name) == f"Error calling {name}. Status code: 500. Response: Internal Server Error"
    assert called(machine, "plain", "still here") == {"word": "still here"}
    machine.close()


@pytest.mark.parametrize("name", ANSWERED)
def test_the_code_sees_nothing_of_the_host_and_of_other_processes(engine: AwmEngine, name: str) -> None:
    machine = engine.start("nasty", 0)
    assert called(machine, name) == ANSWERED[name][1]
    machine.close()


@pytest.mark.parametrize("name", STOPPED)
def test_a_session_that_is_stopped_fails_alone_and_can_go_on(
    engine: AwmEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = STOPPED[name][1]
    if "longer" in reason:
        monkeypatch.setattr(machines, "CALL_SECONDS", 0.7)
    machine = engine.start("nasty", 0)
    called(machine, "remember", "a")
    with pytest.raises(EngineError, match=reason):
        called(machine, name)
    monkeypatch.undo()
    assert called(machine, "remember", "c") == {"seen": ["a", "c"]}
    machine.close()


@pytest.mark.parametrize("name", AT_IMPORT)
def test_a_world_that_attacks_when_it_is_loaded_is_not_played(
    engine: AwmEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "longer" in AT_IMPORT[name][1]:
        monkeypatch.setattr(servers, "LOAD_SECONDS", 2.0)
    with pytest.raises(EngineError, match=AT_IMPORT[name][1]):
        engine.start(name, 0)


def test_code_that_is_loaded_finds_no_open_file_of_another_world(engine: AwmEngine) -> None:
    engine.start("shared", 0).close()  # Its process waits to be copied.
    machine = engine.start("peeking", 0)
    assert len(called(machine, "list_files")["found"]) == 1
    machine.close()


def test_a_file_that_was_opened_before_sessions_began_carries_no_note(engine: AwmEngine) -> None:
    one, other = engine.start("nasty", 0), engine.start("nasty", 1)
    for machine in (one, other):  # The file is closed in each session.
        assert called(machine, "note_at_file").startswith("Error calling note_at_file. Status code: 500.")
    one.close(), other.close()


def test_what_a_call_leaves_running_ends_with_the_call(engine: AwmEngine) -> None:
    machine = engine.start("nasty", 0)
    called(machine, "leave_task")
    assert b"late" in machine.database()
    machine.close()


@pytest.mark.slow
def test_a_copy_that_never_asks_for_its_socket_is_ended(engine: AwmEngine) -> None:
    machine, other = engine.start("nasty", 0), engine.start("nasty", 1)
    before = called(other, "count_processes")
    called(machine, "let_copies_hang")
    with pytest.raises(EngineError, match="the process does not ask for its copy"):
        machine.fork()
    assert called(other, "count_processes") == before
    machine.close(), other.close()


def test_code_that_keeps_state_has_a_process_for_each_session(engine: AwmEngine) -> None:
    one, other = engine.start("nasty", 0), engine.start("nasty", 1)
    assert called(one, "remember", "secret") == {"seen": ["secret"]}
    assert called(other, "remember", "mine") == {"seen": ["mine"]}
    assert "SEEN of the module is used as more than a constant" in " ".join(engine.server("nasty").about.alone)
    one.close(), other.close()


def test_a_session_finds_no_database_but_its_own_and_that_of_the_start(engine: AwmEngine) -> None:
    library, machine = engine.start("corner_library", 0), engine.start("nasty", 0)
    assert set(called(machine, "see_sessions")["titles"]) == {"Emma", "Ulysses", "Finnegan's Wake"}
    library.close(), machine.close()


@pytest.mark.parametrize("name", list(VERIFIERS))
def test_a_hostile_verifier_is_a_failure_and_no_verdict(
    engine: AwmEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentworld_gym.domains.mcp.awm.engine.sandbox.VERDICT_SECONDS", 1.0)
    body, reason = VERIFIERS[name]
    code = f"def verify_task_completion(initial_db_path, final_db_path, final_answer=None):\n    {body}\n"
    initial = engine.server("corner_library").about.initial
    with pytest.raises(EngineError, match=reason):
        engine.verdict("corner_library", AwmVerifier(code, False), initial)


@pytest.mark.parametrize("act", ["os.close(os.open(name, os.O_CREAT))", "os.mkdir(name)", "os.symlink('x', name)"])
def test_a_verifier_that_makes_files_without_end_is_stopped(engine: AwmEngine, act: str) -> None:
    """Empty ones count too: they take memory of the kernel, and no limit on the size of a folder sees them."""
    code = (
        "import itertools\n\ndef verify_task(initial_db_path, final_db_path):\n"
        "    folder = os.path.dirname(final_db_path)\n"
        f"    for number in itertools.count():\n        name = f'{{folder}}/{{number}}'\n        {act}\n"
    )
    initial = engine.server("corner_library").about.initial
    with pytest.raises(EngineError, match="the verifier made more than 10000 files"):
        engine.verdict("corner_library", AwmVerifier(code, True), initial)


@pytest.mark.parametrize("name", LEFT)
def test_a_verifier_leaves_nothing_to_the_next_one(engine: AwmEngine, name: str) -> None:
    initial = engine.server("corner_library").about.initial
    lists = "sorted(os.listdir(os.path.dirname(final_db_path)))"
    code = f"def verify_task(initial_db_path, final_db_path):\n    return {lists}"
    leaves = f"def verify_task(initial_db_path, final_db_path):\n    {LEFT[name]}"
    engine.verdict("corner_library", AwmVerifier(leaves, True), initial)
    assert json.loads(engine.verdict("corner_library", AwmVerifier(code, True), initial).evidence) == [
        "final.db",
        "initial.db",
    ]

"""What hostile code of a world tries, and does not get. Each attempt costs its own session an answer, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.awm import machine as machines
from agentworld_gym.engines.awm.engine import AwmEngine
from agentworld_gym.engines.awm.files import Verifier
from agentworld_gym.engines.awm.machine import AwmMachine


def called(machine: AwmMachine, name: str, word: str = "") -> Any:
    """Return what a tool answers, read as JSON; a refusal stays text."""
    text = machine.act({"name": name, "arguments": {"word": word}})
    return text if machine.refused else json.loads(text)


REFUSED = (
    *("write_file", "write_usr", "connect", "listen", "fork", "run_program", "kill_others", "raise_limits", "attach"),
    "eat_memory_in_sql",
)
"""Attempts that the system refuses: the code gets an error, and its client a plain 500."""


@pytest.mark.parametrize("name", REFUSED)
def test_the_system_refuses(engine: AwmEngine, name: str) -> None:
    machine = engine.start("nasty", 0)
    assert called(machine, name) == f"Error calling {name}. Status code: 500. Response: Internal Server Error"
    assert called(machine, "plain", "still here") == {"word": "still here"}
    machine.close()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("read_host", {"found": []}),
        ("read_others", {"found": []}),
        ("trace_others", {"result": -1, "errno": 1}),
        ("new_namespace", {"result": -1, "errno": 1}),
        ("thread_works", {"ok": True}),
    ],
)
def test_the_code_sees_nothing_of_the_host_and_of_other_processes(engine: AwmEngine, name: str, answer: Any) -> None:
    machine = engine.start("nasty", 0)
    assert called(machine, name) == answer
    machine.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leave_process", "tried to end its process"),
        ("kill_process", "ended with exit code 1"),
        ("hang", "took longer than 0.7 s"),
        ("hang_stubbornly", "took longer than 0.7 s"),
        ("stop_clock", "took longer than 0.7 s"),
        ("eat_memory", "more memory than it may have"),
        ("answer_much", "has 5000011 bytes, the limit is 1000000"),
        ("forge_reply", "wrote what is no answer"),
    ],
)
def test_a_session_that_is_stopped_fails_alone_and_can_go_on(
    engine: AwmEngine, name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "longer" in reason:
        monkeypatch.setattr(machines, "CALL_SECONDS", 0.7)
    machine, other = engine.start("nasty", 0), engine.start("nasty", 1)
    called(machine, "remember", "a")
    called(other, "remember", "b")
    with pytest.raises(EngineError, match=reason):
        called(machine, name)
    assert called(machine, "remember", "c") == {"seen": ["a", "c"]}
    assert called(other, "remember", "d") == {"seen": ["b", "d"]}
    machine.close()
    other.close()


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


VERIFIERS = {
    "reads the host": ("return {'result': os.listdir('/root')}", "raised FileNotFoundError"),
    "writes": ("open(final_db_path, 'w')", "raised PermissionError"),
    "writes after it changed the mode": (
        "os.chmod(final_db_path, 0o666)\n    open(final_db_path, 'ab', buffering=0).write(b'x')",
        "raised OSError",
    ),
    "forks": ("os.fork()", "raised (BlockingIOError|PermissionError)"),
    "connects": ("import socket\n    socket.create_connection(('127.0.0.1', 1))", "raised PermissionError"),
    "kills": ("os.kill(1, 9)", "raised PermissionError"),
    "leaves": ("os._exit(0)", "wrote no result"),
    "eats memory": ("x = bytearray(4 << 30)", "raised MemoryError"),
    "returns what is no verdict": ("return 'complete'", "returned"),
    "crashes": ("raise KeyError('x')", "raised KeyError: 'x'"),
    "hangs": ("while True: pass", "took longer than"),
}


@pytest.mark.parametrize("name", list(VERIFIERS))
def test_a_hostile_verifier_is_a_failure_and_no_verdict(
    engine: AwmEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentworld_gym.engines.awm.sandbox.VERDICT_SECONDS", 1.0)
    body, reason = VERIFIERS[name]
    code = f"def verify_task_completion(initial_db_path, final_db_path, final_answer=None):\n    {body}\n"
    initial = engine.server("corner_library").about.initial
    with pytest.raises(EngineError, match=reason):
        engine.verdict("corner_library", Verifier(code, False), initial)


def test_a_verifier_leaves_nothing_to_the_next_one(engine: AwmEngine) -> None:
    initial = engine.server("corner_library").about.initial
    lists = "sorted(os.listdir(os.path.dirname(final_db_path)))"
    code = f"def verify_task(initial_db_path, final_db_path):\n    return {lists}"
    leaves = "def verify_task(initial_db_path, final_db_path):\n    os.mkdir(final_db_path + '.note')"
    engine.verdict("corner_library", Verifier(leaves, True), initial)
    assert json.loads(engine.verdict("corner_library", Verifier(code, True), initial).evidence) == [
        "final.db",
        "initial.db",
    ]

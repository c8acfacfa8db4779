"""Where sessions have a process each, a few processes play many of them, and nobody notices."""

from __future__ import annotations

import json
import logging
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import awm_worlds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine import machine as awm_machine
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine, act_all
from agentworld_gym.domains.mcp.awm.engine.process_limit import TOLD, ProcessLimit

NOTE = (
    "session = SessionLocal()\nfrom sqlalchemy import text\n"
    "session.execute(text('INSERT INTO books (title) VALUES (:word)'), {'word': word})\nsession.commit()\n"
    "titles = [row[0] for row in session.execute(text('SELECT title FROM books WHERE id > 3'))]\nsession.close()\n"
)
BODIES = {
    "remember": f"{NOTE}SEEN.append(word)\nreturn {{'seen': SEEN, 'stored': titles, 'at': str(datetime.utcnow())}}",
    "tell_process": "return {'number': os.getpid()}",
}
MOST = 2


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwmEngine]:
    """Return an engine with a world that keeps a list in its module, and one that keeps nothing."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    worlds = awm_worlds.attacks(BODIES, "keeping"), awm_worlds.attacks({"note": f"{NOTE}return titles"}, "sharing")
    engine = AwmEngine(AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("limit"), *worlds)), processes=MOST)
    yield engine
    engine.close()


@pytest.fixture
def engine(opened: AwmEngine) -> Iterator[AwmEngine]:
    """Return the engine; no session of an earlier test has a process in it."""
    yield opened
    for name in opened.files.names:
        opened.server(name).close()


def remember(word: str) -> dict[str, Any]:
    return {"name": "remember", "arguments": {"word": word}}


def seen(machine: AwmMachine, word: str) -> Any:
    return json.loads(machine.act(remember(word)))["seen"]


def placed(machines: Sequence[AwmMachine]) -> int:
    return sum(machine.is_placed for machine in machines)


def test_a_session_whose_process_was_ended_goes_on_with_all_that_it_kept(engine: AwmEngine) -> None:
    machines = [engine.start("keeping", seed) for seed in range(4)]
    for word in "ab":
        for number, machine in enumerate(machines):
            seen(machine, f"{word}{number}")
            assert placed(machines) <= MOST
    for number, machine in enumerate(machines):
        assert seen(machine, "d") == [f"a{number}", f"b{number}", "d"]


def played(engine: AwmEngine, seed: int, count: int) -> list[Any]:
    """Return what a random walk over several sessions and their forks brings to light."""
    draw, found = random.Random(seed), list[Any]()
    machines = [engine.start("keeping", number) for number in range(3)]
    for _ in range(count):
        machine, chance = draw.choice(machines), draw.random()
        if chance < 0.2:
            found.append(machine.database())
        elif chance < 0.3:
            machines.append(machine.fork())
        else:
            found.append(machine.act(remember(str(chance))))
    return [*found, placed(machines) == len(machines)]


def test_answers_and_databases_do_not_depend_on_how_many_processes_there_are(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    *few, all_placed = played(engine, 0, 25)
    assert not all_placed
    monkeypatch.setattr(engine.server("keeping").limits.processes, "most", 64)
    assert played(engine, 0, 25) == [*few, True]


def test_in_a_wave_those_that_have_a_process_act_first_so_that_only_the_others_play_again(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = [engine.start("keeping", seed) for seed in range(5)]
    act_all(machines, [(remember("a"), False)] * 5)
    server, begun = engine.server("keeping"), []
    begin: Callable[[int], Any] = server.begin
    monkeypatch.setattr(server, "begin", lambda seed: (begun.append(seed), begin(seed))[1])
    answers = act_all(machines, [(remember("b"), False)] * 5)
    assert [json.loads(answer.text)["seen"] for answer in answers if not isinstance(answer, EngineError)] == [
        ["a", "b"]
    ] * 5
    assert len(begun) == 5 - MOST


def test_a_wave_of_many_rounds_is_stopped_between_them_and_goes_on_afterwards(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = [engine.start("keeping", seed) for seed in range(5)]
    pressed: list[int] = []
    heard = awm_machine._heard

    def heard_and_stopped(server: Any, worker: Any) -> Any:
        if not pressed:
            pressed.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return heard(server, worker)

    monkeypatch.setattr(awm_machine, "_heard", heard_and_stopped)
    with pytest.raises(KeyboardInterrupt):
        act_all(machines, [(remember("a"), False)] * 5)
    assert [machine.steps for machine in machines].count(1) == MOST
    assert all(seen(machine, "b") == ["a", "b"][-machine.steps :] for machine in machines)


def test_one_process_is_enough_for_a_session_and_its_fork(engine: AwmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.server("keeping").limits.processes, "most", 1)
    machine = engine.start("keeping", 0)
    seen(machine, "a")
    twin = machine.fork()
    assert placed([machine, twin]) == 1
    assert (seen(machine, "b"), seen(twin, "c"), seen(machine, "d")) == (["a", "b"], ["a", "c"], ["a", "b", "d"])


def test_a_session_that_would_be_answered_otherwise_in_another_process_fails_and_does_not_go_on_changed(
    engine: AwmEngine,
) -> None:
    machine = engine.start("keeping", 0)
    machine.act({"name": "tell_process", "arguments": {}})
    others = [engine.start("keeping", seed) for seed in range(MOST)]
    with pytest.raises(EngineError, match=r"keeping cannot go on: .* answers the calls so far otherwise"):
        machine.act(remember("a"))
    assert [seen(other, "a") for other in others] == [["a"]] * MOST


def test_sessions_that_share_a_process_are_not_counted(engine: AwmEngine) -> None:
    machines = [engine.start("sharing", seed) for seed in range(5)]
    keeping = [engine.start("keeping", seed) for seed in range(MOST)]
    assert placed(machines) == 5 and placed(keeping) == MOST


def test_of_the_worlds_that_nobody_plays_only_the_last_ones_stay_loaded(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing, note = engine.server("sharing"), {"name": "note", "arguments": {"word": "a"}}
    monkeypatch.setattr(sharing.limits.loaded, "most", 1)
    played, left = engine.start("sharing", 0), engine.start("sharing", 1)
    process = played.place().worker
    left.close()
    engine.start("keeping", 0)
    assert sharing._template is None and not process.dead
    assert json.loads(played.act(note)) == ["a"]
    played.close()
    assert process.dead
    again = engine.start("sharing", 0)
    assert json.loads(again.act(note)) == ["a"] and sharing._template is not None
    again.close()
    assert not again.is_placed and not sharing._workers[-1].dead


def processes_of(engine: AwmEngine) -> list[str]:
    """Return the worlds that have processes."""
    servers = [engine.server(name) for name in engine.files.names]
    return [
        server.scenario.name
        for server in servers
        if server._template is not None or not all(worker.dead for worker in server._workers)
    ]


def test_of_the_worlds_that_are_played_in_turns_only_the_last_ones_have_processes(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine.server("sharing").limits.worlds, "most", 1)
    sharing = [engine.start("sharing", seed) for seed in range(2)]
    note = {"name": "note", "arguments": {"word": "a"}}
    assert [json.loads(machine.act(note)) for machine in sharing] == [["a"]] * 2
    with caplog.at_level(logging.WARNING, "agentworld_gym"):
        keeping = engine.start("keeping", 0)
    assert processes_of(engine) == ["keeping"] and "world_options={'worlds': N}" in caplog.text
    for count in (2, 3):
        assert [json.loads(machine.act(note)) for machine in sharing] == [["a"] * count] * 2
        assert processes_of(engine) == ["sharing"]
        assert seen(keeping, "b") == ["b"] * (count - 1)
    for machine in (*sharing, keeping):
        machine.close()


def test_a_wave_over_more_worlds_than_may_have_processes_is_played_one_world_after_the_other(
    engine: AwmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.server("sharing").limits.worlds, "most", 1)
    machines = [engine.start(name, 0) for name in ("sharing", "keeping", "sharing", "keeping")]
    calls = [({"name": name, "arguments": {"word": "a"}}, False) for name in ("note", "remember")] * 2
    for count in (1, 2):
        answers = [
            json.loads(answer.text) for answer in act_all(machines, calls) if not isinstance(answer, EngineError)
        ]
        assert [answer if isinstance(answer, list) else answer["seen"] for answer in answers] == [["a"] * count] * 4


def test_only_the_first_process_that_is_ended_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    limit = ProcessLimit(2, TOLD)
    with caplog.at_level(logging.WARNING, "agentworld_gym"):
        for process in range(5):
            assert bool(caplog.records) == (process > 2)
            limit.use(process, lambda: True)
    [record] = caplog.records
    assert "more than 2 sessions" in record.getMessage() and "world_options={'processes': N}" in record.getMessage()


@given(st.integers(1, 4), st.lists(st.integers(0, 6)))
def test_the_processes_that_were_used_last_live(most: int, uses: list[int]) -> None:
    limit, living = ProcessLimit(most), set[int]()
    for process in uses:
        living.add(process)
        limit.use(process, lambda process=process: bool(living.discard(process)))  # type: ignore[misc]
        assert process in living and len(living) <= most
    assert living == set(list(dict.fromkeys(reversed(uses)))[:most])

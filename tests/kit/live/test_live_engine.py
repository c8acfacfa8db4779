"""Machines of a live system: forks by playing again, a pool that is bounded and leaves nothing, masks and bounds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts.verdict import Verdict
from agentworld_gym.core.engines import Controls, EngineError, InexactFork, SystemLate, SystemLost
from agentworld_gym.kit.live import LiveAbout, LiveConfig, LiveEngine, LiveMachine, LiveSession, LiveSource, LiveStart
from agentworld_gym.kit.live.pool import LivePool


class Tally(LiveSession):
    """A system that counts. It can be told to die, to be inexact, and to be copied or reset."""

    def __init__(self, engine: TallyEngine, count: int = 0) -> None:
        self.engine, self.count, self.closed = engine, count, False
        engine.opened.append(self)

    def about(self) -> LiveAbout:
        return LiveAbout({"version": "1"}, {"first_observation": "0"})

    def begin(self, start: LiveStart) -> str:
        for name, kind in (("lost", SystemLost), ("late", SystemLate)):
            if len(self.engine.opened) <= int(start.state.get(name, 0)):
                raise kind("it was killed, or half of it")
        self.count += int(start.state.get("from", 0))
        return str(self.count)

    def act(self, action: Any) -> str:
        if action == "die":
            self.closed = True
            raise SystemLost("it died")
        if action == "serial":
            return f"session {len(self.engine.opened)}, count {self.count}"
        if action == "win":
            self.verdict = Verdict(1.0, terminated=True, success=True)
        if action == "long":
            return "a" * 600 + "b" * 600
        self.count += 1
        return str(self.count)

    def copy(self) -> LiveSession | None:
        return Tally(self.engine, self.count) if self.engine.copies else None

    def reset(self) -> bool:
        self.count = 0 if self.engine.resets == "right" else self.count
        return self.engine.resets == "right"

    @property
    def alive(self) -> bool:
        return not self.closed

    def close(self) -> None:
        self.closed = True


class TallyEngine(LiveEngine[LiveConfig]):
    """Opens sessions that count."""

    def __init__(self, copies: bool = False, resets: str = "", fails: int = 0, **config: Any) -> None:
        self.copies, self.resets, self.fails, self.opened = copies, resets, fails, list[Tally]()
        super().__init__(LiveConfig(**{"ahead": 0, **config}))

    def open_session(self) -> Tally:
        if self.fails:
            self.fails -= 1
            raise SystemLost("it does not start")
        return Tally(self)


@pytest.fixture
def opened() -> Iterator[list[TallyEngine]]:
    """Engines that are closed after the test; none of their sessions may be left."""
    engines: list[TallyEngine] = []
    yield engines
    for engine in engines:
        engine.close()
        assert all(session.closed for session in engine.opened)


def start(engine: TallyEngine, *actions: str, opened: list[TallyEngine], **state: int) -> LiveMachine:
    opened.append(engine)
    machine = engine.start(state, 0)
    for action in actions:
        machine.act(action)
    return machine


def test_a_fork_plays_the_episode_again_in_a_fresh_session(opened: list[TallyEngine]) -> None:
    engine = TallyEngine()
    machine = start(engine, "up", "up", opened=opened)
    twin = machine.fork()
    assert (machine.act("up"), twin.observation, twin.act("up"), twin.act("up")) == ("3", "2", "3", "4")
    assert engine.exact_forks is True and len(engine.opened) == 2


def test_a_system_that_can_be_copied_is_copied(opened: list[TallyEngine]) -> None:
    machine = start(TallyEngine(copies=True), "up", opened=opened)
    assert machine.fork().act("up") == machine.act("up") == "2"


def test_a_fork_of_what_does_not_repeat_itself_is_refused_and_known_from_then_on(opened: list[TallyEngine]) -> None:
    engine = TallyEngine()
    machine = start(engine, "serial", opened=opened)
    with pytest.raises(InexactFork, match="does not repeat itself"):
        machine.fork()
    assert machine.exact_forks is False and machine.act("up") == "1"


def test_what_a_mask_names_may_differ_in_a_fork_and_is_metadata(opened: list[TallyEngine]) -> None:
    machine = start(TallyEngine(masks=[r"session (\d+)"]), "serial", opened=opened)
    assert machine.fork().act("up") == "1"
    assert [machine.observation[span.start : span.end] for span in machine.spans] == ["1"]
    assert {span.kind for span in machine.spans} == {"metadata"}


def test_nothing_happens_in_an_episode_that_the_system_has_ended(opened: list[TallyEngine]) -> None:
    machine = start(TallyEngine(), "up", "win", opened=opened)
    assert machine.verdict == Verdict(1.0, terminated=True, success=True)
    twin = machine.fork()
    for one in (machine, twin):
        assert one.act("up") == "2" and one.verdict == Verdict(0.0, terminated=True, success=True)


def test_forks_can_be_forbidden(opened: list[TallyEngine]) -> None:
    with pytest.raises(InexactFork, match="forks: false"):
        start(TallyEngine(forks=False), opened=opened).fork()


def test_a_machine_whose_system_died_says_so_from_then_on_and_others_go_on(opened: list[TallyEngine]) -> None:
    engine = TallyEngine()
    machine, other = start(engine, opened=opened), engine.start({}, 0)
    for action in ("die", "up"):
        with pytest.raises(SystemLost, match="it died"):
            machine.act(action)
    with pytest.raises(SystemLost):
        machine.fork()
    assert other.act("up") == "1"


def test_a_session_is_used_again_only_after_a_reset_that_is_certain(opened: list[TallyEngine]) -> None:
    for resets, sessions in (("right", 1), ("wrong", 2)):
        engine = TallyEngine(resets=resets)
        start(engine, "up", opened=opened).close()
        until = time.monotonic() + 5
        while engine.opened[0].count and not engine.opened[0].closed and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.01)
        assert engine.start({}, 0).observation == "0"
        assert len(engine.opened) == sessions


def test_there_are_never_more_sessions_than_asked_for(opened: list[TallyEngine]) -> None:
    engine = TallyEngine(sessions=2, limits={"start_seconds": 0.2})
    first, _ = start(engine, opened=opened), engine.start({}, 0)
    with pytest.raises(EngineError, match="all 2 sessions"):
        engine.start({}, 0)
    first.close()
    assert engine.start({}, 0).observation == "0"


def test_the_slow_end_of_a_session_holds_up_no_other_one() -> None:
    gate, engine = threading.Event(), TallyEngine()

    class Slow(Tally):
        def close(self) -> None:
            gate.wait(10)
            super().close()

    pool = LivePool[LiveSession](lambda: Slow(engine), most=2, ahead=0, seconds=10)
    used, waits = pool.take(), pool.take()
    pool.give_back(waits)
    with ThreadPoolExecutor(2) as threads:
        copied = threads.submit(pool.copied, lambda: Tally(engine))  # It has to end the one that waits first.
        time.sleep(0.05)
        given_back = threads.submit(pool.give_back, used)
        try:
            given_back.result(5)
        finally:
            gate.set()
        assert copied.result(10) is not None
    pool.close()


def test_sessions_start_ahead_and_side_by_side(opened: list[TallyEngine]) -> None:
    meeting = threading.Barrier(3, timeout=5)

    class Slow(TallyEngine):
        def open_session(self) -> Tally:
            meeting.wait()  # None of them starts unless all of them do.
            return super().open_session()

    engine = Slow(ahead=0)
    opened.append(engine)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: engine.start({}, 0).observation, range(3))) == ["0"] * 3


def test_a_system_that_fails_once_to_start_is_started_again(opened: list[TallyEngine]) -> None:
    assert start(TallyEngine(fails=1), opened=opened).observation == "0"
    with pytest.raises(SystemLost, match="does not start"):
        start(TallyEngine(fails=2), opened=opened)


def test_the_middle_of_a_long_answer_is_left_out(opened: list[TallyEngine]) -> None:
    machine = start(TallyEngine(limits={"output_chars": 400}), "long", opened=opened)
    assert machine.observation.startswith("a" * 300 + "\n[... 850 characters are left out ...]\n")
    assert machine.observation.endswith("b" * 50)


def test_controls_that_a_system_does_not_act_out_are_refused(opened: list[TallyEngine]) -> None:
    engine = TallyEngine()
    opened.append(engine)
    with pytest.raises(SpecError, match="slow-service"):
        engine.start({}, 0, Controls({"slow-service": 0.5}))


def test_an_unknown_key_is_refused_by_its_name_with_the_keys_that_there_are() -> None:
    source = LiveSource.of({"netwrk": True})
    with pytest.raises(SpecError, match=r"options\.live: netwrk: .*; did you mean network\?"):
        source.read(LiveConfig, "mcp")
    with pytest.raises(SpecError, match=r"domain: got 'web', expected mcp"):
        LiveSource.of({"pages": ["a"], "domain": "web"}).read(LiveConfig, "mcp")


@pytest.mark.parametrize("env", [{"A=B": "1"}, {"": "1"}, {"A\0": "1"}, {"A": "\0"}])
def test_what_is_no_name_of_a_variable_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(SpecError, match=r"env: got .* expected names without ="):
        LiveSource.of({"env": env}).read(LiveConfig, "mcp")


def test_a_file_extends_another_one_from_whose_folder_paths_count(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.yaml").write_text("network: true\ndeterministic: false\n")
    (tmp_path / "sub" / "more.yaml").write_text("extends: ../base.yaml\ndeterministic: true\n")
    source = LiveSource.of("sub/more.yaml", tmp_path)
    assert source.data == {"network": True, "deterministic": True} and source.path("x") == tmp_path / "x"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("extends: my.yaml", r"my\.yaml: extends: got 'my\.yaml', expected a file that does not extend this one"),
        ("extends: other.yaml", r"other\.yaml: extends: got '\./my\.yaml', expected a file that does not extend"),
        ("extends: 3", r"my\.yaml: extends: got 3, expected the path of a YAML file"),
        ("extends: gone.yaml", r"gone\.yaml: no such file"),
        ("extends: ~nouser/my.yaml", r"~nouser/my\.yaml: no such file"),
    ],
)
def test_a_file_that_extends_what_it_cannot_says_so(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "my.yaml").write_text(text)
    (tmp_path / "other.yaml").write_text("extends: ./my.yaml")
    with pytest.raises(SpecError, match=error):
        LiveSource.of(tmp_path / "my.yaml")


@pytest.mark.parametrize(("name", "kind"), [("lost", SystemLost), ("late", SystemLate)])
def test_a_session_that_ends_or_hangs_before_its_episode_has_begun_is_replaced_once(
    name: str, kind: type[EngineError]
) -> None:
    engine = TallyEngine()
    assert engine.start({name: 1}, 0).observation == "0"
    assert [session.closed for session in engine.opened] == [True, False]
    engine.close()
    engine = TallyEngine()
    with pytest.raises(kind):
        engine.start({name: 2}, 0)
    assert [session.closed for session in engine.opened] == [True, True]
    engine.close()

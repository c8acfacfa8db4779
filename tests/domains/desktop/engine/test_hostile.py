"""Whatever code is sent, a desktop answers with its table, and nothing of the host is touched."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from desktops import Desktop, desktop
from hostile import ESCAPES
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.process import disposable
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.screen_texts import SEVEN_COLUMNS

SHAPES: list[Any] = [None, 7, 1.5, b"pass", [], {}, {"name": "click"}, ["pass"], object(), float("nan"), ""]
FORBIDDEN = ("open", "exec", "import", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "signal.")


POOL = (disposable.Disposable._ready.__code__, disposable._Worker.end.__code__)


def in_pool() -> bool:
    """Whether the pool of processes in which shells run starts or ends one, which it may at any time."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in POOL:
            return True
        frame = frame.f_back
    return False


class Watch:
    """Which forbidden things the interpreter of the host did while it was watched."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.active and event.startswith(FORBIDDEN) and not in_pool():
            self.seen.append(f"{event} {arguments!r}"[:200])

    @contextmanager
    def closely(self) -> Iterator[None]:
        self.seen.clear()
        self.active = True
        try:
            yield
        finally:
            self.active = False


WATCH = Watch()


def answer(machine: DesktopMachine, action: Any) -> str:
    """The answer, which is a table that can be written down."""
    table = machine.act(action)
    assert table == machine.observation and table.startswith(SEVEN_COLUMNS)
    assert len(table.encode("utf-8")) < 400_000
    return table


def test_there_are_enough_attempts_to_escape() -> None:
    assert len(set(ESCAPES)) >= 60


def test_no_attempt_to_escape_reaches_the_host() -> None:
    desk = desktop()
    # What is imported lazily is imported here.
    desk("subprocess.run('true', shell=True)", "subprocess.Popen(['gedit'])", "pyautogui.write('x')")
    for source in ESCAPES:
        machine = desk.machine.fork()
        began = time.process_time()
        with WATCH.closely():
            answer(machine, source)
        assert not WATCH.seen, (source, WATCH.seen)
        assert time.process_time() - began < 5, source
        machine.close()


@pytest.mark.parametrize(
    "source",
    [source for source in ESCAPES if "__" in source and source.isascii() and "\n" not in source],
)
def test_names_with_underscores_lead_nowhere(source: str) -> None:
    desk = desktop()
    before = desk.machine.state()
    answer(desk.machine, source)
    assert desk.problem.split(":")[0] in ("AttributeError", "NameError", "ImportError", "RuntimeError", "TypeError")
    assert desk.machine.state() == before


@pytest.mark.parametrize("action", SHAPES, ids=range(len(SHAPES)))
def test_what_is_no_code_changes_nothing(action: Any) -> None:
    machine = desktop().machine
    before = machine.observation
    assert answer(machine, action) == before


def test_what_was_done_before_an_error_stays_done() -> None:
    desk = desktop()
    answer(desk.machine, "open('/home/user/a.txt', 'w').write('1')\nnobody\nopen('/home/user/b.txt', 'w').write('2')")
    assert desk.file("/home/user/a.txt") == "1" and desk.file("/home/user/b.txt") is None
    assert desk.machine.problem.split("\n") == [
        "Traceback (most recent call last):",
        '  File "<action>", line 2, in <module>',
        "NameError: name 'nobody' is not defined",
    ]


@pytest.mark.parametrize("change", ["d[k + 1] = 1", "d.pop(k)"])
def test_a_mapping_that_changes_under_a_loop_is_an_error_of_the_code(change: str) -> None:
    desk = desktop()
    answer(desk.machine, f"d = {{1: 1, 2: 2}}\nfor k in d:\n    {change}")
    assert desk.problem == "RuntimeError: dictionary changed size during iteration"


@pytest.mark.parametrize(
    "source",
    [" " * 60_000 + "x", "\n" * 60_000 + "\x1cpass x", "('a' * 200000).rfind('ab' + 'a' * 90000)"],
    ids=["blanks", "line breaks", "rfind"],
)
def test_texts_that_are_slow_to_search_are_answered_at_once(source: str) -> None:
    began = time.process_time()
    answer(desktop().machine, source)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "value", ["str([print])", "repr({1: os})", "f'{(click,)}'", "f'{os.path}'", "str([[open('x', 'w')]])"]
)
def test_objects_are_written_without_their_address(value: str) -> None:
    desk = desktop()
    answer(desk.machine, f"click = pyautogui.click\nopen('/home/user/shown', 'w').write({value})")
    shown = desk.file("/home/user/shown")
    assert shown and "0x" not in shown and "agentworld" not in shown


def test_nothing_is_kept_in_the_library_from_action_to_action() -> None:
    machine = desktop().machine
    answer(machine, "from os import environ\nenviron['KEPT'] = '1'\nos.environ['KEPT'] = '1'")
    fork = machine.fork()
    probe = "from os import environ\nopen('/home/user/shown', 'w').write(str(sorted(environ)))"
    for twin in (machine, fork):
        answer(twin, probe)
    assert fork.state() == machine.state()
    assert not any("KEPT" in str(value) for value in machine.state().values())


def test_the_disk_the_windows_and_the_dialogs_have_an_end() -> None:
    desk = desktop()
    for _ in range(12):
        answer(desk.machine, "for i in range(3):\n    subprocess.Popen(['gedit'])")
    assert sum("/program" in name for name in desk.machine.state()) == 24
    answer(desk.machine, "for i in range(3000):\n    open(f'/home/user/{i}', 'w').write('x')")
    assert desk.problem.startswith(("OSError: [Errno 28]", "TimeoutError"))
    answer(desk.machine, "for i in range(30):\n    open(f'/home/user/big{i}', 'w').write('x' * 190000)")
    assert desk.problem.startswith(("OSError: [Errno 28]", "MemoryError"))


@pytest.mark.parametrize(
    ("script", "path"),
    [("head -c 3000000 /dev/zero > z", "z"), ("mkdir d; for i in $(seq 1 600); do touch d/$i; done", "d/600")],
)
def test_the_disk_of_the_terminal_is_that_of_the_desktop(script: str, path: str) -> None:
    desk = desktop()
    answer(desk.machine, f"out = subprocess.run({script!r}, shell=True).stdout\nopen('/home/user/out', 'w').write(out)")
    answer(desk.machine, "subprocess.run('rm -f d/1 d/2; find . > found', shell=True)")
    found = desk.file("/home/user/found") or ""
    assert path not in found.replace("./", "").split("\n")
    assert path != "z" or "No space left on device" in (desk.file("/home/user/out") or "")


def test_the_variables_of_a_shell_have_an_end() -> None:
    desk = desktop()
    answer(desk.machine, "subprocess.run('x=$(seq 1 90000); y=1', shell=True)")
    answer(desk.machine, "subprocess.run('echo ${#x} $y > left', shell=True)")
    assert desk.file("/home/user/left") == "0 1\n"


@pytest.mark.parametrize("script", [":(){ :|:& };:", "f(){ f & f & }; f", "while true; do :; done"])
def test_a_command_without_end_is_the_last_one_of_its_action(script: str) -> None:
    desk = desktop()
    answer(desk.machine, f"subprocess.run({script!r}, shell=True)\nsubprocess.run('touch after', shell=True)")
    assert desk.file("/home/user/after") is None
    answer(desk.machine, "subprocess.run('touch after', shell=True)")
    assert desk.file("/home/user/after") == ""


def test_no_error_names_a_function_of_the_engine() -> None:
    desk = desktop()
    code = "try:\n    pow(2, 3, 5)\nexcept TypeError as error:\n    open('/home/user/shown', 'w').write(str(error))"
    answer(desk.machine, code)
    shown = desk.file("/home/user/shown")
    assert shown and shown.startswith("power() takes") and "locals" not in shown


def test_no_clock_goes_beyond_its_calendar() -> None:
    desk = desktop(clock="2099-12-31T23:00:00")
    for _ in range(3):
        answer(desk.machine, "for i in range(6000):\n    time.sleep(10**9)")
    answer(desk.machine, "subprocess.run('touch -d @253402200000 x; touch -d @-5 y; sleep 1000000; date', shell=True)")
    answer(desk.machine, "subprocess.run(['nautilus', '/home/user'])\npyautogui.hotkey('ctrl', '1')")
    assert desk.has("label 'Jan 1  00:00'") and "x" in desk.names("table-cell")


CONTROLS = Controls(dict.fromkeys(load_spec("desktop").controls, 0.3), seed=5)
PIECES = [
    "pyautogui.click({x}, {y})",
    "pyautogui.doubleClick({x}, {y})",
    "pyautogui.rightClick({x}, {y})",
    "pyautogui.middleClick({x}, {y})",
    "pyautogui.moveTo({x}, {y}); pyautogui.dragTo({y}, {x})",
    "pyautogui.mouseDown({x}, {y})",
    "pyautogui.mouseUp({x}, {y})",
    "pyautogui.scroll({x}, {x}, {y})",
    "pyautogui.write({text!r})",
    "pyautogui.press({key!r}, presses=3)",
    "pyautogui.hotkey({held!r}, {key!r})",
    "pyautogui.keyDown({held!r})",
    "pyautogui.keyUp({held!r})",
    "subprocess.Popen([{program!r}])",
    "subprocess.Popen([{program!r}, '/home/user/Documents/todo.txt'])",
    "open({text!r}, 'w').write({text!r})",
    "os.rename('/home/user/Documents', {text!r})",
    "time.sleep({x})",
    "CalcTools.set_cell_values(new_values=[{text!r}], range='A1', app_name='x', sheet_name='Sheet1')",
    "WriterTools.write_text({text!r})",
    "BrowserTools.open_tab({text!r})",
]
HELD = ["ctrl", "alt", "shift", "win", "ctrlleft"]
KEYS = [
    *"acvxzqwntfhls",
    "tab",
    "enter",
    "esc",
    "delete",
    "f2",
    "f4",
    "f5",
    "up",
    "down",
    "home",
    "end",
    "space",
    "win",
]
PROGRAMS = ["gedit", "nautilus", "gnome-terminal", "libreoffice", "gnome-control-center", "google-chrome", "evince"]


def random_action(generator: random.Random) -> str:
    """One of the pieces, with whatever comes."""
    coordinate = generator.choice([-(10**9), -1, 0, 13, 500, 960, 1079, 1919, 1920, 10**9])
    text = generator.choice(["", "a", "é\u2028\t\n", "x" * 30_000, "/", "..", "{0}", "=1/0", "\x1b", "\"'", "𝄞" * 50])
    return generator.choice(PIECES).format(
        x=generator.choice([coordinate, generator.randrange(1920)]),
        y=generator.choice([coordinate, generator.randrange(1080)]),
        text=text,
        key=generator.choice(KEYS),
        held=generator.choice(HELD),
        program=generator.choice(PROGRAMS),
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_actions_are_survived_under_all_controls(seed: int) -> None:
    generator = random.Random(seed)
    desk = desktop()
    desk.machine = DesktopMachine.start(
        desk.machine._open().initial_state.model_dump(), seed, CONTROLS if seed % 2 else Controls()
    )
    for number in range(250):
        answer(desk.machine, random_action(generator))
        if number % 50 == 0:
            fork = desk.machine.fork()
            assert fork.state() == desk.machine.state()
            action = random_action(generator)
            assert answer(fork, action) == answer(desk.machine, action)
            fork.close()


SOURCES = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(ESCAPES[:60]), max_size=3).map("\n".join),
    st.recursive(
        st.sampled_from(["1", "os", "'a'", "pyautogui", "[]", "{}", "x", "10**9", "open", "None"]),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: f"({two[0]} * {two[1]})"),
            st.tuples(inner, inner).map(lambda two: f"{two[0]}({two[1]})"),
            st.tuples(inner, st.sampled_from(["click", "path", "append", "__class__", "join"])).map(".".join),
            st.tuples(inner, inner).map(lambda two: f"{two[0]}[{two[1]}]"),
            inner.map(lambda one: f"f'{{{one}}}'" if "'" not in one else one),
        ),
        max_leaves=8,
    ),
)
MACHINE = Desktop(DesktopMachine.start({}, 0)).machine


@settings(max_examples=300, deadline=None)
@given(SOURCES)
def test_any_source_is_answered(source: str) -> None:
    answer(MACHINE, source)

"""Real programs on a virtual screen: what the table shows, code that acts, forks, checks, and what ends an episode."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_shells import needs_sandbox
from processes import wait_until
from worlds import make

from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.core.engines import EngineError, SystemLost
from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.domains.desktop.live import DesktopEngine, open_live
from agentworld_gym.domains.desktop.live import engine as engines
from agentworld_gym.domains.desktop.screen_texts import SEVEN_COLUMNS
from agentworld_gym.kit.live import LiveMachine, LiveSource
from agentworld_gym.kit.live.process_watch import family_of

PROGRAMS = [["mousepad", "notes.txt"], ["galculator"]]


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_sandbox()
    if missing := engines.missing_packages():
        pytest.skip(f"not installed: {missing}")
    if missing := " ".join(words[0] for words in PROGRAMS if shutil.which(words[0]) is None):
        pytest.skip(f"not installed: {missing}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("desktop") / "docs"
    place.mkdir()
    (place / "notes.txt").write_text("buy milk\n")
    return place


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[DesktopEngine]:
    engine = opened(folder)
    yield engine
    engine.close()


@pytest.fixture
def machine(engine: DesktopEngine) -> Iterator[LiveMachine]:
    machine = engine.start({}, 0)
    yield machine
    machine.close()


def opened(folder: Path, **keys: Any) -> DesktopEngine:
    usual = {"programs": PROGRAMS, "folder": str(folder), "ahead": 0, "action_seconds": 30}  # for a busy machine
    return open_live(LiveSource.of({**usual, **keys}))


def found(table: str, role: str, label: str = "") -> ScreenNode:
    return next(node for node in read_screen("desktop", table) if node.role == role and label in (node.label, ""))


def click(table: str, role: str, label: str = "") -> str:
    node = found(table, role, label)
    assert node.box is not None
    return "pyautogui.click({}, {})".format(*node.box.centre)


def named(machine: LiveMachine, name: str) -> int:
    """Return the number of a process inside that has a name."""
    for pid in family_of(machine.pids[0]):
        if Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
    raise AssertionError(f"no process is called {name}")


def test_a_session_of_programs_is_read_clicked_typed_into_and_checked(
    engine: DesktopEngine, machine: LiveMachine, folder: Path
) -> None:
    first = machine.observation
    assert first.split("\n")[0] == SEVEN_COLUMNS
    frames = [node.name for node in read_screen("desktop", first) if node.role == "frame"]
    assert frames == ["galculator", "~/docs/notes.txt - Mousepad"], "the last program is in front"

    two = click(first, "toggle-button", "2")
    shown = machine.act(
        f"for _ in range(3):\n    {two}\npyautogui.press('+')\npyautogui.write('4')\npyautogui.press('enter')"
    )
    assert found(shown, "text").text == "226"

    shown = machine.act(f"{click(shown, 'menu', 'Search')}")
    assert found(shown, "menu-item", "Find").line == 1, "an open menu comes first"
    code = "pyautogui.press('esc', presses=2)\npyautogui.hotkey('ctrl', 'End')\npyautogui.write('tea \"é∑\"')\n"
    shown = machine.act(f"{code}pyautogui.hotkey('ctrl', 's')")
    assert found(shown, "text").text == 'buy milk\\ntea "é∑"'
    assert found(shown, "text").description == "focused", "a window has the focus before its menu opens"

    assert machine.inspect("grep -c tea notes.txt").output == "1\n"
    assert str(machine.state()["/home/user/docs/notes.txt"]).startswith('buy milk\ntea "é∑"')
    assert (folder / "notes.txt").read_text() == "buy milk\n"

    twin = machine.fork()
    assert twin.observation == shown and engine.exact_forks is True
    twin.close()


def test_code_runs_in_the_sandbox_and_what_it_starts_and_ends_is_seen(machine: LiveMachine) -> None:
    first = machine.observation
    assert machine.act("1/0") == machine.act("not python") == machine.act("WAIT") == first
    machine.act("import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError as e:\n"
                "    open('why', 'w').write(str(e))\nopen('uid', 'w').write(str(os.getuid()))")  # fmt: skip
    state = machine.state()
    assert "unreachable" in str(state["/home/user/docs/why"]) and state["/home/user/docs/uid"] == "1000"
    shown = machine.act("subprocess.run(['pkill', '-9', 'galculator'])")
    assert "galculator" not in shown and "Mousepad" in shown
    assert "galculator" in machine.act("subprocess.Popen(['galculator'])")


FREE_KEYS = """
from Xlib import display
screen = display.Display()
first, last = screen.display.info.min_keycode, screen.display.info.max_keycode
free = [first + n for n, held in enumerate(screen.get_keyboard_mapping(first, last - first + 1)) if not any(held)]
"""


def test_all_characters_that_the_keyboard_lacks_are_typed_with_one_key(machine: LiveMachine) -> None:
    menu = f"{click(machine.observation, 'menu', 'Search')}\npyautogui.press('esc', presses=2)\n"
    machine.act(f"{menu}pyautogui.write('∑é')\n{FREE_KEYS}open('free', 'w').write(str(len(free)))")
    shown = machine.act(f"pyautogui.write('∏∑é')\n{FREE_KEYS}open('free', 'a').write(f' {{len(free)}}')")
    assert found(shown, "text").text == "∑é∏∑ébuy milk\\n"
    before, after = str(machine.state()["/home/user/docs/free"]).split()
    assert before == after


def test_a_character_for_which_no_key_is_free_is_an_error_of_the_action(machine: LiveMachine) -> None:
    taken = f"{FREE_KEYS}for key in free:\n    screen.change_keyboard_mapping(key, [[97, 97]])\nscreen.sync()\n"
    typed = "try:\n    pyautogui.write('∑')\nexcept pyautogui.PyAutoGUIException as error:\n"
    machine.act(f"{taken}{typed}    open('why', 'w').write(str(error))")
    assert "none that is free" in str(machine.state()["/home/user/docs/why"])


def test_code_that_does_not_end_is_stopped(folder: Path) -> None:
    engine = opened(folder, action_seconds=1, programs=["galculator"])
    machine = engine.start({}, 0)
    assert machine.act("while True: pass") == machine.observation == machine.act("pass")
    engine.close()


@pytest.mark.parametrize(("name", "why"), [("Xvfb", "Xvfb ended"), ("openbox", "openbox ended"), ("python3", "ended")])
def test_the_end_of_a_part_of_the_desktop_is_a_failure_of_the_world(folder: Path, name: str, why: str) -> None:
    engine = opened(folder, programs=["galculator"])
    machine = engine.start({}, 0)
    pids = family_of(machine.pids[0])
    os.kill(named(machine, name), signal.SIGKILL)
    with pytest.raises(SystemLost, match=why):
        machine.act("time.sleep(0.1)")
    with pytest.raises(EngineError):
        machine.act("pass")
    engine.close()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), 20)


def test_a_task_has_files_programs_and_checks(folder: Path) -> None:
    task = {
        "instruction": "Write what 6 times 7 is into a.txt.",
        "state": {"files": {"a.txt": "6 * 7 ="}, "setup": "mkdir b", "programs": ["mousepad a.txt"]},
        "success": [{"run": "grep -q 42 a.txt && test -d b"}],
    }
    live = {"programs": PROGRAMS, "folder": str(folder), "tasks": [task], "ahead": 0}
    env = make("AgentWorld/Desktop-v0", world="live", live=live)
    shown, _ = env.reset(seed=0)
    assert "6 * 7 =" in shown and "galculator" not in shown
    typed = "pyautogui.hotkey('ctrl', 'end')\npyautogui.write(' 42')\npyautogui.hotkey('ctrl', 's')"
    env.step(f"{click(shown, 'text')}\n{typed}")
    assert env.step("DONE")[4]["success"] is True
    env.close()


def test_wrong_keys_and_missing_packages_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="programs"):
        open_live(LiveSource.of({"folder": str(folder)}))
    with pytest.raises(SpecError, match=r"programs\.0.*nowhere-at-all"):
        opened(folder, programs=["nowhere-at-all"])
    with pytest.raises(SpecError, match="screen"):
        opened(folder, screen=[1, 2])
    with pytest.raises(MissingFile, match="folder"):
        opened(folder / "none")
    engine = opened(folder, programs=["false"])
    with pytest.raises(EngineError, match=r"programs\.0 'false' ended with status 1"):
        engine.start({}, 0)
    engine.close()
    monkeypatch.setattr(engines, "PACKAGES", {"no-such-program": "xvfb"})
    with pytest.raises(WorldNotConfigured, match="apt install xvfb"):
        opened(folder)

"""What code does: the part of Python that is interpreted, `pyautogui`, files, programs, helpers, controls."""

from __future__ import annotations

from typing import Any

import pytest
from desktops import DOCUMENTS, Desktop, desktop
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.engine.interpreter.statements import Interpreter
from agentworld_gym.domains.desktop.engine.interpreter.values import Function


def run(source: str) -> tuple[list[Any], str]:
    """What `show` was called with, and the error."""
    shown: list[Any] = []
    machine = DesktopMachine.start({}, 0)
    machine.act("pass # prepare")
    assert machine._code is not None
    _, purse, names, modules = machine._code
    problem = Interpreter({**names, "show": Function("show", shown.append)}, modules, purse).run(source)
    return shown, problem


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("show(2 + 3 * 4 - 10 // 3 + 7 % 4)", 2 + 3 * 4 - 10 // 3 + 7 % 4),
        ("a, b = 3, 4\nshow(f'{a}x{b:03d} {a / b:.2f} {\"q\"!r}')", "3x004 0.75 'q'"),
        ("x = [1, 2]\nx.append(3)\nx[0] = 9\nshow(x[1:] + [x[0], x[-1]])", [2, 3, 9, 3]),
        ("d = {'a': 1}\nd['b'] = d['a'] + 1\nshow(sorted(d.items()))", [("a", 1), ("b", 2)]),
        (
            "t = 0\nfor i in range(9):\n  if i == 3:\n    continue\n  if i > 5:\n    break\n  t += i\nshow(t)",
            12,
        ),
        ("n = 0\nwhile n < 7:\n    n += 2\nelse:\n    n = -n\nshow(n)", -8),
        ("show([len('abc'), max(1, 5), min([4, 2]), sum([1, 2]), abs(-1), round(2.567, 1)])", [3, 5, 2, 3, 1, 2.6]),
        (
            "show('a-b-c'.split('-') + ['x'.upper(), ' y '.strip(), 'ab'.replace('a', 'b')])",
            ["a", "b", "c", "X", "y", "bb"],
        ),
        ("show(1 if 'a' in 'cat' and not 2 > 3 else 0)", 1),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    show(error)", "division by zero"),
        ("try:\n    nobody\nexcept (KeyError, Exception):\n    show('caught')\nfinally:\n    pass", "caught"),
        ("import json\nfrom os.path import join as j\nshow(json.loads(json.dumps({'p': j('a', 'b')})))", {"p": "a/b"}),
        ("for i, (a, b) in enumerate(zip('ab', [1, 2])):\n    pass\nshow((i, a, b))", (1, "b", 2)),
        (
            "show([str(1.5), int('7'), float('2'), bool([]), list('ab'), repr('x')])",
            ["1.5", 7, 2.0, False, ["a", "b"], "'x'"],
        ),
        ("x = 7\nshow([x * 2 for x in range(5) if x % 2] + [x, any(c == 'b' for c in 'abc')])", [2, 6, 7, True]),
        ("if __name__ == '__main__':\n    show(os.environ['HOME'])", "/home/user"),
    ],
)
def test_the_python_that_is_understood(source: str, value: Any) -> None:
    assert run(source) == ([value], "")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("nobody", "NameError: name 'nobody' is not defined"),
        ("pyautogui.fly()", "AttributeError: module 'pyautogui' has no attribute 'fly'"),
        ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
        ("from os import fork", "ImportError: cannot import name 'fork' from 'os'"),
        ("'a' + 1", "TypeError: unsupported operand type(s) for +: 'str' and 'int'"),
        ("[1][5]", "IndexError: list index out of range"),
        ("{}['a']", "KeyError: 'a'"),
        ("int('x')", "ValueError: invalid literal for int() with base 10: 'x'"),
        (
            "open('/home/user/none.txt')",
            "FileNotFoundError: [Errno 2] No such file or directory: '/home/user/none.txt'",
        ),
        ("os.listdir('/etc/passwd')", "FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd'"),
        ("os.makedirs('/usr/x')", "PermissionError: [Errno 13] Permission denied: '/usr/x'"),
        ("os.remove('/home/user/Music')", "IsADirectoryError: [Errno 21] Is a directory: '/home/user/Music'"),
        ("subprocess.run(['nosuch'])", "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'"),
        ("if", "SyntaxError: invalid syntax"),
        ("lambda: 1", "RuntimeError: Lambda is not available in an action"),
        ("a, b = 1, 2, 3", "ValueError: expected 2 values to unpack, got 3"),
        ("ImpressTools.go()", "NoConnectException: Connector : couldn't connect to socket (Connection refused)"),
    ],
)
def test_errors_are_those_of_python(source: str, problem: str) -> None:
    assert run(source) == ([], problem)


def test_arguments_that_do_not_fit_are_a_type_error() -> None:
    for source in ("pyautogui.hscroll()", "pyautogui.press()", "pyautogui.click(1, 2, 3, 4, 5, 6, 7, 8, 9)", "len(1)"):
        assert run(source)[1].startswith("TypeError: ")


EXPRESSIONS = st.recursive(
    st.one_of(st.integers(-50, 50).map(str), st.sampled_from(["0.5", "'ab'", "'x'", "[1, 2]", "(3,)", "True", "None"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "==", "<", "and", "or", "in"]), inner).map(
            lambda three: f"({' '.join(three)})"
        ),
        st.tuples(inner, inner).map(lambda two: f"[{two[0]}, {two[1]}]"),
        st.tuples(inner, inner).map(lambda two: f"{two[0]}[{two[1]}]" if two[0][0] in "('[" else two[0]),
        inner.map(lambda one: f"str({one})"),
        inner.map(lambda one: f"(not {one})"),
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(EXPRESSIONS)
def test_an_expression_has_the_value_that_python_gives_it(expression: str) -> None:
    """Only plain expressions are made here, so that Python itself may say what they are worth."""
    try:
        wanted = repr(eval(expression, {"__builtins__": {"str": str}}))
    except Exception as error:
        kind = type(error).__name__
    else:
        kind = ""
    shown: list[Any] = []
    names = {"show": Function("show", shown.append), "str": Function("str", str)}
    problem = Interpreter(names).run(f"show({expression})")
    if kind:
        assert problem.startswith(kind)
    elif "%" not in expression or problem == "":
        assert problem == "" and repr(shown[0]) == wanted


def test_clicks_keys_and_dragging_select_text_in_a_field() -> None:
    desk = desktop()
    desk(f"subprocess.Popen(['gedit', '{DOCUMENTS}/todo.txt'])")
    desk("pyautogui.doubleClick(525, 270); pyautogui.write('Oat')")
    assert desk.text("text") == "Oat\\nBread"
    desk("pyautogui.moveTo(520, 290); pyautogui.dragTo(537, 290); pyautogui.hotkey('ctrl', 'c')")
    assert desk.machine.state()["clipboard"] == "Br"
    desk(
        "pyautogui.hotkey('ctrl', 'home')",
        "pyautogui.keyDown('shift'); pyautogui.press('right', presses=2); pyautogui.keyUp('shift')",
    )
    desk("pyautogui.hotkey('ctrl', 'v')")
    assert desk.text("text") == "Brt\\nBread"
    desk("pyautogui.tripleClick(525, 290); pyautogui.press('backspace'); pyautogui.press(['a', 'b'])")
    assert desk.text("text") == "Brt\\nab"


def test_two_clicks_in_one_action_are_a_double_click_and_in_two_actions_are_none() -> None:
    desk = desktop()
    point = "@{icon 'Archive'}"
    desk(f"pyautogui.click({point})", f"pyautogui.click({point})")
    assert desk.names("frame") == ["Documents"]
    desk(f"x, y = {point}\npyautogui.click(x, y); pyautogui.click(x, y)")
    assert desk.names("frame") == ["Archive"]


def test_pressing_and_releasing_in_two_actions_drags() -> None:
    desk = desktop()
    desk("pyautogui.mouseDown(@{icon 'todo.txt'})", "pyautogui.mouseUp(@{icon 'Archive'})")
    assert desk.file(f"{DOCUMENTS}/Archive/todo.txt") is not None


def test_held_keys_choose_several_files() -> None:
    desk = desktop()
    desk(
        "pyautogui.click(@{icon 'todo.txt'}); pyautogui.keyDown('ctrl')",
        "pyautogui.click(@{icon 'minutes.txt'})",
        "pyautogui.keyUp('ctrl'); pyautogui.press('delete')",
    )
    assert not {"todo.txt", "minutes.txt"} & set(desk.names("icon"))


def test_a_block_holds_a_key() -> None:
    desk = desktop()
    desk("pyautogui.click(@{icon 'todo.txt'})\nwith pyautogui.hold('ctrl'):\n    pyautogui.press('a')")
    desk("pyautogui.press('delete')")
    assert not {"todo.txt", "Archive"} & set(desk.names("icon"))


def test_the_wheel_scrolls_what_lies_under_the_pointer() -> None:
    files = {f"{DOCUMENTS}/note {number:02d}.txt": "x" for number in range(60)}
    desk = desktop(files=files)
    first = desk.names("icon")
    desk("pyautogui.scroll(-10, 1000, 500)")
    assert desk.names("icon") != first
    desk("pyautogui.scroll(100, 1000, 500)")
    assert desk.names("icon") == first


def test_files_and_programs_of_the_desktop_are_what_code_finds() -> None:
    desk = desktop()
    desk(
        "base = os.path.expanduser('~/Documents')\n"
        "os.makedirs(os.path.join(base, 'a', 'b'), exist_ok=True)\n"
        "with open(base + '/a/b/c.txt', 'w') as f:\n    f.write(json.dumps(sorted(os.listdir(base))))\n"
        "out = subprocess.check_output(['cat', base + '/todo.txt'], text=True)\n"
        "open(base + '/out.txt', 'a').write(out + str(os.path.exists(base + '/none')))"
    )
    assert desk.problem == ""
    assert desk.file(f"{DOCUMENTS}/out.txt") == "Milk\nBreadFalse"
    assert (
        desk.file(f"{DOCUMENTS}/a/b/c.txt")
        == '[".secret", "Archive", "a", "locked.txt", "minutes.txt", "offer.pdf", "todo.txt"]'
    )
    desk("subprocess.run('cd Documents && grep -c a *.txt > count', shell=True)")
    assert desk.file(f"{DOCUMENTS}/count") == "locked.txt:1\nminutes.txt:2\nout.txt:1\ntodo.txt:1\n"


def test_a_helper_works_on_the_document_in_front() -> None:
    desk = desktop()
    desk("WriterTools.save()")
    assert desk.problem.startswith("NoConnectException")
    desk(
        f"subprocess.Popen(['gedit', '{DOCUMENTS}/minutes.txt'])",
        "WriterTools.find_and_replace('Agenda', 'Plan', paragraph_indices=[0])\nWriterTools.save()",
    )
    assert desk.file(f"{DOCUMENTS}/minutes.txt") == "Plan\nDecisions\nAgenda again"
    desk("WriterTools.dance()")
    assert desk.problem == "AttributeError: type object 'WriterTools' has no attribute 'dance'"


def test_every_control_of_the_spec_is_acted_out() -> None:
    assert set(load_spec("desktop").controls) == {
        "unexpected-dialog",
        "slow-loading",
        "stale-element",
        "reordered-menu",
        "permission-denied",
        "intermittent-errors",
        "truncated-output",
    }


def test_an_unexpected_dialog_takes_the_keyboard_and_escape_closes_it() -> None:
    desk = desktop(controls={"unexpected-dialog": 1.0})
    desk("pyautogui.click(@{icon 'todo.txt'})")
    assert len(desk.names("dialog")) == 1
    with suspended():
        desk("pyautogui.press('f2')")
        assert len(desk.names("dialog")) == 1 and not desk.has("entry 'File name'")
        desk("pyautogui.press('esc')")
    assert not desk.names("dialog")


def test_a_slow_program_appears_one_action_later() -> None:
    desk = desktop(controls={"slow-loading": 1.0})
    before = desk.machine.observation
    assert desk(f"subprocess.Popen(['gedit', '{DOCUMENTS}/todo.txt'])") == before
    desk("time.sleep(1)")
    assert desk.names("frame")[0] == "todo.txt (~/Documents) - gedit"


def test_a_stale_window_has_moved_before_the_click() -> None:
    desk = desktop(controls={"stale-element": 1.0})
    assert "(420, 160)\t(1080, 720)" in desk.machine.observation
    desk("pyautogui.click(@{icon 'todo.txt'})")
    assert "(420, 160)\t(1080, 720)" not in desk.machine.observation


def test_a_reordered_list_holds_the_same_in_another_order() -> None:
    calm, disturbed = desktop(), desktop(controls={"reordered-menu": 1.0})
    assert set(calm.names("icon")) == set(disturbed.names("icon")) and calm.names("icon") != disturbed.names("icon")
    for desk in (calm, disturbed):
        desk("pyautogui.rightClick(@{icon 'todo.txt'})")
    assert set(calm.names("menu-item")) == set(disturbed.names("menu-item"))
    assert calm.names("menu-item") != disturbed.names("menu-item")


def test_what_is_not_permitted_is_told_by_a_dialog_until_it_is_allowed() -> None:
    desk = desktop(controls={"permission-denied": 1.0})
    desk(
        f"subprocess.Popen(['gedit', '{DOCUMENTS}/minutes.txt'])", "pyautogui.write('x'); pyautogui.hotkey('ctrl', 's')"
    )
    assert desk.has("label 'Permission denied.'")
    assert desk.file(f"{DOCUMENTS}/minutes.txt") == "Agenda\nDecisions\nAgenda again"
    desk(
        f"subprocess.run('chmod u+w {DOCUMENTS}/minutes.txt', shell=True)",
        "pyautogui.press('enter'); pyautogui.hotkey('ctrl', 's')",
    )
    assert desk.file(f"{DOCUMENTS}/minutes.txt") == "xAgenda\nDecisions\nAgenda again"


def test_the_right_to_write_is_given_in_the_properties_of_a_file() -> None:
    desk = desktop()
    desk("pyautogui.rightClick(@{icon 'locked.txt'})", "pyautogui.click(@{menu-item 'Properties'})")
    desk(
        "pyautogui.click(@{push-button 'Make Writable'})", "open('/home/user/Documents/locked.txt', 'w').write('open')"
    )
    assert desk.file(f"{DOCUMENTS}/locked.txt") == "open"


def test_a_helper_may_find_no_connection() -> None:
    desk = desktop(controls={"intermittent-errors": 1.0})
    desk(f"subprocess.Popen(['gedit', '{DOCUMENTS}/todo.txt'])", "WriterTools.save()")
    assert desk.problem == "ConnectionRefusedError: [Errno 111] Connection refused"


def test_an_incomplete_tree_is_whole_once_the_window_is_scrolled() -> None:
    desk = desktop(controls={"truncated-output": 1.0})
    assert "todo.txt" not in desk.names("icon")
    desk("pyautogui.scroll(-1, 1000, 500)")
    assert "todo.txt" in desk.names("icon")


def test_controls_that_are_absent_change_nothing() -> None:
    actions = ("pyautogui.press('win')", "pyautogui.write('term\\n')", "pyautogui.write('ls\\n')")
    zero = Desktop(DesktopMachine.start({}, 0, Controls(dict.fromkeys(load_spec("desktop").controls, 0.0))))
    calm = Desktop(DesktopMachine.start({}, 0))
    assert [zero(action) for action in actions] == [calm(action) for action in actions]


def test_a_locked_setting_is_unlocked_by_its_dialog() -> None:
    desk = desktop(controls={"permission-denied": 1.0})
    window = desk.machine._open().stack[-1]
    inner = desk.machine._open()
    assert not inner.change_setting(window, "appearance/dark", True)
    desk("time.sleep(1)")
    desk("pyautogui.click(@{push-button 'Unlock'})")
    assert inner.change_setting(window, "appearance/dark", True) and inner.setting("appearance/dark") is True

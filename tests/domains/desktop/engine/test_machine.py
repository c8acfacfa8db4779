"""The shell of the desktop and the programs that come with it: files, editor, terminal, calculator."""

from __future__ import annotations

import pytest
from desktops import DOCUMENTS, Desktop, desktop
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import EngineError, Machine
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.engine.filesystem import FileSystem, absolute
from agentworld_gym.domains.desktop.screen_texts import SEVEN_COLUMNS


def test_the_observation_is_the_table_of_what_is_on_the_screen() -> None:
    table = desktop().machine.observation
    assert table.split("\n")[0] == SEVEN_COLUMNS
    assert 'menu\tFiles\t""\t\t\t(88, 0)\t(84, 27)' in table
    assert "label\tMar 4  09:41\tMar 4  09:41\t\t\t(896, 0)\t(128, 27)" in table
    assert 'frame\tDocuments\t""\t\t\t(420, 160)\t(1080, 720)' in table
    assert isinstance(desktop().machine, Machine)


def test_folders_come_first_and_hidden_files_only_when_asked_for() -> None:
    desk = desktop()
    assert desk.names("icon")[:5] == ["Archive", "locked.txt", "minutes.txt", "offer.pdf", "todo.txt"]
    desk("pyautogui.hotkey('ctrl', 'h')")
    assert ".secret" in desk.names("icon")


def test_a_file_is_renamed_with_its_ending_kept() -> None:
    desk = desktop()
    desk("pyautogui.click(@{icon 'todo.txt'})", "pyautogui.press('f2')", "pyautogui.write('shopping')")
    assert desk.text("entry") == "shopping.txt"
    desk("pyautogui.press('enter')")
    assert desk.file(f"{DOCUMENTS}/shopping.txt") == "Milk\nBread"
    assert desk.file(f"{DOCUMENTS}/todo.txt") is None


def test_a_name_that_is_taken_is_refused_by_a_dialog() -> None:
    desk = desktop()
    desk(
        "pyautogui.click(@{icon 'todo.txt'}); pyautogui.press('f2')",
        "pyautogui.hotkey('ctrl', 'a'); pyautogui.write('offer.pdf\\n')",
    )
    assert desk.names("dialog") == ["Name already used"]
    desk("pyautogui.hotkey('alt', 'f4')")
    assert not desk.names("dialog") and desk.file(f"{DOCUMENTS}/todo.txt") == "Milk\nBread"


def test_files_are_moved_by_cut_and_paste_by_dragging_and_to_the_trash_and_back() -> None:
    desk = desktop()
    desk(
        "pyautogui.click(@{icon 'todo.txt'}); pyautogui.hotkey('ctrl', 'x')",
        "pyautogui.doubleClick(@{icon 'Archive'})",
        "pyautogui.hotkey('ctrl', 'v')",
    )
    assert desk.file(f"{DOCUMENTS}/Archive/todo.txt") == "Milk\nBread"
    desk(
        "pyautogui.click(@{push-button 'Back'})",
        "pyautogui.moveTo(@{icon 'minutes.txt'}); pyautogui.dragTo(@{icon 'Archive'})",
    )
    assert desk.file(f"{DOCUMENTS}/Archive/minutes.txt") is not None
    desk("pyautogui.click(@{icon 'offer.pdf'}); pyautogui.press('delete')")
    assert "offer.pdf" not in desk.names("icon")
    desk(
        "pyautogui.click(@{list-item 'Trash'})", "pyautogui.click(@{icon 'offer.pdf'})", "pyautogui.click(@{'Restore'})"
    )
    assert desk.file(f"{DOCUMENTS}/offer.pdf") == "Offer 4711"


def test_a_copy_beside_its_original_has_another_name_and_a_conflict_is_asked_for() -> None:
    desk = desktop()
    desk("pyautogui.click(@{icon 'todo.txt'}); pyautogui.hotkey('ctrl', 'c'); pyautogui.hotkey('ctrl', 'v')")
    assert "todo (copy).txt" in desk.names("icon")
    desk(
        f"open('{DOCUMENTS}/Archive/todo.txt', 'w').write('old')",
        "pyautogui.click(@{icon 'todo.txt'}); pyautogui.hotkey('ctrl', 'c')",
        "pyautogui.doubleClick(@{icon 'Archive'})",
        "pyautogui.hotkey('ctrl', 'v')",
    )
    assert desk.names("dialog") == ["Replace file “todo.txt”?"]
    desk("pyautogui.click(@{push-button 'Replace'})")
    assert desk.file(f"{DOCUMENTS}/Archive/todo.txt") == "Milk\nBread"


def test_a_folder_window_searches_sorts_and_lists_details() -> None:
    desk = desktop()
    desk("pyautogui.hotkey('ctrl', 'f'); pyautogui.write('MIN')")
    assert [name for name in desk.names("icon") if name != "Home"] == ["minutes.txt"]
    desk("pyautogui.press('esc'); pyautogui.hotkey('ctrl', '1')", "pyautogui.click(@{table-column-header 'Size'})")
    assert desk.names("table-cell")[::3] == ["Archive", "locked.txt", "offer.pdf", "todo.txt", "minutes.txt"]
    desk("pyautogui.click(@{table-column-header 'Size'})")
    assert desk.names("table-cell")[3] == "minutes.txt"


def test_a_new_folder_and_the_properties_of_a_file() -> None:
    desk = desktop()
    desk("pyautogui.hotkey('ctrl', 'shift', 'n')", "pyautogui.write('2026'); pyautogui.press('enter')")
    assert desk.machine.state()[f"folders{DOCUMENTS}/2026"] is True
    desk("pyautogui.rightClick(@{icon 'locked.txt'})", "pyautogui.click(@{menu-item 'Properties'})")
    assert desk.has("label 'Access: Read-only'") and desk.has("label 'Size: 6 bytes'")


def test_the_editor_marks_changes_saves_and_asks_before_it_closes() -> None:
    desk = desktop()
    desk("pyautogui.doubleClick(@{icon 'todo.txt'})")
    assert desk.text("text") == "Milk\\nBread"
    desk("pyautogui.hotkey('ctrl', 'end'); pyautogui.write('\\nEggs')")
    assert desk.names("frame")[0] == "*todo.txt (~/Documents) - gedit"
    desk("pyautogui.hotkey('ctrl', 's')")
    assert desk.names("frame")[0] == "todo.txt (~/Documents) - gedit"
    assert desk.file(f"{DOCUMENTS}/todo.txt") == "Milk\nBread\nEggs"
    desk("pyautogui.write('!')", "pyautogui.click(@{push-button 'Close'})")
    assert desk.names("dialog") == ["Save changes to document “todo.txt” before closing?"]
    desk("pyautogui.click(@{'Close without Saving'})")
    assert desk.names("frame") == ["Documents"] and desk.file(f"{DOCUMENTS}/todo.txt") == "Milk\nBread\nEggs"


def test_the_editor_undoes_finds_replaces_and_saves_under_another_name() -> None:
    desk = desktop()
    desk(f"subprocess.Popen(['gedit', '{DOCUMENTS}/minutes.txt'])", "pyautogui.hotkey('ctrl', 'h')")
    desk("pyautogui.write('Agenda')", "pyautogui.click(@{entry 'Replace with'}); pyautogui.write('Plan')")
    desk("pyautogui.click(@{push-button 'Replace All'})")
    assert desk.text("text") == "Plan\\nDecisions\\nPlan again"
    desk("pyautogui.hotkey('ctrl', 'z')")
    assert desk.text("text") == "Agenda\\nDecisions\\nAgenda again"
    desk("pyautogui.hotkey('ctrl', 'shift', 'z')", "pyautogui.hotkey('ctrl', 'shift', 's')")
    assert desk.has("dialog 'Save As'")
    desk("pyautogui.hotkey('ctrl', 'a'); pyautogui.write('plan.txt')", "pyautogui.click(@{push-button 'Save'})")
    assert desk.file(f"{DOCUMENTS}/plan.txt") == "Plan\nDecisions\nPlan again"
    assert desk.names("frame")[0] == "plan.txt (~/Documents) - gedit"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("pyautogui.write('abc')\npyautogui.hotkey('ctrl', 'z')", "_Milk"),
        ("pyautogui.write('abc')\npyautogui.hotkey('ctrl', 'z')\npyautogui.hotkey('ctrl', 'y')", "abc_Milk"),
        ("pyautogui.press('end')\npyautogui.press('backspace')\npyautogui.hotkey('ctrl', 'z')", "Milk_"),
        ("pyautogui.hotkey('ctrl', 'a')\npyautogui.press('delete')\npyautogui.hotkey('ctrl', 'z')", "Milk_"),
    ],
)
def test_after_an_undo_typing_goes_on_where_the_text_changed(keys: str, text: str) -> None:
    desk = desktop({"files": {"/home/user/a.txt": "Milk"}})
    desk("subprocess.Popen(['gedit', '/home/user/a.txt'])", keys, "pyautogui.write('_')")
    assert desk.text("text") == text


def test_undoing_keeps_a_file_that_is_longer_than_what_can_be_typed() -> None:
    desk = desktop({"files": {"/home/user/a.txt": "x" * 30_000}})
    before = desk.file("/home/user/a.txt")
    desk(
        "subprocess.Popen(['gedit', '/home/user/a.txt'])", "pyautogui.press('delete')", "pyautogui.hotkey('ctrl', 's')"
    )
    assert desk.file("/home/user/a.txt") != before
    desk("pyautogui.hotkey('ctrl', 'z')", "pyautogui.hotkey('ctrl', 's')")
    assert desk.file("/home/user/a.txt") == before


def test_saving_over_another_file_is_asked_for_and_a_locked_file_is_refused() -> None:
    desk = desktop()
    desk(
        f"subprocess.Popen(['gedit', '{DOCUMENTS}/locked.txt'])",
        "pyautogui.write('more'); pyautogui.hotkey('ctrl', 's')",
    )
    assert desk.names("dialog") == ["Could not save the file “locked.txt”"] and desk.has("label 'Permission denied.'")
    desk("pyautogui.press('enter')", "pyautogui.hotkey('ctrl', 'shift', 's')")
    desk("pyautogui.hotkey('ctrl', 'a'); pyautogui.write('todo.txt')", "pyautogui.click(@{push-button 'Save'})")
    assert desk.has("label ~'already exists'") and desk.file(f"{DOCUMENTS}/todo.txt") == "Milk\nBread"
    desk("pyautogui.click(@{push-button 'Replace'})")
    assert desk.file(f"{DOCUMENTS}/todo.txt") == "moresealed"


def test_the_terminal_works_on_the_same_files_as_all_other_programs() -> None:
    desk = desktop()
    desk("pyautogui.hotkey('ctrl', 'alt', 't')", "pyautogui.write('cd Documents; cat todo.txt; echo hi > new.txt\\n')")
    assert desk.text("terminal").endswith("\\nMilk\\nBreaduser@desktop:~/Documents$ ")
    assert desk.file(f"{DOCUMENTS}/new.txt") == "hi\n"
    desk(f"os.rename('{DOCUMENTS}/new.txt', '{DOCUMENTS}/renamed.txt')", "pyautogui.write('ls\\n')")
    assert "renamed.txt" in desk.text("terminal")
    desk("pyautogui.write('rm renamed.txt; echo no > locked.txt; chmod 600 todo.txt\\n')")
    assert desk.file(f"{DOCUMENTS}/renamed.txt") is None and desk.file(f"{DOCUMENTS}/locked.txt") == "sealed"
    assert desk.machine.state()[f"files{DOCUMENTS}/todo.txt#mode"] == "600"


def test_the_terminal_starts_programs_recalls_lines_and_completes_names() -> None:
    desk = desktop()
    desk("pyautogui.hotkey('ctrl', 'alt', 't')", "pyautogui.write('cat Docu\\tmin\\t')")
    assert desk.text("terminal").endswith("$ cat Documents/minutes.txt ")
    desk("pyautogui.press('enter')", "pyautogui.press('up')")
    assert desk.text("terminal").endswith("$ cat Documents/minutes.txt ")
    desk("pyautogui.hotkey('ctrl', 'c')", "pyautogui.write('gedit Documents/todo.txt &\\n')")
    assert desk.names("frame")[0] == "todo.txt (~/Documents) - gedit"


def test_the_calculator_calculates() -> None:
    desk = desktop()
    desk("subprocess.Popen(['gnome-calculator'])", "pyautogui.write('12*(3+4)\\n')")
    assert desk.text("entry") == "84"
    desk("pyautogui.click(@{push-button '÷'})", "pyautogui.write('0'); pyautogui.click(@{push-button '='})")
    assert desk.has("label 'Malformed expression'")


def test_windows_move_maximize_minimize_and_close() -> None:
    desk = desktop()
    desk("pyautogui.moveTo(900, 183); pyautogui.dragTo(1000, 233)")
    assert 'frame\tDocuments\t""\t\t\t(520, 210)\t(1080, 720)' in desk.machine.observation
    desk("pyautogui.doubleClick(1000, 233)")
    assert 'frame\tDocuments\t""\t\t\t(70, 27)\t(1850, 1053)' in desk.machine.observation
    desk("pyautogui.hotkey('super', 'down')", "pyautogui.click(@{push-button 'Minimize'})")
    assert not desk.names("frame")
    desk("pyautogui.click(@{push-button 'Files'})")
    assert 'frame\tDocuments\t""\t\t\t(520, 210)\t(1080, 720)' in desk.machine.observation
    desk("pyautogui.hotkey('alt', 'f4')")
    assert not desk.names("frame") and desk.names("menu") == ["Activities", "System"]


def test_what_another_window_covers_is_not_shown_and_a_click_brings_a_window_to_the_front() -> None:
    desk = desktop()
    desk("subprocess.Popen(['gnome-terminal'])")
    assert desk.names("frame") == ["user@desktop: ~", "Documents"] and "Archive" not in desk.names("icon")
    desk("pyautogui.click(@{list-item 'Recent'})")
    assert desk.names("frame") == ["Recent"]  # which hides the terminal wholly
    desk("pyautogui.hotkey('alt', 'tab')")
    assert desk.names("frame")[0] == "user@desktop: ~"


def test_the_overview_finds_programs_and_files() -> None:
    desk = desktop()
    desk("pyautogui.press('win')")
    assert desk.has("entry 'Type to search'") and desk.has("push-button 'Documents'") and not desk.names("frame")
    desk("pyautogui.write('minutes')")
    desk("pyautogui.press('enter')")
    assert desk.names("frame")[0] == "minutes.txt (~/Documents) - gedit"


def test_menus_open_under_the_pointer_and_close_by_escape_or_a_click_elsewhere() -> None:
    desk = desktop()
    before = desk.machine.observation
    desk("pyautogui.rightClick(@{icon 'Home'})")
    assert desk.names("menu-item") == ["Open"]
    assert desk("pyautogui.press('esc')") == before
    desk("pyautogui.click(@{menu 'System'})")
    assert "Do Not Disturb" in desk.names("menu-item")
    assert desk("pyautogui.click(@{icon 'Archive'})") == before


def test_no_notification_disturbs_where_that_is_switched_off() -> None:
    desk = desktop()
    desk("subprocess.Popen(['evince', '/nowhere.pdf'])")
    assert desk.has("label 'Unable to open document'")
    desk("pyautogui.click(@{push-button 'Dismiss'})", "pyautogui.click(@{menu 'System'})")
    desk("pyautogui.click(@{menu-item 'Do Not Disturb'})", "subprocess.Popen(['evince', '/nowhere.pdf'])")
    assert not desk.has("label 'Unable to open document'")


def test_the_clock_goes_on_when_code_waits_and_is_no_deterministic_text() -> None:
    desk = desktop()
    desk("time.sleep(120)")
    assert desk.has("label 'Mar 4  09:43'")
    marked = {desk.machine.observation[span.start : span.end]: span.kind for span in desk.machine.spans}
    assert marked == {"Mar 4  09:43": "metadata"}


def test_a_window_that_opens_is_pre_existing_and_what_was_told_or_typed_is_not() -> None:
    desk = desktop()
    assert {span.kind for span in desk.machine.spans} == {"metadata"}
    desk(f"subprocess.Popen(['gedit', '{DOCUMENTS}/todo.txt'])")
    table = desk.machine.observation
    marked = {table[span.start : span.end]: span.kind for span in desk.machine.spans}
    assert marked["Save"] == "pre-existing" and marked["(510, 160)\t(900, 680)"] == "metadata"
    assert "todo.txt" not in marked and "Milk\\nBread" not in marked
    desk("pyautogui.write('Oat')")
    assert len(desk.machine.spans) == 2  # the clock, twice


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("Agent.click(coordinates=[1304, 400], num_clicks=2)", "pyautogui.doubleClick(1304, 400)"),
        ("Agent.click([480, 346], button_type='right')", "pyautogui.rightClick(480, 346)"),
        ("Agent.hotkey(keys=['ctrl', 'a'])", "pyautogui.hotkey('ctrl', 'a')"),
        (
            "Agent.drag_and_drop(drag_from_coordinates=[900, 176], drop_on_coordinates=[960, 240])",
            "pyautogui.moveTo(900, 176)\npyautogui.dragTo(960, 240)",
        ),
        (
            "Agent.type(coordinates=[900, 400], text='tea', overwrite=True, enter=True)",
            "pyautogui.click(900, 400)\npyautogui.hotkey('ctrl', 'a')\npyautogui.press('backspace')\n"
            "pyautogui.write('tea')\npyautogui.press('enter')",
        ),
        (
            "Agent.scroll(coordinates=[900, 400], direction='down')",
            "pyautogui.moveTo(900, 400)\npyautogui.scroll(-100)",
        ),
        ("Agent.open_app(app_name='Text Editor')", "subprocess.Popen(['gedit'])"),
    ],
)
def test_a_call_of_agent_does_what_pyautogui_does(call: str, code: str) -> None:
    machine = desktop().machine
    machine.act("subprocess.Popen(['gedit', '/home/user/Documents/todo.txt'])")
    called, coded = machine.fork(), machine.fork()
    assert called.act(call) == coded.act(code)
    assert called.state() == coded.state() and not called.problem


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("Agent.click(coordinates=[1])", "TypeError: coordinates is a list [x, y]"),
        ("Agent.scroll([1, 2], 'left')", "ValueError: direction is 'up' or 'down'"),
        ("Agent.hotkey('ctrl')", "TypeError: keys is a list"),
        ("Agent.open_app('no such')", "ValueError: no application of the name 'no such'"),
        ("Agent.fly()", "AttributeError: type object 'Agent' has no attribute 'fly'"),
    ],
)
def test_a_wrong_call_of_agent_raises(call: str, problem: str) -> None:
    machine = desktop().machine
    before = machine.observation
    assert machine.act(call) == before
    assert machine.problem.split("\n")[-1] == problem


def test_calls_that_only_tell_change_nothing() -> None:
    machine = desktop().machine
    before = machine.observation
    for call in ("Agent.wait()", "Agent.quote(content='x')", "print_result()", "CalcTools.print_result()"):
        assert machine.act(call) == before and not machine.problem
    with pytest.raises(EngineError, match="no dialect 'windows'"):
        machine.observation_in("windows")


def test_a_fork_goes_its_own_way_and_repeats_what_its_original_does() -> None:
    desk = desktop()
    desk(
        "pyautogui.doubleClick(@{icon 'todo.txt'})",
        "pyautogui.hotkey('ctrl', 'alt', 't')",
        "pyautogui.write('A=5; ls\\n')",
    )
    twin = Desktop(desk.machine.fork())
    assert twin.machine.observation == desk.machine.observation and twin.machine.state() == desk.machine.state()
    actions = ("pyautogui.write('echo $A > a.txt\\n')", "pyautogui.hotkey('alt', 'tab')", "pyautogui.write('x')")
    before = desk.machine.state()
    assert [twin(action) for action in actions]
    assert desk.machine.state() == before
    assert [desk(action) for action in actions][-1] == twin.machine.observation
    assert desk.machine.state() == twin.machine.state() and desk.file("/home/user/a.txt") == "5\n"


ACTIONS = st.sampled_from(
    [
        "pyautogui.click({x}, {y})",
        "pyautogui.doubleClick({x}, {y})",
        "pyautogui.rightClick({x}, {y})",
        "pyautogui.dragTo({x}, {y})",
        "pyautogui.scroll(-5, {x}, {y})",
        "pyautogui.write('note')",
        "pyautogui.press('enter')",
        "pyautogui.press('f2')",
        "pyautogui.press('delete')",
        "pyautogui.press('win')",
        "pyautogui.hotkey('ctrl', 'a')",
        "pyautogui.hotkey('ctrl', 'x')",
        "pyautogui.hotkey('ctrl', 'v')",
        "pyautogui.hotkey('ctrl', 'n')",
        "pyautogui.hotkey('alt', 'tab')",
        "subprocess.Popen(['gedit', '/home/user/Documents/todo.txt'])",
    ]
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(ACTIONS, st.integers(0, 1000)), min_size=1, max_size=25))
def test_the_middle_of_everything_shown_hits_it_and_forks_stay_equal(steps: list[tuple[str, int]]) -> None:
    desk = desktop()
    twin = Desktop(desk.machine.fork())
    for action, choice in steps:
        node = desk.nodes[choice % len(desk.nodes)]
        assert node.box is not None
        x, y = node.box.centre
        action = action.format(x=x, y=y)
        assert desk(action) == twin(action)
        assert_truthful(desk)
    assert desk.machine.state() == twin.machine.state()


def assert_truthful(desk: Desktop) -> None:
    """Every element lies on the screen and is hit in its middle."""
    screen = desk.machine._screen
    for node in desk.nodes:
        if node.role in ("frame", "dialog"):
            continue
        assert node.box is not None
        spot = screen.at(*node.box.centre)
        assert spot is not None and any(
            (widget.role, widget.x, widget.y) == (node.role, node.box.x, node.box.y) for widget in spot[1]
        ), node


def test_a_click_on_nothing_leaves_the_screen_to_the_letter() -> None:
    desk = desktop()
    before = desk.machine.observation
    for action in ("pyautogui.click(700, 10)", "pyautogui.press('f9')", "pyautogui.hotkey('ctrl', 'j')", "nobody()"):
        assert desk(action) == before


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"wallpaper": 1}, "wallpaper"),
        ({"clock": "noon"}, "clock"),
        ({"files": {"todo.txt": "x"}}, "files"),
        ({"files": {"/home/user/a": {"mode": "9"}}}, "files./home/user/a.mode"),
        ({"files": {"/etc": "x"}}, "files./etc"),
        ({"open": [{"program": "paint"}]}, "open.0.program"),
        ({"open": [{"program": "files", "box": [0, 0, 1, 1]}]}, "open.0.box"),
        ({"settings": {"no/such": True}}, "settings.no/such"),
    ],
)
def test_a_wrong_state_is_refused_by_name(state: dict[str, object], key: str) -> None:
    with pytest.raises(SpecError) as caught:
        DesktopMachine.start(state, 0)
    assert caught.value.key == key


def test_a_desktop_is_gone_after_close() -> None:
    machine = DesktopMachine.start({}, 0)
    machine.close()
    machine.close()
    with pytest.raises(EngineError):
        machine.act("pass")


PATHS = st.sampled_from(
    ["/home/user/a", "/home/user/a/b", "/tmp/c", "/home/user/Documents", "/etc/x", "/home/user/a/b/d"]
)
CHANGES = st.one_of(
    st.tuples(st.just("write"), PATHS, st.text(max_size=5)),
    st.tuples(st.just("make_folder"), PATHS),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("copy_to"), PATHS, PATHS),
    st.tuples(st.just("remove"), PATHS, st.booleans()),
    st.tuples(st.just("trash"), PATHS),
)


@given(st.lists(CHANGES, max_size=25))
def test_whatever_is_done_to_files_every_one_of_them_lies_in_a_folder(changes: list[tuple[object, ...]]) -> None:
    files = FileSystem(0.0)
    for name, *arguments in changes:
        try:
            getattr(files, str(name))(*arguments)
        except OSError as error:
            assert error.errno and error.filename
        for path, node in files.nodes.items():
            assert path == "/" or files.is_folder(path.rpartition("/")[0] or "/")
            assert node.content is None or path in {
                f"{f.rstrip('/')}/{n}" for f in [path.rpartition("/")[0]] for n in files.names(f or "/")
            }
    assert files._total == sum(len(node.content or "") for node in files.nodes.values())


@given(st.text(max_size=40), st.text(max_size=20))
def test_a_path_is_always_absolute_and_plain(path: str, folder: str) -> None:
    made = absolute(path, "/" + folder)
    assert made.startswith("/") and ".." not in made.split("/") and "//" not in made

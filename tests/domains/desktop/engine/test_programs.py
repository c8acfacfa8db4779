"""The spreadsheet, the settings and the browser of the desktop."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.screens import ScreenNode, read_screen, resolve_if_shown
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document as books
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import sheets as sheets
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.calculation import computed
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.file_formats import (
    MAX_CELLS,
    read,
    rows_of,
    write_csv,
    write_ods,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import (
    address,
    after_insertion,
    copied_by,
    position,
)

SALES = "Region,Product,Amount\nNorth,Tea,120\nSouth,Tea,80.5\nNorth,Coffee,99.5\nEast,Cocoa,40\n"


def value(formula: str, text: str = SALES, **sheets: str) -> Any:
    """What a formula in the first free column comes to, on a sheet with these lines."""
    cells = {"Sheet1": {position(name): entry for name, entry in read(text, ".csv")["Sheet1"]["cells"].items()}}
    for name, lines in sheets.items():
        cells[name] = {position(cell): entry for cell, entry in read(lines, ".csv")["Sheet1"]["cells"].items()}
    cells["Sheet1"][position("H1")] = formula
    return computed(cells)["Sheet1"][0, 7]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ("=1+2*3^2", 19.0),
        ("=(1+2)*3", 9.0),
        ("=-2^2", 4.0),
        ("=2^3^2", 64.0),
        ("=50%*200", 100.0),
        ("=10/4-1", 1.5),
        ('="a"&1&TRUE', "a1TRUE"),
        ("=C2+C3", 200.5),
        ("=A2", "North"),
        ("=Z99", 0.0),
        ("=SUM(C2:C5)", 340.0),
        ("=sum(c2:c3;c5)", 240.5),
        ("=AVERAGE(C2:C5)", 85.0),
        ("=MIN(C2:C5)+MAX(C2:C5)", 160.0),
        ("=COUNT(A1:C5)", 4.0),
        ("=COUNTA(A1:C5)", 15.0),
        ("=MEDIAN(C2:C5)", 90.0),
        ('=IF(C2>100,"big","small")', "big"),
        ("=IF(FALSE,1)", False),
        ("=ROUND(2.675,2)", 2.68),
        ("=ROUND(-1.5,0)", -2.0),
        ("=ROUNDDOWN(1.99,1)", 1.9),
        ("=MOD(7,3)", 1.0),
        ('=SUMIF(A2:A5,"North",C2:C5)', 219.5),
        ('=COUNTIF(C2:C5,">=80.5")', 3.0),
        ('=COUNTIF(B2:B5,"t*")', 2.0),
        ('=COUNTIF(B2:B5,"?EA")', 2.0),
        ('=COUNTIF(B2:B5,"[a-z]*")', 0.0),
        ('=AVERAGEIF(B2:B5,"Tea",C2:C5)', 100.25),
        ('=VLOOKUP("East",A2:C5,3,FALSE)', 40.0),
        ('=VLOOKUP("West",A2:C5,3,0)', "#N/A"),
        ('=INDEX(B2:B5,MATCH("South",A2:A5,0))', "Tea"),
        ('=CONCAT(A2," ",B2)', "North Tea"),
        ('=UPPER(LEFT("tea",1))&MID("xenax",2,2)', "Ten"),
        ("=IFERROR(1/0,5)", 5.0),
        ("=$Rates.A1*2", 6.0),
        ("='Old rates'.B1+Rates!A1", 10.0),
        ("=AND(C2>1,C3>1)", True),
        ("=1/0", "#DIV/0!"),
        ("=FOO(1)", "#NAME?"),
        ("=total", "#NAME?"),
        ('="a"+1', "#VALUE!"),
        ("=Nowhere.A1", "#REF!"),
        ("=A1:A3", "#VALUE!"),
        ("=H1+1", "Err:522"),
        ("=(1+2", "Err:508"),
        ("=1+", "Err:511"),
        ("=1 2", "Err:509"),
        ("=9^999", "#NUM!"),
        ("=§", "Err:501"),
        ("=SUM()", "Err:511"),
        ("=ROUND(1,2,3)", "Err:504"),
        ("='apple", "Err:501"),
    ],
)
def test_what_formulas_come_to(formula: str, result: Any) -> None:
    found = value(formula, Rates="3,4", **{"Old rates": "1,7"})
    assert found == (pytest.approx(result) if isinstance(result, float) else result)
    assert type(found) is type(result) or isinstance(found, str)


def test_a_cycle_shows_in_all_of_its_cells_and_an_error_in_all_that_read_it() -> None:
    cells = {(0, 0): "=B1", (0, 1): "=C1", (0, 2): "=A1", (1, 0): "=D2/0", (1, 1): "=A2+1", (2, 0): "=SUM(A1:C1)"}
    shown = computed({"S": cells})["S"]
    assert [shown[0, column] for column in range(3)] == ["Err:522"] * 3
    assert shown[1, 0] == shown[1, 1] == "#DIV/0!"
    assert shown[2, 0] == "Err:522"


def test_a_long_chain_of_formulas_is_calculated() -> None:
    cells = {(0, 0): "1", **{(row, 0): f"=A{row}+1" for row in range(1, 900)}}
    assert computed({"S": cells})["S"][899, 0] == 900.0


def test_formulas_that_read_too_much_show_an_error_and_cost_no_time() -> None:
    cells = {(row, column): "1" for row in range(999) for column in range(4)}
    cells |= {(row, 5): "=SUM(A1:D999)" for row in range(900)}
    shown = computed({"S": cells})["S"]
    assert shown[0, 5] == 3996.0 and shown[899, 5] == "Err:512"


OPERATORS = [*"+-*/^&%;,<=: ()x", "<>"]
VALUES = ["1", "2.5", "A1", "$B$2", "C3:D4", "Sheet1.A1", "$'a b'.A1", "TRUE", "#REF!", "9e99", '"x*"']
CALLS = ["SUM(", "IF(", "VLOOKUP(", "MID(", "COUNTIF("]


def test_a_criterion_of_many_stars_takes_no_time() -> None:
    cells = {(row, 0): "a" * 900 for row in range(50)}
    cells[0, 1] = f'=COUNTIF(A1:A50,"{"*a" * 30}*b")'
    assert computed({"S": cells})["S"][0, 1] == 0.0


def test_replacing_cannot_blow_up_a_document() -> None:
    document = book("\n".join(["a" * 1000] * 900))
    assert books.replace_all(document, "A", "b" * 20_000) == 900
    assert {len(entry) for entry in books.current_sheet(document)["cells"].values()} == {1000}


PIECES = st.sampled_from([*OPERATORS, *VALUES, *CALLS])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_formula_comes_to_something(formula: str) -> None:
    assert isinstance(value("=" + formula), (str, float, bool))
    assert isinstance(copied_by(formula, 3, -1) + after_insertion(formula, True, "S", "row", 1, -2), str)


@given(st.text(max_size=30))
def test_any_text_is_an_entry(text: str) -> None:
    assert isinstance(value(text), (str, float, bool)) or not text


@given(st.integers(0, 999), st.integers(0, 51))
def test_cells_have_names(row: int, column: int) -> None:
    assert position(address(row, column)) == (row, column)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 5))
def test_inserting_and_deleting_rows_is_undone_by_its_opposite(at: int, row: int, count: int) -> None:
    formula = f"A{row + 1}*SUM(B1:B{row + 2})&Other.A9"
    moved = after_insertion(formula, True, "Sheet1", "row", at, count)
    assert after_insertion(moved, True, "Sheet1", "row", at, -count) == formula
    assert after_insertion(formula, False, "Sheet1", "row", 0, count) == formula


CELL = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8)
CELLS = st.dictionaries(st.builds(address, st.integers(0, 9), st.integers(0, 6)), CELL, max_size=12)
NAMES = st.text("abcXYZ ", min_size=1, max_size=6)


@given(st.dictionaries(NAMES, CELLS, min_size=1, max_size=3))
def test_a_document_that_is_saved_is_read_as_it_was(contents: dict[str, dict[str, str]]) -> None:
    sheets = {
        name: {
            "cells": cells,
            "formats": dict.fromkeys(list(cells)[:2], "0.00"),
            "bold": set(list(cells)[1:2]),
            "filter": {},
        }
        for name, cells in contents.items()
    }
    assert read(write_ods(sheets), ".ods") == sheets


@given(CELLS)
def test_a_text_table_that_is_saved_is_read_as_it_was(cells: dict[str, str]) -> None:
    assert read(write_csv(cells), ".csv")["Sheet1"]["cells"] == cells


@given(st.text(max_size=200), st.sampled_from([".csv", ".ods"]))
def test_any_file_is_a_document(text: str, ending: str) -> None:
    sheets = read(text, ending)
    assert sheets and sum(len(sheet["cells"]) for sheet in sheets.values()) <= MAX_CELLS
    assert rows_of("a\tb\nc", "\t") == [["a", "b"], ["c"]]


def book(text: str = SALES) -> books.Book:
    made = books.new_document(read(text, ".ods"))
    made["path"] = ""
    return made


def column(document: books.Book, name: str) -> list[str]:
    index = position(f"{name}1")[1]  # type: ignore[index]
    return [books.displayed_at(document, (row, index)) for row in range(books.used_size(document)[0])]


def test_sorting_keeps_rows_together_and_takes_formulas_along() -> None:
    document = book("b,2,=B1*10\na,3,=B2*10\nc,1,=B3*10\n")
    assert books.sort(document, (0, 0, 2, 2), 0, False)
    assert [column(document, name) for name in "ABC"] == [["a", "b", "c"], ["3", "2", "1"], ["30", "20", "10"]]
    assert books.sort(document, (0, 0, 2, 2), 1, False) and column(document, "A") == ["c", "b", "a"]
    assert books.undo(document) and books.undo(document) and not books.undo(document)
    assert column(document, "A") == ["b", "a", "c"]
    assert books.redo(document) and column(document, "A") == ["a", "b", "c"]


def test_sorting_puts_numbers_before_texts_and_empty_cells_last() -> None:
    document = book("10\nbeta\n\n9\nAlpha\n")
    books.sort(document, (0, 0, 4, 0), 0, False)
    assert column(document, "A") == ["9", "10", "Alpha", "beta"]
    books.sort(document, (0, 0, 4, 0), 0, True)
    assert column(document, "A") == ["beta", "Alpha", "10", "9"]


def test_filled_and_pasted_formulas_follow_and_fixed_ones_stay() -> None:
    document = book("2,=A1*$A$1\n3\n4\n")
    document["anchor"], document["cursor"] = [0, 1], [2, 1]
    assert books.fill_down(document) and column(document, "B") == ["4", "6", "8"]
    document["anchor"] = document["cursor"] = [0, 2]
    assert books.paste(document, [["=A1*$A$1"]], (0, 1))
    assert books.entry_at(document, (0, 2)) == "=B1*$A$1"


def test_sheets_are_added_renamed_and_deleted_and_formulas_follow() -> None:
    document = book("[Costs]\n5\n[Sum]\n=$Costs.A1*2\n")
    assert sheets.rename_sheet(document, "Costs", "Old costs") and not sheets.rename_sheet(document, "Sum", "old COSTS")
    assert document["sheets"]["Sum"]["cells"]["A1"] == "=$'Old costs'.A1*2"
    assert books.displayed_at(document, (0, 0), "Sum") == "10"
    assert sheets.add_sheet(document, "Copy", "Sum") and document["sheet"] == "Copy"
    assert not sheets.add_sheet(document, "a/b") and sheets.delete_sheet(document, "Copy")
    assert sheets.delete_sheet(document, "Old costs") and books.displayed_at(document, (0, 0), "Sum") == "#REF!"
    assert not sheets.delete_sheet(document, "Sum")


def test_deleting_columns_takes_their_formats_along() -> None:
    document = book("1,2,3\n[Sheet1: formats]\nC1,0.00\nB1,bold\n")
    assert books.insert(document, "column", 1, -1)
    sheet = books.current_sheet(document)
    assert (sheet["cells"], sheet["formats"], sheet["bold"]) == ({"A1": "1", "B1": "3"}, {"B1": "0.00"}, set())
    assert not books.insert(document, "row", 0, 200) or books.entry_at(document, (200, 0)) == "1"


def test_a_full_document_takes_no_more() -> None:
    document = book("".join(f"{n}\n" for n in range(999)))
    document["anchor"], document["cursor"] = [0, 1], [998, 40]
    assert not books.paste(document, [["x"] * 40] * 900, None)
    assert books.paste(document, [["x"]], None) is False or len(books.current_sheet(document)["cells"]) <= MAX_CELLS


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["sort", "insert", "delete", "fill", "undo", "redo", "filter", "bold"]), max_size=12))
def test_what_is_undone_is_as_it_was(changes: list[str]) -> None:
    document = book("1,=A1+1,x\n2,=SUM(A1:A2),y\n3,=B2*$A$1,z\n")
    document["anchor"], document["cursor"] = [0, 0], [2, 1]
    before = {name: dict(sheet["cells"]) for name, sheet in document["sheets"].items()}
    for change in changes:
        {
            "sort": lambda: books.sort(document, (0, 0, 2, 2), 0, True),
            "insert": lambda: books.insert(document, "row", 1, 1),
            "delete": lambda: books.insert(document, "column", 0, -1),
            "fill": lambda: books.fill_down(document),
            "undo": lambda: books.undo(document),
            "redo": lambda: books.redo(document),
            "filter": lambda: books.toggle_filter(document),
            "bold": lambda: books.toggle_bold(document),
        }[change]()
        books.values(document)
    while books.undo(document):
        pass
    assert {name: sheet["cells"] for name, sheet in document["sheets"].items()} == before


# In the windows of a desktop


class Sitting:
    """Someone at a desktop, who clicks on what the table names."""

    def __init__(self, **state: Any) -> None:
        self.machine = DesktopMachine.start(state, 0)

    @property
    def nodes(self) -> list[ScreenNode]:
        return read_screen("desktop", self.machine.observation)

    def do(self, *codes: str) -> str:
        """Run code, its locators resolved on the screen of the moment."""
        for code in codes:
            resolved = resolve_if_shown(code, self.nodes)
            assert resolved is not None, f"{code} is not on the screen:\n{self.machine.observation}"
            self.machine.act(resolved)
            assert not self.machine.problem, self.machine.problem
        return self.machine.observation

    def click(self, *locators: str) -> None:
        self.do(*(f"pyautogui.click(@{{{locator}}})" for locator in locators))

    def type(self, text: str) -> None:
        self.do(f"pyautogui.write({text!r})")

    def keys(self, *names: str) -> None:
        self.do(f"pyautogui.hotkey({', '.join(map(repr, names))})")

    def text(self, name: str, role: str | None = None) -> str | None:
        """What the first element of a name holds; None where there is none."""
        return next((node.text for node in self.nodes if node.name == name and role in (None, node.role)), None)

    def is_shown(self, name: str) -> bool:
        return any(node.name == name for node in self.nodes)

    def states(self, name: str, role: str) -> str:
        return next(node.description for node in self.nodes if (node.name, node.role) == (name, role))

    def file(self, path: str) -> str | None:
        found = self.machine.state().get(f"files/{path}")
        return found if isinstance(found, str) else None


COSTS = "/home/user/Documents/costs.ods"


def at_table(text: str = "Item,Amount\nRent,900\nFood,250.5\n", path: str = COSTS) -> Sitting:
    return Sitting(files={path: text}, open=[{"program": "spreadsheet", "arguments": [path]}])


def saved(sitting: Sitting, path: str = COSTS) -> str:
    """What is in a file."""
    sitting.do(f"subprocess.Popen(['gedit', {path!r}])")
    return (sitting.text(path.rpartition("/")[2], "text") or "").replace("\\n", "\n")


def test_entries_and_formulas_are_typed_where_the_cursor_is() -> None:
    sitting = at_table()
    sitting.click("table-cell 'A4'")
    sitting.type("Total\t=SUM(B2:B3)\n")
    assert sitting.text("B4", "table-cell") == "1150.5" and sitting.text("Name Box") == "A5"
    sitting.click("table-cell 'B4'")
    assert sitting.text("Input line") == "=SUM(B2:B3)"
    sitting.click("table-cell 'B2'")
    sitting.do("pyautogui.press('f2')", "pyautogui.press('backspace')", "pyautogui.press('enter')")
    assert (sitting.text("B2"), sitting.text("B4", "table-cell")) == ("90", "340.5")
    sitting.type("junk")
    sitting.do("pyautogui.press('esc')")
    assert sitting.text("B3", "table-cell") == "250.5"
    sitting.keys("ctrl", "z")
    assert sitting.text("B2") == "900"


def test_a_table_is_saved_where_it_came_from_and_asks_before_its_changes_are_lost() -> None:
    sitting = at_table()
    sitting.click("table-cell 'B2'")
    sitting.type("5\n")
    sitting.keys("alt", "f4")
    assert sitting.is_shown("Save Document?")
    sitting.click("push-button 'Cancel'")
    assert sitting.text("B2") == "5"
    sitting.keys("alt", "f4")
    sitting.click("push-button 'Save' after dialog 'Save Document?'")
    assert not sitting.is_shown("costs.ods - LibreOffice Calc")
    assert saved(sitting) == "[Sheet1]\nItem,Amount\nRent,5\nFood,250.5\n"


def test_a_text_table_warns_of_what_it_cannot_keep() -> None:
    path = "/home/user/Documents/a.csv"
    sitting = at_table("1,2\n", path)
    sitting.click("table-cell 'C1'")
    sitting.type("=A1+B1\n")
    sitting.keys("ctrl", "s")
    assert sitting.is_shown("Keep Current Format?")
    sitting.click("push-button 'Use Text CSV Format!'")
    assert saved(sitting, path) == "1,2,3\n"


def test_save_as_leaves_the_old_file_and_goes_on_with_the_new_one() -> None:
    sitting = at_table("1\n")
    sitting.keys("ctrl", "shift", "s")
    sitting.keys("ctrl", "a")
    sitting.type("other\n")
    assert sitting.is_shown("other.ods - LibreOffice Calc")
    assert saved(sitting, "/home/user/Documents/other.ods") == "[Sheet1]\n1\n"
    assert saved(sitting) == "1\n"


def test_dragging_selects_and_the_status_bar_adds_up() -> None:
    sitting = at_table("1,2\n3,4\n")
    sitting.do("pyautogui.moveTo(@{table-cell 'A1'})", "pyautogui.dragTo(@{table-cell 'B2'}, button='left')")
    assert sitting.text("Name Box") == "A1:B2" and sitting.is_shown("Average: 2.5; Sum: 10")
    sitting.keys("ctrl", "c")
    sitting.click("table-cell 'C1'")
    sitting.keys("ctrl", "v")
    assert [sitting.text(name, "table-cell") for name in ("C1", "D2")] == ["1", "4"]
    sitting.do("pyautogui.keyDown('shift')", "pyautogui.click(@{table-cell 'A1'})", "pyautogui.keyUp('shift')")
    assert sitting.text("Name Box") == "A1:C1"


def test_the_name_box_goes_to_a_cell_that_is_not_on_the_screen() -> None:
    sitting = at_table("1\n")
    sitting.click("entry 'Name Box'")
    sitting.keys("ctrl", "a")
    sitting.type("B500\n")
    sitting.type("far\n")
    assert sitting.text("B500", "table-cell") == "far" and not sitting.is_shown("A1")
    sitting.keys("ctrl", "home")
    assert sitting.text("A1") == "1" and not sitting.is_shown("B500")


def test_a_click_beside_the_table_selects_the_cell_that_lies_there() -> None:
    sitting = at_table("1\n")
    node = next(node for node in sitting.nodes if node.name == "A1" and node.role == "table-cell")
    assert node.box is not None
    x, y = node.box.centre
    sitting.do(f"pyautogui.click({x + 3 * node.box.width}, {y + 5 * node.box.height})")
    assert sitting.text("Name Box") == "D6"


def test_rows_are_inserted_and_deleted_and_sheets_made_by_menus() -> None:
    sitting = at_table("1\n2\n=A1+A2\n")
    sitting.do("pyautogui.rightClick(@{row-header '2'})")
    assert sitting.text("Name Box") == "A2:AZ2"
    sitting.click("menu-item 'Insert Rows Above'")
    assert [sitting.text(f"A{n}", "table-cell") for n in (1, 2, 3, 4)] == ["1", "", "2", "3"]
    sitting.click("row-header '1'", "menu 'Sheet'", "menu-item 'Delete Rows'")
    assert sitting.text("A3", "table-cell") == "#REF!"
    sitting.click("push-button 'Add Sheet'")
    assert sitting.states("Sheet2", "page-tab") == "selected"
    sitting.do("pyautogui.doubleClick(@{page-tab 'Sheet2'})")
    sitting.keys("ctrl", "a")
    sitting.type("Plan\n")
    assert sitting.is_shown("Plan") and not sitting.is_shown("Sheet2")


def test_a_filter_hides_rows_and_sorting_takes_the_whole_rows() -> None:
    sitting = at_table("Who,Where,Sum\nAnna,Rome,3\nBo,Oslo,1\nCy,Rome,2\n")
    sitting.click("table-cell 'A1'", "push-button 'AutoFilter'", "push-button 'AutoFilter B'", "menu-item 'Rome'")
    assert [sitting.text(f"A{n}") for n in (2, 3, 4)] == ["Anna", None, "Cy"]
    sitting.click("push-button 'AutoFilter B'", "menu-item 'All'", "table-cell 'C2'", "push-button 'Sort Ascending'")
    assert [sitting.text(f"A{n}", "table-cell") for n in (1, 2, 3, 4)] == ["Who", "Bo", "Cy", "Anna"]


def test_find_and_replace() -> None:
    sitting = at_table("tea,1\ncoffee,2\nTea,3\n")
    sitting.keys("ctrl", "h")
    sitting.type("tea")
    sitting.click("entry 'Replace'")
    sitting.type("mate")
    sitting.click("push-button 'Replace All'")
    assert sitting.is_shown("Replaced 2 cells.")
    sitting.do("pyautogui.press('enter')")
    assert [sitting.text(f"A{n}", "table-cell") for n in (1, 2, 3)] == ["mate", "coffee", "mate"]


def test_the_helper_of_the_spreadsheet() -> None:
    sitting = at_table("b,2\na,1\n[Plan]\nx\n")
    sitting.do(
        "CalcTools.sort_column('A', start_index=1)",
        "CalcTools.set_cell_values([['c', '=B1+B2']], range='A3:B3', app_name='costs.ods', sheet_name='Sheet1')",
    )
    assert [sitting.text(f"B{n}", "table-cell") for n in (1, 2, 3)] == ["1", "2", "3"]
    sitting.do("CalcTools.set_cell_values(CalcTools.get_column_data('B'), 'C1:C3')")
    assert sitting.text("C3", "table-cell") == "3"
    sitting.do("CalcTools.rename_sheet('Plan', 'Next')", "CalcTools.switch_active_sheet('Next')", "CalcTools.save()")
    assert sitting.text("A1", "table-cell") == "x" and "[Next]" in saved(sitting)
    for code in (
        "set_cell_values(['1'], 'A1:A2')",
        "set_cell_values(['1'], '??')",
        "save(app_name='none.ods')",
        "fly()",
    ):
        before = sitting.machine.observation
        assert sitting.machine.act(f"CalcTools.{code}") == before and "Error" in sitting.machine.problem


def test_a_helper_needs_its_program() -> None:
    machine = DesktopMachine.start({}, 0)
    machine.act("CalcTools.save()")
    assert machine.problem.endswith("no document is open in Calc")


def test_a_file_that_is_missing_opens_an_empty_document_with_a_dialog() -> None:
    sitting = Sitting()
    sitting.do("subprocess.Popen(['libreoffice', '--calc', '/home/user/none.ods'])")
    assert sitting.is_shown("Untitled 1 - LibreOffice Calc") and sitting.is_shown("LibreOffice Calc")


def test_switches_choices_and_sliders_change_settings_that_last() -> None:
    sitting = Sitting(settings={"sound/volume": 40})
    sitting.click("push-button 'Settings'", "list-item 'Sound'", "push-button 'Increase System Volume'")
    assert sitting.text("System Volume", "slider") == "45"
    sitting.click("combo-box 'Output Device'", "menu-item 'HDMI'", "list-item 'Power'", "radio-button 'Performance'")
    sitting.keys("alt", "f4")
    sitting.do("subprocess.Popen(['gnome-control-center', 'sound'])")
    assert sitting.text("Output Device", "combo-box") == "HDMI"
    slider = next(node for node in sitting.nodes if node.role == "slider" and node.name == "System Volume")
    assert slider.box is not None
    sitting.do(f"pyautogui.click({slider.box.x + slider.box.width - 2}, {slider.box.y + 5})")
    assert sitting.text("System Volume", "slider") == "100"
    sitting.click("list-item 'Power'")
    assert (
        sitting.states("Performance", "radio-button") == "checked" and sitting.states("Balanced", "radio-button") == ""
    )
    state = sitting.machine.state()
    assert (state["settings/sound/volume"], state["settings/power/mode"]) == (100, "Performance")


def test_what_needs_a_switch_is_gone_without_it() -> None:
    sitting = Sitting()
    sitting.do("subprocess.Popen(['gnome-control-center', 'wifi'])")
    assert sitting.is_shown("Metered Connection") and sitting.text("Network", "combo-box")
    sitting.click("switch 'Wi-Fi'")
    assert sitting.text("Network", "combo-box") is None


def test_the_clock_follows_its_setting_and_names_are_entered() -> None:
    sitting = Sitting(clock="2026-04-20T14:30:00")
    sitting.do("subprocess.Popen(['gnome-control-center', 'datetime'])")
    assert sitting.is_shown("Apr 20  14:30")
    sitting.click("switch '24-Hour Time'")
    assert any("2:30" in node.name and "PM" in node.name for node in sitting.nodes)
    sitting.click("list-item 'About'", "entry 'Device Name'")
    sitting.keys("ctrl", "a")
    sitting.type("lighthouse\n")
    assert sitting.machine.state()["settings/about/device"] == "lighthouse"


def test_panels_are_searched() -> None:
    sitting = Sitting()
    sitting.click("push-button 'Settings'", "entry 'Search'")
    sitting.type("night light")
    assert sitting.is_shown("Displays") and not sitting.is_shown("Power")


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_what_is_printed_is_hit(data: st.DataObject) -> None:
    """A click on any cell, tab or heading of the table selects it."""
    sitting = at_table("1,2,3\n4,5\n,,6\n[More]\nx\n")
    nodes = [node for node in sitting.nodes if node.role in ("table-cell", "page-tab", "row-header", "column-header")]
    node = data.draw(st.sampled_from(nodes))
    sitting.do(f"pyautogui.click({node.target})")
    assert sitting.states(node.name, node.role) == "selected"


CODES = st.sampled_from(
    [f"pyautogui.hotkey('ctrl', '{key}')" for key in "azyxcvdbfhs"]
    + [
        f"pyautogui.press('{key}')"
        for key in ("enter", "tab", "delete", "f2", "esc", "down", "right", "pagedown", "end")
    ]
    + [f"pyautogui.write({text!r})" for text in ("=A1+", "=SUM(A1:C3)\n", "7\t8\n", "'x", "[a]\n")]
    + ["pyautogui.hotkey('shift', 'down')", "pyautogui.hotkey('ctrl', 'shift', 'l')", "pyautogui.scroll(-3)"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(CODES, st.tuples(st.integers(420, 1540), st.integers(160, 920))), max_size=25))
def test_a_spreadsheet_survives_any_input_and_its_fork_does_the_same(inputs: list[str | tuple[int, int]]) -> None:
    machine = at_table("1,2,=A1+B1\nx,=C1,\n").machine
    for number, item in enumerate(inputs):
        code = (
            item if isinstance(item, str) else f"pyautogui.{('click', 'doubleClick', 'rightClick')[number % 3]}{item}"
        )
        fork = machine.fork()
        assert fork.act(code) == machine.act(code)
        assert fork.state() == machine.state()


SHOP = {
    "categories": [{"slug": "home", "name": "Home"}, {"slug": "garden", "name": "Garden"}],
    "products": [
        {"product_id": 1, "name": "Lamp Kelso", "category": "home", "price": 41.5, "description": "A lamp."},
        {"product_id": 2, "name": "Lamp Arden", "category": "home", "price": 20.25, "description": "A lamp."},
        {"product_id": 3, "name": "Rake", "category": "garden", "price": 9, "description": "A rake."},
    ],
    "reviews": [],
}


def at_shop() -> Sitting:
    return Sitting(sites={"shop": SHOP}, open=[{"program": "browser"}])


def test_pages_are_searched_opened_and_left_again() -> None:
    sitting = at_shop()
    home = sitting.text("Address and search bar")
    sitting.click("entry 'Search products'")
    sitting.type("lamp\n")
    assert [node.name for node in sitting.nodes if node.role == "link" and "Lamp" in node.name] == [
        "Lamp Arden",
        "Lamp Kelso",
    ]
    assert "q=lamp" in (sitting.text("Address and search bar") or "")
    sitting.click("link 'Lamp Arden'")
    assert sitting.is_shown("€20.25") and not sitting.is_shown("Lamp Kelso")
    sitting.click("push-button 'Back'")
    assert sitting.is_shown("Lamp Kelso")
    sitting.keys("alt", "left")
    assert sitting.text("Address and search bar") == home
    sitting.click("push-button 'Forward'")
    assert sitting.is_shown("Lamp Kelso") and not sitting.is_shown("Rake")


def test_what_is_chosen_on_a_page_is_sent_with_its_form() -> None:
    sitting = at_shop()
    sitting.keys("ctrl", "l")
    sitting.type("shop.example/products\n")
    sitting.click("combo-box 'Category'", "menu-item 'Garden'")
    if sitting.is_shown("Lamp Kelso"):
        sitting.click("push-button 'Apply'")
    assert sitting.is_shown("Rake") and not sitting.is_shown("Lamp Kelso")
    assert sitting.text("Category", "combo-box") == "Garden"


def test_tabs_and_bookmarks() -> None:
    sitting = at_shop()
    sitting.click("push-button 'Bookmark this page'")
    first = next(node.name for node in sitting.nodes if node.role == "page-tab")
    sitting.keys("ctrl", "t")
    sitting.type("nowhere.example\n")
    assert [node.description for node in sitting.nodes if node.role == "page-tab"] == ["", "selected"]
    assert any("ERR_NAME_NOT_RESOLVED" in node.label for node in sitting.nodes)
    sitting.click(f"push-button '{first}'")
    assert sitting.is_shown("Fernhill Home")
    sitting.keys("ctrl", "w")
    assert sum(node.role == "page-tab" for node in sitting.nodes) == 1
    sitting.keys("ctrl", "shift", "t")
    assert sum(node.role == "page-tab" for node in sitting.nodes) == 2


def test_the_helper_of_the_browser() -> None:
    sitting = at_shop()
    sitting.do(
        "BrowserTools.new_tab('http://shop.example/products/3')",
        "BrowserTools.switch_tab(0)",
        "open('/home/user/title.txt', 'w').write(BrowserTools.get_tabs()[1]['title'] + BrowserTools.get_url())",
    )
    assert "Rake" in saved(sitting, "/home/user/title.txt") and "http://shop.example/" in saved(
        sitting, "/home/user/title.txt"
    )
    sitting.machine.act("BrowserTools.switch_tab(7)")
    assert "IndexError" in sitting.machine.problem


def test_a_fork_of_a_browser_is_its_own() -> None:
    sitting = at_shop()
    before = sitting.machine.observation
    fork = sitting.machine.fork()
    fork.act("BrowserTools.open_url('shop.example/products')")
    assert fork.observation != before and sitting.machine.act("time.sleep(0)") == before


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(370, 1550), st.integers(200, 970)), max_size=12), st.text(max_size=8))
def test_a_browser_survives_any_click(points: list[tuple[int, int]], text: str) -> None:
    machine = at_shop().machine
    for x, y in points:
        code = f"pyautogui.click({x}, {y})\npyautogui.write({text!r})"
        fork = machine.fork()
        assert fork.act(code) == machine.act(code) and fork.state() == machine.state()

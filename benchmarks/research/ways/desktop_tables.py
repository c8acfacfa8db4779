"""Ways of the tasks of the desktop in the spreadsheet and in the shop."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.desktop.tasks.actions import (
    CLOSE,
    SAVE,
    cell,
    click,
    double,
    enter,
    icon,
    keys,
    right,
    write,
)
from ways.desktop_screens import DOCUMENTS, TERMINAL, cells, content, printed, row_of, rows, run
from ways.playing import Ways, given, only_if, read

SAVE_BY_MENU = (click("menu 'File'"), click("menu-item 'Save'"))


def _calc(name: str) -> str:
    return f"subprocess.Popen(['libreoffice', '--calc', '{DOCUMENTS}/{name}'])\ntime.sleep(3)"


def _put(place: str, entry: str) -> ActionStream:
    yield click(cell(place))
    return (yield enter(entry))


def _helped(place: str, entry: str) -> str:
    return f"CalcTools.set_cell_values(new_values=[{entry!r}], range={place!r})"


# fill_table


def _is_budget(instruction: str) -> bool:
    return "budget" in instruction


def _given(instruction: str) -> tuple[str, str] | None:
    found = re.search(r"amount for (\w+) is missing: it is (\d+)\.|budget: (\w+) cost (\d+)\.", instruction)
    return None if found is None else (found[1] or found[3], found[2] or found[4])


def _missing(instruction: str, screen: str, note: str) -> list[tuple[str, str]]:
    """Return the cells that are empty and what belongs there."""
    if given := _given(instruction):
        return [(f"B{row_of(screen, given[0])}", given[1])]
    return [
        (f"B{number}", read(rf"^{item}: (\d+)", note))
        for number, (item, amount) in enumerate(rows(screen, "B"), 1)
        if not amount and item != "Total"
    ]


def _new(instruction: str) -> str:
    found = re.search(r'"(budget-\w+\.csv)"', instruction)
    return found[1] if found else ""


def _as_csv(new: str) -> ActionStream:
    """Save the table under another name from the menu."""
    yield click("menu 'File'")
    yield click("menu-item 'Save As...'")
    if "Use Text CSV Format!" in (yield enter(new, clear=True)):
        yield click("push-button 'Use Text CSV Format!'")


@only_if(_is_budget)
def fill_with_sums_by_hand(instruction: str, screen: str) -> ActionStream:
    """Type the total as a number."""
    note, shown = "", screen
    if _given(instruction) is None:
        note = content((yield double(icon("receipts.txt"))))
        yield CLOSE
        shown = yield double(icon("budget.ods"))
    missing = _missing(instruction, shown, note)
    for place, amount in missing:
        shown = yield from _put(place, amount)
    if note:
        total = sum(int(amount) for item, amount in rows(shown, "B") if amount.isdigit() and item != "Total")
        yield from _put("B7", str(total))
    if new := _new(instruction):
        yield from _as_csv(new)
    else:
        yield click("push-button 'Save'")
    yield "finish"


@only_if(_is_budget)
def fill_with_another_formula(instruction: str, screen: str) -> ActionStream:
    """Enter the total first, as a sum of single cells, and type on the input line."""
    note, shown = "", screen
    if _given(instruction) is None:
        note = content((yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/receipts.txt'])\ntime.sleep(2)"))
        yield CLOSE
        shown = yield _calc("budget.ods")
        yield from _put("B7", "=B2+B3+B4+B5+B6")
    for place, amount in _missing(instruction, shown, note):
        yield click(cell(place))
        yield click("entry 'Input line'")
        yield enter(amount)
    if new := _new(instruction):
        yield from _as_csv(new)
    else:
        yield SAVE_BY_MENU[0]
        yield SAVE_BY_MENU[1]
    yield "finish"


@only_if(_is_budget)
def fill_with_the_helper(instruction: str, screen: str) -> ActionStream:
    """Read the note in a terminal, and enter all by the helper of the spreadsheet."""
    note, shown = "", screen
    if _given(instruction) is None:
        yield TERMINAL
        note = printed((yield run("cat Documents/receipts.txt")))
        shown = yield _calc("budget.ods")
    for place, amount in _missing(instruction, shown, note):
        yield _helped(place, amount)
    if note:
        yield _helped("B7", "=SUM(B2;B3;B4;B5;B6)")
    if new := _new(instruction):
        yield keys("ctrl", "shift", "s")
        yield enter(new, clear=True)
        yield click("push-button 'Use Text CSV Format!'")
    else:
        yield SAVE
    yield "finish"


# sort_table


def _place(instruction: str) -> int:
    return 1 if "gave the second most" in instruction else 2


def _is_sorting(instruction: str) -> bool:
    return "the largest first" in instruction


def _gone(instruction: str, screen: str) -> ActionStream:
    """Return whose row goes; empty where none does."""
    if found := re.search(r"delete the row of (\w+),", instruction):
        return found[1]
    if '"withdrawn.txt"' in instruction:
        note = content((yield double(icon("withdrawn.txt"))))
        yield CLOSE
        return read(r"^(\w+) took the donation back", note)
    return ""


def _ranked(screen: str) -> list[str]:
    donors = [held for held in rows(screen, "C") if held[2].isdigit()]
    return [held[0] for held in sorted(donors, key=lambda held: -int(held[2]))]


def _best(instruction: str, best: list[str]) -> ActionStream:
    """Write the best two down where that is wanted; returns how the episode is finished."""
    if '"best.txt"' not in instruction:
        return f"finish: {best[_place(instruction)]}"
    yield TERMINAL
    yield run(f"printf '{best[0]}\\n{best[1]}\\n' >> Documents/best.txt")
    return "finish"


@only_if(_is_sorting)
def sort_before_deleting(instruction: str, screen: str) -> ActionStream:
    """Sort by the menu first, and delete the row then by its own menu."""
    gone = yield from _gone(instruction, screen)
    if '"donations.ods"' in instruction:
        screen = yield double(icon("donations.ods"))
    yield click(cell("C3"))
    yield click("menu 'Data'")
    shown = yield click("menu-item 'Sort Descending'")
    if gone:
        shown = yield right(f"row-header '{row_of(shown, gone)}'")
        shown = yield click("menu-item 'Delete Rows'")
    yield click("push-button 'Save'")
    yield (yield from _best(instruction, _ranked(shown)))


@only_if(_is_sorting)
def sort_by_typing(instruction: str, screen: str) -> ActionStream:
    """Work the order out, and type the table anew with the helper of the spreadsheet."""
    gone = yield from _gone(instruction, screen)
    if '"donations.ods"' in instruction:
        screen = yield _calc("donations.ods")
    table = [held for held in rows(screen, "C") if held[2].isdigit() and held[0] != gone]
    table.sort(key=lambda held: -int(held[2]))
    if gone:
        yield click(f"row-header '{row_of(screen, gone)}'")
        yield click("menu 'Sheet'")
        yield click("menu-item 'Delete Rows'")
    yield _helped_table("A2", f"C{len(table) + 1}", table)
    yield SAVE_BY_MENU[0]
    yield SAVE_BY_MENU[1]
    yield (yield from _best(instruction, [held[0] for held in table]))


def _helped_table(start: str, end: str, table: list[list[str]]) -> str:
    flat = [entry for held in table for entry in held]
    return f"CalcTools.set_cell_values(new_values={flat!r}, range='{start}:{end}')"


@only_if(_is_sorting)
def sort_twice(instruction: str, screen: str) -> ActionStream:
    """Sort by the town first, by the amount then; append to the list in the editor."""
    gone = yield from _gone(instruction, screen)
    if '"donations.ods"' in instruction:
        screen = yield double(icon("donations.ods"))
    shown = screen
    if gone:
        yield click(f"row-header '{row_of(screen, gone)}'")
        yield click("menu 'Sheet'")
        yield click("menu-item 'Delete Rows'")
    yield click(cell("B2"))
    yield click("push-button 'Sort Ascending'")
    yield click(cell("C2"))
    shown = yield click("push-button 'Sort Descending'")
    best = _ranked(shown)
    yield SAVE
    if '"best.txt"' not in instruction:
        yield f"finish: {best[_place(instruction)].lower()}"
        return
    yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/best.txt'])\ntime.sleep(2)"
    yield keys("ctrl", "end")
    yield write(f"{best[0]}\n{best[1]}")
    yield click("push-button 'Save'")
    yield "finish"


# region_total


def _is_total(instruction: str) -> bool:
    return "D1" in instruction


def _question(instruction: str, screen: str) -> ActionStream:
    """Return the region, the table's file and the screen with the table."""
    found = re.search(r"of the region (\w+) into|did the region (\w+) sell", instruction)
    if found is not None:
        return found[1] or found[2], "", screen
    note = content((yield double(icon("question.txt"))))
    yield CLOSE
    asked = re.search(r"total of (\w+) in (\d+)", note)
    region, year = asked.groups() if asked else ("", "")
    return region, year, (yield _calc(f"sales-{year}.ods"))


def _summed(screen: str, region: str) -> tuple[int, list[str]]:
    """Return the total of a region and the cells that it is made of."""
    lines = [(number, held) for number, held in enumerate(rows(screen, "C"), 1) if held[0] == region]
    return sum(int(held[2]) for _, held in lines), [f"C{number}" for number, _ in lines]


def _answered(instruction: str, region: str, year: str, total: str) -> ActionStream:
    """Enter the total in the summary where that is wanted; returns how the episode is finished."""
    if '"summary.ods"' in instruction:
        shown = yield _calc("summary.ods")
        yield from _put(f"B{row_of(shown, f'{region} {year}')}", total)
        yield click("push-button 'Save'")
    return f"finish: {total}"


@only_if(_is_total)
def total_as_a_sum_of_cells(instruction: str, screen: str) -> ActionStream:
    """Add the cells up one by one."""
    region, year, shown = yield from _question(instruction, screen)
    total, places = _summed(shown, region)
    yield from _put("D1", "=" + "+".join(places))
    yield SAVE
    yield (yield from _answered(instruction, region, year, str(total)))


@only_if(_is_total)
def total_of_whole_columns(instruction: str, screen: str) -> ActionStream:
    """Work it out by a formula over more rows, written in small letters on the input line."""
    region, year, shown = yield from _question(instruction, screen)
    yield click(cell("D1"))
    yield click("entry 'Input line'")
    shown = yield enter(f'=sumif($A$1:$A$20;"={region}";$C$1:$C$20)')
    total = cells(shown)["D1"]
    yield SAVE_BY_MENU[0]
    yield SAVE_BY_MENU[1]
    yield (yield from _answered(instruction, region, year, total))


@only_if(_is_total)
def total_from_the_calculator(instruction: str, screen: str) -> ActionStream:
    """Work it out elsewhere and enter the number."""
    region, year, shown = yield from _question(instruction, screen)
    total, _ = _summed(shown, region)
    yield _helped("D1", str(total))
    yield click("push-button 'Save'")
    end = yield from _answered(instruction, region, year, str(total))
    yield end.replace("finish: ", "finish: The total is ")


# move_row


def _fee(instruction: str) -> str:
    found = re.search(r"Add the fee of (\w+) from", instruction)
    return "" if found is None else found[1]


@given(_fee)
def fee_in_a_terminal(person: str, instruction: str, screen: str) -> ActionStream:
    """Read the table in a terminal, and append by a command."""
    yield TERMINAL
    line = printed((yield run(f"grep {person} Documents/applicants.ods"))).strip()
    yield run(f"echo {line.rpartition(',')[2]} >> Documents/invoice.txt")
    yield "finish"


@given(_fee)
def fee_typed(person: str, instruction: str, screen: str) -> ActionStream:
    """Type the fee without a line break at its end."""
    shown = yield double(icon("applicants.ods"))
    fee = cells(shown)[f"C{row_of(shown, person)}"]
    yield CLOSE
    yield double(icon("invoice.txt"))
    yield keys("ctrl", "end")
    yield write(fee)
    yield click("push-button 'Save'")
    yield "finish"


@given(_fee)
def fee_retyped(person: str, instruction: str, screen: str) -> ActionStream:
    """Read the table beside the note, and type the whole note anew."""
    shown = yield _calc("applicants.ods")
    fee = cells(shown)[f"C{row_of(shown, person)}"]
    shown = yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/invoice.txt'])\ntime.sleep(2)"
    text = content(shown)
    yield f"{keys('ctrl', 'a')}\n{write(f'{text}{fee}{chr(10)}')}"
    yield SAVE
    yield "finish"


def _is_member(instruction: str) -> bool:
    return "becomes a member" in instruction


def _chosen() -> ActionStream:
    """Return who becomes a member."""
    note = content((yield double(icon("decision.txt"))))
    yield CLOSE
    return read(r"^(\w+) becomes a member", note)


@only_if(_is_member)
def row_typed(instruction: str, screen: str) -> ActionStream:
    """Read the row and type it into the other table; delete it first where it moves."""
    person = yield from _chosen()
    shown = yield double(icon("applicants.ods"))
    number = row_of(shown, person)
    row = [cells(shown)[f"{column}{number}"] for column in "ABC"]
    if "delete it from" in instruction:
        yield right(f"row-header '{number}'")
        yield click("menu-item 'Delete Rows'")
        yield SAVE
    yield CLOSE
    yield double(icon("members.ods"))
    for column, entry in zip("ABC", row, strict=True):
        yield from _put(f"{column}4", entry)
    yield click("push-button 'Save'")
    yield "finish"


@only_if(_is_member)
def row_of_cells_copied(instruction: str, screen: str) -> ActionStream:
    """Copy the three cells by the menu, not the whole row."""
    person = yield from _chosen()
    shown = yield _calc("applicants.ods")
    number = row_of(shown, person)
    yield f"pyautogui.moveTo(@{{{cell(f'A{number}')}}})\npyautogui.dragTo(@{{{cell(f'C{number}')}}}, button='left')"
    yield click("push-button 'Copy'")
    if "delete it from" in instruction:
        yield click(f"row-header '{number}'")
        yield click("menu 'Sheet'")
        yield click("menu-item 'Delete Rows'")
        yield click("push-button 'Save'")
    yield _calc("members.ods")
    yield click(cell("A4"))
    yield click("push-button 'Paste'")
    yield SAVE_BY_MENU[0]
    yield SAVE_BY_MENU[1]
    yield "finish"


@only_if(_is_member)
def row_by_the_helper(instruction: str, screen: str) -> ActionStream:
    """Read all in a terminal, and enter the row by the helper of the spreadsheet."""
    yield TERMINAL
    note = printed((yield run("cat Documents/decision.txt")))
    person = read(r"^(\w+) becomes a member", note)
    row = printed((yield run(f"grep {person} Documents/applicants.ods"))).strip().split(",")
    yield _calc("members.ods")
    yield _helped_table("A4", "C4", [row])
    yield SAVE
    if "delete it from" in instruction:
        shown = yield _calc("applicants.ods")
        yield click(f"row-header '{row_of(shown, person)}'")
        yield click("menu 'Sheet'")
        yield click("menu-item 'Delete Rows'")
        yield SAVE
    yield "finish"


# shop_prices

BROWSER = click("push-button 'Web Browser'")


def _is_shop(instruction: str) -> bool:
    return '"prices.ods"' in instruction


def _goods(instruction: str, screen: str) -> ActionStream:
    """Return the goods whose prices are wanted; the browser is in front then."""
    found = re.search(r'How much is the "(.+?)"|price of the "(.+?)" in the shop', instruction)
    if found is not None:
        return [found[1] or found[2]]
    note = content((yield double(icon("request.txt"))))
    yield CLOSE
    yield BROWSER
    return re.findall(r"wants to know the price of: (.+)", note)


def _price(shown: str, good: str) -> str:
    return read(rf"(?:link|heading)\t{re.escape(good)}\t(?:.*\n)+?.*€([\d.]+)", shown)


@only_if(_is_shop)
def prices_by_the_address(instruction: str, screen: str) -> ActionStream:
    """Type the search into the address bar."""
    prices = {}
    for good in (yield from _goods(instruction, screen)):
        yield click("entry 'Address and search bar'")
        shown = yield enter(f"http://shop.example/products?q={good.replace(' ', '+')}", clear=True)
        prices[good] = _price(shown, good)
    shown = yield _calc("prices.ods")
    for good, price in prices.items():
        yield from _put(f"B{row_of(shown, good)}", price)
    yield SAVE
    yield "finish"


@only_if(_is_shop)
def prices_on_the_pages(instruction: str, screen: str) -> ActionStream:
    """Search, open the page of the product, and enter the price by the helper of the spreadsheet."""
    prices = {}
    for good in (yield from _goods(instruction, screen)):
        yield click("entry 'Search products'")
        yield f"{keys('ctrl', 'a')}\n{write(good.split()[1])}"
        yield click("push-button 'Search'")
        shown = yield click(f"link '{good}'")
        prices[good] = _price(shown, good)
    shown = yield _calc("prices.ods")
    for good, price in prices.items():
        yield _helped(f"B{row_of(shown, good)}", price)
    yield click("push-button 'Save'")
    yield "finish"


@only_if(_is_shop)
def prices_in_another_tab(instruction: str, screen: str) -> ActionStream:
    """Open all products in a tab of their own, and leave the browser open; bookmark nothing."""
    goods = yield from _goods(instruction, screen)
    yield click("push-button 'New Tab'")
    prices = {}
    for good in reversed(goods):
        yield click("entry 'Address and search bar'")
        shown = yield enter(f"shop.example/products?q={good.split()[1]}", clear=True)
        prices[good] = _price(shown, good)
    shown = yield _calc("prices.ods")
    for good, price in prices.items():
        yield click(cell(f"B{row_of(shown, good)}"))
        yield click("entry 'Input line'")
        yield enter(price)
    yield SAVE_BY_MENU[0]
    yield SAVE_BY_MENU[1]
    yield "finish"


WAYS: Ways = {
    "fill_table": [fill_with_sums_by_hand, fill_with_another_formula, fill_with_the_helper],
    "sort_table": [sort_before_deleting, sort_by_typing, sort_twice],
    "region_total": [total_as_a_sum_of_cells, total_of_whole_columns, total_from_the_calculator],
    "move_row": [fee_in_a_terminal, fee_typed, fee_retyped, row_typed, row_of_cells_copied, row_by_the_helper],
    "shop_prices": [prices_by_the_address, prices_on_the_pages, prices_in_another_tab],
}

"""Ways of the tasks of the desktop that are written by hand."""

from __future__ import annotations

from agentworld_gym.domains.desktop.tasks.actions import (
    CLOSE,
    SAVE,
    cell,
    click,
    double,
    enter,
    icon,
    keys,
    press,
    right,
    write,
)
from ways.desktop_screens import DOCUMENTS, TERMINAL, run
from ways.playing import Ways, fixed

SETTINGS = click("push-button 'Settings'")
SAVED = click("push-button 'Save'")
CALC = f"subprocess.Popen(['libreoffice', '--calc', '{DOCUMENTS}/{{}}'])\ntime.sleep(3)"
LAMP = "Desk lamp Tove"


def _panel(name: str) -> str:
    return click(f"list-item '{name}'")


def _drag(what: str, where: str) -> str:
    return f"pyautogui.moveTo(@{{{what}}})\npyautogui.dragTo(@{{{where}}}, button='left')"


BLANK = (_panel("Power"), click("combo-box 'Screen Blank'"), click("menu-item '15 minutes'"))
DARK = (_panel("Appearance"), click("switch 'Dark Style'"))
RENAMED = (click("menu-item 'Rename…'"), enter("minutes-2026-03.odt", clear=True))
RESTORED = (click("push-button 'Trash'"), right(icon("guests.txt")), click("menu-item 'Restore From Trash'"))
OPEN_ONLY = (click("push-button 'AutoFilter C'"), click("menu-item 'open'"))

WAYS: Ways = {
    "bring-the-price-down": [
        fixed(
            "sort first",
            double(icon("prices.csv")),
            click(cell("B3")),
            click("menu 'Data'"),
            click("menu-item 'Sort Ascending'"),
            click("row-header '4'"),
            click("menu 'Sheet'"),
            click("menu-item 'Delete Rows'"),
            SAVED,
        ),
        fixed(
            "commands",
            TERMINAL,
            run("cd Documents"),
            run("(head -1 prices.csv; tail -n +2 prices.csv | grep -v Marmalade | sort -t, -k2 -n) > /tmp/p"),
            run("cp /tmp/p prices.csv; cat prices.csv"),
        ),
        fixed(
            "typed in the editor",
            f"subprocess.Popen(['gedit', '{DOCUMENTS}/prices.csv'])\ntime.sleep(2)",
            f"{keys('ctrl', 'a')}\n{write('Article,Price' + chr(10) + 'Apples,2.4' + chr(10) + 'Cider,3.8' + chr(10))}",
            write("Walnuts,5.9\nHoney,7.5\n"),
            SAVE,
        ),
    ],
    "cheapest-lamp": [
        fixed(
            "by the address, and a key",
            click("entry 'Address and search bar'"),
            enter("http://shop.example/products?q=desk+lamp&sort=price&stock=1", clear=True),
            click(f"link '{LAMP}'"),
            keys("ctrl", "d"),
            "finish: €29.90",
        ),
        fixed(
            "look something up in Files in the end",
            click("entry 'Search products'"),
            enter("desk lamp"),
            click(f"link '{LAMP}'"),
            click("push-button 'Bookmark this page'"),
            click("push-button 'Files'"),
            CLOSE,
            "finish: 29.90 euros",
        ),
        fixed(
            "look at another lamp first",
            click("entry 'Search products'"),
            write("desk lamp"),
            click("push-button 'Search'"),
            click("link ~'Desk lamp'"),
            click("push-button 'Back'"),
            click(f"link '{LAMP}'"),
            click("push-button 'Bookmark this page'"),
            "finish: It costs 29.90.",
        ),
    ],
    "evening-light": [
        fixed("the other order", SETTINGS, *BLANK, *DARK),
        fixed(
            "panels by commands",
            "subprocess.Popen(['gnome-control-center', 'Power'])\ntime.sleep(2)",
            *BLANK[1:],
            "subprocess.Popen(['gnome-control-center', 'Appearance'])\ntime.sleep(2)",
            DARK[1],
            CLOSE,
        ),
        fixed("the overview", press("win"), write("settings"), press("enter"), *DARK, *BLANK, CLOSE),
    ],
    "half-past-two": [
        fixed(
            "a command",
            "subprocess.Popen(['gnome-control-center', 'Date & Time'])\ntime.sleep(2)",
            click("switch '24-Hour Time'"),
            "finish: 2:30 PM",
        ),
        fixed(
            "closed in the end",
            press("win"),
            write("settings"),
            press("enter"),
            _panel("Date & Time"),
            click("switch '24-Hour Time'"),
            CLOSE,
            "finish: 02:30 PM",
        ),
        fixed(
            "looked at first",
            SETTINGS,
            _panel("Appearance"),
            _panel("Date & Time"),
            click("switch '24-Hour Time'"),
            "finish: 2:30 pm",
        ),
    ],
    "new-phone-number": [
        fixed(
            "the input line",
            double(icon("letter.txt")),
            CALC.format("contacts.ods"),
            click(cell("B3")),
            click("entry 'Input line'"),
            f"{keys('ctrl', 'a')}\n{enter('555-0199')}",
            SAVED,
        ),
        fixed(
            "commands",
            TERMINAL,
            run("cd Documents; cat letter.txt"),
            run("sed -i 's/555-0142/555-0199/' contacts.ods"),
        ),
        fixed(
            "the helper, and a look at the letter afterwards",
            double(icon("contacts.ods")),
            "CalcTools.set_cell_values(new_values=['555-0199'], range='B3')",
            click("menu 'File'"),
            click("menu-item 'Save'"),
            CLOSE,
            double(icon("letter.txt")),
        ),
    ],
    "open-orders": [
        fixed(
            "the menu",
            click("menu 'Data'"),
            click("menu-item 'AutoFilter'"),
            *OPEN_ONLY,
            "finish: 224.5",
        ),
        fixed(
            "another choice first",
            click(cell("A1")),
            click("push-button 'AutoFilter'"),
            OPEN_ONLY[0],
            click("menu-item 'paid'"),
            *OPEN_ONLY,
            _drag(cell("D2"), cell("D7")),
            "finish: 224.50",
        ),
        fixed(
            "added up on the calculator",
            click("push-button 'AutoFilter'"),
            *OPEN_ONLY,
            click("push-button 'Calculator'"),
            write("120+60.5+44\n"),
            "finish: The sum is 224.5.",
        ),
    ],
    "rename-minutes": [
        fixed(
            "move first",
            right(icon("minutes draft.odt")),
            click("menu-item 'Cut'"),
            double(icon("Archive")),
            keys("ctrl", "v"),
            right(icon("minutes draft.odt")),
            *RENAMED,
        ),
        fixed("a command", TERMINAL, run("mv Documents/'minutes draft.odt' Documents/Archive/minutes-2026-03.odt")),
        fixed(
            "drag",
            right(icon("minutes draft.odt")),
            *RENAMED,
            _drag(icon("minutes-2026-03.odt"), icon("Archive")),
        ),
    ],
    "rescue-the-guests": [
        fixed(
            "drag",
            *RESTORED,
            click("list-item 'Home'"),
            _drag(icon("guests.txt"), icon("Documents")),
            click("list-item 'Documents'"),
            _drag(icon("guests.txt"), icon("Wedding")),
        ),
        fixed("a command in the end", *RESTORED, TERMINAL, run("mv guests.txt Documents/Wedding/ && ls Documents/*")),
        fixed(
            "the menu",
            click("list-item 'Trash'"),
            click(icon("guests.txt")),
            click("push-button 'Restore'"),
            click("list-item 'Home'"),
            right(icon("guests.txt")),
            click("menu-item 'Cut'"),
            double(icon("Documents")),
            double(icon("Wedding")),
            keys("ctrl", "v"),
        ),
    ],
    "smaller-cake": [
        fixed(
            "save the copy first",
            click("push-button 'Open Menu'"),
            click("menu-item 'Save As…'"),
            enter("plum cake margarine.txt", clear=True),
            keys("ctrl", "h"),
            write("butter"),
            click("entry 'Replace with'"),
            write("margarine"),
            click("push-button 'Replace All'"),
            SAVED,
        ),
        fixed(
            "a command",
            TERMINAL,
            run("cd Documents; sed 's/butter/margarine/g' 'plum cake.txt' > 'plum cake margarine.txt'"),
        ),
        fixed(
            "copied in Python, and changed there",
            f"text = open('{DOCUMENTS}/plum cake.txt').read().replace('butter', 'margarine')\n"
            f"open('{DOCUMENTS}/plum cake margarine.txt', 'w').write(text)",
        ),
    ],
    "total-the-invoice": [
        fixed(
            "every line typed",
            *(step for row in range(2, 6) for step in (click(cell(f"D{row}")), enter(f"=C{row}*B{row}"))),
            click(cell("D6")),
            enter("=D2+D3+D4+D5"),
            SAVED,
        ),
        fixed(
            "products",
            *(f"CalcTools.set_cell_values(new_values=['=PRODUCT(B{n};C{n})'], range='D{n}')" for n in range(2, 6)),
            "CalcTools.set_cell_values(new_values=['=SUM(D2;D3;D4;D5)'], range='D6')",
            click("menu 'File'"),
            click("menu-item 'Save'"),
        ),
        fixed(
            "the total first",
            click(cell("D6")),
            enter("=SUM(D2:D5)"),
            click(cell("D2")),
            enter("=$B2*$C2"),
            click(cell("D2")),
            keys("ctrl", "c"),
            _drag(cell("D3"), cell("D5")),
            keys("ctrl", "v"),
            SAVE,
        ),
    ],
    "two-quarters": [
        fixed(
            "rename first",
            double(icon("quarters.ods")),
            double("page-tab 'Year'"),
            enter("2026", clear=True),
            click(cell("B1")),
            enter("=SUM($First.B4;$Second.B4)"),
            SAVED,
        ),
        fixed(
            "the helper",
            double(icon("quarters.ods")),
            click("page-tab 'Year'"),
            "CalcTools.set_cell_values(new_values=['=First.B4+Second.B4'], range='B1')",
            right("page-tab 'Year'"),
            click("menu-item ~'Rename'"),
            enter("2026", clear=True),
            SAVE,
        ),
        fixed(
            "keys, the other way round",
            CALC.format("quarters.ods"),
            keys("ctrl", "pagedown"),
            keys("ctrl", "pagedown"),
            click(cell("B1")),
            enter("=$Second.B4+$First.B4"),
            double("page-tab 'Year'"),
            enter("2026", clear=True),
            click("menu 'File'"),
            click("menu-item 'Save'"),
        ),
    ],
    "which-log": [
        fixed(
            "all in the terminal",
            run("grep -rn 'disk full' logs"),
            run("echo 06:31 >> report.txt"),
            "finish: 06:31",
        ),
        fixed(
            "read every log",
            run("cat logs/*"),
            "subprocess.Popen(['gedit', '/home/user/Documents/report.txt'])\ntime.sleep(2)",
            f"{keys('ctrl', 'end')}\n{write('06:31')}",
            SAVED,
            "finish: at 06:31",
        ),
        fixed(
            "a pattern of one's own",
            run("grep -h full logs/*.log"),
            CLOSE,
            double(icon("report.txt")),
            keys("ctrl", "end"),
            enter("06:31"),
            click("push-button 'Save'"),
            CLOSE,
            "finish: 06:31.",
        ),
    ],
}

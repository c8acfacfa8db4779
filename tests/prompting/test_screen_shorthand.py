"""Screens in fewer words, and which of their lines an action points at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.prompting.changes import apply, predictable_diff, renumbers
from agentworld_gym.prompting.screen_shorthand import restore, shorten
from agentworld_gym.screens.pointing import pointed_lines
from agentworld_gym.text.process_group import process_group

PAGE = """### Page
- Page URL: http://shop.example/
### Snapshot
```yaml
- generic [active] [ref=e1]:
  - link "Cart (2)" [ref=e2] [cursor=pointer]:
    - /url: /cart
  - textbox "Name \\"x\\"" [ref=e5]: Ada
  - 'link "a: b" [ref=e6]'
  - text: Total
  - img
```"""

lines = st.one_of(
    st.sampled_from(PAGE.split("\n")),
    st.from_regex(r'\A {0,4}- [a-z]{1,6}( "[a-z\\]{0,3}")?( \[(ref=(e|\+)[0-9]{1,3}|cursor=pointer)\]){0,2}:?\Z'),
    st.text(max_size=12).map(lambda text: text.replace("\n", " ")),
)


REPORT = (
    "Command: ls\nDirectory: (root)\nOutput: (none)\nError: (none)\nExit Code: 0\nSignal: (none)\n"
    "Background PIDs: (none)"
)
TOOL_LINES = st.sampled_from(
    [
        *REPORT.split("\n"),
        "Output: (empty)",
        "Process Group PGID: 7",
        f"Process Group PGID: {process_group(REPORT)}",
        "Showing lines 2-3 of 9 total lines.",
        "[lines 2-3 of 9]",
        "",
        "---",
        'Found 2 matches for pattern "a" in path ".":',
        "File: a.py",
        "\\",
    ]
)


@given(st.lists(TOOL_LINES | st.text(max_size=4), max_size=14))
def test_every_answer_of_a_tool_comes_back(parts: list[str]) -> None:
    text = "\n".join(parts)
    assert restore("swe", shorten("swe", text)) == text
    restore("swe", text)


def test_answers_of_tools_lose_what_follows_from_the_rest() -> None:
    assert shorten("swe", f"{REPORT}\nProcess Group PGID: {process_group(REPORT)}") == REPORT.replace(
        "Output: (none)", "Output: (empty)"
    )
    found = 'Found 1 match for pattern "a" in path ".":\n---\nFile: a.py\nL1: a\n---'
    assert shorten("swe", found) == found.replace("---\n", "", 1)


@given(st.lists(lines, max_size=12))
def test_every_page_comes_back(parts: list[str]) -> None:
    page = "\n".join(parts)
    short = shorten("web", page)
    assert restore("web", short) == page
    assert short.count("\n") == page.count("\n")
    restore("web", page)


def test_references_that_count_up_are_left_out() -> None:
    short = shorten("web", PAGE)
    assert '  - link "Cart (2)" [cursor=pointer]:' in short
    assert "[ref=+3]: Ada" in short
    assert "[ref=e" in short  # a quoted item keeps its own
    assert "\\  - img" in short  # an item without a reference is written out
    assert shorten("desktop", PAGE) == PAGE


phone_lines = st.one_of(
    st.sampled_from([
        '[ 0] | android.widget.EditText | text="Say \\"hi\\"" hint="Title" | bounds=[0,0][9,9] | clickable, editable',
        '[ 1] | android.widget.Button | text="Save" | bounds=[0,0][9,9]',
        '[ 2] | android.widget.ImageView | res="org.example:id/search_icon" | bounds=[0,0][9,9] | clickable',
        '[12] | android.view.ViewGroup | bounds=[0,0][9,9]',
        '[3] text="" content_desc="A" class=a.Button clickable disabled bounds=[0,0][9,9]',
    ]),
    st.from_regex(r'\A\\?\[ ?[0-9]{1,3}\] \| [a-z.]{1,9}(EditText|Switch)? \|( (text|hint|desc)="[a-z]{0,3}"){0,2}'
                  r'( \|)? bounds=\[0,0\]\[9,9\]( \| [a-z]{1,3}(, focused)?)?\Z'),
    st.text(max_size=12).map(lambda text: text.replace("\n", " ")),
)  # fmt: skip


@given(st.lists(phone_lines, max_size=6))
def test_every_phone_comes_back(parts: list[str]) -> None:
    screen = "\n".join(parts)
    known = shorten("android", screen)
    assert restore("android", known) == screen
    assert known.count("\n") == screen.count("\n")
    restore("android", screen)


def test_small_models_see_the_lines_that_they_know() -> None:
    assert shorten("android", PHONE) == (
        '[0] text="A" content_desc="" class=android.widget.Button clickable focusable bounds=[0,0][100,50]\n'
        '[1] text="B" content_desc="" class=android.widget.Button clickable focusable bounds=[0,50][100,90]'
    )
    off = '[ 7] | android.widget.Button | text="Order" | bounds=[0,0][9,9]'
    assert "clickable focusable disabled" in shorten("android", off)
    resource = '[ 7] | android.widget.Button | res="org.example:id/ok" | bounds=[0,0][9,9] | clickable'
    assert shorten("android", resource) == resource, "there is no such attribute in those lines"


def test_a_change_in_the_middle_leaves_the_lines_behind_it_as_they_are() -> None:
    head, foot = "- main [ref=e1]:\n", "  - link [ref=e{}]\n  - link [ref=e{}]\n"
    pages = ["```yaml\n" + head + extra + foot.format(*refs) + "```" for extra, refs in EXTRAS]
    before, after = (shorten("web", page) for page in pages)
    assert before.split("\n")[-3:] == after.split("\n")[-3:]


EXTRAS = (("", (2, 3)), ("  - button [ref=e2]\n", (3, 4)))


DESKTOP = """tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)
frame\tEditor\t""\t\t\t(0, 0)\t(400, 300)
push-button\tSave\t""\t\t\t(10, 10)\t(40, 20)
push-button\tOpen\t""\t\t\t(60, 10)\t(40, 20)"""
PHONE = """[ 0] | android.widget.Button | text="A" | bounds=[0,0][100,50] | clickable
[ 1] | android.widget.Button | text="B" | bounds=[0,50][100,90] | clickable"""


@pytest.mark.parametrize(
    ("domain", "action", "screen", "expected"),
    [
        ("desktop", "pyautogui.click(20, 20)", DESKTOP, [2]),
        ("desktop", "pyautogui.click(x=300, y=200)", DESKTOP, [1]),
        ("desktop", "pyautogui.click(20, 20); pyautogui.click(70, 20)", DESKTOP, [2, 3]),
        ("desktop", "pyautogui.press('enter')", DESKTOP, []),
        ("desktop", "pyautogui.click(9999, 9)", DESKTOP, []),
        ("android", {"action_type": "click", "index": 1}, PHONE, [1]),
        ("android", {"action_type": "click", "x": 50, "y": 60}, PHONE, [1]),
        ("android", {"action_type": "wait"}, PHONE, []),
        ("web", {"name": "browser_type", "arguments": {"ref": "e5", "text": "e2 and more"}}, PAGE, [7]),
        ("web", {"name": "browser_drag", "arguments": {"startRef": "e2", "endRef": "e5"}}, PAGE, [5, 7]),
        ("web", {"name": "browser_click", "arguments": {"ref": "e99"}}, PAGE, []),
        ("terminal", "ls", "a.txt", []),
        ("android", None, PHONE, []),
    ],
)
def test_an_action_points_at_lines(domain: str, action: Any, screen: str, expected: list[int]) -> None:
    assert pointed_lines(domain, action, screen) == expected


@given(st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abcd"), max_size=14))
def test_a_plain_change_leads_to_the_next_state(before: list[str], after: list[str]) -> None:
    change = predictable_diff("\n".join(before), "\n".join(after))
    assert apply("\n".join(before), change) == "\n".join(after)
    if len(before) != len(after):
        # Whoever was told the numbers of the lines is told them anew, in this answer or by the next prompt.
        assert renumbers(change) or not change.startswith("@@ change")

"""Screens are read from the observation alone, leniently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens import Box, ScreenNode, read_screen
from agentworld_gym.core.screens.plain_words import PlainWords
from agentworld_gym.domains.web.screen_texts import location

GRAPHICAL = ("web", "desktop", "android")

PAGE = """\
### Ran Playwright code
```js
await page.goto('https://shop.example/cart');
```

### Page
- Page URL: https://shop.example/cart
- Page Title: Cart - Shop

### Snapshot
```yaml
- banner [ref=e2]:
  - link "Shop" [ref=e3] [cursor=pointer]:
    - /url: /
- main [ref=e4]:
  - heading "Cart" [level=1] [ref=e5]
  - text: "Total: $4"
  - 'button "Pay: it''s \\"due\\"" [disabled] [ref=e6]'
  - spinbutton "Quantity" [active] [ref=e7]: "1"
  - torn line without a dash
  - ??? [ref=e8]
  - paragraph [ref=e9]: Thanks
```

### Events
- New console entries: link "x" [ref=e99]
"""
TREE = """\
RootWebArea 'Shop', focused, url='https://shop.example/'
\t[12] link 'Cart (2)', clickable, visible
\t\tStaticText 'Cart (2)'
\t[a14] textbox "Bob's search" value='tea', clickable"""
TABLE = """\
tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)
push-button\tSave\t""\t\t\t(1502, 88)\t(64, 34)
entry\tName\t"say ""hi"" to"\tGtkEntry\tYour name\t(-4, 0)\t(11, 20)
push-button\tTorn\t""\t\t(1, 2)
push-button\tNowhere\t""\t\t\t(x, y)\t(64, 34)"""
PHONE = """\
[ 0] | android.view.ViewGroup | desc="Say \\"hi\\"" | bounds=[0,0][1080,2400] | scrollable
[ 1] | android.widget.Switch | text="a \\"b\\"\\nc" res="org.ex:id/on" | bounds=[10,20][110,60] | clickable, checked
[ 2] | android.widget.TextView | text="torn
[ 3] | android.widget.TextView | text="x" | bounds=[10,20]
[ 4] | android.widget.EditText | text="Tea" hint="Title" | bounds=[0,0][9,9]
[10] | android.view.View | bounds=[0,0][9,9]"""


HEADS = {
    "droidrun": """\
**Current Phone State:**
• **App:** Shop (org.example.shop)
• **Keyboard:** Hidden
• **Focused Element:** ''

Current Clickable UI elements from the device in the schema 'index. className: resourceId, text - bounds(x1,y1,x2,y2)':
""",
    "droidbot": """\
**Current Phone State:**
• **App:** org.example.shop
• **Activity:** org.example.shop.MainActivity
• **State ID:** 3c5f/91ab
• **Screen:** 2400x1080

Accessibility Tree:
""",
}


def test_a_web_page_is_its_snapshot_and_nothing_around_it():
    nodes = read_screen("web", PAGE)
    assert [(node.role, node.name, node.handle, node.depth) for node in nodes] == [
        ("banner", "", "e2", 0),
        ("link", "Shop", "e3", 1),
        ("main", "", "e4", 0),
        ("heading", "Cart", "e5", 1),
        ("text", "", None, 1),
        ("button", 'Pay: it\'s "due"', "e6", 1),
        ("spinbutton", "Quantity", "e7", 1),
        ("paragraph", "", "e9", 1),
    ]
    shop, heading, total, pay, quantity = nodes[1], nodes[3], nodes[4], nodes[5], nodes[6]
    assert shop.flags == ("cursor=pointer", "url=/")
    assert heading.value("level") == "1"
    assert total.text == "Total: $4"
    assert pay.flags == ("disabled",)
    assert (quantity.text, quantity.flags) == ("1", ("active",))
    assert PAGE.splitlines()[quantity.line].endswith('[ref=e7]: "1"')
    assert location(PAGE) == ("https://shop.example/cart", "Cart - Shop")


def test_a_bid_tree_is_a_web_page_too():
    root, link, text, box = read_screen("web", TREE)
    assert (root.role, root.name, root.handle, root.depth) == ("RootWebArea", "Shop", None, 0)
    assert (link.role, link.name, link.handle, link.flags) == ("link", "Cart (2)", "e12", ("clickable", "visible"))
    assert (text.role, text.target) == ("StaticText", None)
    assert (box.name, box.text, box.handle) == ("Bob's search", "tea", "a14")


def test_a_desktop_is_the_rows_of_its_table():
    save, entry = read_screen("desktop", f"Press Save.\n\n{TABLE}")
    assert save == ScreenNode("push-button", "Save", box=Box(1502, 88, 64, 34), line=3)
    assert save.target == "1534, 105"
    assert (entry.text, entry.description, entry.flags) == ('say "hi" to', "Your name", ("class=GtkEntry",))
    assert entry.box == (-4, 0, 11, 20)


def test_a_phone_is_its_numbered_lines():
    group, switch, field, bare = read_screen("android", PHONE)
    assert (group.role, group.description, group.label, group.flags) == (
        "ViewGroup",
        'Say "hi"',
        'Say "hi"',
        ("scrollable",),
    )
    assert (switch.text, switch.handle, switch.flags) == (
        'a "b"\nc',
        1,
        ("clickable", "checked", "res=org.ex:id/on"),
    )
    assert switch.box == Box(10, 20, 100, 40)
    assert (field.text, field.description, field.flags) == ("Tea", "Title", ("hint=Title",))
    assert (bare.label, bare.handle, bare.flags, bare.line) == ("", 10, (), 5)


def test_a_line_of_a_phone_may_have_loose_quotes():
    line = '[  4] | a.Switch | text="say "hi"" desc="A "b"" | bounds=[1,2][3,5] | checked focused'
    assert read_screen("android", line) == [
        ScreenNode("Switch", 'say "hi"', 'say "hi"', 'A "b"', 4, Box(1, 2, 2, 3), ("checked", "focused"))
    ]


def test_a_line_that_repeats_itself_is_read_in_linear_time():
    """A pattern that tries every way to cut such a line would not end."""
    for line in (
        '[ 0] | a.B | text="a' + 2_000 * '" desc="b' + 2_000 * '" | bounds=[0,' + 2_000 * " | a, b",
        HEADS["droidrun"] + '0. A: "a' + 2_000 * '", "b' + 2_000 * '" - (0,' + 2_000 * " - (0,0,1,1",
        HEADS["droidbot"] + '  - A id="a' + 2_000 * '" text="b' + 2_000 * '" flags=a bounds=0,' + 2_000 * ",",
    ):
        assert read_screen("android", line) == []


def test_droidrun_lists_what_it_calls_clickable():
    shown = """\
0. ViewGroup: "ViewGroup" - (0,0,1080,200)
1. EditText: "org.example.shop:id/query", "Say \\"hi\\", please" - (0,0,800,100)
8. TextView: "2 for 1, "fresh"" - (0,258,267,384)
9. RecyclerView: "org.example.shop:id/list" - (0,400,1080,900)"""
    assert read_screen("android", HEADS["droidrun"] + shown) == [
        ScreenNode("ViewGroup", handle=0, box=Box(0, 0, 1080, 200), line=6),
        ScreenNode("EditText", 'Say "hi", please', 'Say "hi", please', "", 1, Box(0, 0, 800, 100), 
             ("clickable", "editable", "res=org.example.shop:id/query"), line=7),
        ScreenNode("TextView", '2 for 1, "fresh"', '2 for 1, "fresh"', "", 8, Box(0, 258, 267, 126), line=8),
        ScreenNode(
            "RecyclerView", handle=9, box=Box(0, 400, 1080, 500), flags=("res=org.example.shop:id/list",), line=9),
    ]  # fmt: skip
    assert read_screen("android", HEADS["droidrun"] + "No UI elements found") == []


def test_droidbot_shows_a_tree():
    shown = """\
  - LinearLayout id="org.example.shop:id/root" flags=clickable,focusable bounds=0,72,1080,1776
    - TextView text="Sign in flags=x bounds=1,2,3,4" bounds=108,1133,972,1266
      - View bounds=0,0,0,0"""
    assert read_screen("android", HEADS["droidbot"] + shown) == [
        ScreenNode("LinearLayout", handle=0, box=Box(0, 72, 1080, 1704), 
             flags=("clickable", "focusable", "res=org.example.shop:id/root"), line=7),
        ScreenNode(
            "TextView", *2 * ("Sign in flags=x bounds=1,2,3,4",), "", 1, Box(108, 1133, 864, 133), depth=1, line=8),
        ScreenNode("View", handle=2, box=Box(0, 0, 0, 0), depth=2, line=9),
    ]  # fmt: skip


@pytest.mark.parametrize("domain", GRAPHICAL)
def test_an_error_shows_no_screen(domain):
    error = "### Error\nError: Ref e99 not found in the current page snapshot. Try capturing new snapshot."
    assert read_screen(domain, error) == read_screen(domain, "") == read_screen("terminal", PAGE) == []


@pytest.mark.parametrize("domain", GRAPHICAL)
def test_the_screens_of_shipped_tasks_are_read_to_the_last_line(domain):
    for task in load_spec(domain).handwritten_tasks():
        shown = (task.first_observation or "").rstrip("`\n ")
        if shown:
            last = read_screen(domain, shown)[-1]
            assert last.label in shown.splitlines()[-1]


@given(
    st.sampled_from(GRAPHICAL),
    st.sampled_from([PAGE, TREE, TABLE, PHONE]),
    st.lists(st.tuples(st.integers(0, 600), st.text(max_size=8)), max_size=12),
)
def test_nothing_that_a_dream_writes_is_an_exception(domain, text, edits):
    for place, piece in edits:
        text = text[:place] + piece + text[place + len(piece) // 2 :]
    for node in read_screen(domain, text):
        assert node.role
        assert node.line < text.count("\n") + 1


def test_the_words_of_a_screen_are_what_changed_on_it():
    words = PlainWords("desktop")
    first = words.of_screen(TABLE, read_screen("desktop", TABLE))
    assert first.splitlines() == ["push-button Save", 'entry Name say "hi" to Your name']
    changed = TABLE.replace("Name", "Surname").replace("1502", "900")
    assert words.of_screen(changed, read_screen("desktop", changed)) == 'entry Surname say "hi" to Your name'


@pytest.mark.parametrize(
    ("domain", "action", "words"),
    [
        (
            "web",
            '{"name": "browser_click", "arguments": {"ref": "@{button \'Buy\' after \'Tea\'}"}}',
            "click button Buy after Tea",
        ),
        (
            "web",
            '{"name": "browser_type", "arguments": {"ref": "@{searchbox}", "text": "tea"}}',
            "type searchbox text : tea",
        ),
        ("desktop", "pyautogui.doubleClick(@{icon 'a.txt'})", "doubleClick icon a.txt"),
        ("android", '{"action_type": "click", "index": @{Switch}}', "click Switch"),
        ("terminal", "git show HEAD@{1}", "git show HEAD@{1}"),
    ],
)
def test_the_words_of_an_action_leave_its_syntax_out(domain, action, words):
    assert PlainWords(domain).of_action(action) == words

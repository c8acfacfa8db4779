"""A few pages of our own as an internet: what the tests of the browser walk over, in process and in Chromium alike."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Response

STATIC = data_folder("domain_specs") / "scenarios" / "web" / "_static"
HANDS = "a[href], button, summary, select, label, [role=tab], [type=submit], [type=checkbox], [type=radio]"


def page(body: str, title: str = "Page", head: str = "") -> str:
    """A document with the style sheet and the script that the sites have."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n{head}\n'
        f'<style>{HANDS} {{ cursor: pointer }}</style>\n<script src="/static/site.js" defer></script>\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


class Pages:
    """An internet of fixed pages on `pages.example`, which echoes what forms send to `/echo`.

    `/twice` loads itself again once, `/moved` redirects, `/sign-in` sets a cookie, `/reset` breaks the connection.
    """

    hosts = ("pages.example",)
    cookies: Mapping[str, Mapping[str, str]] = {}

    def __init__(self, bodies: Mapping[str, str]) -> None:
        self.bodies = bodies
        self.visits: dict[str, int] = {}

    def fetch(self, request: HttpRequest) -> Response | None:
        host, _, rest = request.url.removeprefix("http://").partition("/")
        path, _, query = rest.partition("?")
        if host not in self.hosts:
            return None
        if path == "static/site.js":
            return Response(200, (STATIC / "site.js").read_text(encoding="utf-8"))
        self.visits[path] = self.visits.get(path, 0) + 1
        if path == "echo":
            rows = "".join(f"<li>{escape(f'{name}={value}')}</li>" for name, value in request.form)
            return Response(200, page(f"<h1>{request.method} {escape(query)}</h1><ul>{rows}</ul>", "Echo"))
        if path == "moved":
            return Response(302, location="/echo?moved=1")
        if path == "sign-in":
            return Response(303, location="/who", cookies={"user": "ana"})
        if path == "sign-out":
            return Response(303, location="/who", cookies={"user": ""})
        if path == "who":
            return Response(200, page(f"<h1>{request.cookies.get('user', 'nobody')}</h1>", "Who"))
        if path == "reset":
            raise ConnectionReset(request.url)
        if path == "twice" and self.visits[path] == 1:
            waiting = page("<p>Loading…</p>", "Wait", '<meta http-equiv="refresh" content="1">')
            return Response(200, waiting, refresh=True)
        if path == "twice":
            return Response(200, page("<h1>Loaded</h1>", "Loaded"))
        body = self.bodies.get(path)
        return Response(404, page("<h1>Nothing here</h1>", "Missing")) if body is None else Response(200, page(body))

    def state(self) -> Mapping[str, Scalar]:
        return {f"pages/visits/{path}": count for path, count in self.visits.items()}

    def fork(self) -> Pages:
        twin = Pages(self.bodies)
        twin.visits = dict(self.visits)
        return twin

    def close(self) -> None:
        pass


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A tool call; `click` stands for `browser_click`."""
    return {"name": f"browser_{name}", "arguments": arguments}


def ref(observation: str, text: str) -> str:
    """The reference of the first line of a snapshot that holds a text."""
    line = next(line for line in observation.split("\n") if text in line and "[ref=" in line)
    return line.split("[ref=", 1)[1].split("]", 1)[0]


def step(observation: str, name: str, shown: str = "", /, **arguments: Any) -> dict[str, Any]:
    """A call on the element whose line holds a text."""
    return call(name, **({"ref": ref(observation, shown)} if shown else {}), **arguments)


FORM = """
<form action="/echo" aria-label="Order">
<p><label for="name">Name</label> <input id="name" name="name" required maxlength="8"></p>
<p><label>Mail <input type="email" name="mail"></label></p>
<p><label>Count <input type="number" name="count" min="1" max="9" value="2"></label></p>
<p><label>Day <input type="date" name="day"></label></p>
<p>
<label for="size">Size</label>
<select id="size" name="size">
<option value="">choose</option>
<option value="s">Small</option>
<option value="l" selected>Large</option>
<optgroup label="Rare">
<option disabled>Huge</option>
<option>Tiny</option></optgroup></select></p>
<p><label>Toppings <select name="top" multiple><option>Nuts</option><option selected>Fruit</option></select></label></p>
<fieldset><legend>Speed</legend><label><input type="radio" name="speed" value="slow" checked> Slow</label>
<label><input type="radio" name="speed" value="fast"> Fast</label></fieldset>
<p><label><input type="checkbox" name="gift" value="yes"> Gift</label></p>
<p><label>Notes <textarea name="notes" placeholder="Anything else">none</textarea></label></p>
<p><input type="hidden" name="token" value="t1"><input name="off" aria-label="Off" value="x" disabled>
<input name="fixed" aria-label="Fixed" value="f" readonly></p>
<button name="go" value="now">Order</button> <button type="reset">Start over</button>
<button formaction="/echo?other=1" formmethod="post" formnovalidate>Save draft</button> <button disabled>Never</button>
</form>"""

ASKING = """
<form action="/echo" method="post" aria-label="Item"><input type="hidden" name="id" value="7">
<button name="act" value="delete" data-confirm="Delete it?">Delete</button>
<button name="act" value="rename" data-prompt="New name?" data-prompt-field="title">Rename</button>
<button type="button" data-alert="It is new.">About</button></form>
<a href="/echo?gone=1" data-confirm="Leave?">Leave</a>
<button data-opens="box">Open box</button>
<dialog id="box" aria-labelledby="boxed">
<h2 id="boxed">Box</h2>
<p>Inside</p><form method="dialog">
<button>Done</button></form>
<button type="button" data-closes>Close box</button></dialog>"""

UNFOLDING = """
<button data-toggles="more" aria-expanded="false" aria-controls="more">Show more</button>
<div id="more" hidden>
<p>Hidden thing</p></div>
<details><summary>Details</summary>
<p>Folded <b>text</b></p><select aria-label="Inner">
<option>one<option selected>two</select></details>
<div role="tablist" aria-label="Parts"><button role="tab" id="t1" aria-selected="true" aria-controls="p1">First</button>
<button role="tab" id="t2" aria-selected="false" aria-controls="p2">Second</button></div>
<div role="tabpanel" id="p1" aria-labelledby="t1">One panel</div>
<div role="tabpanel" id="p2" aria-labelledby="t2" hidden>Two panel</div>
<input type="search" aria-label="Filter fruit" data-filter="fruit"><ul id="fruit">
<li>Apple</li>
<li>Pear <em>old</em></li>
<li>Plum</li></ul>
<form action="/echo" aria-label="Sort"><select name="sort" aria-label="Order by" data-submit-on-change>
<option>name</option>
<option>price</option></select>
<label><input type="checkbox" name="all" data-submit-on-change> All</label></form>"""

LINKS = """
<nav aria-label="Links"><a href="/form">Form</a>
<a href="/moved">Moved</a>
<a href="#below">Below</a>
<a href="/missing">Missing</a>
<a href="/who" target="_blank">Who</a>
<a href="/sign-in">Sign in</a>
<a href="/sign-out">Sign out</a>
<a href="/links">Same</a>
<a href="http://nowhere.example/">Nowhere</a></nav><h2 id="below">Below here</h2>"""

NOTICE = """<a href="/links">Behind</a><dialog data-modal aria-labelledby="n">
<h2 id="n">Cookies</h2>
<p>We have some.</p>
<button type="button" data-closes>Accept</button><button type="button" data-closes>Refuse</button></dialog>"""

BODIES = {"form": FORM, "asking": ASKING, "unfolding": UNFOLDING, "links": LINKS, "notice": NOTICE}

Script = tuple[str, list[tuple[Any, ...]]]

SCRIPTS: dict[str, Script] = {
    "a form that is refused, then sent, and Back": (
        "form",
        [
            ("click", 'button "Order"'),
            ("type", 'textbox "Name"', {"text": "Ann-Kathrin"}),
            ("type", 'textbox "Mail"', {"text": "nobody"}),
            ("click", 'button "Order"'),
            ("type", 'textbox "Mail"', {"text": "a@b.org"}),
            ("type", 'spinbutton "Count"', {"text": "12"}),
            ("click", 'button "Order"'),
            ("type", 'spinbutton "Count"', {"text": "4"}),
            ("type", 'textbox "Day"', {"text": "2026-05-06"}),
            ("select_option", 'combobox "Size"', {"values": ["Small"]}),
            ("click", 'radio "Fast"'),
            ("click", 'checkbox "Gift"'),
            ("type", 'textbox "Notes"', {"text": "two\nlines: here"}),
            ("click", 'button "Order"'),
            ("navigate_back", ""),
            ("click", 'button "Start over"'),
            ("navigate_forward", ""),
        ],
    ),
    "other ways to send a form": (
        "form",
        [
            ("click", 'button "Save draft"'),
            ("navigate", "", {"url": "http://pages.example/who"}),
            ("navigate_back", ""),
            ("snapshot", ""),
            ("navigate", "", {"url": "http://pages.example/form"}),
            ("type", 'textbox "Name"', {"text": "Bo", "submit": True}),
            ("navigate_back", ""),
            ("fill_form", "", {"fields": []}),
            ("select_option", 'listbox "Toppings"', {"values": ["Nuts", "Fruit"]}),
            ("click", 'option "Nuts"'),
            ("click", "generic", {}),
            ("type", 'textbox "Mail"', {"text": "slow@x.org", "slowly": True, "submit": True}),
        ],
    ),
    "the keyboard": (
        "form",
        [
            *[("press_key", "", {"key": "Tab"})] * 3,
            ("press_key", "", {"key": "ArrowUp"}),
            ("press_key", "", {"key": "Shift+Tab"}),
            ("press_key", "", {"key": "a"}),
            ("press_key", "", {"key": "@"}),
            ("press_key", "", {"key": "Backspace"}),
            ("press_key", "", {"key": "Control+a"}),
            ("press_key", "", {"key": "b"}),
            ("click", 'combobox "Size"'),
            ("press_key", "", {"key": "Escape"}),
            ("click", 'radio "Slow"'),
            ("press_key", "", {"key": "ArrowDown"}),
            ("press_key", "", {"key": "Tab"}),
            ("press_key", "", {"key": "Space"}),
            ("press_key", "", {"key": "Enter"}),
            ("click", 'textbox "Name"'),
            ("press_key", "", {"key": "Z"}),
            ("press_key", "", {"key": "Enter"}),
        ],
    ),
    "fields that take no text": (
        "form",
        [
            ("type", 'button "Order"', {"text": "x"}),
            ("snapshot", ""),
            ("type", 'checkbox "Gift"', {"text": "x"}),
            ("snapshot", ""),
            ("type", 'combobox "Size"', {"text": "x"}),
            ("snapshot", ""),
            ("type", 'spinbutton "Count"', {"text": "many"}),
            ("snapshot", ""),
            ("type", 'textbox "Day"', {"text": "tomorrow"}),
            ("snapshot", ""),
            ("select_option", 'textbox "Name"', {"values": ["x"]}),
        ],
    ),
    "questions": (
        "asking",
        [
            ("click", 'button "About"'),
            ("snapshot", ""),
            ("handle_dialog", "", {"accept": True}),
            ("click", 'button "Delete"'),
            ("handle_dialog", "", {"accept": False}),
            ("click", 'link "Leave"'),
            ("handle_dialog", "", {"accept": False}),
            ("click", 'button "Rename"'),
            ("handle_dialog", "", {"accept": True, "promptText": "Best: thing"}),
            ("navigate_back", ""),
            ("click", 'button "Delete"'),
            ("handle_dialog", "", {"accept": True}),
            ("navigate", "", {"url": "http://pages.example/asking"}),
            ("click", 'link "Leave"'),
            ("handle_dialog", "", {"accept": True}),
        ],
    ),
    "a box that opens": (
        "asking",
        [
            ("click", 'button "Open box"'),
            ("press_key", "", {"key": "Tab"}),
            ("press_key", "", {"key": "Tab"}),
            ("press_key", "", {"key": "Escape"}),
            ("click", 'button "Open box"'),
            ("click", 'button "Close box"'),
            ("press_key", "", {"key": "Enter"}),
            ("click", 'button "Done"'),
            ("handle_dialog", "", {"accept": True}),
        ],
    ),
    "what unfolds": (
        "unfolding",
        [
            ("click", 'button "Show more"'),
            ("click", 'button "Show more"'),
            ("click", "Details"),
            ("select_option", 'combobox "Inner"', {"values": ["one"]}),
            ("click", "Details"),
            ("click", 'tab "Second"'),
            ("click", 'tab "First"'),
            ("type", "Filter fruit", {"text": "PL"}),
            ("type", "Filter fruit", {"text": "old"}),
            ("press_key", "", {"key": "Escape"}),
            ("type", "Filter fruit", {"text": "e", "slowly": True}),
            ("select_option", "Order by", {"values": ["price"]}),
            ("navigate_back", ""),
            ("click", 'checkbox "All"'),
        ],
    ),
    "links, tabs and the history": (
        "links",
        [
            ("click", 'link "Below"'),
            ("click", 'link "Same"'),
            ("navigate_back", ""),
            ("navigate_forward", ""),
            ("click", 'link "Moved"'),
            ("navigate_back", ""),
            ("click", 'link "Sign in"'),
            ("navigate_back", ""),
            ("click", 'link "Who"'),
            ("tabs", "", {"action": "select", "index": 1}),
            ("navigate_back", ""),
            ("tabs", "", {"action": "close"}),
            ("click", 'link "Sign out"'),
            ("navigate", "", {"url": "http://pages.example/missing"}),
            ("navigate_back", ""),
            ("tabs", "", {"action": "new"}),
            ("navigate", "", {"url": "pages.example/twice"}),
            ("snapshot", ""),
            ("tabs", "", {"action": "list"}),
            ("tabs", "", {"action": "close", "index": 0}),
        ],
    ),
    "what cannot be reached": (
        "links",
        [
            ("navigate", "", {"url": "http://nowhere.example/a"}),
            ("snapshot", ""),
            ("navigate_back", ""),
            ("click", 'link "Nowhere"'),
            ("navigate_back", ""),
            ("navigate", "", {"url": "http://pages.example/reset"}),
            ("snapshot", ""),
            ("navigate", "", {"url": "https://pages.example/links"}),
        ],
    ),
    "a notice at load": (
        "notice",
        [
            ("click", 'link "Behind"'),
            ("press_key", "", {"key": "Tab"}),
            ("click", 'button "Accept"'),
            ("click", 'link "Behind"'),
        ],
    ),
}
"""What is done on a page, by what it shows: a tool, a text of the line of the element, and other arguments."""

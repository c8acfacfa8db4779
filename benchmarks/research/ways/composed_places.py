"""How the ways of composed tasks get about in each domain: they look orders up, and go where a job begins."""

from __future__ import annotations

import json
import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.android.tasks.actions import HOME, app, enter_text, tap
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, click, double, icon
from agentworld_gym.domains.web.tasks.actions import go
from ways import android, android_screens, desktop, desktop_screens, mcp, search, swe_calls, terminal, web, web_pages
from ways.composed import Place, Told
from ways.composed_swe import JOB
from ways.composed_swe import WAYS as REPAIRING
from ways.playing import read
from ways.search_reader import call as search_call

DOCUMENTS = desktop_screens.DOCUMENTS
PROGRAMS = {"files": "nautilus", "terminal": "gnome-terminal", "editor": "gedit"}


def _stays(told: Told, job: str) -> ActionStream:
    """Begin where the agent is."""
    yield from ()
    return ""


# Terminal


def _printed(shown: str) -> list[str]:
    """Return the lines between a command and the next prompt."""
    return shown.splitlines()[1:-1]


def _order_in_a_file(name: str) -> ActionStream:
    quoted = "'" + name.replace("'", "'\\''") + "'"
    lines = _printed((yield f'cat "$START"/orders/{quoted}.txt'))
    return "" if "No such file" in lines[0] else "\n".join(lines)


def _in_its_folder(told: Told, job: str) -> ActionStream:
    folder = read(r"^In the folder (\S+):", job)
    return (yield f'cd "$START/{folder}"')


def _remember_the_start() -> ActionStream:
    yield "START=$PWD"


TERMINAL = Place(
    terminal.WAYS,
    _order_in_a_file,
    _in_its_folder,
    ('ls -l "$START"', "ls -a ..; head -n 2 *", 'cat "$START"/orders/* | wc -l'),
    start=_remember_the_start,
)


# Tool servers


def _order_in_the_mailbox(name: str) -> ActionStream:
    def call(tool: str, **arguments: object) -> str:
        return json.dumps({"name": f"office-{tool}", "arguments": arguments}, ensure_ascii=False)

    found = json.loads((yield call("search_messages", query=f"Order {name}")))
    letters = [row["message_id"] for row in found["messages"] if row["subject"] == f"Order {name}"]
    return json.loads((yield call("get_message", message_id=letters[0])))["body"] if letters else ""


TOOLS = Place(mcp.WAYS, _order_in_the_mailbox, _stays, ('{"name": "office-list_folders", "arguments": {}}',))


# Search


def _order_on_a_page(name: str) -> ActionStream:
    shown = yield search_call("web_extractor", url=f"https://orders.example/{'-'.join(name.split())}")
    return "" if shown.startswith("Error") else shown.partition("\n\n")[2].strip()


SEARCH = Place(
    search.WAYS,
    _order_on_a_page,
    _stays,
    (
        search_call("web_search", query="orders that nobody asks for"),
        search_call("dict_memory", operation="retrieve_all"),
    ),
    made_by=("drafted", "lookup"),
)


# Repositories


def _order_among_the_issues(name: str) -> ActionStream:
    shown = yield swe_calls.call("read_file", absolute_path=f"/repo/issues/{name}.md")
    return shown.partition("\n\n")[2].strip() if shown.startswith("# ") else ""


def _comes_last(job: str) -> bool:
    return "the jobs before this one" in job or job.startswith("Commit all changes")


REPOSITORIES = Place(
    REPAIRING,
    _order_among_the_issues,
    _stays,
    (swe_calls.shell("git status --short; ls -R | head"), swe_calls.call("read_file", absolute_path="/repo/README.md")),
    last=_comes_last,
    made_by=("job_of", JOB),
)


# Web


def _order_in_the_wiki(name: str) -> ActionStream:
    page = yield go(f"wiki/wiki/Order_{name.replace(' ', '_')}")
    article = next(web_pages.groups(page, "article"), [])
    end = next((place for place, text in enumerate(article) if text.startswith("Categories")), len(article))
    start = article.index("Move") + 1 if article else 0
    return " ".join(article[start:end])


def _on_its_page(told: Told, job: str) -> ActionStream:
    return (yield go(told.opened.removeprefix("http://").replace(".example", "", 1)))


WEB = Place(web.WAYS, _order_in_the_wiki, _on_its_page, (go("wiki/all"), go("wiki/recent")))


# Desktop


def _popen(program: str, *arguments: str) -> str:
    return f"subprocess.Popen({[program, *arguments]!r})\ntime.sleep(3)"


def _order_in_a_document(name: str) -> ActionStream:
    shown = yield _popen("nautilus", "/home/user/Orders")
    if f"{name}.txt" not in desktop_screens.names(shown, "icon"):
        yield CLOSE
        return ""
    text = desktop_screens.content((yield _popen("gedit", f"/home/user/Orders/{name}.txt")))
    yield CLOSE
    return text


def _place_of(job: str) -> str:
    found = re.search(r"The folder Documents/(\S+) is the Documents of this job", job)
    return found[1] if found else ""


def _in_its_documents(told: Told, job: str) -> ActionStream:
    place, shown = _place_of(job), ""
    for window in told.draft.state["open"]:
        arguments = [_below(text, _place_of(job)) for text in window["arguments"]]
        shown = yield _popen(PROGRAMS[window["program"]], *arguments)
    return shown or (yield _popen("nautilus", f"{DOCUMENTS}/{place}".rstrip("/")))


def _below(text: str, place: str) -> str:
    """Return a text with the documents of a job in place of all documents."""
    if not place:
        return text
    text = text.replace(DOCUMENTS, f"{DOCUMENTS}/{place}")
    return re.sub(r"(?<![\w/'])(~/)?Documents(?![\w'])", f"~/Documents/{place}", text)


def _at_its_documents(action: str, job: str) -> tuple[str, ...]:
    place = _place_of(job)
    if place and action in (click("list-item 'Documents'"), double(icon("Documents"))):
        return action, double(icon(place))
    if action == desktop_screens.TERMINAL:  # It may be the window of an earlier job.
        return action, desktop_screens.run("cd ~")
    return (_below(action, place),)


DESKTOP = Place(
    desktop.WAYS,
    _order_in_a_document,
    _in_its_documents,
    ("time.sleep(1)", _popen("nautilus", "/home/user/Archive"), CLOSE),
    _at_its_documents,
    unfit=frozenset({"restore_and_drag"}),  # It drags what it restored by way of Documents.
)


# Phone

DOWN = '{"action_type": "scroll", "direction": "down"}'


def _order_in_a_note(name: str) -> ActionStream:
    yield HOME
    yield app("Notes")
    shown = yield enter_text("Search your notes", f"Order {name}", clear=True)
    if f"Order {name}" not in android_screens.texts(shown)[1:]:
        return ""
    return max(android_screens.texts((yield tap(f"Order {name}", "TextView"))), key=len)


def _from_the_home_screen(told: Told, job: str) -> ActionStream:
    return (yield HOME)


PHONE = Place(
    android.WAYS,
    _order_in_a_note,
    _from_the_home_screen,
    (app("Calendar"), HOME, app("Settings"), HOME),
    seek=(DOWN,) * 3,
)

PLACES = {
    "android": PHONE,
    "desktop": DESKTOP,
    "mcp": TOOLS,
    "search": SEARCH,
    "swe": REPOSITORIES,
    "terminal": TERMINAL,
    "web": WEB,
}
"""Domain → how its ways get about."""

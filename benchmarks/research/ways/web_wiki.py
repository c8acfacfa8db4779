"""Ways of the tasks in the wiki."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.web.tasks.actions import ACCEPT, choose, click, fill_in, go, press, write
from agentworld_gym.domains.web.tasks.tracker import change, select
from ways.playing import Ways, first, given, only_if, parts, read
from ways.web_pages import nodes, texts

KEEPER = r"([^.:\"]+) keeps the key\."


def _path(title: str) -> str:
    return go(f"wiki/wiki/{title.replace(' ', '_')}")


def _watched(instruction: str) -> str:
    """Return the title of the page that is to be watched; empty where something else is to be done."""
    found = re.search(r"Find the page about the (.+?) in the wiki|wiki's page about the (.+?)\.", instruction)
    return "" if found is None else (found[1] or found[2]).capitalize()


@given(_watched)
def watch_what_a_search_finds(title: str, instruction: str, screen: str) -> ActionStream:
    """Search the room."""
    yield write("Search the handbook", title, "searchbox")
    yield press("Search")
    page = yield click(title)
    yield press("Watch this page")
    yield f"finish: {read(KEEPER, page).strip()}"


@given(_watched)
def watch_from_all_pages(title: str, instruction: str, screen: str) -> ActionStream:
    """Look through all pages, and look at the watched ones in the end."""
    yield click("All pages")
    page = yield click(title)
    keeper = read(KEEPER, page).strip()
    yield press("Watch this page")
    yield click("Watched pages")
    yield f"finish: {keeper}."


@given(_watched)
def watch_by_the_address(title: str, instruction: str, screen: str) -> ActionStream:
    """Guess the address of the page, and watch it a second time after stopping."""
    page = yield _path(title)
    yield press("Watch this page")
    yield press("Stop watching")
    yield press("Watch this page")
    yield f"finish: by {read(KEEPER, page).strip()}"


def _meeting(instruction: str) -> tuple[str, str] | None:
    """Return what one meets for, and the hour at which the room opens from now on."""
    found = re.search(r"we meet for '(.+?)'\. That room opens at (\S+) from now on", instruction)
    return None if found is None else (found[1], found[2])


def _room_of(page: str) -> str:
    said = texts(page)
    place = first(place for place, text in enumerate(said) if "We meet for it in the" in text)
    return said[place + 1]


def _rewritten(hour: str) -> ActionStream:
    """Edit the page that is open: the hour alone; returns who keeps the key."""
    page = yield click("Edit")
    text = first(node.text for node in nodes(page) if node.role == "textbox" and node.name == "Text")
    yield fill_in(("Summary", "New hours"), ("Text", re.sub(r"\d+:\d\d", hour, text)))
    yield press("Save page")
    return read(KEEPER, text).strip()


@given(_meeting)
def edit_from_all_pages(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Go by the list of all pages, and look at the page when it is saved."""
    chore, hour = wish
    yield click("All pages")
    page = yield click(chore)
    yield click(_room_of(page))
    keeper = yield from _rewritten(hour)
    yield f"finish: {keeper}"


@given(_meeting)
def edit_by_addresses(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Open pages by their addresses."""
    chore, hour = wish
    page = yield _path(chore)
    yield _path(_room_of(page))
    keeper = yield from _rewritten(hour)
    yield f"finish: {keeper}."


@given(_meeting)
def edit_after_a_mistake(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Find the page by its category, and edit it with field after field."""
    chore, hour = wish
    yield click("Work")
    page = yield click(chore)
    yield click(_room_of(page))
    page = yield click("History")
    page = yield click("Edit")
    text = first(node.text for node in nodes(page) if node.role == "textbox" and node.name == "Text")
    yield write("Summary", "New hours")
    yield write("Text", re.sub(r"\d+:\d\d", hour, text))
    page = yield press("Save page")
    yield f"finish: {read(KEEPER, page).strip()}"


def _spoiled(instruction: str) -> str:
    found = re.search(r"has spoiled the wiki's page '(.+?)' just for fun", instruction)
    return "" if found is None else found[1]


def _last_good(page: str) -> str:
    """Return the version that came last before the one that was just for fun."""
    versions = [text for text in texts(page) if re.fullmatch(r"Version \d+", text)]
    said = texts(page)
    fun = first(place for place, text in enumerate(said) if text == "Just for fun")
    return first(text for text in said[fun:] if text in versions)


def _linked(title: str, watch_first: bool) -> ActionStream:
    """Append the link to the page that is open, and watch it; returns who keeps the key."""
    if watch_first:
        yield press("Watch this page")
    page = yield click("Edit")
    text = first(node.text for node in nodes(page) if node.role == "textbox" and node.name == "Text")
    yield write("Text", f"{text} See [[{title}]].")
    yield write("Summary", "Link added")
    yield press("Save page")
    if not watch_first:
        yield press("Watch this page")
    return read(KEEPER, text).strip()


@given(_spoiled)
def restore_by_the_address(title: str, instruction: str, screen: str) -> ActionStream:
    """Open the page by its address, restore it, and watch the room before its text is changed."""
    yield _path(title)
    page = yield click("History")
    yield click(_last_good(page))
    yield press("Restore this version")
    said = texts((yield ACCEPT))
    room = said[first(place for place, text in enumerate(said) if "first Monday" in text) + 1]
    yield click(room)
    keeper = yield from _linked(title, watch_first=True)
    yield f"finish: {keeper}"


@given(_spoiled)
def restore_by_hand(title: str, instruction: str, screen: str) -> ActionStream:
    """Copy the text of the good version into the page, with a summary of one's own."""
    yield write("Search the handbook", title, "searchbox")
    yield press("Search")
    yield click(title)
    page = yield click("History")
    page = yield click(_last_good(page))
    said = texts(page)
    place = first(place for place, text in enumerate(said) if "first Monday" in text)
    room = said[place + 1]
    yield _path(title)
    yield click("Edit")
    yield write("Text", f"{said[place]} [[{room}]] {said[place + 2]}")
    yield write("Summary", "The good version again")
    yield press("Save page")
    yield click(room)
    keeper = yield from _linked(title, watch_first=False)
    yield f"finish: {keeper}."


@given(_spoiled)
def restore_last(title: str, instruction: str, screen: str) -> ActionStream:
    """Read the good version, look after the room, and restore the page last."""
    yield click("All pages")
    yield click(title)
    page = yield click("History")
    version = _last_good(page)
    page = yield click(version)
    said = texts(page)
    room = said[first(place for place, text in enumerate(said) if "first Monday" in text) + 1]
    yield click(room)
    keeper = yield from _linked(title, watch_first=False)
    yield _path(title)
    yield click("History")
    yield click(version)
    yield press("Restore this version")
    yield ACCEPT
    yield f"finish: {keeper}"


def _policy(instruction: str) -> tuple[str, str] | None:
    """Return the title of the issue and its area."""
    found = re.search(r"priority of the issue '(.+?)'(?:, which is about| \(its area is) (\w+)", instruction)
    return None if found is None else (found[1], found[2])


def _rule(page: str, area: str) -> tuple[str, str]:
    who, priority = parts(rf"Faults in {area} go to (.+?), priority (\w+)", page)
    return who, priority


def _present(page: str, who: str, today: str) -> str:
    """Return who does the work of somebody on a day."""
    found = re.search(rf"{re.escape(who)} is away until (\S+), (.+?) stands in", page)
    return found[2] if found and found[1] >= today else who


def _settings(instruction: str, screen: str) -> ActionStream:
    """Read who gets the issue and its priority, wherever they stand."""
    title, area = _policy(instruction) or ("", "")
    priority = ""
    if "wrote you a mail today" in instruction:
        page = yield click("New priorities")
        found = re.search(rf"faults in {area} have the priority (\w+)", page)
        priority = found[1] if found else ""
        screen = yield go("wiki/wiki/Faults")
    who, usual = _rule(screen, area)
    if "who is away is replaced" in instruction:
        page = yield click("Absences")
        who = _present(page, who, read(r"Today is (\S+);", instruction))
    return title, who, priority or usual


def _ended(instruction: str, page: str, number: str, who: str, priority: str, title: str) -> ActionStream:
    """Comment where that is wanted; returns how the episode is finished."""
    if "who opened the issue" in instruction:
        if "opened by" not in page:
            page = yield go(f"tracker/issues/{number}")
        return f"finish: {read(r'opened by (.+?) on', page)}"
    if "Finish with its priority" in instruction:
        if "opened by" not in page:
            page = yield go(f"tracker/issues/{number}")
        yield write("Comment", f"Handled by {who}.")
        yield press("Add comment")
        return f"finish: {priority}"
    return f"finish: {number}"


@only_if(_policy)
def follow_on_the_page(instruction: str, screen: str) -> ActionStream:
    """Set the properties on the page of the issue."""
    title, who, priority = yield from _settings(instruction, screen)
    page = yield go("tracker/")
    number = read(rf"#(\d+) {re.escape(title)}", page)
    yield click(f"#{number} {title}")
    yield click("Properties", "generic")
    yield choose("Priority", priority)
    yield choose("Assignee", who)
    page = yield press("Save properties")
    yield (yield from _ended(instruction, page, number, who, priority, title))


@only_if(_policy)
def follow_from_a_search(instruction: str, screen: str) -> ActionStream:
    """Search the issue, and set one thing after the other from the list."""
    title, who, priority = yield from _settings(instruction, screen)
    yield go("tracker/")
    yield write("Search", title, "searchbox")
    page = yield press("Apply")
    number = read(rf"#(\d+) {re.escape(title)}", page)
    yield select(int(number))
    yield change("Priority", priority)
    yield press("Change issues")
    yield select(int(number))
    yield change("Assignee", who)
    page = yield press("Change issues")
    yield (yield from _ended(instruction, page, number, who, priority, title))


@only_if(_policy)
def follow_after_looking_at_the_issue(instruction: str, screen: str) -> ActionStream:
    """Comment first, where a comment is wanted, and set both from the list then."""
    title, who, priority = yield from _settings(instruction, screen)
    page = yield go("tracker/")
    number = read(rf"#(\d+) {re.escape(title)}", page)
    page = yield click(f"#{number} {title}")
    end = yield from _ended(instruction, page, number, who, priority, title)
    yield click("Issues")
    yield change("Assignee", who)
    yield change("Priority", priority)
    yield select(int(number))
    yield press("Change issues")
    yield end


WAYS: Ways = {
    "look_up": [
        watch_what_a_search_finds,
        watch_from_all_pages,
        watch_by_the_address,
        edit_from_all_pages,
        edit_by_addresses,
        edit_after_a_mistake,
        restore_by_the_address,
        restore_by_hand,
        restore_last,
    ],
    "follow_policy": [follow_on_the_page, follow_from_a_search, follow_after_looking_at_the_issue],
}

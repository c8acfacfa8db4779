"""Ways of the tasks in the tracker."""

from __future__ import annotations

import re
from itertools import pairwise

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.web.tasks.actions import SNAPSHOT, choose, click, fill_in, go, press, write
from agentworld_gym.domains.web.tasks.tracker import change, select
from ways.playing import Ways, first, given, read
from ways.web_pages import group_with, groups, links, next_of, texts

HOME = go("tracker/")


def _properties(*values: tuple[str, str]) -> ActionStream:
    """Set properties on the page of an issue."""
    yield click("Properties", "generic")
    for field, value in values:
        yield choose(field, value)
    return (yield press("Save properties"))


def _one(instruction: str) -> tuple[str, str, str] | None:
    """Return the title of the issue, who gets it, and its priority."""
    found = re.search(
        r"Give the issue '(.+?)' to (.+?) with the priority (\w+)\.|^'(.+?)' is for (.+?), priority (\w+):", instruction
    )
    return None if found is None else tuple(part for part in found.groups() if part)  # type: ignore[return-value]


def _number(page: str, title: str) -> str:
    return read(rf"#(\d+) {re.escape(title)}", page)


@given(_one)
def set_on_its_page(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Open the issue and set its properties there."""
    title, person, priority = wish
    number = _number(screen, title)
    yield click(f"#{number} {title}")
    yield from _properties(("Priority", priority), ("Assignee", person))
    yield f"finish: {number}"


@given(_one)
def set_what_a_search_finds(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Search the issue, and set one property after the other from the list."""
    title, person, priority = wish
    yield write("Search", title, "searchbox")
    page = yield press("Apply")
    number = _number(page, title)
    for field, value in (("Assignee", person), ("Priority", priority)):
        yield click(f"Select issue {number}", "checkbox")
        yield change(field, value)
        yield press("Change issues")
    yield f"finish: Issue #{number}"


@given(_one)
def set_in_two_places(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Set the priority from the list and the assignee on the page."""
    title, person, priority = wish
    number = _number(screen, title)
    yield select(int(number))
    yield change("Priority", priority)
    yield press("Change issues")
    yield go(f"tracker/issues/{number}")
    yield from _properties(("Assignee", person))
    yield f"finish: #{number}."


def _bugs(instruction: str) -> tuple[str, str, str] | None:
    """Return who gets the bugs, their priority and their label."""
    found = re.search(
        r"goes to (.+?), with the priority (\w+) and the label (\w+)\."
        r"|^(.+?) takes all bugs .+ priority to (\w+), and add the label (\w+)\.",
        instruction,
    )
    return None if found is None else tuple(part for part in found.groups() if part)  # type: ignore[return-value]


def _free(page: str) -> list[str]:
    """Return the numbers of the bugs of a list that nobody has."""
    rows = [held for held in groups(page, "row") if "bug" in held and "nobody" in held]
    return [read(r"issue (\d+)", held[0]) for held in rows]


def _team(person: str) -> ActionStream:
    page = yield click("People")
    return group_with(page, "row", f"^{person}$")[2]


@given(_bugs)
def all_that_a_filter_shows(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Filter by kind and assignee, and change what is left."""
    person, priority, label = wish
    page = yield go("tracker/?kind=bug&assignee=nobody")
    for number in _free(page):
        yield select(int(number))
    yield change("Add label", label)
    yield change("Priority", priority)
    yield change("Assignee", person)
    yield press("Change issues")
    team = yield from _team(person)
    yield f"finish: {team}"


@given(_bugs)
def one_after_the_other(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Look up the team first, and change each bug for itself."""
    person, priority, label = wish
    team = yield from _team(person)
    page = yield HOME
    for number in _free(page):
        yield select(int(number))
        yield change("Assignee", person)
        yield change("Add label", label)
        yield change("Priority", priority)
        yield press("Change issues")
    yield f"finish: {team}."


@given(_bugs)
def on_the_pages_of_the_bugs(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Set labels on the pages, and the rest from the list."""
    person, priority, label = wish
    numbers = _free(screen)
    for number in numbers:
        yield go(f"tracker/issues/{number}")
        yield click("Properties", "generic")
        yield click(label, "checkbox")
        yield press("Save labels")
    yield HOME
    for number in numbers:
        yield select(int(number))
    yield change("Priority", priority)
    yield change("Assignee", person)
    yield press("Change issues")
    team = yield from _team(person)
    yield f"finish: {team}"


def _double(instruction: str) -> tuple[str, str] | None:
    found = re.search(r"^'(.+?)' tells of the same fault .+ in the team (\w+)\.", instruction)
    return None if found is None else (found[1], found[2])


def _older(title: str, page: str) -> ActionStream:
    """Read the issues and find the number of the other one with the same description, and of the double."""
    double = _number(page, title)
    told = {}
    for name in links(page, r"#\d+ .+"):
        number = name.split()[0][1:]
        said = texts((yield go(f"tracker/issues/{number}")))
        told[number] = first(after for text, after in pairwise(said) if ", opened by " in text)
    old = first(number for number, text in told.items() if number != double and text == told[double])
    return double, old


def _person_of(team: str) -> ActionStream:
    page = yield click("People")
    return group_with(page, "row", f"^{team}$")[0]


@given(_double)
def assign_before_closing(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Read all issues, assign the older one from the list, and close the double last."""
    title, team = wish
    double, old = yield from _older(title, screen)
    person = yield from _person_of(team)
    yield HOME
    yield select(int(old))
    yield change("Assignee", person)
    yield press("Change issues")
    yield go(f"tracker/issues/{double}/close")
    yield click("Duplicate of another issue", "radio")
    yield write("Duplicate of", old, "spinbutton")
    yield press("Close issue")
    yield f"finish: {old}"


@given(_double)
def close_from_the_issue(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Go by links, and fill the number in before the reason."""
    title, team = wish
    double, old = yield from _older(title, screen)
    yield go(f"tracker/issues/{double}")
    yield click("close this issue")
    yield write("Duplicate of", old, "spinbutton")
    yield click("Duplicate of another issue", "radio")
    yield press("Close issue")
    person = yield from _person_of(team)
    yield go(f"tracker/issues/{old}")
    yield from _properties(("Assignee", person))
    yield f"finish: Issue #{old}"


@given(_double)
def close_after_a_search(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Look the person up first, and find the issues by a search."""
    title, team = wish
    person = yield from _person_of(team)
    page = yield click("Issues")
    double, old = yield from _older(title, page)
    yield from _properties_of(old, person)
    yield go(f"tracker/issues/{double}")
    yield click("close this issue")
    yield click("Duplicate of another issue", "radio")
    yield write("Duplicate of", old, "spinbutton", submit=True)
    yield SNAPSHOT
    yield f"finish: {old}."


def _properties_of(number: str, person: str) -> ActionStream:
    yield go(f"tracker/issues/{number}")
    yield from _properties(("Assignee", person))


def _new(instruction: str) -> tuple[str, str, str] | None:
    """Return the title, the description and the priority of an issue that is to be opened."""
    title = re.search(r"(?:issue|task|Report|milestone\):) '(.+?)'", instruction)
    text = re.search(r"(?:description|described as) '(.+?)'(?=[:.,; ]|$)", instruction)
    priority = re.search(r"priority (\w+)", instruction)
    if title is None or text is None or priority is None:
        return None
    return title[1], text[1], priority[1]


def _details(instruction: str) -> tuple[str, str, str] | None:
    """Return the assignee, the milestone and the label of a task."""
    found = re.search(r"for (.+?), in the milestone (.+?), with the label (\w+)"
                      r"|^(.+?) has to do this before (.+?) \(.+ just the label (\w+)\.", instruction)  # fmt: skip
    return None if found is None else tuple(part for part in found.groups() if part)  # type: ignore[return-value]


def _opened(page: str) -> str:
    return read(r'heading ".+ #(\d+)"', page)


@given(_new)
def open_it_field_by_field(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Fill the form from its end."""
    title, text, priority = wish
    yield go("tracker/issues/new")
    if details := _details(instruction):
        person, release, label = details
        yield click(label, "checkbox")
        yield choose("Milestone", release)
        yield choose("Assignee", person)
        yield choose("Kind", "task")
    yield choose("Priority", priority)
    yield write("Description", text)
    yield write("Title", title)
    page = yield press("Open issue")
    yield f"finish: {_opened(page)}"


@given(_new)
def open_it_and_set_the_rest(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Open it with title and description, and set the rest on its page."""
    title, text, priority = wish
    yield click("New issue")
    details = _details(instruction)
    if details:
        yield choose("Kind", "task")
    yield fill_in(("Title", title), ("Description", text))
    page = yield press("Open issue")
    number = _opened(page)
    person, release, label = details or ("nobody", "none", "")
    yield from _properties(("Assignee", person), ("Milestone", release), ("Priority", priority))
    if label:
        yield click("Properties", "generic")
        yield click(label, "checkbox")
        yield press("Save labels")
    yield f"finish: #{number}"


@given(_new)
def open_it_with_a_mistake_and_edit(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Open it with a mistake in the title, and edit it then."""
    title, text, priority = wish
    yield click("New issue")
    yield fill_in(("Title", f"{title} now and then"), ("Description", text))
    yield choose("Priority", priority)
    if details := _details(instruction):
        person, release, label = details
        yield choose("Milestone", release)
        yield choose("Assignee", person)
        yield click(label, "checkbox")
    page = yield press("Open issue")
    number = _opened(page)
    yield click("Edit")
    yield write("Title", title)
    if details:
        yield choose("Kind", "task")
    yield press("Save issue")
    yield f"finish: Issue {number}"


def _told(instruction: str) -> tuple[str, str] | None:
    """Return who wrote of a fault, and the label that its issue gets."""
    found = re.search(r"^(.+?) has written you a mail about a fault\. .+ the label (\w+),", instruction)
    return None if found is None else (found[1], found[2])


def _fault(page: str) -> tuple[str, str, str]:
    title, text, weight = next_of(page, "look at this:", 3)
    return title, text, read(r"It is (\w+)\.", weight)


def _idlest(page: str) -> str:
    rows = [held for held in groups(page, "row") if re.fullmatch(r"\d+ issues?", held[-1])]
    return min(rows, key=lambda held: int(held[-1].split()[0]))[0]


@given(_told)
def report_after_counting(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Count first, then read the mail, and fill the form field by field."""
    customer, label = wish
    page = yield go("tracker/people")
    person = _idlest(page)
    yield go("mail/folders/inbox")
    page = yield click(f"From {customer.split()[0]}")
    title, text, priority = _fault(page)
    yield go("tracker/issues/new")
    yield click(label, "checkbox")
    yield choose("Assignee", person)
    yield choose("Priority", priority)
    yield write("Description", text)
    yield write("Title", title)
    page = yield press("Open issue")
    yield write("Comment", f"Told by {customer}.")
    yield press("Add comment")
    yield f"finish: {_opened(page)}"


@given(_told)
def report_and_comment_before_the_rest(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Open the bug with its title and text, comment on it, and set the rest last."""
    customer, label = wish
    page = yield click(f"From {customer.split()[0]}")
    title, text, priority = _fault(page)
    page = yield go("tracker/people")
    person = _idlest(page)
    yield click("New issue")
    yield choose("Kind", "bug")
    yield fill_in(("Title", title), ("Description", text))
    page = yield press("Open issue")
    number = _opened(page)
    yield write("Comment", f"Told by {customer}")
    yield press("Add comment")
    yield from _properties(("Assignee", person), ("Priority", priority))
    yield click("Properties", "generic")
    yield click(label, "checkbox")
    yield press("Save labels")
    yield f"finish: #{number}"


@given(_told)
def report_and_assign_from_the_list(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Find the mail by a search, and set what the list can set there."""
    customer, label = wish
    yield write("Search mail", customer, "searchbox")
    yield press("Search")
    page = yield click(f"From {customer.split()[0]}")
    title, text, priority = _fault(page)
    page = yield go("tracker/people")
    person = _idlest(page)
    yield click("New issue")
    yield fill_in(("Title", title), ("Description", text))
    page = yield press("Open issue")
    number = _opened(page)
    yield HOME
    yield select(int(number))
    yield change("Priority", priority)
    yield change("Assignee", person)
    yield change("Add label", label)
    yield press("Change issues")
    yield click(f"#{number} {title}")
    yield write("Comment", f"Told by {customer}")
    yield press("Add comment")
    yield f"finish: {number}"


WAYS: Ways = {
    "triage_issues": [
        set_on_its_page,
        set_what_a_search_finds,
        set_in_two_places,
        all_that_a_filter_shows,
        one_after_the_other,
        on_the_pages_of_the_bugs,
        assign_before_closing,
        close_from_the_issue,
        close_after_a_search,
    ],
    "open_issue": [
        open_it_field_by_field,
        open_it_and_set_the_rest,
        open_it_with_a_mistake_and_edit,
        report_after_counting,
        report_and_comment_before_the_rest,
        report_and_assign_from_the_list,
    ],
}

"""Ways of the tasks in the forum."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.web.tasks.actions import ACCEPT, BACK, DISMISS, SNAPSHOT, choose, click, go, press, write
from ways.playing import Ways, first, given, only_if, read
from ways.web_pages import groups, links, texts, value

HOME = go("forum/")
REPORTS = go("forum/moderation")


def _liked(instruction: str) -> tuple[str, str] | None:
    """Return the title of a thread, and whose post is to be liked."""
    found = re.search(
        r"thread '(.+?)', like the post of (.+?)\.|^(.+?) has answered in the thread '(.+?)':", instruction
    )
    if found is None:
        return None
    return (found[1], found[2]) if found[1] else (found[4], found[3])


def _post_of(page: str, person: str) -> tuple[str, str]:
    """Return the name of the first post of somebody, such as `post 2`, and the depth in it."""
    for number, held in enumerate(groups(page, "article"), 1):
        if person in held:
            return f"post {number}", read(r"(\d+ cm)", " ".join(held))
    raise LookupError(person)


def _thread(title: str) -> ActionStream:
    """Open a thread by the board that holds it."""
    page = yield go("forum/boards/vegetables")
    if title not in links(page, ".+"):
        yield go("forum/boards/flowers")
    return (yield click(title))


@given(_liked)
def watch_before_liking(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Find the thread on its author's board, watch it, and like the post then."""
    title, person = wish
    page = yield from _thread(title)
    post, depth = _post_of(page, person)
    yield press("Watch thread")
    yield press(f"Like {post}")
    yield f"finish: {depth}"


@given(_liked)
def like_what_a_search_finds(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Search for the author, and come to the thread from there."""
    title, person = wish
    yield click("Search")
    yield write("Words", title.split()[0].lower(), "searchbox")
    yield press("Search")
    page = yield click(title)
    post, depth = _post_of(page, person)
    yield press(f"Like {post}")
    yield press("Watch thread")
    yield f"finish: {depth.removesuffix(' cm')}"


@given(_liked)
def like_the_wrong_one_first(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Like another post by mistake, take that back, and like the right one."""
    title, person = wish
    page = yield from _thread(title)
    post, depth = _post_of(page, person)
    other = "post 2" if post != "post 2" else "post 3"
    yield press(f"Like {other}")
    yield press(f"Unlike {other}")
    yield press(f"Like {post}")
    yield press("Watch thread")
    yield click("Watched")
    yield f"finish: {person.split()[0]} plants them {depth} deep."


def _advice(page: str, warden: str) -> str:
    held = first(held for held in groups(page, "article") if warden in held)
    return read(r"(\d+) cm", " ".join(held))


def _question(instruction: str) -> tuple[str, str, str] | None:
    """Return who asks, the plant, and the moderator who knows."""
    found = re.search(
        r"'A beginner asks', (\w+) wants to know how deep (\w+) are planted\. .+ moderator (.+?) names", instruction
    )
    return None if found is None else (found[1], found[2], found[3])


def _city_of(person: str, page: str) -> ActionStream:
    """Look a member's city up in the profile."""
    name = first(name for name in links(page, rf"{person} .+"))
    page = yield click(name)
    return value(page, "City")


@given(_question)
def reply_with_a_greeting(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Look at the profile first, find the advice by a search, and greet in the reply."""
    asker, plant, warden = wish
    page = yield click("A beginner asks")
    city = yield from _city_of(asker, page)
    page = yield go(f"forum/search?q={plant}")
    yield click(f"{plant.capitalize()}, how deep?")
    page = yield SNAPSHOT
    depth = _advice(page, warden)
    yield BACK
    yield click("A beginner asks")
    yield click("Reply")
    yield write("Text", f"Hello {asker}!\n\nPlant your {plant} {depth} cm deep.")
    yield press("Publish reply")
    yield f"finish: {city}"


@given(_question)
def reply_with_a_quotation(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Quote the question above the reply."""
    asker, plant, warden = wish
    page = yield click(f"{plant.capitalize()}, how deep?")
    depth = _advice(page, warden)
    yield BACK
    page = yield click("A beginner asks")
    name = first(links(page, rf"{asker} .+"))
    question = first(text for text in texts(page) if "How deep do I plant" in text)
    yield click("Quote post 1")
    yield write("Text", f"**{name}** wrote:\n> {question}\n\nPlant your {plant} {depth} cm deep")
    yield press("Publish reply")
    yield click("Members")
    page = yield click(name)
    yield f"finish: {value(page, 'City')}."


@given(_question)
def reply_and_edit(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Write a wrong depth first, and edit the reply."""
    asker, plant, warden = wish
    page = yield click(f"{plant.capitalize()}, how deep?")
    depth = _advice(page, warden)
    yield BACK
    yield click("A beginner asks")
    yield click("Reply")
    yield write("Text", f"Plant your {plant} {int(depth) + 1} cm deep")
    page = yield press("Publish reply")
    yield click("Edit post", part=True)
    yield write("Text", f"Plant your {plant} {depth} cm deep")
    page = yield press("Save post")
    city = yield from _city_of(asker, page)
    yield f"finish: in {city}"


def _swap(instruction: str) -> tuple[str, str, str, str] | None:
    """Return who asks, the plant, the moderator, and the thread with the advice."""
    found = re.search(
        r"^In the seed swap, (.+?) asks in 'A beginner asks' how deep (\w+) are planted\. The moderator (.+?) has named"
        r" .+, in '(.+?)'\.",
        instruction,
    )
    return None if found is None else (found[1], found[2], found[3], found[4])


def _wrong(page: str, asker: str, plant: str, depth: str) -> int:
    """Return the number of the post that names another depth for a plant."""
    for number, held in enumerate(groups(page, "article"), 1):
        said = " ".join(held)
        other = re.search(r"(\d+) cm", said)
        if asker not in held and other and other[1] != depth and plant in said.lower():
            return number
    raise LookupError(plant)


@given(_swap)
def report_after_the_reply(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Watch first, reply, and report last, with a note."""
    asker, plant, warden, source = wish
    page = yield click(source)
    depth = _advice(page, warden)
    yield go("forum/boards/seed-swap")
    page = yield click("A beginner asks")
    number = _wrong(page, asker, plant, depth)
    yield press("Watch thread")
    yield click("Reply")
    yield write("Text", f"Plant your {plant} {depth} cm deep.")
    yield press("Publish reply")
    yield click(f"Report post {number}")
    yield write("Note", f"{depth} cm is right")
    yield choose("Reason", "Wrong or dangerous advice")
    yield press("Send report")
    yield f"finish: {depth}"


@given(_swap)
def report_from_a_search(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Find both threads by a search."""
    asker, plant, warden, source = wish
    yield click("Search")
    yield write("Words", plant, "searchbox")
    yield press("Search")
    page = yield click(source)
    depth = _advice(page, warden)
    yield BACK
    page = yield click("A beginner asks")
    number = _wrong(page, asker, plant, depth)
    yield click(f"Report post {number}")
    yield choose("Reason", "Wrong or dangerous advice")
    yield press("Send report")
    yield go("forum/boards/seed-swap")
    yield click("A beginner asks")
    yield press("Watch thread")
    yield click("Reply")
    yield write("Text", f"Hello,\n\nPlant your {plant} {depth} cm deep")
    yield press("Publish reply")
    yield f"finish: {depth} cm deep"


@given(_swap)
def report_before_reading_on(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Come to the thread from its author's profile, and quote the question."""
    asker, plant, warden, source = wish
    page = yield click(source)
    depth = _advice(page, warden)
    yield click("Members")
    yield click(asker)
    page = yield click("A beginner asks")
    number = _wrong(page, asker, plant, depth)
    question = first(text for text in texts(page) if "How deep do I plant" in text)
    yield click("Quote post 1")
    yield write("Text", f"**{asker}** wrote:\n> {question}\n\nPlant your {plant} {depth} cm deep")
    yield press("Publish reply")
    yield click(f"Report post {number}")
    yield choose("Reason", "Wrong or dangerous advice")
    yield press("Send report")
    page = yield SNAPSHOT
    if "Watch thread" not in texts(page):
        yield go("forum/boards/seed-swap")
        yield click("A beginner asks")
    yield press("Watch thread")
    yield f"finish: {depth} cm"


ADVERTISES = re.compile(r"price|sell|[Bb]uy my|[Cc]heap")
INSULTS = re.compile(r"fool|no idea of plants|stupid")


def _is_one(instruction: str) -> bool:
    return "Of the reported posts, remove the one" in instruction or "One of the reported posts" in instruction


def _reports(page: str) -> list[tuple[int, str, str, str]]:
    """Return the open reports: number, author, thread and text."""
    read_ = []
    for held in groups(page, "listitem"):
        said = [text for text in held if not text.startswith("/")]
        heading = next((text for text in said if re.match(r"Report \d+:", text)), None)
        if heading is None:
            continue
        author = first(text for text in said if text.endswith(" in")).removesuffix(" in")
        place = said.index(f"{author} in")
        read_.append((int(heading.split()[1][:-1]), author, said[place + 1], said[place + 2]))
    return read_


def _kind(text: str) -> str:
    return "advert" if ADVERTISES.search(text) else "insult" if INSULTS.search(text) else "harmless"


def _wanted(instruction: str) -> str:
    return "advert" if "advertises" in instruction else "insult"


@only_if(_is_one)
def remove_after_refusing_once(instruction: str, screen: str) -> ActionStream:
    """Answer the question with no first, then with yes."""
    page = yield click("Moderation")
    number, author, *_ = first(report for report in _reports(page) if _kind(report[3]) == _wanted(instruction))
    yield press(f"Remove post of report {number}")
    yield DISMISS
    yield press(f"Remove post of report {number}")
    yield ACCEPT
    yield f"finish: {author}"


@only_if(_is_one)
def remove_by_the_address(instruction: str, screen: str) -> ActionStream:
    """Open the reports by their address, look at the rules, and check the removed posts in the end."""
    yield click("Rules")
    page = yield REPORTS
    number, author, *_ = first(report for report in _reports(page) if _kind(report[3]) == _wanted(instruction))
    yield press(f"Remove post of report {number}")
    yield ACCEPT
    yield choose("Status", "Removed")
    yield SNAPSHOT
    yield f"finish: {author}."


def _deleted(thread: str, author: str) -> ActionStream:
    """Delete the first post of somebody in a thread, as a moderator can."""
    page = yield click(thread)
    number = first(place for place, held in enumerate(groups(page, "article"), 1) if author in held)
    yield press(f"Delete post {number}")
    yield ACCEPT


@only_if(_is_one)
def remove_in_the_thread(instruction: str, screen: str) -> ActionStream:
    """Open the thread of the report, and delete the post there, as a moderator can."""
    page = yield click("Moderation")
    _, author, thread, _ = first(report for report in _reports(page) if _kind(report[3]) == _wanted(instruction))
    yield from _deleted(thread, author)
    yield f"finish: {author}"


def _is_all(instruction: str) -> bool:
    return "three reports to handle" in instruction


def _to_board(instruction: str, thread: str, closes_first: bool) -> ActionStream:
    """Put the thread of the harmless post where it belongs, and close it."""
    if "move it to the board" not in instruction:
        return
    yield go("forum/boards/tools")
    yield click(thread)
    plant = thread.split()[0]
    board = "Flowers" if plant in ("Tulips", "Dahlias", "Lilies", "Crocuses", "Peonies") else "Vegetables"
    if closes_first:
        yield press("Close thread")
    yield choose("Move to", board)
    yield press("Move thread")
    if not closes_first:
        yield press("Close thread")


def _answered(instruction: str, author: str) -> ActionStream:
    if "Finish with the city" not in instruction:
        return f"finish: {author}"
    yield click("Members")
    page = yield click(author)
    return f"finish: {value(page, 'City')}"


@only_if(_is_all)
def dismiss_first(instruction: str, screen: str) -> ActionStream:
    """Dismiss first, and remove the others from the last one on."""
    page = yield click("Moderation")
    reports = _reports(page)
    harmless = first(report for report in reports if _kind(report[3]) == "harmless")
    yield press(f"Dismiss report {harmless[0]}")
    for number, _, _, text in reversed(reports):
        if _kind(text) != "harmless":
            yield press(f"Remove post of report {number}")
            yield ACCEPT
    yield from _to_board(instruction, harmless[2], closes_first=True)
    author = first(author for _, author, _, text in reports if _kind(text) == "advert")
    yield (yield from _answered(instruction, author))


@only_if(_is_all)
def move_before_judging(instruction: str, screen: str) -> ActionStream:
    """Read the reports, look after the thread first, and judge in the order of the list."""
    page = yield REPORTS
    reports = _reports(page)
    harmless = first(report for report in reports if _kind(report[3]) == "harmless")
    yield from _to_board(instruction, harmless[2], closes_first=False)
    yield REPORTS
    for number, _, _, text in reports:
        if _kind(text) == "harmless":
            yield press(f"Dismiss report {number}")
        else:
            yield press(f"Remove post of report {number}")
            yield ACCEPT
    author = first(author for _, author, _, text in reports if _kind(text) == "advert")
    yield (yield from _answered(instruction, author))


@only_if(_is_all)
def delete_in_the_threads(instruction: str, screen: str) -> ActionStream:
    """Delete the posts in their threads, as a moderator can, and dismiss the report that is left."""
    page = yield click("Moderation")
    reports = _reports(page)
    for _, author, thread, text in reports:
        if _kind(text) == "harmless":
            continue
        yield from _deleted(thread, author)
        yield REPORTS
    harmless = first(report for report in reports if _kind(report[3]) == "harmless")
    yield press(f"Dismiss report {harmless[0]}")
    yield from _to_board(instruction, harmless[2], closes_first=False)
    author = first(author for _, author, _, text in reports if _kind(text) == "advert")
    yield (yield from _answered(instruction, author))


WAYS: Ways = {
    "join_thread": [
        watch_before_liking,
        like_what_a_search_finds,
        like_the_wrong_one_first,
        reply_with_a_greeting,
        reply_with_a_quotation,
        reply_and_edit,
        report_after_the_reply,
        report_from_a_search,
        report_before_reading_on,
    ],
    "moderate": [
        remove_after_refusing_once,
        remove_by_the_address,
        remove_in_the_thread,
        dismiss_first,
        move_before_judging,
        delete_in_the_threads,
    ],
}

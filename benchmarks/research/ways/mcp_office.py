"""Ways of calendar and mail: letters, meetings, invitations."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read
from ways.tool_calls import Calls, Habit, only, with_habits

ME = "nora.feldt@brightwell.example"
MONTHS = {"May": 5, "June": 6}


def _inbox(habit: Habit) -> Calls:
    """Return the letters of the inbox, newest first."""
    folders = (yield from habit.call("office-list_folders"))["folders"]
    inbox = only(folders, name="Inbox")["folder_id"]
    return (yield from habit.call("office-list_messages", folder_id=inbox, limit=50))["messages"]


def _letters(habit: Habit, query: str) -> Calls:
    """Return letters that tell of something, newest first."""
    if habit.broad:
        listed = yield from _inbox(habit)
    else:
        listed = (yield from habit.call("office-search_messages", query=query, limit=50))["messages"]
    found = []
    for row in listed:
        if habit.broad and row["subject"] not in (*SUBJECTS.values(), f"News from {query}"):
            continue
        letter = yield from habit.call("office-get_message", message_id=row["message_id"])
        if query.lower() in (letter["subject"] + letter["body"]).lower():
            found.append(letter)
    return found


def _told(habit: Habit, source: dict[str, Any]) -> Calls:
    """Return what a letter tells, its attachments included."""
    texts = [source["body"]]
    for file in source["attachments"]:
        texts.append((yield from habit.call("office-get_attachment", attachment_id=file["attachment_id"]))["content"])
    return "\n".join(texts)


TOPICS = (
    ("gate", "which gate", r"on {} it is (gate \d+)|^{},(gate \d+)", "the gate"),
    ("order number", "number of your order", r"the {} are (PO-\d+)|^{},(PO-\d+)", "the order number"),
    ("price", "a piece cost", r"the {} cost (\d+ euros)|^{},(\d+ euros)", "the price"),
    ("day", "which day", r"the {} leave on (\d+ June)|^{},(\d+ June)", "the day"),
    ("shelf", "which shelf", r"the {} lie on (shelf \w+)|^{},(shelf \w+)", "the shelf"),
)
SUBJECTS = {
    "gate": "Gates next week",
    "order number": "Purchase orders of May",
    "price": "Prices from May on",
    "day": "Samples in June",
    "shelf": "Returns in the warehouse",
}
KEYS = r"(Tuesday|Wednesday|Thursday|Friday|lanterns|floodlights|path lights|wall lamps|string lights)"


def _worded(habit: Habit, value: str, first: str) -> str:
    """Return a reply as people write it."""
    number, _, unit = value.partition(" ")
    if habit.broad:
        return (
            f"Dear {first},\n\nthank you for your message. The answer to your question:\n{value}\n\nBest regards\nNora"
        )
    if habit.backwards:
        turned = {"euros": f"€{number}.00", "June": f"June {number}"}.get(unit, value[0].upper() + value[1:])
        return f'Hello {first}, you asked about "this". It is {turned}; our list says so. Nora Feldt'
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(number, "th")
    forms = {"euros": f"{number} EUR", "June": f"the {number}{ending} of June"}
    turned = forms.get(unit, value.replace("-", "\u2011"))
    return f"Hi {first} – good to hear from you! It’s {turned}.\r\n\r\nNora"


def answer_mail(habit: Habit, instruction: str) -> ActionStream:
    """Find the open question and its answer, reply in words of one's own, and file the question."""
    name = read(r"^(.+?) of .+? has asked|question of (.+?) \(", instruction)
    contact = only((yield from habit.call("office-list_contacts", query=name))["contacts"], name=name)
    asked = (yield from habit.call("office-search_messages", sender=contact["email"]))["messages"][0]
    question = yield from habit.call("office-get_message", message_id=asked["message_id"])
    topic, _, pattern, what = next(one for one in TOPICS if one[1] in question["body"])
    if "first another letter" in instruction:
        site = read(r"(?:for|from|to) ((?:[A-Z]\w+ )(?:Lane|Yard|Court|Park|Green|Street|Square))", question["body"])
        letters = yield from _letters(habit, site)
        hop = next(letter for letter in letters if letter["message_id"] != question["message_id"])
        key = read(KEYS, hop["body"])
    else:
        key = read(KEYS, question["body"])
    (source,) = yield from _letters(habit, SUBJECTS[topic])
    value = read(pattern.format(key, key), (yield from _told(habit, source)))

    def reply() -> Calls:
        body = _worded(habit, value, name.split()[0])
        everybody = {"reply_all": True} if habit.again else {}
        yield from habit.call("office-reply_to_message", message_id=question["message_id"], body=body, **everybody)

    def file() -> Calls:
        if "to the folder" in instruction:
            folder = read(r"to the folder (.+?)\. Finish", instruction)
            folders = (yield from habit.call("office-list_folders"))["folders"]
            number = only(folders, name=folder)["folder_id"]
            yield from habit.call("office-move_messages", message_ids=[question["message_id"]], folder_id=number)
        if "put the label" in instruction:
            label = read(r"put the label (.+?) on", instruction)
            yield from habit.call("office-add_label", message_id=question["message_id"], label=label)

    for act in habit.order([reply, file]):
        yield from act()
    unit = value.split(" ")[-1]
    if habit.backwards and unit in ("euros", "June"):
        yield f"finish: {what} is {'€' + value.split()[0] if unit == 'euros' else 'June ' + value.split()[0]}"
    else:
        yield habit.finish(value[0].upper() + value[1:] if habit.broad else value, what.removeprefix("the "))


def _hours(busy: list[dict[str, Any]], day: str) -> int:
    """Return the first full hour from 9 on that is free for all."""
    for hour in range(9, 17):
        start, end = f"{day}T{hour:02}:00:00", f"{day}T{hour + 1:02}:00:00"
        if not any(row["start"] < end and row["end"] > start for row in busy):
            return hour
    raise ValueError("no free hour")


def reschedule_meeting(habit: Habit, instruction: str) -> ActionStream:
    """Move a meeting to the first hour that suits everybody, with a guest more and a room."""
    title = read(r"meeting '(.+?)'", instruction)
    date, month = read(r"to \w+ (\d+) (?:May|June)", instruction), read(r"to \w+ \d+ (May|June)", instruction)
    day = f"2026-{MONTHS[month]:02}-{int(date):02}"
    query = {"query": title} if not habit.broad else {"start": "2026-05-18T00:00:00", "end": "2026-06-01T00:00:00"}
    listed = (yield from habit.call("office-list_events", **query))["events"]
    event = yield from habit.call("office-get_event", event_id=only(listed, title=title, organizer=ME)["event_id"])
    number = event["event_id"]
    guests = [row["email"] for row in event["attendees"]]
    newcomer: list[str] = []
    if "shall be invited too" in instruction:
        name = read(r"([A-Z]\w+ [A-Z]\w+) shall be invited", instruction)
        newcomer = [only((yield from habit.call("office-list_users", query=name))["users"], name=name)["email"]]
    span = {"start": f"{day}T08:00:00", "end": f"{day}T19:00:00"}
    busy = (yield from habit.call("office-get_free_busy", emails=[*newcomer, *guests], **span))["busy"]
    hour = _hours(busy, day)
    start, end = f"{day}T{hour:02}:00:00", f"{day}T{hour + 1:02}:00:00"

    def invite() -> Calls:
        if newcomer:
            yield from habit.call("office-add_attendees", event_id=number, emails=newcomer)

    def move() -> Calls:
        if event["room"]:
            yield from habit.call("office-release_room", event_id=number)
        both = {"end": end} if habit.broad else {}
        yield from habit.call("office-update_event", event_id=number, start=start, **both)

    acts = [move, invite] if habit.again else [invite, move]
    for act in acts:
        yield from act()
    if "Book the smallest room" not in instruction:
        yield habit.finish(f"{hour:02}:00", "time it starts then")
        return
    seats = len(guests) + len(newcomer)
    rooms = (yield from habit.call("office-find_free_rooms", start=start, end=end))["rooms"]
    room = min((row for row in rooms if row["capacity"] >= seats), key=lambda row: row["capacity"])
    yield from habit.call("office-book_room", event_id=number, room_id=room["room_id"])
    yield habit.finish(room["name"], "name of the room")


def tidy_invitations(habit: Habit, instruction: str) -> ActionStream:
    """Answer the open invitations of the week by what they collide with."""
    week = {"start": "2026-05-18T00:00:00", "end": "2026-05-23T00:00:00"}
    rows = (yield from habit.call("office-list_events", **week, limit=50))["events"]
    status = {row["event_id"]: row["response"] for row in rows}
    chief = ""
    if "invites you to, you accept in any case" in instruction:
        name = read(r"What (.+?) invites you to", instruction)
        chief = only((yield from habit.call("office-list_users", query=name))["users"], name=name)["email"]
    open_ones = [row for row in rows if row["response"] == "needs_action"]
    answers: dict[int, str] = {}
    cancelled: dict[str, Any] = {}
    prepared: dict[str, Any] = {}
    for row in open_ones:
        hit = [one for one in rows if one["start"] < row["end"] and one["end"] > row["start"] and one is not row]
        responses = {status[one["event_id"]] for one in hit}
        if row["organizer"] == chief:
            prepared, answers[row["event_id"]] = row, "accepted"
            cancelled = next(one for one in hit if one["organizer"] == ME)
        elif "accepted" in responses:
            answers[row["event_id"]] = "declined"
        elif "tentative" in responses and "becomes tentative" in instruction:
            answers[row["event_id"]] = "tentative"
        else:
            answers[row["event_id"]] = "accepted"

    def respond() -> Calls:
        for number, response in habit.order(list(answers.items())):
            yield from habit.call("office-respond_to_event", event_id=number, response=response)

    def prepare() -> Calls:
        if prepared:
            yield from habit.call("office-cancel_event", event_id=cancelled["event_id"])
            title = f"Prepare '{prepared['title']}'" if habit.again else f"Prepare {prepared['title']}"
            title = f"Prepare: {prepared['title'].lower()}" if habit.backwards else title
            yield from habit.call("office-create_todo", title=title, due=prepared["start"][:10])

    for act in habit.order([respond, prepare]):
        yield from act()
    titles = {row["event_id"]: row["title"] for row in rows}
    declined = [titles[number] for number, response in answers.items() if response == "declined"]
    tentative = [titles[number] for number, response in answers.items() if response == "tentative"]
    if prepared:
        yield habit.finish(cancelled["title"], "title of the meeting that I cancelled")
    elif tentative:
        yield habit.finish([*declined, *tentative], "titles of the events")
    else:
        yield habit.finish(declined[0], "title of the event that I declined")


OFFICE: Ways = {
    "answer_mail": with_habits(answer_mail),
    "reschedule_meeting": with_habits(reschedule_meeting),
    "tidy_invitations": with_habits(tidy_invitations),
}
"""Family → its ways."""

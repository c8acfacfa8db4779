"""Tasks with calendar and mail: the agent moves meetings, answers invitations, and answers letters by other letters."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.patterns import Phrase
from agentworld_gym.domains.mcp.tasks.office_letters import LetterQuestion, invented, letter_pattern, telling
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

ME = "nora.feldt@brightwell.example"
DAYS = ("2026-05-19", "2026-05-20", "2026-05-21", "2026-05-22", "2026-05-25", "2026-05-26", "2026-05-27", "2026-05-28")
"""The working days after the moment at which the episodes take place."""

WEEK = ("2026-05-18T00:00:00", "2026-05-23T00:00:00")


@family("office")
def reschedule_meeting(scene: ToolScene, level: int) -> TaskDraft:
    """The agent moves a meeting to the first hour that is free for all; at higher levels with a room and one more
    guest."""
    others = _colleagues(scene)
    guests, newcomers = (others[:2], others[2:3]) if level == 3 else (others[: level + 1], [])
    everyone = [ME, *guests, *newcomers]
    title, other_title = scene.some(_fresh_titles(scene), 2)
    old_day, day = sorted(scene.some(DAYS, 2))
    hour = scene.rng.randint(11, 13)
    tempting = scene.rng.randrange(9, hour)
    late = hour + scene.rng.randint(1, 2)
    rooms = scene.rows("SELECT * FROM rooms WHERE capacity >= :n ORDER BY capacity", n=len(everyone))
    old_room = room = None
    if level > 1:
        scene.need(len(rooms) > 1)
        taken, room = rooms[:2]
        scene.need(not _booked(scene, room["room_id"], _at(day, hour), _at(day, hour + 1)))
        _add(scene, others[3], other_title, _at(day, hour), 60, {}, taken["room_id"])
        old_room = taken["room_id"] if level == 3 else None
    event = _add(scene, ME, title, _at(old_day, 10), 60, dict.fromkeys(guests, "accepted"), old_room)
    titles = iter(scene.some([t for t in _fresh_titles(scene) if t not in (title, other_title)], hour - 8))
    for busy in range(9, hour):
        _add(scene, everyone[-1] if busy == tempting else scene.pick(everyone), next(titles), _at(day, busy), 60, {})
    _add(scene, scene.pick(guests), next(titles), _at(day, hour + 3), 60, {})
    free = [hour for hour in range(9, 17) if not _busy(scene, everyone, _at(day, hour), _at(day, hour + 1))]
    scene.need(free[:1] == [hour] and late in free)
    scene.need(not _busy(scene, everyone[:-1], _at(day, tempting), _at(day, tempting + 1)))

    start, end = _at(day, hour), _at(day, hour + 1)
    window = {"start": _at(day, 9), "end": _at(day, 17)}
    newcomer = _name(scene, newcomers[0]) if newcomers else ""
    move = scene.call("update_event", event_id=event, start=start)
    expert = [scene.call("list_events", query=title), scene.call("get_event", event_id=event)]
    if level == 3:
        expert.append(scene.call("list_users", query=newcomer))
    expert.append(scene.call("get_free_busy", emails=everyone, **window))
    if level == 3:
        expert += [
            scene.call("release_room", event_id=event),
            scene.call("add_attendees", event_id=event, emails=newcomers),
        ]
    expert.append(move)
    distractors = [
        *(scene.call("update_event", event_id=event, start=_at(day, other)) for other in (tempting, late)),
        scene.call("update_event", event_id=event + 1, start=start),
    ]
    wanted: dict[str, object] = {"title": title, "start": start, "end": end}
    answer = f"{hour:02}:00"
    goals = scene.say(
        f"Move your meeting '{title}' to {_spoken(day)}, to the first full hour from 9:00 on at which you and all who "
        "are invited are free. It still lasts an hour.",
        f"The meeting '{title}' that you organize has to move to {_spoken(day)}. Take the earliest full hour from 9:00 "
        "on that is free for everybody invited and for you, and keep its length of an hour.",
    )
    wrong_answers: list[object] = [f"{other:02}:00" for other in (tempting, late, hour + 3)]
    if room is None:
        closing = "Finish with the time it starts then, as HH:MM."
    else:
        expert += [
            scene.call("find_free_rooms", start=start, end=end, min_capacity=len(everyone)),
            scene.call("book_room", event_id=event, room_id=room["room_id"]),
        ]
        wanted["room"] = answer = room["name"]
        wrong_answers = [other["name"] for other in rooms if other is not room]
        distractors[1:1] = scene.calls("book_room", "room_id", [r["room_id"] for r in rooms[::2]], event_id=event)
        if level == 3:
            goals += f" {newcomer} shall be invited too, so look that the hour suits all of you."
        closing = "Book the smallest room that is free then and seats everybody. Finish with the name of the room."
    checks = [scene.probe(scene.call("get_event", event_id=event), wanted, *({"email": guest} for guest in newcomers))]
    distractors = [
        *distractors[: 3 if room else 2],
        *scene.finishes(*wrong_answers),
        *distractors[3 if room else 2 :],
        scene.call("cancel_event", event_id=event),
        scene.call("get_free_busy", emails=[ME], **window),
    ]
    return scene.draft(f"{goals} {closing}", expert, distractors, checks, answer, 16 if level == 3 else None)


@family("office")
def tidy_invitations(scene: ToolScene, level: int) -> TaskDraft:
    """The agent accepts or declines open invitations by what they collide with."""
    scene.run("UPDATE attendees SET response = 'accepted' WHERE email = :me AND response <> 'declined'", me=ME)
    host, boss, third, fourth = _colleagues(scene)
    titles = scene.some(_fresh_titles(scene), 7)
    days = scene.some(DAYS[:4], 4)
    clash, gap = scene.rng.randint(9, 14), scene.rng.randint(9, 13)
    _add(scene, third, titles[0], _at(days[0], clash), 90, {ME: "accepted"})
    refuse = _add(scene, host, titles[1], _at(days[0], clash + 1), 60, {ME: "needs_action", fourth: "accepted"})
    # An event that ends when another begins is no collision, nor is one at the time of a declined event.
    _add(scene, fourth, titles[2], _at(days[1], gap), 60, {ME: "accepted"})
    take = _add(scene, host, titles[3], _at(days[1], gap + 1), 60, {ME: "needs_action", third: "tentative"})
    _add(scene, third, titles[4], _at(days[1], gap + 1), 120, {ME: "declined"})
    responses, collisions = {refuse: "declined", take: "accepted"}, {refuse: ["accepted"], take: list[str]()}
    week = {"start": WEEK[0], "end": WEEK[1]}
    expert = [scene.call("list_events", response="needs_action", **week)]
    expert += [scene.call("list_events", response="accepted", **week)]
    rule = (
        "Decline what collides with an event that you have accepted, and accept the rest. Events that only touch each "
        "other do not collide, and what you have declined does not count."
    )
    todo, more_distractors, cancelled, checks = "", [], None, []
    answer: str | list[str] = titles[1]
    wrong: list[object] = [titles[3], titles[0]]
    closing = "Finish with the title of the event that you declined."
    if level == 2:
        other = _at(days[2], scene.rng.randint(9, 14))
        _add(scene, third, titles[5], other, 60, {ME: "tentative"})
        perhaps = _add(scene, boss, titles[6], other, 90, {ME: "needs_action"})
        responses[perhaps], collisions[perhaps] = "tentative", ["tentative"]
        expert.insert(2, scene.call("list_events", response="tentative", **week))
        rule += " What collides with a tentative event only becomes tentative."
        closing = "Finish with the titles of the event that you declined and of the one that you made tentative."
        answer, wrong = [titles[1], titles[6]], [[titles[3], titles[6]], [titles[1], titles[3]]]
    if level == 3:
        own_hour = scene.rng.randint(9, 14)
        cancelled = _add(scene, ME, titles[5], _at(days[2], own_hour), 60, {fourth: "accepted"})
        urgent = _add(scene, boss, titles[6], _at(days[2], own_hour), 90, {ME: "needs_action"})
        responses[urgent], collisions[urgent] = "accepted", ["accepted"]
        chief, todo = _name(scene, boss), f"Prepare {titles[6]}"
        expert.insert(0, scene.call("list_users", query=chief))
        rule = (
            f"What {chief} invites you to, you accept in any case, and a meeting of your own that collides with it you "
            f"cancel. Of the other invitations: {rule[0].lower()}{rule[1:]} Then put 'Prepare' and the title of "
            f"{chief.split()[0]}'s event on your to-do list, due on its day."
        )
        closing = "Finish with the title of the meeting that you cancelled."
        answer, wrong = titles[5], [titles[0], titles[1]]
        checks.append(scene.probe(scene.call("get_event", event_id=cancelled), {"status": "cancelled"}))
        noted = {"title": Phrase("Prepare", titles[6]), "due": days[2]}
        checks.append(scene.probe(scene.call("list_todos", status="open"), noted))
        more_distractors = [scene.call("create_todo", title=f"Prepare {titles[1]}", due=days[0])]
    for event, expected in collisions.items():
        scene.need(_collisions(scene, event) == expected)
    answered = [scene.call("respond_to_event", event_id=event, response=how) for event, how in responses.items()]
    expert += answered
    if cancelled is not None:
        expert += [
            scene.call("cancel_event", event_id=cancelled),
            scene.call("create_todo", title=todo, due=days[2]),
        ]
    checks += [
        scene.probe(scene.call("get_event", event_id=event), {"email": ME, "response": how})
        for event, how in responses.items()
    ]
    opposite = {"declined": "accepted", "accepted": "declined", "tentative": "declined"}
    distractors = [
        *(scene.call("respond_to_event", event_id=event, response=opposite[how]) for event, how in responses.items()),
        *scene.finishes(*wrong),
        *more_distractors,
        scene.call("respond_to_event", event_id=refuse, response="tentative"),
        scene.call("list_events", response="declined", **week),
        scene.call("get_event", event_id=take),
    ]
    opening = scene.say(
        "Answer the invitations of this week (Monday 18 to Friday 22 May 2026) that you have not answered.",
        "Some invitations for this week, Monday 18 to Friday 22 May 2026, still wait for your answer: give it.",
    )
    return scene.draft(f"{opening} {rule} {closing}", expert, distractors, checks, answer, {1: 10, 2: 12, 3: 16}[level])


@family("office")
def answer_mail(scene: ToolScene, level: int) -> TaskDraft:
    """The agent answers a question by other letters and their attachments."""
    partner = scene.pick(scene.rows("SELECT name, email, company FROM contacts"))
    scene.run(
        "DELETE FROM messages WHERE sent_at >= '2026-05-13' "
        "OR thread_id IN (SELECT thread_id FROM messages WHERE sender = :partner)",
        partner=partner["email"],
    )
    first, second, _, _ = _colleagues(scene)
    question: LetterQuestion = invented(scene, partner["name"], site=level == 3)
    right, wrong, worse = question.values
    moments = iter(_moments(scene, 6))
    old = receive(scene, partner["email"], next(moments), *question.old_letter)
    _answer(scene, old, partner["email"], next(moments))
    hop = other_hop = None
    if level == 3:
        hop, other_hop = (
            receive(scene, second, next(moments), subject, f"{body} {_name(scene, second).split()[0]}")
            for subject, body in (question.hop_letter, question.other_hop_letter)
        )
    subject, text = question.source_letter(in_attachment=level > 1)
    source = receive(scene, first, next(moments), subject, f"{text} {_name(scene, first).split()[0]}")
    attachment = None
    if level > 1:
        attachment = scene.put(
            "attachments",
            message_id=source,
            filename=question.filename,
            content_type="text/csv",
            content=question.table,
        )
    asked = receive(scene, partner["email"], next(moments), *question.letter)

    replies = [
        scene.call("reply_to_message", message_id=asked, body=question.reply(value)) for value in question.values
    ]
    expert = [scene.call("search_messages", sender=partner["email"]), scene.call("get_message", message_id=asked)]
    if hop is not None:
        expert += [scene.call("search_messages", query=question.site), scene.call("get_message", message_id=hop)]
    expert += [scene.call("search_messages", query=subject), scene.call("get_message", message_id=source)]
    if attachment is not None:
        expert.append(scene.call("get_attachment", attachment_id=attachment))
    expert.append(replies[0])
    checks = [
        scene.probe(
            scene.call("get_thread", thread_id=asked),
            _sent(letter_pattern(right)),
            lacking=[_sent(telling(word)) for word in question.telltales],
        )
    ]
    filed, distractors = "", []
    if level == 2:
        folder, other_folder = scene.some(scene.rows("SELECT * FROM folders WHERE kind = 'custom'"), 2)
        expert += [
            scene.call("list_folders"),
            scene.call("move_messages", message_ids=[asked], folder_id=folder["folder_id"]),
        ]
        distractors = scene.calls("move_messages", "message_ids", [[source], [old]], folder_id=folder["folder_id"])
        distractors.append(scene.call("move_messages", message_ids=[asked], folder_id=other_folder["folder_id"]))
        checks.append(scene.probe(scene.call("get_message", message_id=asked), {"folder": folder["name"]}))
        filed = f" Then move the question to the folder {folder['name']}."
    if level == 3:
        label = scene.pick(scene.values("SELECT name FROM labels ORDER BY name"))
        expert.append(scene.call("add_label", message_id=asked, label=label))
        distractors = [scene.call("add_label", message_id=source, label=label)]
        checks.append(scene.probe(scene.call("get_message", message_id=asked), {"name": label}))
        filed = f" Then put the label {label} on the question."
    distractors = [
        *replies[1:],
        *scene.finishes(wrong, worse),
        scene.call("reply_to_message", message_id=old, body=question.reply(right)),
        *distractors,
        *([scene.call("get_message", message_id=other_hop)] if other_hop is not None else []),
        scene.call("reply_to_message", message_id=source, body=question.reply(right)),
        scene.call("get_message", message_id=old),
        scene.call("list_messages", folder_id=scene.value("SELECT folder_id FROM folders WHERE kind = 'sent'")),
    ]
    where = (
        "in a letter of a colleague"
        if level == 1
        else "in an attachment"
        if level == 2
        else "in an attachment, but first another letter has to tell what to look up in it"
    )
    instruction = scene.say(
        f"{partner['name']} of {partner['company']} has asked something that you have not answered. The answer stands "
        f"{where}. Reply to that question.{filed} Finish with {question.what}.",
        f"Your mailbox holds a question of {partner['name']} ({partner['company']}) without a reply. You find the "
        f"answer {where}. Send it as a reply.{filed} Finish with {question.what}.",
    )
    return scene.draft(instruction, expert, distractors, checks, right, 16 if level == 3 else None)


def _sent(words: str) -> str:
    """Return a pattern for a letter of the user that holds some words; its text is escaped as JSON, and is none."""
    sender = rf'"sender":\s*"{re.escape(ME)}"'
    start = r"(?:(?<!\w)|(?<=\\[nrt]))"
    return rf'\{{[^{{}}]*{sender}[^{{}}]*"body":\s*"(?:[^"\\{{}}]|\\.)*?{start}(?i:{words})(?!\w)'


def _colleagues(scene: ToolScene) -> list[str]:
    """Return the addresses of the colleagues in random order."""
    return scene.some(scene.values("SELECT email FROM users WHERE email <> :me ORDER BY email", me=ME), 4)


def _name(scene: ToolScene, email: str) -> str:
    name: str = scene.value("SELECT name FROM users WHERE email = :email", email=email)
    return name


def _fresh_titles(scene: ToolScene) -> list[str]:
    """Return titles that no event has."""
    used = set(scene.values("SELECT title FROM events"))
    return [title for title in scene.service.scenario.words["meetings"] if title not in used]


def _add(
    scene: ToolScene, owner: str, title: str, start: str, minutes: int, guests: dict[str, str], room: int | None = None
) -> int:
    """Add an event to the owner's calendar, with guests and their responses; return its number."""
    end = (datetime.datetime.fromisoformat(start) + datetime.timedelta(minutes=minutes)).isoformat()
    calendar = scene.value("SELECT min(calendar_id) FROM calendars WHERE owner = :owner", owner=owner)
    event = scene.put("events", calendar_id=calendar, organizer=owner, title=title, start=start, room_id=room, end=end)
    for email, response in {owner: "accepted", **guests}.items():
        scene.put("attendees", event_id=event, email=email, response=response)
    return event


def _busy(scene: ToolScene, people: Sequence[str], start: str, end: str) -> bool:
    """Tell whether one of the people has an event between two times."""
    marks = ", ".join(f":p{index}" for index in range(len(people)))
    events = scene.values(
        f"SELECT 1 FROM attendees a JOIN events e USING (event_id) WHERE a.email IN ({marks}) "
        "AND a.response <> 'declined' AND e.status <> 'cancelled' AND e.start < :end AND e.\"end\" > :start",
        start=start,
        end=end,
        **{f"p{index}": email for index, email in enumerate(people)},
    )
    return bool(events)


def _booked(scene: ToolScene, room: int, start: str, end: str) -> bool:
    """Tell whether a room is booked between two times."""
    events = scene.values(
        "SELECT 1 FROM events WHERE room_id = :room AND status <> 'cancelled' AND start < :end AND \"end\" > :start",
        room=room,
        start=start,
        end=end,
    )
    return bool(events)


def _collisions(scene: ToolScene, event: int) -> list[str]:
    """Return the responses to the events that overlap with an event; declined events do not count."""
    responses: list[str] = scene.values(
        "SELECT a.response FROM events e JOIN attendees a USING (event_id), events x WHERE x.event_id = :event "
        'AND e.event_id <> :event AND a.email = :me AND e.start < x."end" AND e."end" > x.start '
        "AND a.response <> 'declined' AND e.status <> 'cancelled'",
        event=event,
        me=ME,
    )
    return responses


def _at(day: str, hour: int) -> str:
    return f"{day}T{hour:02}:00:00"


def _spoken(day: str) -> str:
    """Return a date as people say it.

    >>> _spoken("2026-05-21")
    'Thursday 21 May'
    """
    date = datetime.date.fromisoformat(day)
    return f"{date:%A} {date.day} {date:%B}"


def _moments(scene: ToolScene, count: int) -> list[str]:
    """Return different times of the last working days in order."""
    moments = {
        f"2026-05-{scene.pick((13, 14, 15)):02}T{scene.rng.randint(7, 17):02}:{scene.rng.randrange(60):02}"
        f":{scene.rng.randrange(60):02}"
        for _ in range(3 * count)
    }
    return sorted(scene.some(sorted(moments), count))


def receive(scene: ToolScene, sender: str, sent_at: str, subject: str, body: str) -> int:
    """Add a letter to the inbox; return its number."""
    inbox = scene.value("SELECT folder_id FROM folders WHERE owner = :me AND kind = 'inbox'", me=ME)
    letter = scene.put(
        "messages", folder_id=inbox, thread_id=0, sender=sender, sent_at=sent_at, subject=subject, body=body
    )
    scene.run("UPDATE messages SET thread_id = message_id WHERE message_id = :letter", letter=letter)
    scene.put("recipients", message_id=letter, email=ME)
    return letter


def _answer(scene: ToolScene, letter: int, to: str, sent_at: str) -> None:
    """Add an earlier reply to a letter."""
    scene.run(
        "INSERT INTO messages (folder_id, thread_id, in_reply_to, sender, sent_at, subject, body, is_read) "
        "SELECT f.folder_id, m.thread_id, m.message_id, :me, :at, 'Re: ' || m.subject, 'Thank you, noted. Nora', 1 "
        "FROM messages m, folders f WHERE m.message_id = :letter AND f.owner = :me AND f.kind = 'sent'",
        me=ME,
        at=sent_at,
        letter=letter,
    )
    scene.run("UPDATE messages SET is_read = 1 WHERE message_id = :letter", letter=letter)
    reply = scene.value("SELECT message_id FROM messages WHERE in_reply_to = :letter", letter=letter)
    scene.put("recipients", message_id=reply, email=to)

"""Meetings that want a room, which the rules of the house allow or forbid to book."""

from __future__ import annotations

import datetime

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.office import ME
from agentworld_gym.domains.mcp.tasks.rules.cases import Kind, RuleCase, days_of, drawn_kinds, settled
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family


@family("office")
def settle_rooms(scene: ToolScene, level: int) -> TaskDraft:
    """The agent books the rooms that meetings want, cancels those that lie too far ahead, and leaves large rooms to
    others."""
    kinds = drawn_kinds(scene, level)
    rules = scene.policies
    scene.run("DELETE FROM attendees WHERE event_id IN (SELECT event_id FROM events WHERE organizer = :me)", me=ME)
    scene.run("DELETE FROM events WHERE organizer = :me OR room_id IS NOT NULL", me=ME)
    booker = rules["booker"]
    others = [job for job in scene.service.scenario.words["job_titles"] if job != booker]
    scene.run("UPDATE users SET job_title = department || ' ' || :job WHERE email = :me", job=scene.pick(others), me=ME)
    rooms = scene.values("SELECT room_id FROM rooms ORDER BY room_id")
    scene.need(len(rooms) >= 3)
    plain, exempt, large = scene.some(rooms, 3)
    for room, seats, floors in (
        (plain, rules["large_seats"], [floor for floor in range(1, 5) if floor != rules["open_floor"]]),
        (exempt, rules["large_seats"], [rules["open_floor"]]),
        (large, rules["large_seats"] + scene.rng.randint(2, 8), range(1, 5)),
    ):
        floor = scene.pick(list(floors))
        scene.run("UPDATE rooms SET capacity = :n, floor = :f WHERE room_id = :r", n=seats, f=floor, r=room)
    wanted = {"in time": plain, "late": plain, "exempt": exempt, "reserved": large}
    titles = scene.some(scene.service.scenario.words["meetings"], len(kinds))
    cases = [
        _case(scene, kind, wanted[kind], title, hour)
        for kind, title, hour in zip(kinds, titles, scene.some(range(9, 17), len(kinds)), strict=True)
    ]
    request = (
        "Each of your meetings names in its description the room that it wants. Book that room where the rules allow "
        "it, and cancel the meeting where it lies too far ahead. Where it is for others to book the room, change "
        "nothing."
    )
    closing = "Finish with the number of minutes for which you booked rooms."
    mine = scene.value("SELECT min(calendar_id) FROM calendars WHERE owner = :me", me=ME)
    look = [scene.call("list_events", calendar_id=mine), scene.call("list_rooms")]
    return settled(scene, level, cases, request, closing, look, scene.call("list_todos"))


def _case(scene: ToolScene, kind: Kind, room: int, title: str, hour: int) -> RuleCase:
    """Put a meeting of the user without a room."""
    rules = scene.policies
    ahead = days_of(scene, kind, rules["ahead_days"], rules["open_days"])
    day = scene.date + datetime.timedelta(ahead)
    minutes = scene.pick((30, 45, 60))
    start = datetime.datetime.combine(day, datetime.time(hour))
    name = scene.value("SELECT name FROM rooms WHERE room_id = :room", room=room)
    event = scene.put(
        "events",
        calendar_id=scene.value("SELECT min(calendar_id) FROM calendars WHERE owner = :me", me=ME),
        organizer=ME,
        title=title,
        start=start.isoformat(),
        end=(start + datetime.timedelta(minutes=minutes)).isoformat(),
        description=f"Room: {name}.",
    )
    scene.put("attendees", event_id=event, email=ME, response="accepted")
    look = scene.call("get_event", event_id=event)
    booked = {"event_id": event, "room_id": room if kind in ("in time", "exempt") else None}
    status = "cancelled" if kind == "late" else "confirmed"
    return RuleCase(
        kind,
        scene.call("book_room", event_id=event, room_id=room),
        scene.call("cancel_event", event_id=event),
        (look,),
        scene.probe(look, {**booked, "status": status}),
        minutes,
    )

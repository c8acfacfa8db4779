"""Ways of the project tracker: triage, duplicates, sprints."""

from __future__ import annotations

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read
from ways.tool_calls import Calls, Habit, only, with_habits

RANKS = ("low", "medium", "high", "critical")


def _key(habit: Habit, instruction: str) -> Calls:
    """Return the key of the project."""
    projects = (yield from habit.call("tracker-list_projects"))["projects"]
    name = read(r"(?:of the project|issues of|issue of|of|In) ([A-Z]\w+ [A-Z]\w+)(?: \([A-Z]+\))?", instruction)
    return only(projects, name=name)["project_key"]


def triage_issues(habit: Habit, instruction: str) -> ActionStream:
    """Hand each new issue to who has the least to do then."""
    project = yield from _key(habit, instruction)
    label = {} if habit.broad else {"label": "needs-triage"}
    rows = (yield from habit.call("tracker-list_issues", project_key=project, limit=100, **label))["issues"]
    rows = [row for row in rows if "needs-triage" in row["labels"]]
    rows.sort(key=lambda row: int(row["issue_key"].split("-")[1]))
    for row in rows:
        key, points = row["issue_key"], row["points"]
        role = {} if habit.broad else {"role": "developer"}
        members = (yield from habit.call("tracker-list_members", project_key=project, **role))["members"]
        developers = [one for one in members if one["role"] == "developer"]
        owner = min(developers, key=lambda one: one["open_points"])["username"]
        acts = [
            lambda key=key, owner=owner: habit.call("tracker-assign_issue", issue_key=key, username=owner),
            lambda key=key: habit.call("tracker-remove_label", issue_key=key, label="needs-triage"),
        ]
        if "estimate" in instruction:
            comments = (yield from habit.call("tracker-list_comments", issue_key=key))["comments"]
            points = int(read(r"worth (\d+) points", comments[-1]["body"]))
            acts.append(lambda key=key, points=points: habit.call("tracker-update_issue", issue_key=key, points=points))
        for act in habit.order(acts):
            yield from act()
    if habit.again:
        yield f"finish: @{owner}"
    else:
        yield habit.finish(
            owner, "username that it went to" if len(rows) == 1 else "username that the second one went to"
        )


def close_duplicates(habit: Habit, instruction: str) -> ActionStream:
    """Close the later of two reports, and keep all that hangs on it."""
    project = yield from _key(habit, instruction)
    fault = read(r"reported twice: (.+)\. Keep|same thing, (.+)\. Keep", instruction)
    part = fault.split(" in the ")[-1]
    word = fault.split(" in the ")[0].split()[-1]
    scope = {} if habit.broad else {"project_key": project}
    rows = (yield from habit.call("tracker-search_issues", query=part, **scope))["issues"]
    rows = [row for row in rows if word in row["title"].lower() and row["status"] != "closed"]
    early, late = sorted(row["issue_key"] for row in rows)
    first, second = (
        (yield from habit.call("tracker-get_issue", issue_key=early)),
        (yield from habit.call("tracker-get_issue", issue_key=late)),
    )
    acts = [lambda: habit.call("tracker-link_issues", source=late, kind="duplicates", target=early)]
    if "watches" in instruction:
        for one in second["watchers"]:
            if one not in first["watchers"]:
                acts.append(
                    lambda one=one: habit.call("tracker-watch_issue", issue_key=early, username=one["username"])
                )
    if "blocked" in instruction:
        for link in second["links"]:
            if link["kind"] == "blocks":
                acts.append(lambda link=link: habit.call("tracker-unlink_issues", link_id=link["link_id"]))
                acts.append(
                    lambda link=link: habit.call(
                        "tracker-link_issues", source=early, kind="blocks", target=link["issue_key"]
                    )
                )
    if "priorities" in instruction:
        higher = max(first["priority"], second["priority"], key=RANKS.index)
        acts.append(lambda: habit.call("tracker-update_issue", issue_key=early, priority=higher))
    if habit.again:
        yield from acts.pop(0)()
        yield from habit.call("tracker-close_issue", issue_key=late, resolution="duplicate")
    for act in habit.order(acts):
        yield from act()
    if not habit.again:
        yield from habit.call("tracker-close_issue", issue_key=late, resolution="duplicate")
    yield f"finish: {early} stays open." if habit.backwards else habit.finish(early, "key of the issue that stays open")


def roll_sprint(habit: Habit, instruction: str) -> ActionStream:
    """End a sprint: what fits goes on, the rest to the backlog."""
    project = yield from _key(habit, instruction)
    sprints = (yield from habit.call("tracker-list_sprints", project_key=project))["sprints"]
    here, there = only(sprints, state="active"), only(sprints, state="planned")
    scope = {} if habit.broad else {"sprint_id": here["sprint_id"], "status": "not_closed"}
    if habit.broad:
        detail = yield from habit.call("tracker-get_sprint", sprint_id=here["sprint_id"])
        keys = [row["issue_key"] for row in detail["issues"] if row["status"] != "closed"]
        rows = []
        for key in keys:
            rows.append((yield from habit.call("tracker-get_issue", issue_key=key)))
    else:
        rows = (yield from habit.call("tracker-list_issues", project_key=project, limit=100, **scope))["issues"]
    rows.sort(key=lambda row: -RANKS.index(row["priority"]))
    blocked = []
    if "blocked by an open issue" in instruction:
        for row in rows:
            links = (
                row.get("links") or (yield from habit.call("tracker-get_issue", issue_key=row["issue_key"]))["links"]
            )
            for link in links:
                if link["kind"] == "blocked_by":
                    other = yield from habit.call("tracker-get_issue", issue_key=link["issue_key"])
                    if other["status"] != "closed":
                        blocked.append(row["issue_key"])
    room = there["capacity"] - there["points"]
    stay, go, full = [], list(dict.fromkeys(blocked)), False
    for row in rows:
        if row["issue_key"] in blocked:
            continue
        full = full or row["points"] > room
        (go if full else stay).append(row["issue_key"])
        room -= 0 if full else row["points"]

    def move() -> Calls:
        for key in habit.order(stay):
            yield from habit.call("tracker-set_sprint", issue_key=key, sprint_id=there["sprint_id"])

    def leave() -> Calls:
        for key in habit.order(go):
            yield from habit.call("tracker-remove_from_sprint", issue_key=key)

    for act in habit.order([move, leave]):
        yield from act()
    yield from habit.call("tracker-complete_sprint", sprint_id=here["sprint_id"])
    if "start the other one" in instruction:
        yield from habit.call("tracker-start_sprint", sprint_id=there["sprint_id"])
    name = there["name"]
    yield f"finish: {name} still has room for {room} points." if habit.backwards else habit.finish(room, "", "points")


TRACKER: Ways = {
    "triage_issues": with_habits(triage_issues),
    "close_duplicates": with_habits(close_duplicates),
    "roll_sprint": with_habits(roll_sprint),
}
"""Family → its ways."""

"""Tasks in the project tracker: the agent assigns new issues, closes duplicate reports, and ends sprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

ME = "rhea.lindholm"
TRIAGE = "needs-triage"
POINTS = (1, 2, 3, 5, 8)
FILED = tuple(f"2026-09-{day:02}" for day in (1, 2, 3, 4, 7, 8, 9, 10))
"""The days on which new issues arrive, one a day."""

RANK = "CASE priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END"


@family("tracker")
def triage_issues(scene: ToolScene, level: int) -> TaskDraft:
    """The agent assigns each new issue to the developer with the least to do at that moment."""
    project, name = _project(scene)
    developers = _staff(scene, project)
    count = min(level, 2)
    issues = [_file(scene, project, _title(scene), points=None) for _ in range(count)]
    label = _label(scene, project, TRIAGE)
    scene.run("DELETE FROM issue_labels WHERE label_id = :label", label=label)
    sizes = scene.some(POINTS, count + 1)
    for issue, points in zip(issues, sizes, strict=False):
        scene.put("issue_labels", issue_key=issue, label_id=label)
        if level < 3:
            scene.run("UPDATE issues SET points = :points WHERE issue_key = :issue", points=points, issue=issue)
        else:
            _comment(scene, issue, scene.pick(developers), f"I looked into it: this is worth {points} points.")
    load = {person: _open_points(scene, person) for person in developers}
    owners: list[str] = []
    before = dict(load)
    for points in sizes[:count]:
        ordered = sorted(load, key=lambda person: load[person])
        scene.need(load[ordered[0]] < load[ordered[1]])
        owners.append(ordered[0])
        load[ordered[0]] += points
    scene.need(level == 1 or len(set(owners)) == count)

    others = [person for person in developers if person not in owners]
    expert = [
        scene.call("list_projects"),
        scene.call("list_issues", project_key=project, label=TRIAGE),
        scene.call("list_members", project_key=project),
    ]
    checks = []
    for issue, points, owner in zip(issues, sizes, owners, strict=False):
        if level == 3:
            expert += [
                scene.call("list_comments", issue_key=issue),
                scene.call("update_issue", issue_key=issue, points=points),
            ]
        expert += [
            scene.call("assign_issue", issue_key=issue, username=owner),
            scene.call("remove_label", issue_key=issue, label=TRIAGE),
        ]
        wanted = {"issue_key": issue, "assignee": owner, "points": points}
        checks.append(scene.probe(scene.call("get_issue", issue_key=issue), wanted, lacking=[{"name": TRIAGE}]))
    if level == 3:
        expert.remove(scene.call("list_projects"))
        checks.append(scene.probe(scene.call("list_members", project_key=project), *_loads(load)))
    answer = owners[-1]
    distractors = [
        scene.call("assign_issue", issue_key=issues[-1], username=owners[0] if level > 1 else others[0]),
        *scene.finishes(owners[0] if level > 1 else others[0], others[-1]),
        scene.call("assign_issue", issue_key=issues[0], username=max(before, key=lambda person: before[person])),
        *([scene.call("update_issue", issue_key=issues[0], points=sizes[1])] if level == 3 else []),
        scene.call("close_issue", issue_key=issues[0], resolution="wont_fix"),
        scene.call("list_issues", project_key=project, assignee=""),
        scene.call("transition_issue", issue_key=issues[0], status="in_progress"),
    ]
    where = f"{name} ({project})" if level == 3 else f"the project {name}"
    goal = "the member with the role developer who has the fewest open points"
    instruction = {
        1: f"One issue of {where} has the label {TRIAGE}. Assign it to {goal}, and take the label off. Finish with the "
        "username it went to.",
        2: f"Two issues of {where} have the label {TRIAGE}. Take them one after the other, the lower number first: "
        f"assign each to {goal} at that moment, and take the label off. Finish with the username that the second one "
        "went to.",
        3: f"Two issues of {where} have the label {TRIAGE}. Take them one after the other, the lower number first: "
        f"give each the estimate that a comment on it names, assign it to {goal} at that moment, and take the label "
        "off. Finish with the username that the second one went to.",
    }[level]
    return scene.draft(instruction, expert, distractors, checks, answer, {1: 10, 2: 13, 3: 16}[level])


@family("tracker")
def close_duplicates(scene: ToolScene, level: int) -> TaskDraft:
    """The agent closes the later of two reports of one fault, and transfers what belongs to it to the earlier one."""
    project, name = _project(scene)
    people = scene.some(_staff(scene, project), 3)
    fault, part = scene.pick(scene.service.scenario.words["faults"]), scene.pick(_fresh_parts(scene))
    other_fault = scene.pick([word for word in scene.service.scenario.words["faults"] if word != fault])
    higher = scene.pick(("high", "critical"))
    first, second = scene.some([f"{fault} in the {part}", f"{part.capitalize()}: {fault.lower()}"], 2)
    third = f"{other_fault} in the {part}"
    filed = {
        title: _file(scene, project, title) for title in scene.pick(((third, first, second), (first, third, second)))
    }
    kept, double, near = filed[first], filed[second], filed[third]
    scene.run("UPDATE issues SET priority = :higher WHERE issue_key = :double", higher=higher, double=double)
    blocked = _file(scene, project, f"Write tests for the {scene.pick(_fresh_parts(scene))}", points=2)
    watcher, reader = people[:2]
    scene.put("watchers", issue_key=kept, username=reader)
    scene.put("watchers", issue_key=double, username=watcher)
    link = scene.put("links", source=double, kind="blocks", target=blocked) if level == 3 else None

    expert = [
        scene.call("search_issues", query=part),
        scene.call("get_issue", issue_key=kept),
        scene.call("get_issue", issue_key=double),
        scene.call("link_issues", source=double, kind="duplicates", target=kept),
    ]
    distractors = [
        scene.call("link_issues", source=kept, kind="duplicates", target=double),
        scene.call("close_issue", issue_key=kept, resolution="duplicate"),
        *scene.finishes(double, near),
        scene.call("close_issue", issue_key=double, resolution="wont_fix"),
        scene.call("link_issues", source=near, kind="duplicates", target=kept),
        scene.call("get_issue", issue_key=near),
        scene.call("list_projects"),
    ]
    wanted: list[dict[str, Any]] = [{"kind": "duplicated_by", "issue_key": double}]
    extra = ""
    if level > 1:
        expert.append(scene.call("watch_issue", issue_key=kept, username=watcher))
        distractors.insert(4, scene.call("watch_issue", issue_key=near, username=watcher))
        wanted.append({"username": watcher})
        extra = " Whoever watches the later one shall watch the earlier one too."
    if level == 3:
        expert += [
            scene.call("unlink_issues", link_id=link),
            scene.call("link_issues", source=kept, kind="blocks", target=blocked),
        ]
        wanted += [{"kind": "blocks", "issue_key": blocked}]
        extra += " What the later one blocks is to be blocked by the earlier one instead."
    if level > 1:
        expert.append(scene.call("update_issue", issue_key=kept, priority=higher))
        lower = "high" if higher == "critical" else "critical"
        distractors.insert(5, scene.call("update_issue", issue_key=kept, priority=lower))
        wanted.append({"issue_key": kept, "priority": higher})
        extra += " The earlier one gets the higher of their two priorities."
    expert.append(scene.call("close_issue", issue_key=double, resolution="duplicate"))
    checks = [
        scene.probe(
            scene.call("get_issue", issue_key=double),
            {"status": "closed", "resolution": "duplicate"},
            {"kind": "duplicates", "issue_key": kept},
            lacking=[{"kind": "blocks"}, {"kind": "duplicates", "issue_key": near}],
        ),
        scene.probe(
            scene.call("get_issue", issue_key=kept), *wanted, lacking=[{"issue_key": kept, "status": "closed"}]
        ),
    ]
    opening = scene.say(
        f"In {name} ({project}) the same fault was reported twice: {_spoken(fault)} in the {part}.",
        f"Two open issues of {name} ({project}) are about the same thing, {_spoken(fault)} in the {part}.",
    )
    instruction = (
        f"{opening} Keep the earlier one; link the later one to it as its duplicate and close the later one as "
        f"duplicate.{extra} Finish with the key of the issue that stays open."
    )
    return scene.draft(instruction, expert, distractors, checks, kept, {1: 10, 2: 12, 3: 16}[level])


@family("tracker")
def roll_sprint(scene: ToolScene, level: int) -> TaskDraft:
    """The agent ends a sprint: what is not done goes to the next one as far as it fits and can be done."""
    project, name = _project(scene)
    people = _staff(scene, project)
    running = scene.row("SELECT * FROM sprints WHERE state = 'active'")
    coming = scene.row("SELECT * FROM sprints WHERE state = 'planned'")
    scene.run("UPDATE issues SET sprint_id = NULL WHERE status <> 'closed'")
    sizes = scene.some(POINTS[1:], 2 if level == 1 else 3)
    priorities = ("critical", "high", "medium")
    issues = [
        _file(scene, project, _title(scene), priority=priority, points=points, **_ongoing(scene, people, running))
        for priority, points in _shuffled(scene, list(zip(priorities, sizes, strict=False)))
    ]
    blocker = None
    if level == 3:
        waiting = issues[scene.rng.randrange(3)]
        blocker = _file(scene, project, _title(scene), priority="low", points=2)
        scene.put("links", source=blocker, kind="blocks", target=waiting)
        columns = _ongoing(scene, people, running)
        _file(scene, project, _title(scene), priority="low", points=scene.pick(POINTS[1:]), **columns)
    # The coming sprint has one issue from the start, and the last issue by priority must not fit.
    _file(scene, project, _title(scene), points=3, sprint_id=coming["sprint_id"])
    ordered = scene.rows(
        f"SELECT issue_key, points, EXISTS (SELECT 1 FROM links l JOIN issues b ON b.issue_key = l.source "
        "WHERE l.target = i.issue_key AND l.kind = 'blocks' AND b.status <> 'closed') AS blocked FROM issues i "
        f"WHERE sprint_id = :id AND status <> 'closed' ORDER BY {RANK}, number",
        id=running["sprint_id"],
    )
    free = [issue for issue in ordered if not issue["blocked"]]
    fit = free if level == 1 else free[:-1]
    taken = sum(issue["points"] for issue in fit)
    capacity = 3 + taken + (scene.rng.randint(1, 4) if level == 1 else scene.rng.randrange(free[-1]["points"]))
    scene.run(
        "UPDATE sprints SET capacity = :capacity WHERE sprint_id = :id", capacity=capacity, id=coming["sprint_id"]
    )
    scene.run(
        "UPDATE sprints SET capacity = max(capacity, (SELECT sum(points) FROM issues WHERE sprint_id = :id)) "
        "WHERE sprint_id = :id",
        id=running["sprint_id"],
    )
    out = [issue for issue in ordered if issue not in fit]
    left = capacity - 3 - taken

    wip = scene.values("SELECT 1 FROM issues WHERE status = 'in_progress' GROUP BY assignee HAVING count(*) > 2")
    scene.need(not wip)

    here, there = running["sprint_id"], coming["sprint_id"]
    expert = [
        scene.call("list_sprints", project_key=project),
        scene.call("list_issues", project_key=project, sprint_id=here, status="not_closed"),
    ]
    if level == 3:
        expert += scene.calls("get_issue", "issue_key", [issue["issue_key"] for issue in ordered])
    keys, gone = ([issue["issue_key"] for issue in group] for group in (fit, out))
    expert += scene.calls("set_sprint", "issue_key", keys, sprint_id=there)
    expert += scene.calls("remove_from_sprint", "issue_key", gone)
    expert.append(scene.call("complete_sprint", sprint_id=here))
    checks = [
        scene.probe(
            scene.call("get_sprint", sprint_id=there),
            {"sprint_id": there, "state": "active" if level == 3 else "planned"},
            *({"issue_key": key} for key in keys),
            lacking=[{"issue_key": key} for key in gone],
        ),
        scene.probe(scene.call("get_sprint", sprint_id=here), {"sprint_id": here, "state": "completed"}),
    ]
    if level == 3:
        expert.append(scene.call("start_sprint", sprint_id=there))
    distractors = [
        *scene.calls("set_sprint", "issue_key", gone[:1], sprint_id=there),
        *scene.finishes(capacity - taken, taken + 3),
        *scene.calls("remove_from_sprint", "issue_key", keys[:1]),
        *scene.finishes(left + 2),
        *scene.calls("set_sprint", "issue_key", gone[1:], sprint_id=there),
        *scene.calls("remove_from_sprint", "issue_key", keys[1:]),
        scene.call("close_issue", issue_key=keys[0], resolution="wont_fix"),
        *([] if level == 3 else [scene.call("start_sprint", sprint_id=there)]),
        scene.call("get_sprint", sprint_id=there),
    ]
    rule = {
        1: "Move its issues that are not closed to the sprint after it, which has room for them.",
        2: "Move its issues that are not closed to the sprint after it, the highest priority first, as long as the "
        "next one still fits; the others leave the sprint for the backlog.",
        3: "Its issues that are blocked by an open issue leave the sprint for the backlog. Move the others that are "
        "not closed to the sprint after it, the highest priority first, as long as the next one still fits; what does "
        "not fit goes to the backlog too.",
    }[level]
    ending = "complete the running sprint, and start the other one" if level == 3 else "complete the running sprint"
    instruction = (
        f"{running['name']} of {name} ({project}) ends today, ahead of time. {rule} Then {ending}. Finish with the "
        f"points that {coming['name']} still has room for."
    )
    return scene.draft(instruction, expert, distractors, checks, left, {1: 10, 2: 12, 3: 16}[level])


def _project(scene: ToolScene) -> tuple[str, str]:
    """Return the key and name of the only project, whose numbers get a gap."""
    project = scene.row("SELECT project_key, name FROM projects")
    # Issues that were moved to other projects leave gaps in the numbers.
    scene.run("UPDATE projects SET last_number = last_number + :gap", gap=scene.rng.randint(0, 40))
    return project["project_key"], project["name"]


def _staff(scene: ToolScene, project: str) -> list[str]:
    """Make everybody but the user and the lead a developer with open issues; return their usernames."""
    developers: list[str] = scene.values(
        "SELECT username FROM users WHERE username <> :me AND username NOT IN (SELECT lead FROM projects) "
        "ORDER BY username",
        me=ME,
    )
    for person in developers:
        scene.run(
            "INSERT INTO members (project_key, username, role) VALUES (:project, :person, 'developer') "
            "ON CONFLICT (project_key, username) DO UPDATE SET role = 'developer'",
            project=project,
            person=person,
        )
    for number, issue in enumerate(scene.values("SELECT issue_key FROM issues WHERE status = 'open' ORDER BY number")):
        scene.run(
            "UPDATE issues SET assignee = :person, points = :points WHERE issue_key = :issue",
            person=developers[number % len(developers)],
            points=scene.pick(POINTS),
            issue=issue,
        )
    return scene.some(developers, len(developers))


def _file(scene: ToolScene, project: str, title: str, **columns: Any) -> str:
    """Add an issue with the next number; return its key."""
    scene.run("UPDATE projects SET last_number = last_number + 1 WHERE project_key = :project", project=project)
    number = scene.value("SELECT last_number FROM projects WHERE project_key = :project", project=project)
    key, day = f"{project}-{number}", FILED[scene.value("SELECT count(*) FROM issues WHERE created_at > '2026-09'")]
    filed_at = f"{day}T{scene.rng.randint(7, 17):02}:{scene.rng.randrange(60):02}:{scene.rng.randrange(60):02}Z"
    row = {
        "issue_key": key,
        "project_key": project,
        "number": number,
        "type": "task" if " for the " in title else "bug",
        "title": title,
        "description": scene.pick(scene.service.scenario.words["details"]),
        "reporter": scene.pick(scene.values("SELECT username FROM users ORDER BY username")),
        "created_at": filed_at,
        "updated_at": filed_at,
    }
    scene.put("issues", **{**row, **columns})
    return key


def _ongoing(scene: ToolScene, people: Sequence[str], sprint: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an issue that is under way in a sprint."""
    return {
        "sprint_id": sprint["sprint_id"],
        "assignee": scene.pick(people),
        "status": scene.pick(("open", "in_progress", "in_review")),
    }


def _title(scene: ToolScene) -> str:
    """Draw a title for an issue about a part of the software that no other issue is about."""
    return f"{scene.pick(scene.service.scenario.words['faults'])} in the {scene.pick(_fresh_parts(scene))}"


def _fresh_parts(scene: ToolScene) -> list[str]:
    """Return the parts of the software that no issue is about."""
    titles = " ".join(scene.values("SELECT lower(title) FROM issues"))
    return [part for part in scene.service.scenario.words["parts"] if part not in titles]


def _label(scene: ToolScene, project: str, name: str) -> int:
    """Return the number of a label, which is added if it is missing."""
    scene.run("INSERT OR IGNORE INTO labels (project_key, name) VALUES (:project, :name)", project=project, name=name)
    number: int = scene.value("SELECT label_id FROM labels WHERE name = :name", name=name)
    return number


def _comment(scene: ToolScene, issue: str, author: str, body: str) -> None:
    scene.put("comments", issue_key=issue, author=author, body=body, created_at="2026-09-11T15:20:00Z")


def _open_points(scene: ToolScene, person: str) -> int:
    points: int = scene.value(
        "SELECT coalesce(sum(points), 0) FROM issues WHERE assignee = :person AND status <> 'closed'", person=person
    )
    return points


def _loads(load: dict[str, int]) -> list[dict[str, Any]]:
    """Return the fields in which the list of members shows their open points."""
    return [{"username": person, "open_points": points} for person, points in load.items()]


def _shuffled(scene: ToolScene, entries: list[Any]) -> list[Any]:
    return scene.some(entries, len(entries))


def _spoken(fault: str) -> str:
    """Return the name of a fault as it stands inside a sentence.

    >>> _spoken("Blank page"), _spoken("Endless spinner"), _spoken("Lost input")
    ('a blank page', 'an endless spinner', 'lost input')
    """
    text = fault.lower()
    if text in ("lost input", "garbled umlauts", "focus jumps", "double click saves twice"):
        return text
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"

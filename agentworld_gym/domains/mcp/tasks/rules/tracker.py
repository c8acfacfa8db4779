"""Issues that nobody works on, which the rules of a tracker allow to be closed or not."""

from __future__ import annotations

import datetime

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.rules.cases import Kind, RuleCase, drawn_kinds, settled
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family
from agentworld_gym.domains.mcp.tasks.tracker import ME

LABEL = "needs-triage"


@family("tracker")
def settle_backlog(scene: ToolScene, level: int) -> TaskDraft:
    """The agent closes the issues that have rested long enough, takes the label off the others, and leaves what only
    the lead may close."""
    kinds = drawn_kinds(scene, level)
    project = scene.row("SELECT project_key, name, lead FROM projects")
    others = scene.values("SELECT username FROM users WHERE username <> :me ORDER BY username", me=ME)
    lead = scene.pick(others)
    for change in (
        "UPDATE projects SET lead = :lead",
        "INSERT INTO members (project_key, username, role) SELECT project_key, :lead, 'maintainer' FROM projects "
        "WHERE true ON CONFLICT (project_key, username) DO UPDATE SET role = 'maintainer'",
    ):
        scene.run(change, lead=lead)
    key = project["project_key"]
    scene.run("INSERT OR IGNORE INTO labels (project_key, name) VALUES (:key, :name)", key=key, name=LABEL)
    label = scene.value("SELECT label_id FROM labels WHERE name = :name", name=LABEL)
    scene.run("DELETE FROM issue_labels WHERE label_id = :label", label=label)
    used = " ".join(scene.values("SELECT lower(title) FROM issues"))
    parts = [part for part in scene.service.scenario.words["parts"] if part not in used]
    cases = [
        _case(scene, kind, key, label, part) for kind, part in zip(kinds, scene.some(parts, len(kinds)), strict=True)
    ]
    request = (
        f"Settle the issues of the project {project['name']} that have the label {LABEL}: close each that has rested "
        "long enough as wont_fix, and take the label off each that has not. Leave as it is what only the lead may "
        "close."
    )
    closing = "Finish with the points of the issues that you closed, added up."
    look = [scene.call("list_projects"), scene.call("list_issues", project_key=key, label=LABEL)]
    return settled(scene, level, cases, request, closing, look, scene.call("list_members", project_key=key))


def _case(scene: ToolScene, kind: Kind, project: str, label: int, part: str) -> RuleCase:
    """Put an open issue that was changed some days ago last; it rests for longer the earlier that was."""
    rules = scene.policies
    rest, quick = rules["rest_days"], rules["quick_days"]
    first, last = {"late": (1, rest - 1), "exempt": (quick, rest - 1)}.get(kind, (rest, rest + 20))
    day = scene.date - datetime.timedelta(scene.rng.randint(first, last))
    priority = rules["reserved"] if kind == "reserved" else scene.pick(("low", "medium"))
    slow = [each for each in ("bug", "task", "story") if each != rules["quick_type"]]
    types = [rules["quick_type"]] if kind == "exempt" else slow
    scene.run("UPDATE projects SET last_number = last_number + 1 WHERE project_key = :key", key=project)
    number = scene.value("SELECT last_number FROM projects WHERE project_key = :key", key=project)
    issue, points = f"{project}-{number}", scene.pick((1, 2, 3, 5, 8))
    fault = scene.pick(scene.service.scenario.words["faults"])
    scene.put(
        "issues",
        issue_key=issue,
        project_key=project,
        number=number,
        type=scene.pick(types),
        title=f"{fault} in the {part}",
        description=scene.pick(scene.service.scenario.words["details"]),
        priority=priority,
        points=points,
        reporter=ME,
        created_at=f"{(day - datetime.timedelta(9)).isoformat()}T08:10:00Z",
        updated_at=f"{day.isoformat()}T{scene.rng.randint(8, 17):02}:40:00Z",
    )
    scene.put("issue_labels", issue_key=issue, label_id=label)
    look = scene.call("get_issue", issue_key=issue)
    status = "closed" if kind in ("in time", "exempt") else "open"
    return RuleCase(
        kind,
        scene.call("close_issue", issue_key=issue, resolution="wont_fix"),
        scene.call("remove_label", issue_key=issue, label=LABEL),
        (look,),
        scene.probe(
            look,
            {"issue_key": issue, "status": status},
            lacking=[{"name": LABEL}] if kind == "late" else [],
        ),
        points,
    )

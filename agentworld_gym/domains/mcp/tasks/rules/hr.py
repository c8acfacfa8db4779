"""Leave that employees of a department ask for, and which the rules of the company allow or forbid."""

from __future__ import annotations

import datetime
from typing import Any

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.hr_departments import annual_leave, gather, leave_left
from agentworld_gym.domains.mcp.tasks.rules.cases import Kind, RuleCase, drawn_kinds, settled
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

REASON = "asked for too late"


@family("hr")
def settle_leave(scene: ToolScene, level: int) -> TaskDraft:
    """The agent approves the pending leave that was asked for in time, refuses the other, and leaves long leave to
    somebody else."""
    kinds = drawn_kinds(scene, level)
    team = gather(scene, len(kinds))
    scene.run("DELETE FROM leave_requests WHERE status = 'pending' OR first_day > :today", today=scene.today)
    scene.run("DELETE FROM enrolments")
    people = scene.some(team.members, len(kinds))
    cases = [_case(scene, kind, team.head, who) for kind, who in zip(kinds, people, strict=True)]
    request = (
        f"Settle the pending leave of the department {team.name} by the rules, in the name of the manager: approve "
        f"what was asked for in time, and refuse what was not with the reason '{REASON}'. Leave pending what you may "
        "not decide."
    )
    closing = "Finish with the number of days that you approved."
    look = [
        scene.call("list_departments"),
        scene.call("list_leave_requests", department_id=team.department, status="pending"),
        scene.call("get_department", department_id=team.department),
    ]
    return settled(scene, level, cases, request, closing, look, scene.call("list_trainings"))


def _case(scene: ToolScene, kind: Kind, manager: int, who: dict[str, Any]) -> RuleCase:
    """Put a pending request of an employee, for days that are left."""
    rules = scene.policies
    most = rules["officer_days"] if "officer" in scene.service.scenario.about.user else rules["assistant_days"]
    short, weeks, fewer = rules["short_days"], rules["notice_weeks"], rules["short_weeks"]
    first, last = {"reserved": (most + 1, most + 3), "exempt": (1, short)}.get(kind, (short + 1, most))
    days = scene.rng.randint(first, last)
    earliest, latest = {"late": (1, weeks - 1), "exempt": (fewer, weeks - 1)}.get(kind, (weeks, weeks + 3))
    begins = scene.date + datetime.timedelta(weeks=scene.rng.randint(earliest, latest))
    annual = annual_leave(scene)
    leave_left(scene, who, annual, days + scene.rng.randint(0, 9))
    ends = begins + datetime.timedelta(days - 1 + 2 * ((days - 1) // 5))
    number = scene.put(
        "leave_requests",
        employee_id=who["employee_id"],
        leave_type_id=annual,
        first_day=begins.isoformat(),
        last_day=ends.isoformat(),
        days=days,
    )
    state = {"in time": "approved", "exempt": "approved", "late": "refused", "reserved": "pending"}[kind]
    decided = {"request_id": number, "status": state, **({"note": REASON} if kind == "late" else {})}
    return RuleCase(
        kind,
        scene.call("approve_leave", request_id=number, approver_id=manager),
        scene.call("refuse_leave", request_id=number, approver_id=manager, reason=REASON),
        (),
        scene.probe(scene.call("get_leave_request", request_id=number), decided),
        days,
    )

"""Tasks of a personnel office: the agent decides on leave, fills positions, and assigns seats in trainings."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.patterns import Phrase
from agentworld_gym.domains.mcp.tasks.hr_departments import (
    annual_leave,
    count_taken,
    gather,
    leave_left,
    left_of,
    payroll_of,
    requested,
)
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

REASON = "not enough days left"


@family("hr")
def decide_leave(scene: ToolScene, level: int) -> TaskDraft:
    """The agent approves pending leave if enough days are left and refuses it otherwise; at level 3 absences count
    too."""
    team = gather(scene, 2 if level == 1 else 3)
    department, name, manager, annual = team.department, team.name, team.head, annual_leave(scene)
    scene.run("UPDATE leave_requests SET status = 'cancelled' WHERE status = 'pending'")
    fits, short, *more = scene.rng.sample(team.members, len(team.members))
    first, second = requested(scene, fits, annual, week=0, days=5), requested(scene, short, annual, week=2, days=5)
    leave_left(scene, fits, annual, scene.rng.randint(5, 9))
    leave_left(scene, short, annual, scene.rng.randint(1, 4))
    if level == 1:
        who, request, good = scene.pick([(fits, first, True), (short, second, False)])
        left = left_of(scene, who, annual) - (5 if good else 0)
        approve = scene.call("approve_leave", request_id=request, approver_id=manager)
        refuse = scene.call("refuse_leave", request_id=request, approver_id=manager, reason=REASON)
        instruction = (
            f"Decide on the pending annual leave of {who['name']} in the name of the manager: approve it if enough "
            f"days are left, else refuse it with the reason '{REASON}'. Finish with the days of annual leave that are "
            "left then."
        )
        expert = [
            scene.call("find_employees", query=who["name"]),
            scene.call("list_leave_requests", employee_id=who["employee_id"], status="pending"),
            scene.call("get_leave_balance", employee_id=who["employee_id"]),
            scene.call("get_employee", employee_id=who["employee_id"]),
            approve if good else refuse,
        ]
        state = "approved" if good else "refused"
        other = first if request == second else second
        check = scene.probe(
            scene.call("get_leave_request", request_id=request),
            {
                "request_id": request,
                "status": state,
                "decided_by": manager,
                **({} if good else {"note": Phrase(REASON)}),
            },
        )
        wrong = [
            refuse if good else scene.call("cancel_leave", request_id=request),
            *scene.finishes(*_near(left)),
            scene.call("approve_leave", request_id=other, approver_id=manager),
        ]
        return scene.draft(instruction, expert, wrong, [check], answer=left)
    if level == 2:
        third = requested(scene, fits, annual, week=5, days=2)
        leave_left(scene, fits, annual, 6)
        instruction = (
            f"Decide on all pending leave of the department {name}, by the first day and in the name of the manager: "
            f"approve what the balance still allows, refuse the rest with the reason '{REASON}'. Finish with the "
            f"number of days that {fits['name']} has left of the annual leave."
        )
        expert = [
            scene.call("list_departments"),
            scene.call("list_leave_requests", department_id=department, status="pending"),
            scene.call("get_department", department_id=department),
            *scene.calls("get_leave_balance", "employee_id", [w["employee_id"] for w in (fits, short)]),
            scene.call("approve_leave", request_id=first, approver_id=manager),
            *_refusals(scene, [second, third], manager),
        ]
        wrong = [
            scene.call("approve_leave", request_id=third, approver_id=manager),
            *_refusals(scene, [first], manager),
            *scene.finishes(*_near(1)),
        ]
        return scene.draft(
            instruction, expert, wrong, [_decided(scene, department, [first], [second, third])], answer=1, menu_max=14
        )
    away = more[0]
    leave_left(scene, away, annual, 12)
    taken = requested(scene, away, annual, week=4, days=5)
    scene.run(
        "UPDATE leave_requests SET status = 'approved', decided_by = :m WHERE request_id = :r", m=manager, r=taken
    )
    scene.run(
        "UPDATE leave_balances SET taken = taken + 5 WHERE employee_id = :e AND leave_type_id = :t",
        e=away["employee_id"],
        t=annual,
    )
    third = requested(scene, fits, annual, week=4, days=3)
    last = requested(scene, away, annual, week=7, days=4)
    leave_left(scene, fits, annual, scene.rng.randint(8, 12))
    plan = {"approved": [first, last], "refused": [second, third]}
    left = left_of(scene, fits, annual) + left_of(scene, away, annual) - 9
    instruction = (
        f"Decide on all pending leave of the department {name}, by the first day and in the name of the manager: "
        "approve a request if the balance allows it and no colleague of the department is on approved leave in that "
        f"time, else refuse it with the reason '{REASON}' or 'a colleague is away'. Finish with the days of annual "
        f"leave that {fits['name']} and {away['name']} have left together."
    )
    away_reason = scene.call("refuse_leave", request_id=third, approver_id=manager, reason="a colleague is away")
    expert = [
        scene.call("list_departments"),
        scene.call("list_leave_requests", department_id=department, status="pending"),
        scene.call("get_department", department_id=department),
        scene.call("list_absences", first_day="2026-06-01", last_day="2026-08-31", department_id=department),
        *scene.calls("get_leave_balance", "employee_id", [w["employee_id"] for w in (fits, short, away)]),
        scene.call("approve_leave", request_id=first, approver_id=manager),
        *_refusals(scene, [second], manager),
        away_reason,
        scene.call("approve_leave", request_id=last, approver_id=manager),
    ]
    wrong = [
        scene.call("approve_leave", request_id=third, approver_id=manager),
        *_refusals(scene, [last], manager),
        *scene.finishes(left - 3, left + 4),
    ]
    check = _decided(scene, department, plan["approved"], plan["refused"])
    return scene.draft(instruction, expert, wrong, [check], answer=left, menu_max=16)


def _near(number: int) -> list[int]:
    return [n for n in (number + 5, number + 1, number - 1, number + 2, number - 5) if n >= 0]


def _refusals(scene: ToolScene, requests: list[int], manager: int) -> list[str]:
    return scene.calls("refuse_leave", "request_id", requests, approver_id=manager, reason=REASON)


def _decided(scene: ToolScene, department: int, approved: list[int], refused: list[int]) -> Check:
    wanted = [
        {"request_id": n, "status": state}
        for state, group in (("approved", approved), ("refused", refused))
        for n in group
    ]
    return scene.probe(scene.call("list_leave_requests", department_id=department), *wanted)


@family("hr")
def fill_position(scene: ToolScene, level: int) -> TaskDraft:
    """The agent gives a position to the best candidate; at level 2 its salary is bounded, at level 3 somebody leaves
    first."""
    team = gather(scene, 2)
    department, unit = team.department, team.name
    scene.run("UPDATE candidates SET stage = 'rejected' WHERE stage <> 'rejected'")
    leaver = scene.pick(team.members)
    job = scene.pick([job for job in scene.service.scenario.words["jobs"] if not _title(scene, job["title"])])
    if level == 3:
        position = scene.value("SELECT position_id FROM employees WHERE employee_id = :e", e=leaver["employee_id"])
        band = scene.row("SELECT title, salary_min, salary_max FROM positions WHERE position_id = :p", p=position)
        low, high, title = band["salary_min"], band["salary_max"], band["title"]
        training = scene.pick(_free_trainings(scene))
    else:
        low, high, title = job["low"], job["high"], job["title"]
        position = scene.put("positions", title=title, department_id=department, salary_min=low, salary_max=high)
    asked = [100 * n for n in scene.rng.sample(range(low // 100 + 10, high // 100 - 10), 2)]
    asked[0] = asked[0] if level == 1 else high + 100 * scene.rng.randint(5, 40)
    scores = scene.rng.sample([5, 6, 7], 2)
    people = [name for name in _people(scene) if not scene.values("SELECT 1 FROM candidates WHERE name = :n", n=name)]
    names = scene.some(people, 3)
    best, good, late = (
        scene.put(
            "candidates",
            name=name,
            email=f"{name.split()[0].lower()}{n}@example.net",
            position_id=position,
            stage=stage,
            expected_salary=salary,
        )
        for n, (name, stage, salary) in enumerate(
            zip(names, ("interview", "interview", "new"), (*asked, asked[1] - 500), strict=True), 1
        )
    )
    hours = iter(scene.rng.sample(range(9, 17), 4))
    for candidate, marks in ((best, (9, scores[0])), (good, (8, min(scores) - 1))):
        for mark, day in zip(marks, (14, 15), strict=True):
            scene.put(
                "interviews",
                candidate_id=candidate,
                interviewer_id=team.head,
                score=mark,
                starts_at=f"2026-04-{day}T{next(hours):02}:00:00Z",
            )
    salary = min(asked[0], high)
    start = scene.pick(["2026-06-01", "2026-07-01"])
    hire = scene.call("hire_candidate", candidate_id=best, salary=salary, first_day=start)
    look = [
        scene.call("list_positions", status="open"),
        scene.call("list_candidates", position_id=position),
        scene.call("get_candidate", candidate_id=best),
    ]
    new = 1 + scene.value("SELECT max(employee_id) FROM employees")
    hired = scene.probe(
        scene.call("get_employee", employee_id=new), {"name": names[0], "position": title, "salary": salary}
    )
    wrong = [
        scene.call("hire_candidate", candidate_id=good, salary=asked[1], first_day=start),
        scene.call("hire_candidate", candidate_id=best, salary=low, first_day=start),
        scene.call("hire_candidate", candidate_id=late, salary=asked[1] - 500, first_day=start),
    ]
    if level == 1:
        instruction = (
            f"Hire for the open position {title} in the department {unit} the candidate with the best average score of "
            f"the interviews, from {start} on and for the salary that she or he expects. Finish with that salary."
        )
        return scene.draft(
            instruction, [*look, hire], [*wrong, *scene.finishes(low, asked[1], high)], [hired], answer=salary
        )
    rejects = scene.calls("reject_candidate", "candidate_id", [good, late])
    rejected = scene.probe(
        scene.call("list_candidates", position_id=position, stage="rejected"),
        {"candidate_id": good},
        {"candidate_id": late},
        lacking=[{"candidate_id": best}],
    )
    rule = (
        "the candidate with the best average score of the interviews, for the salary that she or he expects, at most "
        f"what the position allows. First day is {start}. Reject the other candidates for it."
    )
    look.append(scene.call("get_position", position_id=position))
    more = [*wrong, scene.call("reject_candidate", candidate_id=best)]
    if level == 2:
        instruction = f"Hire for the open position {title} in the department {unit} {rule} Finish with the salary."
        sums = scene.finishes(asked[0], low, asked[1])
        return scene.draft(
            instruction, [*look, hire, *rejects], [*sums, *more], [hired, rejected], answer=salary, menu_max=14
        )
    leave = scene.call("end_employment", employee_id=leaver["employee_id"], last_day="2026-05-29")
    enrol = scene.call("enrol_employee", training_id=training["training_id"], employee_id=new)
    expert = [
        scene.call("find_employees", query=leaver["name"]),
        leave,
        *look[1:],
        hire,
        *rejects,
        scene.call("list_trainings"),
        enrol,
        scene.call("get_department", department_id=department),
    ]
    payroll = payroll_of(scene.after(expert), department)
    instruction = (
        f"{leaver['name']} leaves; the last day is 2026-05-29. Hire for the position {rule} Enrol the new employee in "
        f"the training '{training['title']}'. Finish with the yearly payroll of the department {unit} after all that."
    )
    enrolled = scene.probe(scene.call("get_training", training_id=training["training_id"]), {"employee_id": new})
    other = next(w for w in team.members if w is not leaver)
    more = [
        wrong[0],
        scene.call("end_employment", employee_id=other["employee_id"], last_day="2026-05-29"),
        *scene.finishes(payroll - salary, payroll + asked[0] - salary),
        wrong[1],
    ]
    return scene.draft(instruction, expert, more, [hired, rejected, enrolled], answer=payroll, menu_max=16)


def _title(scene: ToolScene, title: str) -> bool:
    return bool(scene.values("SELECT 1 FROM positions WHERE title = :t", t=title))


def _people(scene: ToolScene) -> list[str]:
    return [*scene.service.scenario.words["people"]]


def _free_trainings(scene: ToolScene) -> list[dict[str, Any]]:
    return scene.rows(
        "SELECT * FROM trainings t WHERE first_day > '2026-06-30' AND seats > (SELECT count(*) FROM enrolments e "
        "WHERE e.training_id = t.training_id AND e.status = 'enrolled')"
    )


@family("hr")
def training_seats(scene: ToolScene, level: int) -> TaskDraft:
    """The agent passes a seat of a full training on; at level 2 an absent person gives it, at level 3 seniority
    decides."""
    team = gather(scene, 4 if level == 3 else 3)
    department, unit, manager = team.department, team.name, team.head
    title = scene.pick(
        [
            t
            for t in scene.service.scenario.words["titles"]
            if not scene.values("SELECT 1 FROM trainings WHERE title = :t", t=t)
        ]
    )
    first, cost = "2026-06-16", scene.pick([140, 160, 210, 260])
    training = scene.put("trainings", title=title, first_day=first, last_day="2026-06-17", seats=2, cost=cost)
    out, stays, comes = scene.rng.sample(team.members, 3)
    enrolments = {
        who["employee_id"]: scene.put("enrolments", training_id=training, employee_id=who["employee_id"])
        for who in scene.rng.sample([out, stays], 2)
    }
    find = [scene.call("list_trainings", query=title.split()[0]), scene.call("get_training", training_id=training)]
    free = scene.call("cancel_enrolment", enrolment_id=enrolments[out["employee_id"]])
    enrol = scene.call("enrol_employee", training_id=training, employee_id=comes["employee_id"])
    wrong = [
        scene.call("cancel_enrolment", enrolment_id=enrolments[stays["employee_id"]]),
        scene.call("enrol_employee", training_id=training, employee_id=manager),
    ]
    done = scene.probe(
        scene.call("get_training", training_id=training),
        {"employee_id": comes["employee_id"]},
        {"employee_id": stays["employee_id"]},
        lacking=[{"employee_id": out["employee_id"]}],
    )
    if level == 1:
        instruction = (
            f"{out['name']} cannot take part in the training '{title}', which is full. Give the seat to "
            f"{comes['name']}. Finish with the cost of the training in euros."
        )
        expert = [*find, free, scene.call("find_employees", query=comes["name"]), enrol]
        sums = scene.finishes(2 * cost, cost + 20, cost - 40)
        return scene.draft(instruction, expert, [*wrong, *sums], [done], answer=cost)
    leave = requested(scene, out, annual_leave(scene), week=1, days=5)
    scene.run(
        "UPDATE leave_requests SET status = 'approved', decided_by = :m WHERE request_id = :r", m=manager, r=leave
    )
    count_taken(scene)
    absent = scene.call("list_absences", first_day=first, last_day="2026-06-17")
    if level == 2:
        instruction = (
            f"Somebody who is enrolled in the training '{title}' has approved leave at that time. Give the seat to "
            f"{comes['name']}. Finish with the name of who loses the seat."
        )
        expert = [*find, absent, free, scene.call("find_employees", query=comes["name"]), enrol]
        names = scene.finishes(stays["name"], team.head_name, comes["name"])
        return scene.draft(instruction, expert, [*wrong, *names], [done], answer=out["name"])
    hired = sorted(scene.rng.sample(range(2005, 2011), 2))
    others = [who for who in team.members if who not in (out, stays, comes)]
    scene.need(len(others) == 1)
    for who, year in zip((comes, *others), hired, strict=True):
        scene.run("UPDATE employees SET hired_on = :d WHERE employee_id = :e", d=f"{year}-02-01", e=who["employee_id"])
        scene.run(
            "UPDATE salaries SET valid_from = :d WHERE employee_id = :e AND reason = 'hired'",
            d=f"{year}-02-01",
            e=who["employee_id"],
        )
    raised = _raised(scene, comes)
    change = scene.call(
        "change_salary", employee_id=comes["employee_id"], amount=raised, valid_from="2026-07-01", reason="training"
    )
    instruction = (
        f"Somebody who is enrolled in the training '{title}' has approved leave at that time. Give the seat to the one "
        f"who has been with the company longest among those of the department {unit} who are not enrolled and not its "
        "head. Raise the salary of that person by 500 euros from 2026-07-01 on, with the reason 'training'. Finish "
        "with the yearly payroll of the department after that."
    )
    expert = [
        *find,
        absent,
        free,
        scene.call("list_departments"),
        scene.call("get_department", department_id=department),
        *scene.calls("get_employee", "employee_id", sorted(who["employee_id"] for who in (comes, *others))),
        enrol,
        change,
    ]
    payroll = payroll_of(scene.after(expert), department)
    wrong = [
        scene.call("enrol_employee", training_id=training, employee_id=others[0]["employee_id"]),
        scene.call(
            "change_salary",
            employee_id=comes["employee_id"],
            amount=raised + 500,
            valid_from="2026-07-01",
            reason="training",
        ),
        *scene.finishes(payroll - 500, payroll + 500, payroll + 1000),
        *wrong[:1],
    ]
    paid = scene.probe(
        scene.call("get_salary_history", employee_id=comes["employee_id"]),
        {"amount": raised, "valid_from": "2026-07-01"},
    )
    return scene.draft(instruction, expert, wrong, [done, paid], answer=payroll, menu_max=16)


def _raised(scene: ToolScene, who: dict[str, Any]) -> int:
    """Return a salary that is 500 euros higher; the position has to allow more than that."""
    row = scene.row(
        "SELECT amount, salary_max FROM employees e JOIN positions USING (position_id) JOIN salaries s "
        "USING (employee_id) WHERE employee_id = :e ORDER BY valid_from DESC LIMIT 1",
        e=who["employee_id"],
    )
    scene.need(row["amount"] + 1000 <= row["salary_max"])
    return int(row["amount"]) + 500

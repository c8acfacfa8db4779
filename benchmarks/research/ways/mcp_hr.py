"""Ways of the personnel office: leave, positions, trainings."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read
from ways.tool_calls import Calls, Habit, only, with_habits


def _department(habit: Habit, name: str) -> Calls:
    """Return a department by its name."""
    row = only((yield from habit.call("hr-list_departments"))["departments"], name=name)
    return (yield from habit.call("hr-get_department", department_id=row["department_id"]))


def _employee(habit: Habit, name: str) -> Calls:
    """Return an employee by the name."""
    if habit.broad:
        listed: list[dict[str, Any]] = []
        page = [{}] * 50
        while len(page) == 50:
            page = (yield from habit.call("hr-list_employees", limit=50, offset=len(listed)))["employees"]
            listed += page
        row = only(listed, name=name)
    else:
        row = only((yield from habit.call("hr-find_employees", query=name.split()[-1]))["employees"], name=name)
    return (yield from habit.call("hr-get_employee", employee_id=row["employee_id"]))


def _left(habit: Habit, employee: int) -> Calls:
    """Return the days of annual leave that an employee has left."""
    balances = (yield from habit.call("hr-get_leave_balance", employee_id=employee))["balances"]
    return only(balances, name="Annual leave")["remaining"]


def decide_leave(habit: Habit, instruction: str) -> ActionStream:
    """Decide request by request on what the balance allows then."""
    if "the pending annual leave of" in instruction:
        who = yield from _employee(habit, read(r"annual leave of (.+?) in the name", instruction))
        manager, scope = who["manager_id"], {"employee_id": who["employee_id"]}
        asked = [who["name"]]
    else:
        department = yield from _department(habit, read(r"of the department (.+?), by the first", instruction))
        manager = only(department["employees"], manager_id=None)["employee_id"]
        scope = {"department_id": department["department_id"]}
        asked = read(r"number of days that (.+?) has left|leave that (.+?) have left", instruction).split(" and ")
    status = {} if habit.broad else {"status": "pending"}
    listed = yield from habit.call("hr-list_leave_requests", **scope, **status)
    pending = sorted(
        (row for row in listed["requests"] if row["status"] == "pending"), key=lambda row: row["first_day"]
    )
    for row in pending:
        left = yield from _left(habit, row["employee_id"])
        away: list[Any] = []
        if "colleague" in instruction:
            absences = yield from habit.call(
                "hr-list_absences", first_day=row["first_day"], last_day=row["last_day"], **scope
            )
            away = [one for one in absences["absences"] if one["employee_id"] != row["employee_id"]]
        decided = {"request_id": row["request_id"], "approver_id": manager}
        if left >= row["days"] and not away:
            yield from habit.call("hr-approve_leave", **decided)
        else:
            reason = "a colleague is away" if away else "not enough days left"
            reason = reason[0].upper() + reason[1:] + "." if habit.backwards else reason
            yield from habit.call("hr-refuse_leave", **decided, reason=reason)
    people = []
    for name in asked:
        people.append((yield from _employee(habit, name))["employee_id"])
    days = 0
    for person in people:
        days += yield from _left(habit, person)
    yield habit.finish(days, "number of days of annual leave left", "days")


def _hired(habit: Habit, instruction: str, position: int) -> Calls:
    """Hire the best candidate of a position, and reject the others where that is asked for; return the employee."""
    candidates = (yield from habit.call("hr-list_candidates", position_id=position))["candidates"]
    best = max(candidates, key=lambda row: row["average_score"] or 0)
    detail = yield from habit.call("hr-get_candidate", candidate_id=best["candidate_id"])
    most = (yield from habit.call("hr-get_position", position_id=position))["salary_max"]
    salary = min(detail["expected_salary"], most) if "at most" in instruction else detail["expected_salary"]
    start = read(r"from (\d{4}-\d\d-\d\d) on|First day is (\d{4}-\d\d-\d\d)", instruction)
    others = [row["candidate_id"] for row in candidates if row is not best] if "Reject" in instruction else []
    if habit.backwards:
        for other in reversed(others):
            yield from habit.call("hr-reject_candidate", candidate_id=other)
    hired = yield from habit.call(
        "hr-hire_candidate", candidate_id=best["candidate_id"], salary=salary, first_day=start
    )
    if not habit.backwards:
        for other in others:
            yield from habit.call("hr-reject_candidate", candidate_id=other)
    return {**hired, "salary": salary}


def fill_position(habit: Habit, instruction: str) -> ActionStream:
    """Hire the best; with a leaver before, and a training after."""
    if "leaves" in instruction:
        leaver = yield from _employee(habit, read(r"^(.+?) leaves", instruction))
        last_day = read(r"last day is (\S+?)\.", instruction)
        yield from habit.call("hr-end_employment", employee_id=leaver["employee_id"], last_day=last_day)
        position = leaver["position_id"]
    else:
        title, unit = (
            read(r"open position (.+?) in the", instruction),
            read(r"department (.+?) the candidate", instruction),
        )
        scope = {} if habit.broad else {"status": "open"}
        department = yield from _department(habit, unit)
        rows = (yield from habit.call("hr-list_positions", department_id=department["department_id"], **scope))[
            "positions"
        ]
        position = only(rows, title=title, status="open")["position_id"]
    hired = yield from _hired(habit, instruction, position)
    if "Enrol" in instruction:
        title = read(r"training '(.+?)'", instruction)
        query = {} if habit.broad else {"query": title.split()[-1].lower()}
        training = only((yield from habit.call("hr-list_trainings", **query))["trainings"], title=title)
        yield from habit.call(
            "hr-enrol_employee", training_id=training["training_id"], employee_id=hired["employee_id"]
        )
    if "payroll" in instruction:
        department = yield from _department(habit, read(r"payroll of the department (.+?) after", instruction))
        yield habit.finish(float(department["payroll"]), "yearly payroll of the department", "euros")
    else:
        yield habit.finish(float(hired["salary"]), "salary", "euros")


def training_seats(habit: Habit, instruction: str) -> ActionStream:
    """Take the seat from who cannot come, and give it to who shall have it."""
    title = read(r"training '(.+?)'", instruction)
    query = {} if habit.broad else {"query": title}
    row = only((yield from habit.call("hr-list_trainings", **query))["trainings"], title=title)
    training = yield from habit.call("hr-get_training", training_id=row["training_id"])
    if "cannot take part" in instruction:
        loser = only(training["enrolled"], name=read(r"^(.+?) cannot take part", instruction))
    else:
        absent = yield from habit.call(
            "hr-list_absences", first_day=training["first_day"], last_day=training["last_day"]
        )
        away = {one["employee_id"] for one in absent["absences"]}
        (loser,) = [one for one in training["enrolled"] if one["employee_id"] in away]
    if "longest" in instruction:
        department = yield from _department(habit, read(r"department (.+?) who are not", instruction))
        enrolled = {one["employee_id"] for one in training["enrolled"]}
        staff = [one for one in department["employees"] if one["manager_id"] and one["employee_id"] not in enrolled]
        details = []
        for one in staff:
            details.append((yield from habit.call("hr-get_employee", employee_id=one["employee_id"])))
        winner = min(details, key=lambda one: one["hired_on"])
    else:
        winner = yield from _employee(habit, read(r"Give the seat to (.+?)\. Finish", instruction))

    def pass_on() -> Calls:
        yield from habit.call("hr-cancel_enrolment", enrolment_id=loser["enrolment_id"])
        yield from habit.call(
            "hr-enrol_employee", training_id=training["training_id"], employee_id=winner["employee_id"]
        )

    acts = [pass_on]
    if "Raise the salary" in instruction:
        acts.append(
            lambda: habit.call(
                "hr-change_salary",
                employee_id=winner["employee_id"],
                amount=winner["salary"] + 500,
                valid_from="2026-07-01",
                reason="training",
            )
        )
    for act in habit.order(acts):
        yield from act()
    if habit.again:
        yield from habit.call("hr-get_training", training_id=training["training_id"])
    if "payroll" in instruction:
        department = yield from _department(habit, department["name"])
        yield habit.finish(float(department["payroll"]), "yearly payroll of the department", "euros")
    elif "who loses" in instruction:
        yield habit.finish(loser["name"], "name of who loses the seat")
    else:
        yield habit.finish(float(training["cost"]), "cost of the training", "euros")


HR: Ways = {
    "decide_leave": with_habits(decide_leave),
    "fill_position": with_habits(fill_position),
    "training_seats": with_habits(training_seats),
}
"""Family → its ways."""

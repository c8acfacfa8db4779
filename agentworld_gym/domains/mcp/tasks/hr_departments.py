"""Departments, leave and pay in the database of the personnel office, as its task families arrange them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from agentworld_gym.domains.mcp.tasks.scene import Tables, ToolScene


@dataclass(frozen=True)
class Department:
    """A department with its head and the employees who report to the head."""

    department: int
    name: str
    head: int
    head_name: str
    members: list[dict[str, Any]]


def gather(scene: ToolScene, size: int) -> Department:
    """Arrange a department with at least so many members and no leave in summer; members may come from other ones."""
    head = scene.pick(scene.rows("SELECT * FROM employees WHERE manager_id IS NULL"))
    department, manager = head["department_id"], head["employee_id"]
    there = scene.values("SELECT employee_id FROM employees WHERE manager_id = :m", m=manager)
    elsewhere = scene.values("SELECT employee_id FROM employees WHERE manager_id <> :m", m=manager)
    for mover in scene.some(elsewhere, max(0, size - len(there))):
        for change in (
            "UPDATE employees SET department_id = :d, manager_id = :m WHERE employee_id = :e",
            "UPDATE positions SET department_id = :d WHERE position_id = "
            "(SELECT position_id FROM employees WHERE employee_id = :e AND :m)",
            "UPDATE reviews SET reviewer_id = :m WHERE employee_id = :e AND :d",
            "UPDATE leave_requests SET decided_by = :m WHERE employee_id = :e AND decided_by IS NOT NULL AND :d",
        ):
            scene.run(change, d=department, m=manager, e=mover)
    scene.run("DELETE FROM leave_requests WHERE first_day BETWEEN '2026-05-20' AND '2026-08-31'")
    count_taken(scene)
    name = scene.value("SELECT name FROM departments WHERE department_id = :d", d=department)
    members = scene.rows(
        "SELECT employee_id, name FROM employees WHERE manager_id = :m ORDER BY employee_id", m=manager
    )
    return Department(department, name, manager, head["name"], members)


def annual_leave(scene: ToolScene) -> int:
    """Return the number of the annual leave among the types of leave."""
    number: int = scene.value("SELECT leave_type_id FROM leave_types WHERE name = 'Annual leave'")
    return number


def payroll_of(tables: Tables, department: int) -> int:
    """Return what the active employees of a department earn in a year."""
    total: int = tables.value(
        "SELECT sum(amount) FROM employees e JOIN salaries s USING (employee_id) WHERE department_id = :d "
        "AND status = 'active' AND valid_from = (SELECT max(valid_from) FROM salaries o WHERE o.employee_id = "
        "e.employee_id)",
        d=department,
    )
    return total


def count_taken(scene: ToolScene) -> None:
    """Make the balances of leave agree with the approved requests."""
    scene.run(
        "UPDATE leave_balances SET taken = (SELECT coalesce(sum(days), 0) FROM leave_requests r "
        "WHERE r.employee_id = leave_balances.employee_id AND r.leave_type_id = leave_balances.leave_type_id "
        "AND r.status = 'approved')"
    )


def requested(scene: ToolScene, who: dict[str, Any], kind: int, week: int, days: int) -> int:
    """Add a pending request for the first days of a week of the summer; return its number."""
    first = datetime.date(2026, 6, 8) + datetime.timedelta(weeks=week)
    last = first + datetime.timedelta(days - 1)
    return scene.put(
        "leave_requests",
        employee_id=who["employee_id"],
        leave_type_id=kind,
        first_day=first.isoformat(),
        last_day=last.isoformat(),
        days=days,
    )


def leave_left(scene: ToolScene, who: dict[str, Any], kind: int, days: int) -> None:
    """Entitle an employee to so many days of leave more than were taken."""
    scene.run(
        "UPDATE leave_balances SET entitled = taken + :n WHERE employee_id = :e AND leave_type_id = :t",
        n=days,
        e=who["employee_id"],
        t=kind,
    )


def left_of(scene: ToolScene, who: dict[str, Any], kind: int) -> int:
    """Return the days of leave that an employee has left."""
    left: int = scene.value(
        "SELECT entitled - taken FROM leave_balances WHERE employee_id = :e AND leave_type_id = :t",
        e=who["employee_id"],
        t=kind,
    )
    return left

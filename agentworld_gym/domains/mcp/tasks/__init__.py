"""The families of tool tasks, a module for each scenario."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import by_name
from agentworld_gym.domains.mcp.tasks.bank import duplicate_charge, move_standing_orders, pay_bill
from agentworld_gym.domains.mcp.tasks.hr import decide_leave, fill_position, training_seats
from agentworld_gym.domains.mcp.tasks.office import answer_mail, reschedule_meeting, tidy_invitations
from agentworld_gym.domains.mcp.tasks.shop import cancel_duplicate, handle_return, order_goods
from agentworld_gym.domains.mcp.tasks.tracker import close_duplicates, roll_sprint, triage_issues

FAMILIES = by_name(
    duplicate_charge,
    move_standing_orders,
    pay_bill,
    decide_leave,
    fill_position,
    training_seats,
    answer_mail,
    reschedule_meeting,
    tidy_invitations,
    close_duplicates,
    roll_sprint,
    triage_issues,
    cancel_duplicate,
    handle_return,
    order_goods,
)
"""Name → family."""

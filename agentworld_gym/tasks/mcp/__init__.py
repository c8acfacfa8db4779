"""Task families of the mcp domain, a module for each scenario."""

from __future__ import annotations

from agentworld_gym.tasks.draft import Family
from agentworld_gym.tasks.mcp import bank, hr, office, shop, tracker

FAMILIES: dict[str, Family] = {
    "duplicate_charge": bank.duplicate_charge,
    "move_standing_orders": bank.move_standing_orders,
    "pay_bill": bank.pay_bill,
    "decide_leave": hr.decide_leave,
    "fill_position": hr.fill_position,
    "training_seats": hr.training_seats,
    "answer_mail": office.answer_mail,
    "reschedule_meeting": office.reschedule_meeting,
    "tidy_invitations": office.tidy_invitations,
    "close_duplicates": tracker.close_duplicates,
    "roll_sprint": tracker.roll_sprint,
    "triage_issues": tracker.triage_issues,
    "cancel_duplicate": shop.cancel_duplicate,
    "handle_return": shop.handle_return,
    "order_goods": shop.order_goods,
}
"""Name → family."""

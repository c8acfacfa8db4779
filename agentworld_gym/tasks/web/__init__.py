"""Task families of the web domain, a module for each kind of site."""

from __future__ import annotations

from agentworld_gym.tasks.draft import Family
from agentworld_gym.tasks.web import buying, gardening, mailing, ordering, reading, tracking

FAMILIES: dict[str, Family] = {
    "answer_mail": mailing.answer_mail,
    "buy_goods": buying.buy_goods,
    "compare_goods": buying.compare_goods,
    "follow_policy": reading.follow_policy,
    "join_thread": gardening.join_thread,
    "look_up": reading.look_up,
    "moderate": gardening.moderate,
    "open_issue": tracking.open_issue,
    "place_order": ordering.place_order,
    "sort_mail": mailing.sort_mail,
    "triage_issues": tracking.triage_issues,
    "undo_order": ordering.undo_order,
}
"""Name → family."""

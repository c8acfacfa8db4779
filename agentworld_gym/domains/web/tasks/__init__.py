"""The families of web tasks, a module for each site; the shop has one for its cart and one for its orders."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import by_name
from agentworld_gym.domains.web.tasks.forum import join_thread, moderate
from agentworld_gym.domains.web.tasks.mail import answer_mail, sort_mail
from agentworld_gym.domains.web.tasks.shop_cart import buy_goods, compare_goods
from agentworld_gym.domains.web.tasks.shop_orders import place_order, undo_order
from agentworld_gym.domains.web.tasks.tracker import open_issue, triage_issues
from agentworld_gym.domains.web.tasks.wiki import follow_policy, look_up

FAMILIES = by_name(
    answer_mail,
    buy_goods,
    compare_goods,
    follow_policy,
    join_thread,
    look_up,
    moderate,
    open_issue,
    place_order,
    sort_mail,
    triage_issues,
    undo_order,
)
"""Name → family."""

"""The families of phone tasks, a module for each app."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import by_name
from agentworld_gym.domains.android.tasks.alarms import set_alarms
from agentworld_gym.domains.android.tasks.calendar import book_slot, move_event
from agentworld_gym.domains.android.tasks.calls import return_calls
from agentworld_gym.domains.android.tasks.checklists import tick_list
from agentworld_gym.domains.android.tasks.contacts import save_number
from agentworld_gym.domains.android.tasks.files import sort_papers
from agentworld_gym.domains.android.tasks.groceries import order_goods
from agentworld_gym.domains.android.tasks.messages import answer_question, pass_on
from agentworld_gym.domains.android.tasks.settings import change_settings

FAMILIES = by_name(
    answer_question,
    book_slot,
    change_settings,
    move_event,
    order_goods,
    pass_on,
    return_calls,
    save_number,
    set_alarms,
    sort_papers,
    tick_list,
)
"""Name → family."""

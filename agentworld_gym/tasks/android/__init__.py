"""The families of phone tasks, a module for each app."""

from __future__ import annotations

from agentworld_gym.tasks.android.alarms import set_alarms
from agentworld_gym.tasks.android.calendar import book_slot, move_event
from agentworld_gym.tasks.android.calls import return_calls
from agentworld_gym.tasks.android.checklists import tick_list
from agentworld_gym.tasks.android.contacts import save_number
from agentworld_gym.tasks.android.files import sort_papers
from agentworld_gym.tasks.android.groceries import order_goods
from agentworld_gym.tasks.android.messages import answer_question, pass_on
from agentworld_gym.tasks.android.settings import change_settings
from agentworld_gym.tasks.family import by_name

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

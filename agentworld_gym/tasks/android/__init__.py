"""Task families of the android domain, a module for each kind of errand."""

from __future__ import annotations

from agentworld_gym.tasks.android import keeping, listing, planning, writing
from agentworld_gym.tasks.draft import Family

FAMILIES: dict[str, Family] = {
    "answer_question": writing.answer_question,
    "book_slot": planning.book_slot,
    "change_settings": keeping.change_settings,
    "move_event": planning.move_event,
    "order_goods": listing.order_goods,
    "pass_on": writing.pass_on,
    "return_calls": keeping.return_calls,
    "save_number": writing.save_number,
    "set_alarms": planning.set_alarms,
    "sort_papers": keeping.sort_papers,
    "tick_list": listing.tick_list,
}
"""Name → family."""

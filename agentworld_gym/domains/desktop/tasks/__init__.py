"""The families of desktop tasks, a module for each program."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import by_name
from agentworld_gym.domains.desktop.tasks.browser import shop_prices
from agentworld_gym.domains.desktop.tasks.file_manager import file_document, restore_document
from agentworld_gym.domains.desktop.tasks.settings import change_settings, settings_by_note
from agentworld_gym.domains.desktop.tasks.spreadsheet import fill_table, move_row, region_total, sort_table
from agentworld_gym.domains.desktop.tasks.terminal import search_by_terminal
from agentworld_gym.domains.desktop.tasks.text_editor import correct_note

FAMILIES = by_name(
    file_document,
    restore_document,
    change_settings,
    settings_by_note,
    correct_note,
    search_by_terminal,
    fill_table,
    sort_table,
    region_total,
    move_row,
    shop_prices,
)
"""Name → family."""

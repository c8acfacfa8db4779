"""The families of desktop tasks, a module for each program."""

from __future__ import annotations

from agentworld_gym.tasks.desktop.browser import shop_prices
from agentworld_gym.tasks.desktop.file_manager import file_document, restore_document
from agentworld_gym.tasks.desktop.settings import change_settings, settings_by_note
from agentworld_gym.tasks.desktop.spreadsheet import fill_table, move_row, region_total, sort_table
from agentworld_gym.tasks.desktop.terminal import search_by_terminal
from agentworld_gym.tasks.desktop.text_editor import correct_note
from agentworld_gym.tasks.family import by_name

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

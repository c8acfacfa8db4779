"""The families of desktop tasks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.tasks.desktop.folders import file_document, restore_document
from agentworld_gym.tasks.desktop.notes import correct_note, search_by_terminal
from agentworld_gym.tasks.desktop.preferences import change_settings, settings_by_note
from agentworld_gym.tasks.desktop.sheets import fill_table, move_row, region_total, sort_table
from agentworld_gym.tasks.desktop.shopping import shop_prices
from agentworld_gym.tasks.draft import Family

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.__name__: family
        for family in (
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
    }
)
"""Name → family."""

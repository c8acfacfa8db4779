"""The families of terminal tasks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.tasks.draft import Family
from agentworld_gym.tasks.terminal.changing import change_config, edit_in_place, permissions
from agentworld_gym.tasks.terminal.finding import count_lines, filter_lines, find_file
from agentworld_gym.tasks.terminal.making import archive, copy_move, create_files
from agentworld_gym.tasks.terminal.shaping import aggregate_csv, pipeline, sort_unique

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.__name__: family
        for family in (
            create_files,
            copy_move,
            find_file,
            count_lines,
            filter_lines,
            sort_unique,
            edit_in_place,
            aggregate_csv,
            archive,
            permissions,
            pipeline,
            change_config,
        )
    }
)
"""Name → family."""

"""The families of terminal tasks."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import by_name
from agentworld_gym.domains.terminal.tasks.file_edits import change_config, edit_in_place, permissions
from agentworld_gym.domains.terminal.tasks.file_operations import archive, copy_move, create_files
from agentworld_gym.domains.terminal.tasks.file_searches import count_lines, filter_lines, find_file
from agentworld_gym.domains.terminal.tasks.text_processing import aggregate_csv, pipeline, sort_unique

FAMILIES = by_name(
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
"""Name → family."""

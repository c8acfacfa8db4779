"""The programs of the desktop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from agentworld_gym.domains.desktop.engine.program import Program


@lru_cache(maxsize=1)
def programs() -> Mapping[str, Program]:
    """Return all programs by id. Of several programs for a type of file, the first one opens it."""
    from agentworld_gym.domains.desktop.engine.programs.browser.program import BrowserProgram
    from agentworld_gym.domains.desktop.engine.programs.calculator import Calculator
    from agentworld_gym.domains.desktop.engine.programs.editor.program import TextEditor
    from agentworld_gym.domains.desktop.engine.programs.files.program import FileManager
    from agentworld_gym.domains.desktop.engine.programs.settings.program import Settings
    from agentworld_gym.domains.desktop.engine.programs.spreadsheet.program import Spreadsheet
    from agentworld_gym.domains.desktop.engine.programs.terminal.program import Terminal
    from agentworld_gym.domains.desktop.engine.programs.viewer import Viewer

    every = (
        FileManager(),
        TextEditor(),
        Spreadsheet(),
        Terminal(),
        Calculator(),
        Settings(),
        BrowserProgram(),
        Viewer(),
    )
    return MappingProxyType({program.id: program for program in every})

"""The programs of the desktop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from agentworld_gym.engines.desktop.program import Program


@lru_cache(maxsize=1)
def programs() -> Mapping[str, Program]:
    """All programs by name; of those that open a type of file the first one counts."""
    from agentworld_gym.engines.desktop.programs.browser import Browser
    from agentworld_gym.engines.desktop.programs.calculator import Calculator
    from agentworld_gym.engines.desktop.programs.editor import TextEditor
    from agentworld_gym.engines.desktop.programs.files import Files
    from agentworld_gym.engines.desktop.programs.settings import Settings
    from agentworld_gym.engines.desktop.programs.spreadsheet import Spreadsheet
    from agentworld_gym.engines.desktop.programs.terminal import Terminal
    from agentworld_gym.engines.desktop.programs.viewer import Viewer

    found = (Files(), TextEditor(), Spreadsheet(), Terminal(), Calculator(), Settings(), Browser(), Viewer())
    return MappingProxyType({program.id: program for program in found})

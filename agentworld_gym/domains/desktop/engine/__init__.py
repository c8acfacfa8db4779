"""The grounded desktop: windows, files and programs as plain data, operated by interpreted Python code."""

from __future__ import annotations

from agentworld_gym.domains.desktop.engine.machine import DesktopMachine
from agentworld_gym.domains.desktop.engine.state import DesktopState
from agentworld_gym.domains.desktop.engine.view import DesktopView

__all__ = ["DesktopMachine", "DesktopState", "DesktopView"]

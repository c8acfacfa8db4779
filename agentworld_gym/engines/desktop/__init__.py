"""The grounded desktop: windows, files and programs as plain data, operated by interpreted Python code."""

from __future__ import annotations

from agentworld_gym.engines.desktop.machine import DesktopMachine
from agentworld_gym.engines.desktop.state import DesktopState
from agentworld_gym.engines.desktop.view import DesktopView

__all__ = ["DesktopMachine", "DesktopState", "DesktopView"]

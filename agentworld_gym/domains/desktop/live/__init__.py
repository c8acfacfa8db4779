"""Real programs on a virtual screen, in a sandbox, over a private copy of your own files."""

from agentworld_gym.domains.desktop.live.engine import DesktopEngine, open_live

__all__ = ["DesktopEngine", "open_live"]

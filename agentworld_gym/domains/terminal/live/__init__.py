"""A real shell on a pseudo-terminal, in a sandbox, over a private copy of your own files."""

from agentworld_gym.domains.terminal.live.engine import ShellEngine, open_live

__all__ = ["ShellEngine", "open_live"]

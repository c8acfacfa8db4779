"""The trace viewer: one HTML file that shows a run, and needs neither a server nor any other file."""

from agentworld_gym.evaluation.viewer.page import write_view

__all__ = ["write_view"]

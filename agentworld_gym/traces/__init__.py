"""Logs of what worlds and agents did, and how to read them again."""

from agentworld_gym.traces.log import TraceEpisode, TraceLogs, TraceStep, read_header, read_trace

__all__ = ["TraceEpisode", "TraceLogs", "TraceStep", "read_header", "read_trace"]

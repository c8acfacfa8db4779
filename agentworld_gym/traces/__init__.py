"""Logs of what worlds and agents did, and how to read them again."""

from agentworld_gym.traces.diff import Departure, EpisodeDiff, diff_traces
from agentworld_gym.traces.log import TraceEpisode, TraceLogs, TraceStep, read_header, read_trace

__all__ = [
    "Departure",
    "EpisodeDiff",
    "TraceEpisode",
    "TraceLogs",
    "TraceStep",
    "diff_traces",
    "read_header",
    "read_trace",
]

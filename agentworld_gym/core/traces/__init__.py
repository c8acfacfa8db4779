"""Logs of what worlds and agents did, and how to read them again."""

from agentworld_gym.core.traces.diff import Departure, EpisodeDiff, diff_traces, pairs
from agentworld_gym.core.traces.log import (
    TraceEpisode,
    TraceLogs,
    TraceStep,
    agent_logs,
    read_header,
    read_trace,
    stream_trace,
)

__all__ = [
    "Departure",
    "EpisodeDiff",
    "TraceEpisode",
    "TraceLogs",
    "TraceStep",
    "agent_logs",
    "diff_traces",
    "pairs",
    "read_header",
    "read_trace",
    "stream_trace",
]

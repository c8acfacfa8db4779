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
from agentworld_gym.core.traces.results import EpisodeResult, episodes_of

__all__ = [
    "Departure",
    "EpisodeDiff",
    "EpisodeResult",
    "TraceEpisode",
    "TraceLogs",
    "TraceStep",
    "agent_logs",
    "diff_traces",
    "episodes_of",
    "pairs",
    "read_header",
    "read_trace",
    "stream_trace",
]

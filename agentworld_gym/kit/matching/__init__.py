"""How a predicted observation compares with the true one."""

from agentworld_gym.kit.matching.compare import Match, match
from agentworld_gym.kit.matching.gaps import SpanLike

__all__ = ["Match", "SpanLike", "match"]

"""How a predicted observation compares with the true one."""

from agentworld_gym.kit.matching.compare import MatchResult, match
from agentworld_gym.kit.matching.gaps import SpanLike

__all__ = ["MatchResult", "SpanLike", "match"]

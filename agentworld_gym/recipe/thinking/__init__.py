"""Samples that think: reasoning traces that the grounded engines write, and rollouts of a generator that a judge picks
from.

Both become `Sample`s for supervised fine-tuning: the messages up to a turn, and as the last one what a model should
have thought and answered.
"""

from agentworld_gym.recipe.thinking.queries import Queries, TurnQuery, engine_samples
from agentworld_gym.recipe.thinking.reasoning_trace import Situation, engine_trace
from agentworld_gym.recipe.thinking.rejection_sampling import RejectionConfig, RejectionReport, RejectionSampling

__all__ = [
    "Queries",
    "RejectionConfig",
    "RejectionReport",
    "RejectionSampling",
    "Situation",
    "TurnQuery",
    "engine_samples",
    "engine_trace",
]

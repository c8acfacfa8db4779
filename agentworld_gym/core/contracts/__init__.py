"""The types and protocols that worlds, generators, environments and traces share.

Data flows one way: an `Action` goes to a `World`, which answers with an `Observation` or a `Failure`; a language world
turns the action into a `ChatRequest`, which a `Generator` answers with a `Completion` or a `Failure`.
"""

from agentworld_gym.core.contracts.generator import (
    PIECE,
    Allows,
    AskedStep,
    ChatRequest,
    Completion,
    Conversation,
    Generator,
    Message,
    ToolCall,
)
from agentworld_gym.core.contracts.observation import NO_USAGE, AnswerSource, Failure, FailureKind, Observation, Usage
from agentworld_gym.core.contracts.verdict import Verdict
from agentworld_gym.core.contracts.world import (
    Action,
    ActionKind,
    Instructing,
    Offering,
    Scarce,
    Session,
    Teachable,
    World,
)

__all__ = [
    "NO_USAGE",
    "PIECE",
    "Action",
    "ActionKind",
    "Allows",
    "AnswerSource",
    "AskedStep",
    "ChatRequest",
    "Completion",
    "Conversation",
    "Failure",
    "FailureKind",
    "Generator",
    "Instructing",
    "Message",
    "Observation",
    "Offering",
    "Scarce",
    "Session",
    "Teachable",
    "ToolCall",
    "Usage",
    "Verdict",
    "World",
]

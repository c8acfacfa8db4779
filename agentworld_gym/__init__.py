"""Gymnasium environments that a language world model plays, with a grounded world beside it.

>>> import gymnasium as gym
>>> import agentworld_gym
>>> gym.make("AgentWorld/Terminal-v0", world="scripted").unwrapped.domain.id
'terminal'
"""

from agentworld_gym.contracts import (
    Action,
    ChatRequest,
    Completion,
    Failure,
    FailureKind,
    Generator,
    Observation,
    Session,
    Usage,
    World,
)
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.spec import DomainSpec, load_spec
from agentworld_gym.domain.task import Check, Expect, Task
from agentworld_gym.errors import (
    AgentWorldError,
    ClosedError,
    FingerprintMismatch,
    GeneratorError,
    RecordingError,
    SpecError,
    TraceError,
    UnknownOption,
    WorldNotConfigured,
)
from agentworld_gym.fingerprint import Fingerprint, Part
from agentworld_gym.prompting.agent_prompt import agent_prompt
from agentworld_gym.registration import ENV_IDS, register_envs
from agentworld_gym.worlds import ScriptedWorld, register_world

__version__ = "0.1.0"

__all__ = [
    "ENV_IDS",
    "Action",
    "AgentWorldError",
    "ChatRequest",
    "Check",
    "ClosedError",
    "Completion",
    "DomainSpec",
    "Expect",
    "Failure",
    "FailureKind",
    "Fingerprint",
    "FingerprintMismatch",
    "Generator",
    "GeneratorError",
    "Observation",
    "Part",
    "RecordingError",
    "Sampling",
    "ScriptedWorld",
    "Session",
    "SpecError",
    "Task",
    "TraceError",
    "UnknownOption",
    "Usage",
    "World",
    "WorldNotConfigured",
    "agent_prompt",
    "load_spec",
    "register_world",
]

register_envs()

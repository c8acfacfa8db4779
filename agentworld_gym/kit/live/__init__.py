"""What the live worlds of several domains are made of: a user's own system as the ground truth.

A domain writes a `LiveConfig` of its own, a `LiveSession` (one running system) and a `LiveEngine` (which starts them).
Forks, a pool that starts ahead, masks of what varies, the sandbox and limits come from here.
"""

from agentworld_gym.kit.live.config import LiveConfig, LiveLimits, LiveSource
from agentworld_gym.kit.live.confinement import Confinement
from agentworld_gym.kit.live.engine import LiveAbout, LiveEngine, LiveMachine, LiveSession, LiveStart
from agentworld_gym.kit.live.masks import Masks

__all__ = [
    "Confinement",
    "LiveAbout",
    "LiveConfig",
    "LiveEngine",
    "LiveLimits",
    "LiveMachine",
    "LiveSession",
    "LiveSource",
    "LiveStart",
    "Masks",
]

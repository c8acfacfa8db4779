"""What the live worlds of several domains are made of: a user's own system as the ground truth.

A domain adds them in a folder of its own, and names their opener in its `Domain.live`:

- a `LiveConfig` with its own keys, which `LiveSource.read` validates;
- a `LiveSession`, one running system: `begin`, `act`, `close`, and what else it can do (`copy`, `state`, `inspect`,
  `reset`). What hangs, dies or floods raises a `SystemLate`, a `SystemLost` or another `EngineError`;
- a `LiveEngine`, whose `open_session` starts one. What `LiveSession.about` tells fills in tasks.

The rest comes from here: machines with forks (a copy, or the episode played again), a pool that starts sessions ahead,
masks of what varies, bounds on what is shown, the sandbox (`Confinement`) and its watch (`process_watch`). A process
has to be started in `open_session`, `copy` or `reset`, which run on threads that last: the sandbox dies with the thread
that started it.
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

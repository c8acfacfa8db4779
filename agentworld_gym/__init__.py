"""Gymnasium environments that a language world model plays, with a grounded world beside it.

The ids of the environments are registered when this package is imported. Every other public name stands in
`__init__.pyi` and is imported when it is first used, so that the import costs hardly more than that of Gymnasium.

>>> import gymnasium as gym
>>> import agentworld_gym
>>> gym.make("AgentWorld/Terminal-v0", world="scripted").unwrapped.domain.id
'terminal'
"""

import lazy_loader

from agentworld_gym.core.registration import register_envs

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"

register_envs()

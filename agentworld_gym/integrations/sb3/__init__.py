"""Agents of Stable-Baselines3 that choose from menus and see vectors: a `VecEnv`, training and evaluation.

Each name is imported when it is first used, so that this package itself needs no extra.

>>> from agentworld_gym.integrations.sb3 import TextEncoder
>>> TextEncoder(max_menu=8).max_menu
8
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.menu_network import MenuNetwork
    from agentworld_gym.agents.policies.menu_policy import MenuPolicy, MenuQPolicy
    from agentworld_gym.base.statistics.bootstrap import bootstrap_interval
    from agentworld_gym.envs.menu_env import MenuEnv, MenuVectorEnv
    from agentworld_gym.envs.text_encoder import TextEncoder
    from agentworld_gym.integrations.sb3.asynchronous_rollouts import asynchronous
    from agentworld_gym.integrations.sb3.evaluate import PolicyEvaluation, evaluate_policy
    from agentworld_gym.integrations.sb3.ppo import CurvePoint, Training, train_ppo
    from agentworld_gym.integrations.sb3.vec_env import AgentWorldVecEnv, make_sb3_env

__all__ = [
    "AgentWorldVecEnv",
    "CurvePoint",
    "MenuEnv",
    "MenuNetwork",
    "MenuPolicy",
    "MenuQPolicy",
    "MenuVectorEnv",
    "PolicyEvaluation",
    "TextEncoder",
    "Training",
    "asynchronous",
    "bootstrap_interval",
    "evaluate_policy",
    "make_sb3_env",
    "train_ppo",
]

_MODULES = {
    "agentworld_gym.envs.text_encoder": ("TextEncoder",),
    "agentworld_gym.integrations.sb3.asynchronous_rollouts": ("asynchronous",),
    "agentworld_gym.integrations.sb3.evaluate": ("PolicyEvaluation", "evaluate_policy"),
    "agentworld_gym.base.statistics.bootstrap": ("bootstrap_interval",),
    "agentworld_gym.envs.menu_env": ("MenuEnv", "MenuVectorEnv"),
    "agentworld_gym.agents.policies.menu_network": ("MenuNetwork",),
    "agentworld_gym.agents.policies.menu_policy": ("MenuPolicy", "MenuQPolicy"),
    "agentworld_gym.integrations.sb3.ppo": ("CurvePoint", "Training", "train_ppo"),
    "agentworld_gym.integrations.sb3.vec_env": ("AgentWorldVecEnv", "make_sb3_env"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

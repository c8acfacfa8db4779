"""The ids that `gym.make` knows."""

from __future__ import annotations

import gymnasium as gym

ENV_IDS = {
    "AgentWorld/MCP-v0": "mcp",
    "AgentWorld/Search-v0": "search",
    "AgentWorld/Terminal-v0": "terminal",
    "AgentWorld/SWE-v0": "swe",
    "AgentWorld/Web-v0": "web",
    "AgentWorld/Desktop-v0": "desktop",
    "AgentWorld/Android-v0": "android",
}
CUSTOM_ID = "AgentWorld/Custom-v0"


def register_envs() -> None:
    """Register the seven domains and the custom one; again is harmless.

    The checker of Gymnasium is off: it calls `reset` without a seed and so costs a session of a world model.
    """
    for env_id, domain in [*ENV_IDS.items(), (CUSTOM_ID, None)]:
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="agentworld_gym.env:AgentWorldEnv",
                vector_entry_point="agentworld_gym.vector:AgentWorldVectorEnv",
                kwargs={} if domain is None else {"spec": domain},
                disable_env_checker=True,
            )

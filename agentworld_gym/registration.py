"""The ids of the environments that `gym.make` knows."""

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
MENU_IDS = {env_id.replace("-v0", "Menu-v0"): domain for env_id, domain in ENV_IDS.items()}
"""The ids of the same domains for agents that choose from a menu and see vectors."""
CUSTOM_ID = "AgentWorld/Custom-v0"


def register_envs() -> None:
    """Register the seven domains, the same with menus, and the custom one. A second call does nothing.

    Gymnasium's checker of environments is off, because it calls `reset` without a seed, which costs a session of a
    world model.
    """
    texts = ("agentworld_gym.env:AgentWorldEnv", "agentworld_gym.vector:AgentWorldVectorEnv")
    menus = ("agentworld_gym.menu_env:menu_env", "agentworld_gym.menu_env:menu_vector_env")
    domains = [*((env_id, domain, texts) for env_id, domain in ENV_IDS.items()), (CUSTOM_ID, None, texts)]
    domains += [(env_id, domain, menus) for env_id, domain in MENU_IDS.items()]
    for env_id, domain, (single, many) in domains:
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point=single,
                vector_entry_point=many,
                kwargs={} if domain is None else {"spec": domain},
                disable_env_checker=True,
            )

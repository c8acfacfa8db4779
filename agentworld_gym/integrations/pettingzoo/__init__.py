"""PettingZoo: several agents in one world, all at once (Parallel) or one after the other (AEC), and directors."""

from agentworld_gym.integrations.pettingzoo.aec import AgentWorldAECEnv
from agentworld_gym.integrations.pettingzoo.director_env import AgentWorldDirectorEnv
from agentworld_gym.integrations.pettingzoo.parallel import AgentWorldParallelEnv
from agentworld_gym.integrations.pettingzoo.register import register_envs

__all__ = ["AgentWorldAECEnv", "AgentWorldDirectorEnv", "AgentWorldParallelEnv", "register_envs"]

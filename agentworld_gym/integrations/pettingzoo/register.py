"""The ids under which `pettingzoo.make` makes the environments of several agents."""

from __future__ import annotations

from agentworld_gym.agents.teams.director import load_director
from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.agents.teams.team import load_team
from agentworld_gym.core.registration import all_domains
from agentworld_gym.integrations.pettingzoo.aec import AgentWorldAECEnv
from agentworld_gym.integrations.pettingzoo.director_env import AgentWorldDirectorEnv
from agentworld_gym.integrations.pettingzoo.parallel import AgentWorldParallelEnv


def register_envs() -> None:
    """Register all domains for agents with equal rights, and the teams, with both APIs of PettingZoo.

    Directors are registered with the AEC API alone, because nobody acts while a director chooses. A second call does
    nothing.

    >>> import pettingzoo
    >>> register_envs()
    >>> env = pettingzoo.make("parallel", "AgentWorld/AuthorAndReviewer-v0", world="scripted")
    >>> env.possible_agents
    ['author', 'reviewer']
    >>> env.close()
    """
    from pettingzoo.env_registry.registration import aec_registry, parallel_registry, register

    made = {domain.env_id: {"spec": domain.id} for domain in all_domains().values()}
    for name in shipped_names("team"):
        team = load_team(name)
        if team.env_id is not None:
            made[team.env_id] = {"team": name}
    for env_id, options in made.items():
        if env_id not in aec_registry:
            register("aec", env_id, entry_point=_place(AgentWorldAECEnv), kwargs=options)
        if env_id not in parallel_registry:
            register("parallel", env_id, entry_point=_place(AgentWorldParallelEnv), kwargs=options)
    for name in shipped_names("director"):
        director = load_director(name)
        if director.env_id is not None and director.env_id not in aec_registry:
            register("aec", director.env_id, entry_point=_place(AgentWorldDirectorEnv), kwargs={"director": name})


def _place(made: type) -> str:
    return f"{made.__module__}:{made.__name__}"

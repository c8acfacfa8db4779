"""Text adventures of TextWorld as a domain: `gym.make("agentworld_textworld:AgentWorld/TextWorld-v0")`."""

from pathlib import Path

from agentworld_gym import Domain, register_domain

DOMAIN = Domain(
    id="textworld",
    env_id="AgentWorld/TextWorld-v0",
    spec=Path(__file__).with_name("textworld.yaml"),
    engine="agentworld_textworld.machine:open_engine",
    libraries=("textworld", "jericho"),
    families="agentworld_textworld.tasks:FAMILIES",
    explorer="agentworld_textworld.explorer:Wanderer",
)
register_domain(DOMAIN)

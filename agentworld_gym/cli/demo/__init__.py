"""`agentworld demo`: from the prompts of seven domains to an agent that learned in a terminal."""

from agentworld_gym.cli.demo.run import run

__all__ = ["run"]

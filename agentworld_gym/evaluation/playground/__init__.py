"""The playground: one page on which a person, or an agent, plays an episode in one world or in two side by side."""

from agentworld_gym.evaluation.playground.desk import Desk
from agentworld_gym.evaluation.playground.game import Choice, Game
from agentworld_gym.evaluation.playground.server import PlayServer

__all__ = ["Choice", "Desk", "Game", "PlayServer"]

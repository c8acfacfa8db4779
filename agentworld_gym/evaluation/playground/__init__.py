"""The playground: one page on which a person, or an agent, plays an episode in one world or in two side by side."""

from agentworld_gym.evaluation.playground.desk import Playground
from agentworld_gym.evaluation.playground.game import GameChoice, PlayedGame
from agentworld_gym.evaluation.playground.server import PlayServer

__all__ = ["GameChoice", "PlayServer", "PlayedGame", "Playground"]

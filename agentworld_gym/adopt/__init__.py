"""A world model of a system that somebody else wrote, from its first recording to a report of what to trust."""

from agentworld_gym.adopt.adoption import Adoption, Budget, Followed, adopt
from agentworld_gym.adopt.summary import AdoptedSystem

__all__ = ["AdoptedSystem", "Adoption", "Budget", "Followed", "adopt"]

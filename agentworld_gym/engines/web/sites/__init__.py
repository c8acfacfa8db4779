"""Web sites as data: a folder of routes, SQL and templates each, for the simulated browser and for real ones."""

from agentworld_gym.engines.web.sites.internet import Sites

__all__ = ["Sites"]

"""Web sites as data: a folder of routes, SQL and templates each, for the simulated browser and for real ones."""

from agentworld_gym.domains.web.engine.sites.internet import Sites

__all__ = ["Sites"]

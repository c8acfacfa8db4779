"""Web sites as data: routes, SQL and templates in a folder each, served to a browser in process or on loopback."""

from agentworld_gym.engines.web.sites.internet import Sites

__all__ = ["Sites"]

"""A repository of your own: the tools of both scaffolds act on real files, and commands run in a sandbox."""

from agentworld_gym.domains.swe.live.engine import RepositoryEngine, open_live

__all__ = ["RepositoryEngine", "open_live"]

"""Your own documents, or a search engine of your own, as the ground truth of searches."""

from agentworld_gym.domains.search.live.engine import DocumentEngine, open_live

__all__ = ["DocumentEngine", "open_live"]

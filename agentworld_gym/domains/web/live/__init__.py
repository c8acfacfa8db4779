"""Your own site in a real Chromium: behind a URL, served by a command in a sandbox, or a folder of pages.

A browser context for each episode, all of whose connections go through a gate that knows which hosts are named.
"""

from agentworld_gym.domains.web.live.engine import SiteEngine, open_live

__all__ = ["SiteEngine", "open_live"]

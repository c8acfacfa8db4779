"""The domains that ship, a folder for each."""

COMPOSED = ("work",)
"""The names of the folders of domains that consist of others, and of which no small model knows."""

DOMAINS = ("mcp", "search", "terminal", "swe", "web", "desktop", "android")
"""The names of the folders, each with a module `domain` that defines `DOMAIN`."""

LIVE_OF_SPECS: str | None = "agentworld_gym.kit.live.environments:open_live"
"""What `Domain.live` is to a domain, for the specs of users that are no domain: `AgentWorld/Custom-v0`."""

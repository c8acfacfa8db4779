"""The tools of an agent in a browser: Playwright's MCP server, BrowserGym's calls, and the texts that answer them."""

"""The web: sites as data over SQLite, and a browser that shows them as Playwright's tools do."""

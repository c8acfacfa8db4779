"""The grounded web: sites that are data over SQLite, and a simulated browser that answers as Playwright's tools do."""

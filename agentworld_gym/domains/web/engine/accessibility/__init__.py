"""The accessibility tree of a page: names, roles, Playwright's snapshot of it, and locators."""

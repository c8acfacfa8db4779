"""The sites in a real Chromium, driven through Playwright; the simulated browser is compared with it."""

"""The sites in a real Chromium, driven through Playwright: the browser that the one in process is compared with."""

"""The result of a tool, in the sections of Playwright's MCP server."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class ToolResult:
    """The parts of a tool's answer. Empty sections are left out of its text.

    >>> result = ToolResult(code=["await page.goBack();"], page=["- Page URL: http://a.example/"], snapshot="- main")
    >>> print(result.text())
    ### Ran Playwright code
    ```js
    await page.goBack();
    ```
    ### Page
    - Page URL: http://a.example/
    ### Snapshot
    ```yaml
    - main
    ```
    """

    errors: list[str] = field(default_factory=list)
    """The lines of the section `Error`."""
    results: list[str] = field(default_factory=list)
    """The lines of the section `Result`."""
    code: list[str] = field(default_factory=list)
    """The Playwright code that the call stands for."""
    tabs: list[str] = field(default_factory=list)
    """The list of open tabs."""
    page: list[str] = field(default_factory=list)
    """The URL and the title of the page."""
    modal: list[str] = field(default_factory=list)
    """The open dialog or file chooser."""
    snapshot: str | None = None
    """The snapshot of the page; None if it is not shown."""
    events: list[str] = field(default_factory=list)
    """The messages of the console since the last call."""

    def text(self) -> str:
        """Return the whole answer."""
        lines: list[str] = []
        for title, content in (("Error", self.errors), ("Result", self.results)):
            if content:
                lines += [f"### {title}", *content]
        if self.code:
            lines += ["### Ran Playwright code", "```js", *self.code, "```"]
        for title, content in (("Open tabs", self.tabs), ("Page", self.page), ("Modal state", self.modal)):
            if content:
                lines += [f"### {title}", *content]
        if self.snapshot is not None:
            lines += ["### Snapshot", "```yaml", self.snapshot, "```"]
        if self.events:
            lines += ["### Events", *self.events]
        return "\n".join(lines)


def tab_lines(tabs: list[tuple[str, str]], current: int) -> list[str]:
    """Return the list of tabs, given the title and the URL of each.

    >>> tab_lines([("Shop", "http://shop.example/"), ("", "about:blank")], 0)
    ['- 0: (current) [Shop](http://shop.example/)', '- 1: [](about:blank)']
    """
    return [
        f"- {place}:{' (current)' if place == current else ''} [{title}]({url})"
        for place, (title, url) in enumerate(tabs)
    ]


def page_lines(title: str, url: str) -> list[str]:
    """Return the URL and the title of a page."""
    return [f"- Page URL: {url}", *([f"- Page Title: {title}"] if title else [])]


def dialog_line(kind: str, message: str) -> str:
    """Return the line about an open dialog."""
    return f'- ["{kind}" dialog with message "{message}"]: can be handled by browser_handle_dialog'


CHOOSER_LINE = "- [File chooser]: can be handled by browser_file_upload"


def event_line(message: str) -> str:
    """Return a message of the console, with its middle cut out where it is long."""
    if len(message) > 100:
        message = message[:49] + "…" + message[-50:]
    return f"- {message}"

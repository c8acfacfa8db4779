"""The result of a tool, in the sections of Playwright's MCP server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class ToolResult:
    """The parts of a tool's answer. Empty sections are left out of its text, and no blank line stands between them.

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

    code: list[str] = field(default_factory=list)
    """The Playwright code that the call stands for."""
    tabs: list[str] = field(default_factory=list)
    """The list of open tabs."""
    page: list[str] = field(default_factory=list)
    """The URL and the title of the page, and how much its console holds."""
    snapshot: str | None = None
    """The snapshot of the page; None if it is not shown."""
    events: list[str] = field(default_factory=list)
    """The messages of the console since the last call."""
    results: list[str] = field(default_factory=list)
    """The lines of the section `Result`."""
    errors: list[str] = field(default_factory=list)
    """The lines of the section `Error`."""
    modal: list[str] = field(default_factory=list)
    """The open dialog or file chooser."""

    def text(self) -> str:
        """Return the whole answer."""
        code = ["```js", *self.code, "```"] if self.code else []
        snapshot = [] if self.snapshot is None else ["```yaml", self.snapshot, "```"]
        sections = {
            "Ran Playwright code": code,
            "Open tabs": self.tabs,
            "Page": self.page,
            "Snapshot": snapshot,
            "Events": self.events,
            "Result": self.results,
            "Error": self.errors,
            "Modal state": self.modal,
        }
        return "\n".join(line for title, content in sections.items() if content for line in (f"### {title}", *content))


def tab_lines(tabs: list[tuple[str, str]], current: int) -> list[str]:
    """Return the list of tabs, given the title and the URL of each.

    >>> tab_lines([("Shop", "http://shop.example/"), ("", "about:blank")], 0)
    ['- 0: (current) [Shop](http://shop.example/)', '- 1: [](about:blank)']
    """
    return [
        f"- {place}:{' (current)' if place == current else ''} [{title}]({url})"
        for place, (title, url) in enumerate(tabs)
    ]


def page_lines(title: str, url: str, console: Sequence[str] = ()) -> list[str]:
    """Return the URL and the title of a page, and the number of errors and warnings in its console where it has any.

    >>> page_lines("Not found", "http://shop.example/x", ["[ERROR] Failed to load resource", "[LOG] ready"])
    ['- Page URL: http://shop.example/x', '- Page Title: Not found', '- Console: 1 errors, 0 warnings']
    """
    lines = [f"- Page URL: {url}", *([f"- Page Title: {title}"] if title else [])]
    errors, warnings = (sum(message.startswith(f"[{kind}]") for message in console) for kind in ("ERROR", "WARNING"))
    return [*lines, f"- Console: {errors} errors, {warnings} warnings"] if errors or warnings else lines


def dialog_line(kind: str, message: str) -> str:
    """Return the line about an open dialog."""
    return f'- ["{kind}" dialog with message "{message}"]: can be handled by browser_handle_dialog'


CHOOSER_LINE = "- [File chooser]: can be handled by browser_file_upload"


def event_line(message: str) -> str:
    """Return a message of the console, with its middle cut out where it is long."""
    if len(message) > 100:
        message = message[:49] + "…" + message[-50:]
    return f"- {message}"

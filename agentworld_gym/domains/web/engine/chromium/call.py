"""A call of a tool in Chromium, and how Playwright's code and errors are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.web.engine.browser.browser import Refusal
from agentworld_gym.domains.web.engine.chromium.browser import ChromiumBrowser
from agentworld_gym.domains.web.engine.chromium.tab import ChromiumTab
from agentworld_gym.domains.web.engine.strings import single_quoted
from agentworld_gym.domains.web.engine.tools.result import ToolResult

if TYPE_CHECKING:
    from playwright.async_api import Locator

PATIENCE_MS = 3000
"""How long an action waits for its element. The error tells of the five seconds that Playwright's server waits."""

_REF = re.compile(r"(f\d{1,9})?e\d{1,9}")
_NAME = re.compile(r"\b([a-z]+(?:_[a-z]+)+)\(")


class ChromiumCall:
    """One call of a tool: its arguments, and the result that it fills."""

    def __init__(self, browser: ChromiumBrowser, arguments: dict[str, Any]) -> None:
        self.browser, self.arguments = browser, arguments
        self.result = ToolResult()
        self.shows_page = True

    @property
    def tab(self) -> ChromiumTab:
        """The current tab."""
        return self.browser.tab

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text among the arguments.

        Raises:
            Refusal: The argument is missing, or not a text.
        """
        value = self.arguments.get(name, default)
        if not isinstance(value, str):
            raise Refusal(f"Error: Invalid arguments: {name}: expected string")
        return value

    async def locator(self, name: str, value: Any = None) -> tuple[Locator, str]:
        """Return the element that a reference of the last snapshot means, and its locator as code.

        Raises:
            Refusal: There is no such element.
        """
        ref = self.arguments.get(name) if value is None else value
        missing = Refusal(
            f"Error: Ref {str(ref)[:50]} not found in the current page snapshot. Try capturing new snapshot."
        )
        read = _REF.fullmatch(ref) if isinstance(ref, str) else None
        if read is None or ref not in self.tab.known:
            raise missing
        # What lies in a frame keeps the prefix of its document.
        locator = self.tab.page.locator(f"aria-ref={'' if read[1] else self.tab.prefix}{ref}")
        try:
            return locator, javascript(str(await locator.normalize()))
        except Exception:
            raise missing from None

    def ran(self, code: str) -> None:
        """Note a line of Playwright code that was run."""
        self.result.code.append(code)


def javascript(code: str) -> str:
    """Return a locator of Playwright for Python in the syntax of JavaScript, close enough to be read.

    >>> javascript('get_by_role("button", name="Go", exact=True)')
    "getByRole('button', { name: 'Go', exact: true })"
    >>> javascript('get_by_role("row").filter(has_text=re.compile(r"^Go$")).first')
    "getByRole('row').filter({ hasText: /^Go$/ }).first()"
    """
    code = _NAME.sub(lambda match: re.sub(r"_(\w)", lambda letter: letter[1].upper(), match[1]) + "(", code)
    code = re.sub(r're\.compile\(r?"((?:[^"\\]|\\.)*)"\)', lambda match: f"/{match[1]}/", code)
    code = re.sub(r'"((?:[^"\\]|\\.)*)"', lambda match: single_quoted(match[1].replace('\\"', '"')), code)
    code = re.sub(
        r"\((?:('(?:[^'\\]|\\.)*'), )?((?:\w+=(?:'(?:[^'\\]|\\.)*'|/(?:[^/\\]|\\.)*/|True|False)(?:, )?)+)\)",
        _options,
        code,
    )
    return code.replace(".first", ".first()").replace(".first()()", ".first()")


def _options(match: re.Match[str]) -> str:
    pairs = re.findall(r"(\w+)=('(?:[^'\\]|\\.)*'|/(?:[^/\\]|\\.)*/|True|False)", match[2])
    inner = ", ".join(
        f"{_camel(name)}: {value.lower() if value in ('True', 'False') else value}" for name, value in pairs
    )
    return f"({match[1]}, {{ {inner} }})" if match[1] else f"({{ {inner} }})"


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def error_text(error: Exception) -> str:
    """Return an error of Playwright in the words of its MCP server."""
    text = str(error).replace(f"Timeout {PATIENCE_MS}ms", "Timeout 5000ms").strip()
    text = re.sub(r"^(Locator|Page|Keyboard)\.(\w+)", lambda match: f"{match[1].lower()}.{_camel(match[2])}", text)
    if text.startswith("page.goto"):
        text = text.partition("\n")[0]
    kind = "TimeoutError" if type(error).__name__ == "TimeoutError" else "Error"
    return f"{kind}: {text[:4000]}"

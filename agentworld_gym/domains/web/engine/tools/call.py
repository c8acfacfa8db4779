"""A call of a tool on the simulated browser."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.web.actions import as_tool_call
from agentworld_gym.domains.web.engine.accessibility.locators import locator
from agentworld_gym.domains.web.engine.browser.browser import Browser, Refusal
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.tools.result import ToolResult

NO_CALL = "Error: a tool call needs a 'name' and an object of 'arguments'"


def read_call(action: Any) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and the arguments of a call, of a tool or of BrowserGym; None where an action is no call."""
    name = action.get("name") if isinstance(action, dict) else None
    arguments = action.get("arguments", {}) if isinstance(action, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    call = as_tool_call({"name": name, "arguments": arguments})
    return call["name"], call["arguments"]


class WebToolCall:
    """One call of a tool: its arguments, and the result that it fills."""

    def __init__(self, browser: Browser, arguments: dict[str, Any]) -> None:
        self.browser, self.arguments = browser, arguments
        self.result = ToolResult()
        self.shows_page = True

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text among the arguments.

        Raises:
            Refusal: The argument is missing, or not a text.
        """
        value = self.arguments.get(name, default)
        if not isinstance(value, str):
            raise Refusal(f"Error: Invalid arguments: {name}: expected string, received {_kind(value)}")
        return value

    def node(self, ref: Any) -> DomNode:
        """Return the element that a reference of the last snapshot means.

        Raises:
            Refusal: There is no such element.
        """
        index = self.browser.page.listed.get(ref) if isinstance(ref, str) else None
        if index is None:
            raise Refusal(missing(ref))
        return self.browser.page.nodes[index]

    def ran(self, code: str) -> None:
        """Note a line of Playwright code that the call stands for."""
        self.result.code.append(code)

    def locator(self, node: DomNode) -> str:
        """Return the locator of an element."""
        return locator(self.browser.page, node, "")


def missing(ref: object) -> str:
    """Return the error of a reference that the last snapshot did not have."""
    return f"Error: Ref {str(ref)[:50]} not found in the current page snapshot. Try capturing new snapshot."


def _kind(value: object) -> str:
    kinds = {
        "str": "string",
        "int": "number",
        "float": "number",
        "bool": "boolean",
        "list": "array",
        "NoneType": "undefined",
    }
    return kinds.get(type(value).__name__, "object")

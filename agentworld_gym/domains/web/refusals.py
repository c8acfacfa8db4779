"""What a curious agent tries in vain in a browser: elements, addresses, options and tabs that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urljoin

from agentworld_gym.agents.policies.exploring.base import call
from agentworld_gym.agents.policies.exploring.refusals import Attempt, Phrasing, Refusals
from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.core.screens.sight import LOOK
from agentworld_gym.domains.web.explorer import TYPED, PageExplorer, describe_element

NO_PAGE, NO_SITE = "page that is not there", "site that is not there"
"""The kinds that leave the page."""

PLAIN = ("heading", "paragraph", "list", "listitem", "table", "row", "cell", "navigation", "main", "link", "button")
"""Roles of elements into which nothing is typed, and in which nothing is chosen."""


class PageRefusals(Refusals, PageExplorer):
    """Uses what a page does not have, and what an element cannot do."""

    look = call(LOOK)

    def see(self, action: str, observation: str) -> None:
        """Take in the page that was shown, and go back from one that was not there."""
        super().see(action, observation)
        self._planned.clear()
        if isinstance(action, Attempt) and action.kind in (NO_PAGE, NO_SITE):
            self.plan(call("browser_navigate_back"))

    @property
    def nothing(self) -> str:
        """A reference that is not on the page."""
        return f"e{self.names.number}"

    def unsuited(self, roles: Sequence[str]) -> ScreenNode | None:
        """Return an element of one of some roles; None where there is none."""
        nodes = [node for node in self._elements() if node.role in roles]
        return self.rng.choice(nodes) if nodes else None

    def on(self, tool: str, roles: Sequence[str], **arguments: Any) -> str | None:
        """Return a call on an element of one of some roles; None where there is none."""
        node = self.unsuited(roles)
        return None if node is None else call(tool, element=describe_element(node), ref=node.handle, **arguments)

    def on_nothing(self, tool: str, what: str, **arguments: Any) -> str:
        """Return a call on an element that is not there."""
        return call(tool, element=f"{self.names.word} {what}", ref=self.nothing, **arguments)

    def address(self, part: str) -> str:
        """Return an address of the site of the page."""
        return urljoin(self._page or "http://shop.example/", part)

    def answering(self, accept: bool) -> str | None:
        """Return an answer to a dialog where there is none; None where one is open."""
        return None if self._dialog else call("browser_handle_dialog", accept=accept)

    def back(self) -> str | None:  # type: ignore[override]  # None where there is a page to go back to
        """Go back on the first page; None on a later one."""
        return call("browser_navigate_back") if len(self._pages) <= 1 else None

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "element that is not there": (
            lambda t: t.on_nothing("browser_click", "button"),
            lambda t: t.on_nothing("browser_click", "link"),
            lambda t: t.on_nothing("browser_type", "field", text=t.names.word),
            lambda t: t.on_nothing("browser_select_option", "list", values=[t.names.word]),
            lambda t: t.on_nothing("browser_hover", "link"),
        ),
        NO_PAGE: (
            lambda t: call("browser_navigate", url=t.address(f"/{t.names.word}")),
            lambda t: call("browser_navigate", url=t.address(f"/{t.names.word}/{t.names.number}")),
            lambda t: call("browser_navigate", url=t.address(f"{t.names.word}.html")),
            lambda t: call("browser_navigate", url=t.address(f"/{t.names.word}?q={t.names.word}")),
        ),
        NO_SITE: (
            lambda t: call("browser_navigate", url=f"http://{t.names.word}.example/"),
            lambda t: call("browser_navigate", url=f"https://www.{t.names.word}.example/{t.names.word}"),
            lambda t: call("browser_navigate", url=f"http://{t.names.word}.example/{t.names.word}"),
        ),
        "no field": (
            lambda t: t.on("browser_type", PLAIN, text=t.names.word),
            lambda t: t.on("browser_type", ("heading",), text=t.names.word),
            lambda t: t.on("browser_type", ("link", "button"), text=t.names.word),
            lambda t: t.on("browser_type", PLAIN, text=t.names.word, submit=True),
        ),
        "no list": (
            lambda t: t.on("browser_select_option", PLAIN, values=[t.names.word]),
            lambda t: t.on("browser_select_option", tuple(TYPED), values=[t.names.word]),
            lambda t: t.on("browser_select_option", ("heading",), values=[t.names.word]),
        ),
        "option that is not there": (
            lambda t: t.on("browser_select_option", ("combobox",), values=[t.names.word]),
            lambda t: t.on("browser_select_option", ("combobox",), values=[f"{t.names.word} {t.names.word}"]),
        ),
        "no dialog": (
            lambda t: t.answering(True),
            lambda t: t.answering(False),
        ),
        "nothing before or after": (
            lambda t: call("browser_navigate_forward"),
            lambda t: t.back(),
        ),
        "tab that is not there": (
            lambda t: call("browser_tabs", action="select", index=t.rng.randint(4, 9)),
            lambda t: call("browser_tabs", action="close", index=t.rng.randint(4, 9)),
            lambda t: call("browser_tabs", action="select", index=t.rng.randint(10, 40)),
        ),
        "key that does nothing": (
            lambda t: call("browser_press_key", key=t.rng.choice(("Shift", "F7", "Control", "Alt", "CapsLock"))),
            lambda t: call("browser_press_key", key=t.names.word),
            lambda t: call("browser_press_key", key=t.rng.choice(("F9", "Insert"))),
        ),
        "text that does not come": (
            lambda t: call("browser_wait_for", text=t.names.word),
            lambda t: call("browser_wait_for", text=f"{t.names.word} {t.names.word}"),
        ),
    }
    """The kinds of calls."""

"""The explorer of web pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from urllib.parse import urljoin, urlsplit

from agentworld_gym.agents.policies.exploring.base import ScreenExplorer, call
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.web.screen_texts import location

CLICKED = {"link": 1.0, "button": 1.6, "checkbox": 1.2, "radio": 1.0, "tab": 1.5}
TYPED = {"textbox": 1.5, "searchbox": 0.7, "spinbutton": 1.0}
TOLD = {"textbox": "field", "searchbox": "field", "spinbutton": "field", "combobox": "list"}
KEYS = ("Tab", "Enter", "Escape", "ArrowDown", "PageDown", "a")


class PageExplorer(ScreenExplorer):
    """An explorer that uses the links, buttons, fields and lists of a page, moves in its history, and errs at times."""

    openings = (
        call("browser_click", element="link", ref="@{link {number}}"),
        call("browser_click", element="link", ref="@{link {number}}"),
        call("browser_click", element="button", ref="@{button {number}}"),
        call("browser_click", element="link", ref="@{link after main {number}}"),
        call("browser_click", element="link", ref="@{link after main {number}}"),
    )
    blind = call("browser_snapshot")

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._page = str(task.state.get("open", ""))
        self._pages: dict[str, None] = {self._page: None} if self._page else {}
        self._dialog = False
        self._tabs = 1

    def see(self, action: str, observation: str) -> None:
        """Take in the page that was shown, and whether a dialog is open; look at a page that was not shown."""
        super().see(action, observation)
        address, _ = location(observation)
        if address.startswith("http"):
            self._page = address
            self._pages.setdefault(address)
        self._dialog = "### Modal state" in observation and "dialog" in observation
        if observation.startswith("### Ran Playwright code") and "### Page" not in observation and not self._dialog:
            leaves = '"submit": true' in action or '"Enter"' in action or "select_option" in action
            if self.chance(0.9 if leaves else 0.3):
                self.plan(self.snapshot())

    def draft(self) -> str:
        """Draft one call."""
        if self._dialog and self.chance(0.9):
            return call("browser_handle_dialog", accept=self.chance(0.6))
        return self.weighted(_KINDS)(self)

    def click(self) -> str:
        """Click an element that takes clicks."""
        node = self.pick(self._shares(), self._page)
        if node is None:
            return self.back()
        more = {"doubleClick": True} if self.chance(0.02) else {}
        return call("browser_click", element=describe_element(node), ref=node.handle, **more)

    def type(self) -> str:
        """Type a text into a field, now and then with Enter."""
        node = self.pick(((node, TYPED[node.role]) for node in self._elements() if node.role in TYPED), self._page)
        if node is None:
            return self.click()
        text = str(self.rng.randint(0, 60)) if node.role == "spinbutton" and self.chance(0.9) else self.words.text
        more = {"submit": True} if self.chance(0.7 if node.role == "searchbox" else 0.12) else {}
        return call("browser_type", element=describe_element(node), ref=node.handle, text=text, **more)

    def fill(self) -> str:
        """Fill several fields at once."""
        nodes = [node for node in self._elements() if node.role in ("textbox", "checkbox", "spinbutton")]
        if len(nodes) < 2:
            return self.type()
        chosen = self.rng.sample(nodes, min(len(nodes), self.rng.randint(2, 3)))
        return call("browser_fill_form", fields=[self._field(node) for node in chosen])

    def select(self) -> str:
        """Choose an option of a list, at times one that the list does not have."""
        node = self.pick(((node, 1.0) for node in self._elements() if node.role == "combobox"), self._page)
        if node is None:
            return self.click()
        options = self._options(node)
        value = self.rng.choice(options) if options and self.chance(0.93) else self.words.word
        return call("browser_select_option", element=describe_element(node), ref=node.handle, values=[value])

    def back(self) -> str:
        """Go back to the page before."""
        return call("browser_navigate_back")

    def forward(self) -> str:
        """Go forward to the page after."""
        return call("browser_navigate_forward")

    def snapshot(self) -> str:
        """Look at the page as it is."""
        return call("browser_snapshot")

    def navigate(self) -> str:
        """Open an address that was shown, at times one of the same site that has no page."""
        links = [urljoin(self._page, url) for node in self._elements() if (url := node.value("url"))]
        addresses = [*self._pages, *links]
        hosts = {urlsplit(address).netloc for address in self._pages}
        inside = [address for address in addresses if urlsplit(address).netloc in hosts]
        if not inside:
            return self.snapshot()
        address = self.rng.choice(inside)
        if self.chance(0.15):
            address = urljoin(address, f"/{self.words.word.lower()}")
        return call("browser_navigate", url=address)

    def tabs(self) -> str:
        """List the tabs, open one, change to another one, or close one."""
        action = self.weighted((("list", 2.0), ("new", 1.0), ("select", self._tabs - 1.0), ("close", self._tabs - 1.0)))
        if action == "new":
            self._tabs += 1
        if action in ("list", "new"):
            return call("browser_tabs", action=action)
        index = self.rng.randrange(self._tabs)
        self._tabs -= action == "close"
        return call("browser_tabs", action=action, index=index)

    def key(self) -> str:
        """Press a key."""
        return call("browser_press_key", key=self.rng.choice(KEYS))

    def hover(self) -> str:
        """Move the mouse over an element."""
        node = self.pick(self._shares(), self._page)
        return (
            self.snapshot() if node is None else call("browser_hover", element=describe_element(node), ref=node.handle)
        )

    def wait(self) -> str:
        """Wait a moment, or until a text is shown."""
        texts = [node.label for node in self._elements() if node.label and len(node.label) < 30]
        if texts and self.chance(0.5):
            return call("browser_wait_for", text=self.rng.choice(texts))
        return call("browser_wait_for", time=1)

    def wrong(self) -> str:
        """Draft a call that most often cannot be carried out."""
        elements = list(self._elements())
        unknown = f"e{900 + self.rng.randint(0, 90)}"
        forms = [call("browser_click", element=f"{self.words.word} button", ref=unknown)] * 3
        forms.append(call("browser_type", element=f"{self.words.word} field", ref=unknown, text=self.words.word))
        forms.append(call("browser_click", element="Next button"))
        forms.append(call("browser_handle_dialog", accept=True))
        if elements:
            node = self.rng.choice(elements)
            forms.append(call("browser_type", element=describe_element(node), ref=node.handle, text=self.words.word))
            forms.append(
                call("browser_select_option", element=describe_element(node), ref=node.handle, values=[self.words.word])
            )
        return self.rng.choice(forms)

    def _elements(self) -> Iterator[ScreenNode]:
        return (node for node in self.nodes if node.handle is not None)

    def _shares(self) -> list[tuple[ScreenNode, float]]:
        """Return what can be clicked, with small shares for what is on every page and hardly any for signing out."""
        shares = []
        main = False
        for node in self._elements():
            main = main or node.role == "main"
            if share := CLICKED.get(node.role):
                if "sign out" in node.name.lower():
                    share = 0.1
                shares.append((node, share if main else 0.3 * share))
        return shares

    def _options(self, node: ScreenNode) -> list[str]:
        nodes = self.nodes
        labels = []
        for option in nodes[nodes.index(node) + 1 :]:
            if option.depth <= node.depth:
                break
            if option.role == "option" and option.label:
                labels.append(option.label)
        return labels

    def _field(self, node: ScreenNode) -> dict[str, object]:
        kind = "checkbox" if node.role == "checkbox" else "textbox"
        value = self.rng.choice(("true", "false")) if kind == "checkbox" else self.words.text
        if node.role == "spinbutton":
            value = str(self.rng.randint(0, 60))
        return {"name": node.name or node.role, "type": kind, "ref": node.handle, "value": value}


_KINDS: tuple[tuple[Callable[[PageExplorer], str], float], ...] = (
    (PageExplorer.click, 0.5),
    (PageExplorer.type, 0.13),
    (PageExplorer.fill, 0.04),
    (PageExplorer.select, 0.07),
    (PageExplorer.back, 0.07),
    (PageExplorer.forward, 0.02),
    (PageExplorer.navigate, 0.05),
    (PageExplorer.snapshot, 0.01),
    (PageExplorer.tabs, 0.02),
    (PageExplorer.key, 0.03),
    (PageExplorer.hover, 0.01),
    (PageExplorer.wait, 0.01),
    (PageExplorer.wrong, 0.04),
)


def describe_element(node: ScreenNode) -> str:
    """Return an element in words."""
    return f"{node.name or node.text} {TOLD.get(node.role, node.role)}".strip()

"""An agent's view of an episode: the last screen it was shown, and its actions with their locators resolved on it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from agentworld_gym.screens import GRAPHICAL, read_screen
from agentworld_gym.screens.locate import NotOnScreen, has_locator, resolve
from agentworld_gym.screens.node import Node
from agentworld_gym.screens.web import is_page

Way = Generator[str, str, None]
"""Yields actions and is sent the observation of each. In a graphical domain they may hold locators: see `on_screen`."""


def last_screen(domain: str, observations: Sequence[str]) -> str:
    """Return what is on the screen after some observations, of which there is at least one.

    This is the last observation; in a graphical domain it is the last one that shows a screen, if any does.

    >>> page = "### Snapshot\\n- link \\"Cart\\" [ref=e4]"
    >>> last_screen("web", [page, "### Error"]) == page, last_screen("mcp", ["a", "b"])
    (True, 'b')
    """
    if domain not in GRAPHICAL:
        return observations[-1]
    return next((text for text in reversed(observations) if shows(domain, text)), observations[-1])


def shows(domain: str, observation: str) -> bool:
    """Whether an observation shows a screen, an empty one too."""
    return _screen(domain, observation) is not None


def _screen(domain: str, observation: str) -> list[Node] | None:
    """The elements shown, none of them on an empty page; None where no screen is shown."""
    nodes = read_screen(domain, observation)
    return nodes if nodes or (domain == "web" and is_page(observation)) else None


class Sight:
    """The last screen that an agent was shown. What shows none, as an error does, leaves it as it was.

    >>> sight = Sight("web", ["### Snapshot\\n- link \\"Cart\\" [ref=e4]", "### Error"])
    >>> sight.resolve("click('@{link 'Cart'}')"), sight.resolve("click('@{button}')"), sight.resolve("noop()")
    ("click('e4')", None, 'noop()')
    """

    __slots__ = ("_nodes", "_observations", "domain")

    def __init__(self, domain: str, observations: Sequence[str] = ()) -> None:
        self.domain = domain
        self._observations = list(observations) if domain in GRAPHICAL else []
        self._nodes: list[Node] = []

    def see(self, observation: str) -> None:
        """Take in an observation."""
        if self.domain in GRAPHICAL:
            self._observations.append(observation)

    @property
    def nodes(self) -> list[Node]:
        """The elements of the last screen."""
        # Read only when they are asked for: most actions need none.
        while self._observations:
            nodes = _screen(self.domain, self._observations.pop())
            if nodes is not None:
                self._nodes = nodes
                self._observations.clear()
        return self._nodes

    def resolve(self, action: str) -> str | None:
        """The action for this screen; None if it names an element that is not there."""
        if self.domain not in GRAPHICAL or not has_locator(action):
            return action
        return resolve(action, self.nodes)

    def offers(self, menu: Iterable[str]) -> tuple[str | None, ...]:
        """Each entry of a menu for this screen; None for those whose element is not there."""
        return tuple([self.resolve(entry) for entry in menu])


def on_screen(way: Way, domain: str, observation: str) -> Way:
    """A way whose locators are resolved on what was shown last.

    Where an element is not on the screen, the way gets `NotOnScreen` at its `yield`: it may yield another, or end.

    Args:
        way: yields actions with locators.
        domain: of the task.
        observation: the first one.
    """
    sight = Sight(domain, [observation])
    try:
        planned = next(way)
        while True:
            action = sight.resolve(planned)
            if action is None:
                planned = way.throw(NotOnScreen(f"not on the screen: {planned}"))
                continue
            shown = yield action
            sight.see(shown)
            planned = way.send(shown)
    except (StopIteration, NotOnScreen):
        return
    # No `finally`: it would run as the finalizer of a way that is dropped half gone, and a Ctrl-C in it would be lost.

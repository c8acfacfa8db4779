"""An agent's view of an episode: the last screen it was shown, and its actions with their locators resolved on it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from agentworld_gym.core.screens import is_graphical, screen_of
from agentworld_gym.core.screens.locate import NotOnScreen, has_locator, resolve_if_shown
from agentworld_gym.core.screens.node import ScreenNode

LOOK = "browser_snapshot"
"""The tool of a browser that shows the page again. In rows of recorded sessions it is no turn."""

SHOW_AGAIN: Mapping[str, Any] = {"name": LOOK, "arguments": {}}
"""The call of that tool, as its parser reads it."""

ActionStream = Generator[str, str, None]
"""A generator that yields actions and is sent the observation of each one. In a graphical domain the actions may hold
locators: see `on_screen`."""


def last_screen(domain: str, observations: Sequence[str]) -> str:
    """Return what is on the screen after some observations, of which there is at least one.

    This is the last observation; in a graphical domain it is the last one that shows a screen, if any does.

    >>> page = "### Snapshot\\n- link \\"Cart\\" [ref=e4]"
    >>> last_screen("web", [page, "### Error"]) == page, last_screen("mcp", ["a", "b"])
    (True, 'b')
    """
    if not is_graphical(domain):
        return observations[-1]
    return next((text for text in reversed(observations) if shows(domain, text)), observations[-1])


def shows(domain: str, observation: str) -> bool:
    """Whether an observation shows a screen, which may be empty."""
    return _screen(domain, observation) is not None


def looks(domain: str, parsed: Any) -> bool:
    """Whether an action does nothing but show the screen again; `parsed` is the action as its parser read it.

    >>> looks("web", {"name": "browser_snapshot", "arguments": {}}), looks("mcp", {"name": "browser_snapshot"})
    (True, False)
    """
    if not isinstance(parsed, Mapping):
        return False
    screen = screen_of(domain)
    return screen is not None and screen.look_tool is not None and parsed.get("name") == screen.look_tool


def folds(domain: str, parsed: Any, observation: str) -> bool:
    """Whether an action's observation replaces the one before it, so that the action is no turn."""
    return looks(domain, parsed) and shows(domain, observation)


def _screen(domain: str, observation: str) -> list[ScreenNode] | None:
    """Return the elements of the screen that an observation shows; None where it shows no screen."""
    screen = screen_of(domain)
    if screen is None:
        return None
    nodes = screen.read(observation)
    return nodes if nodes or screen.is_blank(observation) else None


class Sight:
    """The last screen that an agent was shown. An observation without a screen, such as an error, leaves it as it was.

    >>> sight = Sight("web", ["### Snapshot\\n- link \\"Cart\\" [ref=e4]", "### Error"])
    >>> sight.resolve("click('@{link 'Cart'}')"), sight.resolve("click('@{button}')"), sight.resolve("noop()")
    ("click('e4')", None, 'noop()')
    """

    __slots__ = ("_nodes", "_observations", "domain")

    def __init__(self, domain: str, observations: Sequence[str] = ()) -> None:
        self.domain = domain
        self._observations = list(observations) if is_graphical(domain) else []
        self._nodes: list[ScreenNode] = []

    def see(self, observation: str) -> None:
        """Take in an observation."""
        if is_graphical(self.domain):
            self._observations.append(observation)

    @property
    def nodes(self) -> list[ScreenNode]:
        """The elements of the last screen."""
        # Screens are read only when their elements are asked for, because most actions need none.
        while self._observations:
            nodes = _screen(self.domain, self._observations.pop())
            if nodes is not None:
                self._nodes = nodes
                self._observations.clear()
        return self._nodes

    def resolve(self, action: str) -> str | None:
        """Return an action for this screen; None if it names an element that is not there."""
        if not is_graphical(self.domain) or not has_locator(action):
            return action
        return resolve_if_shown(action, self.nodes)

    def offers(self, menu: Iterable[str]) -> tuple[str | None, ...]:
        """Return each entry of a menu for this screen; None for an entry whose element is not there."""
        return tuple([self.resolve(entry) for entry in menu])


def on_screen(actions: ActionStream, domain: str, observation: str) -> ActionStream:
    """Resolve the locators in the actions of a stream on the screen that was shown last.

    Where an element is not on the screen, the stream gets `NotOnScreen` at its `yield`: it may yield another action, or
    end.

    Args:
        actions: The stream, which yields actions with locators.
        domain: The id of the domain of its task.
        observation: The observation before the first action.
    """
    sight = Sight(domain, [observation])
    try:
        planned = next(actions)
        while True:
            action = sight.resolve(planned)
            if action is None:
                planned = actions.throw(NotOnScreen(f"not on the screen: {planned}"))
                continue
            shown = yield action
            sight.see(shown)
            planned = actions.send(shown)
    except (StopIteration, NotOnScreen):
        return
    # No `finally`: it would run as the finalizer of a stream that is dropped before its end, and a Ctrl-C in it would
    # be lost.

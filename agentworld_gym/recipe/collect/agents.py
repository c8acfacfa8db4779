"""Who acts in a session that is recorded: a script, or a language model."""

from __future__ import annotations

from typing import Protocol

from agentworld_gym.core.flow import Work
from agentworld_gym.core.screens.sight import ActionStream, on_screen


class Acting(Protocol):
    """Who acts in one session."""

    def act(self, shown: str) -> Work[str | None]:
        """Choose the next action, as a piece of work; None stops.

        Args:
            shown: What the last action showed, or else the first observation.
        """
        ...


class Script:
    """Acts as a script says, and asks nobody.

    Args:
        actions: The script, whose locators are resolved on what the world shows.
        domain: The id of the domain.

    >>> from agentworld_gym.core.flow import in_one_wave
    >>> script = Script((action for action in ("pwd", "ls")), "terminal")
    >>> [in_one_wave([script.act("")]) for _ in range(3)]
    [['pwd'], ['ls'], [None]]
    """

    def __init__(self, actions: ActionStream, domain: str) -> None:
        self._actions, self._domain = actions, domain
        self._resolved: ActionStream | None = None

    def act(self, shown: str) -> Work[str | None]:
        """Go one step further in the script."""
        yield from ()
        try:
            if self._resolved is not None:
                return self._resolved.send(shown)
            self._resolved = on_screen(self._actions, self._domain, shown)
            return next(self._resolved)
        except StopIteration:
            return None

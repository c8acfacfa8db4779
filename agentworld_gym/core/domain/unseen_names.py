"""What a task or an action names that a world model may never have seen: tools, sites and apps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import without_ask


class UnseenNames:
    """The things of a domain that a model has to know by name. A domain overrides what it has.

    >>> UnseenNames().sites(None), UnseenNames().opens({}, "Clock", "")
    ((), False)
    """

    shows_nobody = False
    """Whether training shows what an address leads to that no site of the task has."""

    def tools(self, task: Task) -> Sequence[str]:
        """Return the names of the tools that a task brings with it."""
        tools = without_ask(task.tools)  # No world answers questions to the user.
        return [str(tool.get("name") or tool.get("function", {}).get("name")) for tool in tools]

    def sites(self, task: Task) -> Iterable[str]:
        """Return the hosts of the sites that a task brings with it."""
        return ()

    def apps(self, task: Task) -> Sequence[str]:
        """Return the names of the apps that an agent can open in a task."""
        return ()

    def hidden(self, task: Task) -> frozenset[str]:
        """Return the names of apps that a task neither offers nor has open."""
        return frozenset()

    def hosts(self, action: Any, shown: str) -> Iterable[str]:
        """Return the hosts that an action asks for, or else that of the page that it is done on.

        Args:
            action: The action as its parser read it.
            shown: The screen that the agent sees.
        """
        return ()

    def opens(self, action: Any, app: str, shown: str) -> bool:
        """Return whether an action opens an app: by its name, by a command, or by its icon on the screen."""
        return False

    def known_apps(self) -> Sequence[str]:
        """Return the names of all apps of the domain."""
        return ()

    def scenarios(self) -> Sequence[str]:
        """Return the names of the scenarios whose tools a model may know."""
        return ()

    def scenario_tools(self, scenario: str) -> Iterable[str]:
        """Return the names of the tools of a scenario."""
        return ()

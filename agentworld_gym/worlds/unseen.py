"""What the training data of a small world model held, and what of a task or an action it did not.

A small model that is asked about a tool or a site that it never saw writes fluent nonsense, and its confidence does not
tell. Such an action is therefore a failure that names what is unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from pydantic import field_validator

from agentworld_gym.contracts import Failure, FailureKind
from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.task import Task
from agentworld_gym.engines.mcp.scenario import scenario_names
from agentworld_gym.engines.mcp.service import load_service
from agentworld_gym.errors import UnseenWarning

_MOST_NAMED = 8


class Seen(Strict):
    """What the training data of a model held, of the kinds of things that a task can bring with it.

    >>> seen = Seen(scenarios=("shop",), hosts=("shop.example",))
    >>> seen.unseen("web", {"name": "browser_navigate", "arguments": {"url": "http://kiln.example/new"}}, ())
    'the site kiln.example'
    >>> seen.unseen("mcp", {"name": "kiln-fire", "arguments": {}}, ("kiln-fire",))
    'the tool kiln-fire'
    >>> seen.unseen("search", {"name": "web_extractor", "arguments": {"url": "https://kiln.example"}}, ()) is None
    True
    """

    scenarios: tuple[str, ...] | None = None
    """The shipped scenarios of tool servers whose tools it held; None where any tool may be asked for."""

    hosts: tuple[str, ...] | None = None
    """The hosts of the sites of the domain `web` that it held; None where any address may be asked for."""

    @field_validator("scenarios")
    @classmethod
    def _shipped(cls, scenarios: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if unknown := set(scenarios or ()).difference(scenario_names()):
            raise ValueError(f"some of {', '.join(scenario_names())}, which {', '.join(sorted(unknown))} is not")
        return scenarios

    def strange_tools(self, task: Task) -> tuple[str, ...]:
        """Return the names of a task's tools that the training data did not hold."""
        if self.scenarios is None:
            return ()
        known = _tools(self.scenarios)
        names = (str(tool.get("name") or tool.get("function", {}).get("name")) for tool in task.tools)
        return tuple(name for name in names if name not in known)

    def unseen(self, domain: str, action: Any, strange: tuple[str, ...]) -> str | None:
        """Return what an action names that the training data did not hold; None where there is no such thing.

        Args:
            domain: The domain of the task.
            action: The action as its parser read it.
            strange: The strange tools of the task.
        """
        if not isinstance(action, Mapping):
            return None
        name, arguments = str(action.get("name")), action.get("arguments")
        if name in strange:
            return f"the tool {name}"
        url = arguments.get("url") if isinstance(arguments, Mapping) else None
        if domain != "web" or self.hosts is None or not isinstance(url, str):
            return None
        host = _host(url)
        return None if host is None or host in self.hosts else f"the site {host}"


class Unseen:
    """Tells of one model what it never saw: by a warning when an episode begins, and by a failure when it is asked.

    Args:
        model: The name of the model.
        seen: What its training data held.
    """

    def __init__(self, model: str, seen: Seen) -> None:
        self.model, self.seen = model, seen

    def warn(self, task: Task) -> None:
        """Warn of the tools of a task that the model never saw, by an `UnseenWarning`."""
        if not (strange := self.seen.strange_tools(task)):
            return
        named = ", ".join(strange[:_MOST_NAMED])
        more = f" and {len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""
        warnings.warn(
            f"the training data of the world model {self.model} held no such tools as {named}{more}: a call of one "
            "ends the episode as a failure of the kind 'unseen'. A guard with the remedy 'ground' has it carried out "
            "in the grounded world, and a model that is trained on recordings of these tools can answer it.",
            UnseenWarning,
            stacklevel=2,
        )

    def failure(self, task: Task, action: Any) -> Failure | None:
        """Return the failure of an action that names what the model never saw; None for any other action."""
        what = self.seen.unseen(task.domain, action, self.seen.strange_tools(task))
        if what is None:
            return None
        return Failure(FailureKind.UNSEEN, f"the training data of the world model {self.model} did not hold {what}")


@lru_cache(maxsize=16)
def _tools(scenarios: tuple[str, ...]) -> frozenset[str]:
    """Return the names of the tools of some scenarios, with their server and without it."""
    names = [str(tool["name"]) for scenario in scenarios for tool in load_service(scenario).listed]
    return frozenset([*names, *(name.partition("-")[2] for name in names)])


def _host(url: str) -> str | None:
    """Return the host of an address that is whole; None for an address without one, and for one that is none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None

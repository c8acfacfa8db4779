"""What the training data of a small world model held, and what of a task or an action it did not.

A small model that is asked about a tool, a site or an app that it never saw writes fluent nonsense, and its confidence
does not tell. Such an action is therefore a failure that names what is unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import field_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import UnseenWarning
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.unseen_names import UnseenNames
from agentworld_gym.core.registration import find_domain, shipped_domains

_MOST_NAMED = 8

Strange = Mapping[str, tuple[str, ...]]
"""What a task brings with it and the training data did not hold: `tools`, `sites` and `apps`, by their names."""


class Seen(Strict):
    """What the training data of a model held, of the kinds of things that a task can bring with it.

    >>> seen = Seen(scenarios=("shop",), hosts=("shop.example",), apps=("Notes",))
    >>> opening = {"name": "browser_navigate", "arguments": {"url": "http://kiln.example/new"}}
    >>> seen.unseen("web", opening, {"sites": ("kiln.example",)})
    'the site kiln.example'
    >>> seen.unseen("mcp", {"name": "kiln-fire", "arguments": {}}, {"tools": ("kiln-fire",)})
    'the tool kiln-fire'
    >>> seen.unseen("android", {"action_type": "open_app", "app_name": "clock"}, {"apps": ("Clock",)})
    'the app Clock'
    >>> seen.unseen("search", {"name": "web_extractor", "arguments": {"url": "https://kiln.example"}}, {}) is None
    True
    """

    scenarios: tuple[str, ...] | None = None
    """The shipped scenarios of tool servers whose tools it held; None where any tool may be asked for."""

    hosts: tuple[str, ...] | None = None
    """The hosts of the sites that it held, in the web and in the desktop's browser; None where any address may be asked
    for."""

    apps: tuple[str, ...] | None = None
    """The apps of phones and the programs of desktops that it held, by their names on the screen; None where any may be
    asked for."""

    @field_validator("scenarios")
    @classmethod
    def _shipped(cls, scenarios: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return _check_names(scenarios, lambda one: one.scenarios())

    @field_validator("apps")
    @classmethod
    def _exist(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return _check_names(names, lambda one: one.known_apps())

    def held(self, kind: str) -> str:
        """Return in words what it held of a kind of things."""
        if kind == "tools":
            return f"those of {_listed(self.scenarios or ())}"
        return _listed((self.hosts if kind == "sites" else self.apps) or ())

    def strange(self, task: Task) -> Strange:
        """Return what a task brings with it and the training data did not hold."""
        names = unseen_names_of(task.domain)
        kinds: tuple[tuple[str, Callable[[Task], Iterable[str]], Collection[str] | None], ...] = (
            ("tools", names.tools, None if self.scenarios is None else _tools(self.scenarios)),
            ("sites", names.sites, self.hosts),
            ("apps", names.apps, self.apps),
        )
        return {
            kind: tuple(name for name in brought(task) if name not in known)
            for kind, brought, known in kinds
            if known is not None
        }

    def unseen(self, domain: str, action: Any, strange: Strange, shown: str = "") -> str | None:
        """Return what an action names that the training data did not hold; None where there is no such thing.

        Args:
            domain: The domain of the task.
            action: The action as its parser read it.
            strange: What the task brings with it and the training data did not hold.
            shown: The screen that the agent sees, for what it points at.
        """
        if isinstance(action, Mapping) and (name := str(action.get("name"))) in strange.get("tools", ()):
            return f"the tool {name}"
        names = unseen_names_of(domain)
        if self.hosts is not None:
            for host in names.hosts(action, shown):
                nobody = names.shows_nobody and host not in strange.get("sites", ())
                if host and host not in self.hosts and not nobody:
                    return f"the site {host}"
        for app in strange.get("apps", ()):
            if names.opens(action, app, shown):
                return f"the app {app}"
        return None


class Unseen:
    """Tells of one model what it never saw: by a warning before it is asked, and by a failure when it is asked.

    A thing is warned of once.

    Args:
        model: The name of the model.
        seen: What its training data held.
    """

    def __init__(self, model: str, seen: Seen) -> None:
        self.model, self.seen = model, seen
        self._told: set[tuple[str, str]] = set()

    def warn(self, tasks: Iterable[Task]) -> None:
        """Warn of what tasks bring with them and the model never saw, by one `UnseenWarning` for all of them."""
        found: dict[str, dict[str, None]] = {}
        for task in tasks:
            hidden = unseen_names_of(task.domain).hidden(task)
            for kind, names in self.seen.strange(task).items():
                fresh = (name for name in names if (kind, name) not in self._told and name not in hidden)
                found.setdefault(kind, {}).update(dict.fromkeys(fresh))
        self._told |= {(kind, name) for kind, names in found.items() for name in names}
        said = [
            f"no such {kind} as {_listed(names)} (it held {self.seen.held(kind)})"
            for kind, names in found.items()
            if names
        ]
        if not said:
            return
        warnings.warn(
            f"the training data of the world model {self.model} held {'; and '.join(said)}: an action that asks for "
            "one ends the episode as a failure of the kind 'unseen'. A guard with the remedy 'ground' has it carried "
            "out in the grounded world, and a model that is trained on recordings of these can answer it.",
            UnseenWarning,
            stacklevel=2,
        )

    def failure(self, task: Task, action: Any, shown: str = "") -> Failure | None:
        """Return the failure of an action that names what the model never saw; None for any other action."""
        what = self.seen.unseen(task.domain, action, self.seen.strange(task), shown)
        if what is None:
            return None
        return Failure(FailureKind.UNSEEN, f"the training data of the world model {self.model} did not hold {what}")


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return f"{', '.join(every[:_MOST_NAMED]) or 'none'}{more}"


def unseen_names_of(domain: str) -> UnseenNames:
    """Return what a domain's tasks and actions name.

    >>> unseen_names_of("terminal").known_apps()
    ()
    """
    found = find_domain(domain)
    made: UnseenNames = UnseenNames() if found is None or found.unseen_names is None else found.part("unseen_names")()
    return made


def _check_names(
    names: tuple[str, ...] | None, known: Callable[[UnseenNames], Iterable[str]]
) -> tuple[str, ...] | None:
    """Check that some domain knows every name.

    Raises:
        ValueError: None knows one of them.
    """
    if names is not None:
        there = sorted({name for domain in shipped_domains() for name in known(unseen_names_of(domain))})
        if unknown := set(names).difference(there):
            raise ValueError(f"some of {', '.join(there)}, which {', '.join(sorted(unknown))} is not")
    return names


@lru_cache(maxsize=16)
def _tools(scenarios: tuple[str, ...]) -> frozenset[str]:
    """Return the names of the tools of some scenarios, with their server and without it."""
    names = [unseen_names_of(domain) for domain in shipped_domains()]
    return frozenset(
        tool
        for one in names
        for scenario in scenarios
        if scenario in one.scenarios()
        for tool in one.scenario_tools(scenario)
    )

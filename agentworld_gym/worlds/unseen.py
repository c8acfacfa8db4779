"""What the training data of a small world model held, and what of a task or an action it did not.

A small model that is asked about a tool, a site or an app that it never saw writes fluent nonsense, and its confidence
does not tell. Such an action is therefore a failure that names what is unknown.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import field_validator

from agentworld_gym.contracts import Failure, FailureKind
from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.task import Task
from agentworld_gym.engines.mcp.scenario import scenario_names
from agentworld_gym.engines.mcp.service import load_service
from agentworld_gym.engines.web.addresses import from_address_bar, host_of
from agentworld_gym.errors import SpecError, UnseenWarning
from agentworld_gym.screens import read_screen
from agentworld_gym.screens.node import Node

if TYPE_CHECKING:
    from agentworld_gym.engines.desktop.program import Program

_MOST_NAMED = 8
_ADDRESS = re.compile(r"https?://[^\s'\"\\)]+")
_PAGE = re.compile(r"^(?:- Page )?URL: (\S+)", re.MULTILINE)
_CLICK = re.compile(r"\b(?:click|(doubleClick))\(\s*(?:x\s*=\s*)?(\d+)\s*,\s*(?:y\s*=\s*)?(\d+)")

Strange = Mapping[str, tuple[str, ...]]
"""What a task brings with it and the training data did not hold: `tools`, `sites` and `apps`, by their names."""


class Seen(Strict):
    """What the training data of a model held, of the kinds of things that a task can bring with it.

    >>> seen = Seen(scenarios=("shop",), hosts=("shop.example",), apps=("Notes",))
    >>> seen.unseen("web", {"name": "browser_navigate", "arguments": {"url": "http://kiln.example/new"}}, {})
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
        if unknown := set(scenarios or ()).difference(scenario_names()):
            raise ValueError(f"some of {', '.join(scenario_names())}, which {', '.join(sorted(unknown))} is not")
        return scenarios

    @field_validator("apps")
    @classmethod
    def _exist(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        there = {*_phone_apps(), *_programs()}
        if unknown := set(names or ()).difference(there):
            raise ValueError(f"some of {', '.join(sorted(there))}, which {', '.join(sorted(unknown))} is not")
        return names

    def held(self, kind: str) -> str:
        """Return in words what it held of a kind of things."""
        if kind == "tools":
            return f"those of {_listed(self.scenarios or ())}"
        return _listed((self.hosts if kind == "sites" else self.apps) or ())

    def strange(self, task: Task) -> Strange:
        """Return what a task brings with it and the training data did not hold."""
        kinds: tuple[tuple[str, Callable[[Task], Iterable[str]], Collection[str] | None], ...] = (
            ("tools", _tools_of, None if self.scenarios is None else _tools(self.scenarios)),
            ("sites", _hosts_of, self.hosts),
            ("apps", _apps_of, self.apps),
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
        if self.hosts is not None:
            for url in _addresses(domain, action, shown):
                if (host := host_of(url)) and host not in self.hosts:
                    return f"the site {host}"
        for app in strange.get("apps", ()):
            if _opens(domain, action, app, shown):
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
            hidden = _hidden(task)
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


def _tools_of(task: Task) -> Sequence[str]:
    return [str(tool.get("name") or tool.get("function", {}).get("name")) for tool in task.tools]


def _hosts_of(task: Task) -> Iterator[str]:
    """Yield the hosts of the sites that a task states; one that cannot be loaded is told of when it begins."""
    from agentworld_gym.engines.web.sites.site import load_site

    sites = task.state.get("sites") if task.domain in ("web", "desktop") else None
    for name in sites if isinstance(sites, Mapping) else ():
        try:
            yield load_site(str(name)).about.host
        except SpecError:
            continue


def _apps_of(task: Task) -> Sequence[str]:
    """Return the names of the apps that an agent can open in a task."""
    if task.domain == "desktop":
        return _programs()
    if task.domain != "android":
        return ()
    installed = task.state.get("apps")
    titles = tuple(_phone_apps())
    return [title for title in titles if title in installed] if isinstance(installed, Sequence) else titles


def _hidden(task: Task) -> frozenset[str]:
    """Return the names of the programs that a desktop neither offers nor has open, such as one for a kind of files."""
    if task.domain != "desktop":
        return frozenset()
    from agentworld_gym.engines.desktop.shell_data import shell_data

    stated = task.state.get("open", ())
    open_ones = {window.get("program") for window in stated if isinstance(window, Mapping)}
    shown = {*shell_data().dock, *open_ones}
    return frozenset(program.name for program in _desktop_programs() if program.id not in shown)


def _addresses(domain: str, action: Any, shown: str) -> Iterator[str]:
    """Yield the addresses that an action asks for, or else the one of the page that it is done on."""
    if domain == "web" and isinstance(action, Mapping):
        arguments = action.get("arguments")
        url = arguments.get("url") if isinstance(arguments, Mapping) else None
        if isinstance(url, str):
            yield from_address_bar(url)
        else:
            yield from _PAGE.findall(shown)
    elif domain == "desktop" and isinstance(action, str):
        yield from map(from_address_bar, _ADDRESS.findall(action))


def _opens(domain: str, action: Any, app: str, shown: str) -> bool:
    """Whether an action opens an app: by its name, by a command, or by its icon on the screen."""
    if domain == "android" and isinstance(action, Mapping):
        name = action.get("app_name")
        if isinstance(name, str) and name.strip().casefold() in (app.casefold(), _phone_apps()[app]):
            return True
        index = action.get("index")
        return any(node.handle == index and _is_icon(node, app) for node in read_screen(domain, shown))
    if domain == "desktop" and isinstance(action, str):
        if any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", action) for word in _programs_called(app)):
            return True
        clicks = [(bool(twice), int(x), int(y)) for twice, x, y in _CLICK.findall(action)]
        return any(
            _holds(node, x, y) and (_is_icon(node, app) or (twice and _is_file_of(node, app)))
            for node in (read_screen(domain, shown) if clicks else ())
            for twice, x, y in clicks
        )
    return False


def _holds(node: Node, x: int, y: int) -> bool:
    box = node.box
    return box is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def _is_file_of(node: Node, app: str) -> bool:
    """Whether an element is a file that a program of a desktop opens."""
    opener = next((one for one in _desktop_programs() if one.types and node.label.lower().endswith(one.types)), None)
    return node.role == "icon" and opener is not None and opener.name == app


def _is_icon(node: Node, app: str) -> bool:
    """Whether an element is the icon of an app: on a launcher, which can be held, or on the dock of a desktop."""
    if node.label != app and node.description != app:
        return False
    return "long_clickable" in node.flags or (node.role == "push-button" and node.box is not None and node.box.x == 0)


@lru_cache(maxsize=16)
def _tools(scenarios: tuple[str, ...]) -> frozenset[str]:
    """Return the names of the tools of some scenarios, with their server and without it."""
    names = [str(tool["name"]) for scenario in scenarios for tool in load_service(scenario).listed]
    return frozenset([*names, *(name.partition("-")[2] for name in names)])


def _phone_apps() -> dict[str, str]:
    """Return the package of each app of a phone that has an icon, by its title."""
    # Engines of other domains are loaded where a model or a task names their things, and not with every world.
    from agentworld_gym.engines.android.apps import apps

    return {app.title: app.package for app in apps().values() if app.icon}


def _desktop_programs() -> Collection[Program]:
    from agentworld_gym.engines.desktop.programs import programs

    return programs().values()


def _programs() -> tuple[str, ...]:
    """Return the names of the programs of a desktop."""
    return tuple(program.name for program in _desktop_programs())


def _programs_called(name: str) -> tuple[str, ...]:
    """Return the commands of a program, and its helper object."""
    [program] = (program for program in _desktop_programs() if program.name == name)
    return (*program.commands, *filter(None, [program.tools]))

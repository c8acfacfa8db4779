"""The structured state of a desktop: what its view reads (`shown`), and what updates alone need (`kept`).

`shown` holds the windows with what is open, typed, selected and scrolled in them, the menu, the files, the settings and
the clock. A desktop that is restored from it is good to be viewed. `kept` is the difference between that desktop and
the true one: counters, the pointer, what can be undone, the messages behind menus and dialogs, the shell. Both together
are complete: a desktop that is restored from them goes on exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.desktop.engine.desktop import SHELL, Desktop
from agentworld_gym.domains.desktop.engine.desktop_shell import MENUS
from agentworld_gym.domains.desktop.engine.differences import applied, difference
from agentworld_gym.domains.desktop.engine.message_dispatch import menu_entries
from agentworld_gym.domains.desktop.engine.program import MenuEntry, Window
from agentworld_gym.domains.desktop.engine.programs import programs
from agentworld_gym.domains.desktop.engine.programs.browser.actions import LiveBrowserState
from agentworld_gym.domains.desktop.engine.programs.terminal.shared_shell import SharedShell
from agentworld_gym.domains.desktop.engine.short_paths import full, short
from agentworld_gym.domains.desktop.engine.state import DesktopState
from agentworld_gym.domains.desktop.engine.structured_state.disk import TENTHS, nodes, shortened, trees
from agentworld_gym.domains.desktop.engine.structured_state.windows import names_of, window_told, windows_of
from agentworld_gym.kit.gui import Field, Message, frozen, plain

Plain = dict[str, Any]


def visible_state(desktop: Desktop) -> Plain:
    """Return what the view reads. Nothing in it is shared with the desktop."""
    model, files = desktop.model, desktop.files
    began = desktop.initial_state.seconds
    names = names_of(desktop.stack)
    home, disk = trees(files, began)
    told: Plain = {
        "clock": int(files.now * TENTHS),
        "windows": [window_told(desktop, window, names[window["id"]]) for window in desktop.stack],
        "notices": [
            {"title": notice["title"], "text": notice["text"], "until": shortened(notice["until"] - began)}
            for notice in model["notices"]
        ],
        "clipboard": _clipboard_told(model["clipboard"]),
        "recent": [short(path) for path in reversed(model["recent"])],
        "settings": _nested(model["settings"]),
        "home": home,
        "disk": disk,
        "device": _device(desktop, began),
    }
    if model["overview"] is not None:
        told["overview"] = model["overview"]["query"].value
    if model["selected"]:
        told["selected"] = short(model["selected"])
    if model["turn"]:
        told["turn"] = model["turn"]
    if desktop.controls.strength("truncated-output"):
        told["scrolled"] = sorted(names[number] for number in model["scrolled"] if number in names)
    if model["popup"] is not None:
        told["popup"] = _popup_told(desktop, model["popup"], names, told)
    return told


def restored(shown: Mapping[str, Any]) -> Desktop:
    """Return the desktop that a view needs, which is good for nothing but to be viewed and to open what is there.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The state is none of a desktop.
    """
    device = shown["device"]
    began = float(device["began"])
    controls = Controls(device.get("controls", {}), device.get("control_seed", 0))
    desktop = Desktop(DesktopState(sites=device.get("sites", {})), device["seed"], controls, {}, programs())
    files, model = desktop.files, desktop.model
    files.now = shown["clock"] / TENTHS
    files.nodes = nodes(shown["home"], shown["disk"], began)
    model["settings"] = {
        f"{group}/{name}": value for group, part in shown["settings"].items() for name, value in part.items()
    }
    model["clipboard"] = _clipboard(shown["clipboard"])
    model["recent"] = [full(path) for path in reversed(shown["recent"])]
    model["turn"], model["selected"] = float(shown.get("turn", 0)), full(shown.get("selected", ""))
    model["notices"] = [
        {"id": number, "title": str(notice["title"]), "text": str(notice["text"]), "until": began + notice["until"]}
        for number, notice in enumerate(shown["notices"])
    ]
    if "overview" in shown:
        model["overview"] = {"query": Field(shown["overview"])}
    model["windows"] = windows_of(desktop, shown["windows"])
    model["serial"] = max((window["id"] for window in desktop.stack), default=0)
    numbers = {window["id"]: told["id"] for window, told in zip(desktop.stack, shown["windows"], strict=True)}
    by_name = {name: number for number, name in numbers.items()}
    model["scrolled"] = {by_name[name] for name in shown.get("scrolled", ())}
    if "popup" in shown:
        model["popup"] = _popup(desktop, shown["popup"], by_name)
    return desktop


def hidden_state(desktop: Desktop, shown: Mapping[str, Any]) -> Plain:
    """Return what updates alone need, beside what is shown. Nothing in it is shared with the desktop."""
    return difference(_packed(restored(shown)), _packed(desktop))


def complete(shown: Mapping[str, Any], kept: Mapping[str, Any]) -> Desktop:
    """Return the desktop of a complete state."""
    desktop = restored(shown)
    every = applied(_packed(desktop), kept)
    desktop.initial_state = DesktopState.of(every["initial"])
    desktop.hidden = every["hidden"]
    model = unpacked(every["model"])
    model["windows"] = [model["windows"][name] for name in every["order"]]
    desktop.model = model
    desktop.files.restore_from(unpacked(every["files"]))
    if "shell" in every["resources"]:
        desktop.resources["shell"] = SharedShell.restore(every["resources"]["shell"])
    if "browser" in every["resources"]:
        desktop.resources["browser"] = LiveBrowserState.restore(every["resources"]["browser"])
    return desktop


def _packed(desktop: Desktop) -> Plain:
    """Return all that a desktop is, with its windows by their names."""
    names = names_of(desktop.stack)
    windows = {names[window["id"]]: _whole(desktop, window) for window in desktop.stack}
    return {
        "initial": desktop.initial_state.model_dump(mode="json"),
        "hidden": plain(desktop.hidden),
        "model": packed({**desktop.model, "windows": windows}),
        "order": [names[window["id"]] for window in desktop.stack],
        "files": packed(desktop.files.fields()),
        "resources": {name: resource.fields() for name, resource in desktop.resources.items()},
    }


def _whole(desktop: Desktop, window: Window) -> Plain:
    """Return a window without what follows from the rest."""
    derived = dict.fromkeys(desktop.programs[window["program"]].derived)
    return {**window, "data": {**window["data"], **derived}}


def _device(desktop: Desktop, began: float) -> Plain:
    """Return what no action changes."""
    strengths = {name: desktop.controls.strength(name) for name in desktop.controls.strengths}
    device: Plain = {"began": began, "seed": desktop.seed}
    if any(strengths.values()):
        device |= {"controls": strengths, "control_seed": desktop.controls.seed}
    if desktop.initial_state.sites:
        device["sites"] = plain(desktop.initial_state.sites)
    return device


def _nested(settings: Mapping[str, Any]) -> Plain:
    groups: Plain = {}
    for setting, value in settings.items():
        group, _, name = setting.partition("/")
        groups.setdefault(group, {})[name] = value
    return groups


def _clipboard_told(board: Mapping[str, Any]) -> str | Plain:
    """Return the text in the clipboard, or the files."""
    if not board["paths"]:
        return str(board["text"])
    return {"files": [short(path) for path in board["paths"]], **({"cut": True} if board["cut"] else {})}


def _clipboard(told: str | Mapping[str, Any]) -> Plain:
    if isinstance(told, str):
        return {"text": told, "paths": (), "cut": False}
    return {"text": "", "paths": tuple(full(path) for path in told["files"]), "cut": bool(told.get("cut"))}


def _popup_told(desktop: Desktop, popup: Mapping[str, Any], names: Mapping[int, str], told: Plain) -> Plain:
    """Return the open menu: its name and what it is about, where that gives the entries, or else the entries."""
    at = {"at": [popup["x"], popup["y"]]}
    front = desktop.active
    usual = SHELL if popup["menu"][:1] and popup["menu"][0] in MENUS else front["id"] if front is not None else SHELL
    owner = {} if popup["window"] == usual else {"window": names.get(popup["window"], "")}
    index = {"index": popup["index"]} if popup["index"] >= 0 else {}
    menu = [short(part) if isinstance(part, str) else plain(part) for part in popup["menu"]]
    short_form = {"menu": menu, **owner, **at, **index}
    if popup["window"] == SHELL or popup["window"] in names:
        entries = (restored({**told, "popup": short_form}).model["popup"] or {}).get("entries", ())
        if _looks(entries) == _looks(popup["entries"]):
            return short_form
    return {"entries": _looks(popup["entries"]), **owner, **at, **index}


def _looks(entries: tuple[MenuEntry, ...]) -> list[Any]:
    return [[entry.label, True] if entry.checked else entry.label for entry in entries]


def _popup(desktop: Desktop, told: Mapping[str, Any], numbers: Mapping[str, int]) -> Plain | None:
    """Return the open menu of a structured state."""
    x, y = map(int, told["at"])
    menu: Message = frozen([full(part) if isinstance(part, str) else part for part in told.get("menu", ())])
    front = desktop.active
    number = SHELL if front is None or (menu[:1] and menu[0] in MENUS) else front["id"]
    if "window" in told:
        number = numbers[told["window"]] if told["window"] else SHELL
    if menu:
        shown = tuple(menu_entries(desktop, desktop.find(number), menu))
        desktop.popup(number, shown, x, y, menu)
    else:
        looks = [(look, False) if isinstance(look, str) else (str(look[0]), True) for look in told["entries"]]
        entries = tuple(MenuEntry(label, checked=checked) for label, checked in looks)
        desktop.model["popup"] = {"window": number, "entries": entries, "x": x, "y": y, "index": -1, "menu": ()}
    popup: Plain | None = desktop.model["popup"]
    if popup is not None:
        popup["index"] = int(told.get("index", -1))
    return popup


_TUPLE, _SET, _FIELD, _ENTRY = "(tuple)", "(set)", "(field)", "(entry)"


def packed(value: Any) -> Any:
    """Return a value of a model as plain data.

    >>> packed({"message": ("menu", "app"), "query": Field("a")})
    {'message': {'(tuple)': ['menu', 'app']}, 'query': {'(field)': ['a', 1, 1, False]}}
    """
    if isinstance(value, Field):
        return {_FIELD: [value.value, value.cursor, value.anchor, value.multiline]}
    if isinstance(value, MenuEntry):
        return {_ENTRY: [packed(part) for part in value]}
    if isinstance(value, Mapping):
        return {key: packed(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {_TUPLE: [packed(item) for item in value]}
    if isinstance(value, set):
        return {_SET: sorted(value)}
    if isinstance(value, list):
        return [packed(item) for item in value]
    return value


def unpacked(value: Any) -> Any:
    """Return the value of a model that plain data stands for: the inverse of `packed`.

    >>> unpacked(packed({"locked": {"a"}, "path": ("x", [1])}))
    {'locked': {'a'}, 'path': ('x', [1])}
    """
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (kind, parts), *_ = value.items()
        if kind == _FIELD:
            return _field(*parts)
        if kind == _ENTRY:
            return MenuEntry(*map(unpacked, parts))
        if kind == _TUPLE:
            return tuple(map(unpacked, parts))
        if kind == _SET:
            return set(parts)
    return {key: unpacked(item) for key, item in value.items()}


def _field(value: str, cursor: int, anchor: int, multiline: bool) -> Field:
    """Return a text field; its text may be longer than what can be typed."""
    field = Field(multiline=multiline)
    field.value, field.cursor, field.anchor = value, cursor, anchor
    return field

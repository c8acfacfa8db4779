"""Windows and their dialogs in a structured state. What a window would have anyway is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from agentworld_gym.domains.desktop.engine import file_chooser, geometry
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.short_paths import full, short
from agentworld_gym.kit.gui import Field

Plain = dict[str, Any]
_OK = ["OK"]


def names_of(windows: Sequence[Window]) -> dict[int, str]:
    """Return the names of windows by their numbers: `files`, and `files2` for the second one of a program."""
    seen: Counter[str] = Counter()
    names = {}
    for window in sorted(windows, key=lambda window: window["id"]):
        program = window["program"]
        seen[program] += 1
        names[window["id"]] = program if seen[program] == 1 else f"{program}{seen[program]}"
    return names


def window_told(desktop: Desktop, window: Window, name: str) -> Plain:
    """Return what the view reads of a window."""
    program = desktop.programs[window["program"]]
    told: Plain = {"id": name, **program.visible_state(desktop, window)}
    scratch = copy(desktop)
    scratch.resources = {}
    _, title = program.restored(scratch, told)
    if window["title"] != title:
        told["title"] = window["title"]
    places = [geometry.cascaded(program.size, step) for step in range(geometry.STEPS)]
    if window["box"] not in places:
        told["box"] = list(window["box"])
    elif window["box"] != places[0]:
        told["step"] = places.index(window["box"])
    if window["maximized"] != program.maximized:
        told["maximized"] = window["maximized"]
    if desktop.controls.strength("truncated-output"):
        told["number"] = window["id"]
    if window["minimized"]:
        told["minimized"] = True
    if window["ready"] > desktop.action:
        told["loading"] = True
    focus = window["focus"] if window["focus"] in program.fields_of(window["data"]) else ""
    if focus != program.focus_of(told):
        told["focus"] = focus
    if scroll := {key: offset for key, offset in window["scroll"].items() if offset}:
        told["scroll"] = scroll
    if window["dialogs"]:
        told["dialogs"] = [_dialog_told(dialog, desktop.action) for dialog in window["dialogs"]]
    return told


def windows_of(desktop: Desktop, told: Sequence[Mapping[str, Any]]) -> list[Window]:
    """Return the windows of a structured state, for a desktop with its files."""
    windows = [_window(desktop, window, number) for number, window in enumerate(told, 1)]
    names, numbers = [window["id"] for window in told], {window["id"] for window in windows}
    if len(set(names)) < len(names) or len(numbers) < len(names):
        raise ValueError("two windows have one name")
    return windows


def _window(desktop: Desktop, told: Mapping[str, Any], number: int) -> Window:
    program = desktop.programs[str(told["id"]).rstrip("0123456789")]
    data, title = program.restored(desktop, told)
    if "box" in told:
        x, y, w, h = map(int, told["box"])
        box = geometry.reachable([x, y, w, h])
    else:
        box = geometry.cascaded(program.size, int(told.get("step", 0)))
    return Window(
        id=int(told.get("number", number)),
        program=program.id,
        title=str(told.get("title", title)),
        box=box,
        maximized=bool(told.get("maximized", program.maximized)),
        minimized=bool(told.get("minimized")),
        focus=str(told.get("focus", program.focus_of(told))),
        scroll={key: int(offset) for key, offset in told.get("scroll", {}).items()},
        dialogs=[_dialog(dialog, place) for place, dialog in enumerate(told.get("dialogs", ()))],
        ready=_ready(told),
        version=0,
        data=data,
    )


def _ready(told: Mapping[str, Any]) -> int:
    return 1 if told.get("loading") else 0


def _dialog_told(dialog: Mapping[str, Any], action: int) -> Plain:
    told: Plain = {"title": dialog["title"]}
    entries = {label: field.value for label, field in dialog["entries"].items()}
    if dialog["kind"] == "chooser":
        data = dialog["data"]
        told |= {"chooser": data["mode"], "folder": short(data["folder"])}
        told |= {key: data[key] for key in ("selected", "replace") if data[key]}
        if data["types"]:
            told["types"] = list(data["types"])
        if entries[file_chooser.NAME]:
            told["name"] = entries[file_chooser.NAME]
    else:
        buttons = [label for _, label in dialog["buttons"]]
        parts: tuple[tuple[str, Any, Any], ...] = (
            ("text", dialog["text"], ""),
            ("buttons", buttons, _OK),
            ("entries", entries, {}),
        )
        told |= {key: part for key, part, usual in parts if part != usual}
    focus = dialog["focus"] if dialog["focus"] in entries else ""
    if focus != next(iter(entries), ""):
        told["focus"] = focus
    if dialog["ready"] > action:
        told["loading"] = True
    if scroll := {key: offset for key, offset in dialog["scroll"].items() if offset}:
        told["scroll"] = scroll
    return told


def _dialog(told: Mapping[str, Any], number: int) -> Plain:
    data: Plain = {}
    if "chooser" in told:
        entries = {file_chooser.NAME: Field(told.get("name", ""))}
        data = {"folder": full(told["folder"]), "selected": told.get("selected", ""), "mode": told["chooser"]}
        data |= {"types": tuple(told.get("types", ())), "replace": told.get("replace", "")}
        buttons: tuple[tuple[str, str], ...] = ()
    else:
        entries = {label: Field(text) for label, text in told.get("entries", {}).items()}
        buttons = tuple((str(label), str(label)) for label in told.get("buttons", _OK))
    return {
        "id": number,
        "kind": "chooser" if "chooser" in told else "message",
        "title": str(told["title"]),
        "text": str(told.get("text", "")),
        "buttons": buttons,
        "message": (),
        "entries": entries,
        "focus": told.get("focus", next(iter(entries), "")),
        "ready": _ready(told),
        "data": data,
        "scroll": {key: int(offset) for key, offset in told.get("scroll", {}).items()},
        "version": 0,
    }

"""The structured state of a folder window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.programs.files.listing import title_of
from agentworld_gym.domains.desktop.engine.short_paths import full, joined, short, within
from agentworld_gym.kit.gui import Field

Plain = dict[str, Any]


def visible_state(window: Window) -> Plain:
    """Return what the view reads of a folder window."""
    data = window["data"]
    told: Plain = {"folder": short(data["folder"])}
    chosen = [within(data["folder"], path) for path in data["selected"]]
    if chosen:
        told["selected"] = chosen[0] if len(chosen) == 1 else chosen
    told |= {key: [short(path) for path in data[key]] for key in ("back", "forward") if data[key]}
    told |= {key: data[key] for key, usual in (("view", "icons"), ("sort", "name")) if data[key] != usual}
    told |= {key: True for key in ("descending", "hidden") if data[key]}
    return told | {key: data[key].value for key in ("search", "location") if data[key] is not None}


def restored(told: Mapping[str, Any]) -> tuple[Plain, str]:
    """Return the data of a folder window, and its title."""
    folder, chosen = full(told["folder"]), told.get("selected", [])
    names = [chosen] if isinstance(chosen, str) else chosen
    data: Plain = {
        "folder": folder,
        "selected": [joined(folder, name) for name in names],
        "back": [full(path) for path in told.get("back", ())],
        "forward": [full(path) for path in told.get("forward", ())],
        "view": told.get("view", "icons"),
        "sort": told.get("sort", "name"),
        "descending": bool(told.get("descending")),
        "hidden": bool(told.get("hidden")),
        "search": Field(told["search"]) if "search" in told else None,
        "location": Field(told["location"]) if "location" in told else None,
    }
    return data, title_of(folder)

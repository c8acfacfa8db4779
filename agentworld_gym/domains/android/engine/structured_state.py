"""The structured state of a phone, as plain JSON data in two parts: what the view reads, and what updates alone need.

`shown` holds the screens, what is stored, and the settings. `kept` holds counters, the messages behind the buttons of
dialogs, cursors, and what apps keep for themselves. Both together are complete: a phone that is restored from them goes
on exactly. The view needs `shown` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.domains.android.engine.scenario import load_scenario
from agentworld_gym.kit.gui import Field, Message, frozen, plain

Plain = dict[str, Any]

COUNTERS = ("ids", "steps", "openings", "visits")
UNSEEN = ("then", "disturbance", "sticky")
"""The keys of a screen that no view reads, beside those that its app names."""
_WRITTEN = frozenset(("app", "name", "over", "focus", "fields", "scroll", "visit", "reveal", "choices"))
"""The keys of a screen that are written in a way of their own."""
_ORDERED = "reordered-menu"
"""The control under which a view reads the number of the visit."""
_NOTHING: Message = ("system/nothing",)


def visible_state(phone: Phone) -> Plain:
    """Return what the view reads. Nothing in it is shared with the phone."""
    model, controls = phone.model, phone.controls
    strengths = {name: controls.strength(name) for name in controls.strengths}
    device: Plain = {"scenario": model["scenario"], "apps": list(phone.apps)}
    if any(strengths.values()):
        device |= {"controls": strengths, "control_seed": controls.seed}
    return {
        "front": model["front"],
        "tasks": {
            app: [_visible_screen(phone, screen, app) for screen in stack] for app, stack in model["tasks"].items()
        },
        "above": [_visible_screen(phone, screen, "") for screen in model["above"]],
        "toast": model["toast"],
        "snack": _told_snack(model["snack"]),
        "clock": model["clock"],
        "settings": dict(model["settings"]),
        "grants": dict(model["grants"]),
        "notifications": [plain({key: row[key] for key in row if key != "message"}) for row in model["notifications"]],
        "data": {app: plain({key: part[key] for key in part if not _unseen(app, key)}) for app, part in _parts(phone)},
        "device": device,
    }


def hidden_state(phone: Phone) -> Plain:
    """Return what updates alone need. Nothing in it is shared with the phone."""
    model = phone.model
    unseen = {app: plain({key: part[key] for key in part if _unseen(app, key)}) for app, part in _parts(phone)}
    return {
        **{name: model[name] for name in COUNTERS},
        "order": list(model["tasks"]),
        "tasks": {app: [_hidden_screen(screen) for screen in stack] for app, stack in model["tasks"].items()},
        "above": [_hidden_screen(screen) for screen in model["above"]],
        "snack": None if model["snack"] is None else plain(model["snack"][2]),
        "notifications": [plain(row["message"]) for row in model["notifications"]],
        "data": {app: part for app, part in unseen.items() if part},
    }


def restored(shown: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> Phone:
    """Return the phone of a structured state. Without what is kept it is good for nothing but to be viewed.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The state is none of a phone.
        SpecError: There is no such scenario.
    """
    kept, device = kept or {}, shown["device"]
    every, scenario = apps(), load_scenario(device["scenario"])
    notifications = [{**row, "message": None} for row in shown["notifications"]]
    for row, message in zip(notifications, kept.get("notifications", ()), strict=False):
        row["message"] = frozen(message)
    tasks = {}
    for app in kept.get("order", shown["tasks"]):
        inner = kept.get("tasks", {}).get(app, ())
        tasks[app] = _stack(shown["tasks"][app], inner, app)
    data = {app: {**plain(part), **plain(kept.get("data", {}).get(app, {}))} for app, part in shown["data"].items()}
    snack = shown["snack"]
    model = {
        "data": data,
        "settings": dict(shown["settings"]),
        "grants": dict(shown["grants"]),
        "notifications": notifications,
        "tasks": tasks,
        "front": shown["front"],
        "above": _stack(shown["above"], kept.get("above", ()), ""),
        "toast": shown["toast"],
        "snack": (snack["text"], snack["action"], frozen(kept.get("snack")) or _NOTHING) if snack else None,
        "clock": shown["clock"],
        "scenario": device["scenario"],
        **{name: kept.get(name, 0) for name in COUNTERS},
    }
    controls = Controls(device.get("controls", {}), device.get("control_seed", 0))
    return Phone(model, {app: every[app] for app in device["apps"]}, controls, scenario.defaults)


def _parts(phone: Phone) -> Sequence[tuple[str, Plain]]:
    return list(phone.data.items())


def _unseen(app: str, key: str) -> bool:
    return key in UNSEEN or (app in apps() and key in apps()[app].unseen)


def _visible_screen(phone: Phone, screen: Screen, owner: str) -> Plain:
    """Return what the view reads of a screen. What it would do without is left out, so that a new screen is short."""
    app = screen["app"]
    told: Plain = {"screen": screen["name"] if app == owner else f"{app}/{screen['name']}"}
    if screen["over"] != (app == "system"):
        told["over"] = screen["over"]
    if screen["focus"]:
        told["focus"] = screen["focus"]
    initial = apps()[app].initial_texts(phone, screen)
    fields = {key: field.value for key, field in screen["fields"].items() if field.value != initial.get(key, "")}
    scroll = {key: offset for key, offset in screen["scroll"].items() if offset}
    for key, value in screen.items():
        if key == "choices":
            told[key] = [label for label, _ in value]
        elif key not in _WRITTEN and not _unseen(app, key):
            told[key] = plain(value)
    told |= {key: part for key, part in (("fields", fields), ("scroll", scroll)) if part}
    if phone.controls.strength(_ORDERED):
        told["visit"] = screen["visit"]
    return told


def _hidden_screen(screen: Screen) -> Plain:
    app = screen["app"]
    inner: Plain = {key: plain(screen[key]) for key in screen if key not in _WRITTEN and _unseen(app, key)}
    inner |= {"visit": screen["visit"], "reveal": screen["reveal"]}
    if "choices" in screen:
        inner["choices"] = [plain(message) for _, message in screen["choices"]]
    fields = screen["fields"].items()
    inner["fields"] = {key: [field.value, field.cursor, field.anchor, field.multiline] for key, field in fields}
    inner["scroll"] = dict(screen["scroll"])
    return inner


def _stack(told: Sequence[Plain], inner: Sequence[Plain], owner: str) -> list[Screen]:
    some = [*inner, *({} for _ in told)]
    return [_screen(screen, part, owner) for screen, part in zip(told, some, strict=False)]


def _screen(told: Plain, inner: Plain, owner: str) -> Screen:
    app, _, name = told["screen"].rpartition("/")
    app = app or owner
    screen: Screen = {"app": app, "name": name, "over": app == "system", "focus": "", "visit": 0, "reveal": False}
    screen |= {key: plain(value) for key, value in told.items() if key != "screen"}
    screen |= {key: value for key, value in inner.items() if key not in ("fields", "scroll", "choices", "then")}
    fields = {key: Field(*parts) for key, parts in inner.get("fields", {}).items()}
    for key, value in told.get("fields", {}).items():
        if key not in fields or fields[key].value != value:
            fields[key] = Field(value)
    screen["fields"] = fields
    screen["scroll"] = {**inner.get("scroll", {}), **told.get("scroll", {})}
    if "then" in inner or (app == "system" and not inner):
        screen["then"] = frozen(inner.get("then", ()))
    if "choices" in told:
        messages = [*inner.get("choices", ()), *(None for _ in told["choices"])]
        screen["choices"] = tuple(
            (label, frozen(message)) for label, message in zip(told["choices"], messages, strict=False)
        )
    if "options" in told:
        screen["options"] = tuple(told["options"])
    return screen


def _told_snack(snack: tuple[str, str, Message] | None) -> Plain | None:
    return None if snack is None else {"text": snack[0], "action": snack[1]}

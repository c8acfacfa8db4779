"""Reads the accessible elements of all programs, as the bus of AT-SPI tells them.

All questions about the elements of one level are asked at once, so that a screen takes a few round trips.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

_A11Y = "org.a11y.atspi."
_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_BUS = "org.freedesktop.DBus"
_SHOWING = 25
_STATES = {
    4: "checked",
    7: "editable",
    8: "enabled",
    11: "focusable",
    12: "focused",
    20: "pressed",
    23: "selected",
    24: "sensitive",
    _SHOWING: "showing",
}
"""The numbers of the states that are told."""

_GTK_2 = "GAIL"
"""What GTK 2 calls itself. The entries of its open menus have a place, and tell not that they show."""
_NO_BOX = -(1 << 31)

_MOST_ELEMENTS = 3000
_MOST_CHILDREN = 400
_MOST_CHARS = 4000
_PATIENCE_MS = 10_000
"""How long a program may take to answer; the elements of one that hangs are not told."""

Question = tuple[str, str, str, str, Any]
"""The bus name and the path of an element, an interface, a method, and its arguments."""


class Accessibility:
    """The bus of AT-SPI.

    Raises:
        Exception: There is none.
    """

    def __init__(self) -> None:
        from gi.repository import Gio, GLib

        self._gio, self._glib = Gio, GLib
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        session.set_exit_on_close(False)
        on = GLib.Variant("(ssv)", ("org.a11y.Status", "IsEnabled", GLib.Variant("b", True)))
        place = "/org/a11y/bus"
        session.call_sync("org.a11y.Bus", place, "org.freedesktop.DBus.Properties", "Set", on, None, 0, 20_000, None)
        told = session.call_sync("org.a11y.Bus", place, "org.a11y.Bus", "GetAddress", None, None, 0, 20_000, None)
        kind = Gio.DBusConnectionFlags
        self._bus = Gio.DBusConnection.new_for_address_sync(
            told.unpack()[0], kind.AUTHENTICATION_CLIENT | kind.MESSAGE_BUS_CONNECTION, None, None
        )
        for event in ("object:children-changed", "object:state-changed", "object:property-change", "window:create"):
            self._ask([(_REGISTRY, "/org/a11y/atspi/registry", "Registry", "RegisterEvent", (event,))])
        (self._owner,) = self._ask([_OWNER])

    def elements(self, with_menus: bool) -> list[dict[str, Any]]:
        """Return the elements on the screen, each after the one that holds it.

        Each has `role`, `name`, `description`, `text`, `states`, `box` (x, y, width, height), `above` (the place of the
        element that holds it, -1 for none) and `pid`.

        Args:
            with_menus: Whether a menu may be open; else nobody asks for their entries.
        """
        owner, programs = self._ask([_OWNER, (_REGISTRY, _ROOT, "Accessible", "GetChildren", None)])
        if owner != self._owner or programs is None:
            raise RuntimeError("the registry of AT-SPI ended")
        programs = sorted(programs)
        asked: list[Question] = [(_BUS, "/", "", "GetConnectionUnixProcessID", (name,)) for name, _ in programs]
        asked += [(name, path, "Accessible", "GetChildren", None) for name, path in programs]
        asked += [(name, path, "Properties", "Get", ("Application", "ToolkitName")) for name, path in programs]
        told, count = self._ask(asked), len(programs)
        pids = dict(zip([name for name, _ in programs], told[:count], strict=True))
        tops, kits = told[count : 2 * count], told[2 * count :]
        old = {name for (name, _), kit in zip(programs, kits, strict=True) if kit == _GTK_2}
        level = [(name, path, -1) for children in tops for name, path in children or () if pids.get(name)]
        found: list[dict[str, Any]] = []
        children: dict[int, list[int]] = {-1: []}
        texts: list[tuple[int, Question]] = []
        while level and len(found) < _MOST_ELEMENTS:
            answers = self._ask([(name, path, *question) for name, path, _ in level for question in _QUESTIONS])
            below: list[tuple[str, str, int]] = []
            for number, (name, path, above) in enumerate(level):
                told = answers[number * len(_QUESTIONS) : (number + 1) * len(_QUESTIONS)]
                states, role, label, description, box, kinds, parts = told
                if states is None or role is None or box is None:
                    continue
                in_menu = name in old and above >= 0 and found[above]["role"] == "menu" and box[0] != _NO_BOX
                if not (states[0] >> _SHOWING & 1 or in_menu):
                    continue
                place = len(found)
                role = role.replace(" ", "-")
                one = {"role": role, "name": label or "", "description": description or "", "text": ""}
                where = {"box": list(box), "above": above, "pid": pids[name]}
                found.append({**one, "states": _named(states[0]), **where})
                if _A11Y + "Text" in (kinds or ()):
                    texts.append((place, (name, path, "Text", "GetText", (0, -1))))
                elif _A11Y + "Value" in (kinds or ()):
                    texts.append((place, (name, path, "Properties", "Get", ("Value", "CurrentValue"))))
                children[place] = []
                children[above].append(place)
                if with_menus or role != "menu":
                    below += [(bus, child, place) for bus, child in (parts or ())[:_MOST_CHILDREN]]
            level = below
        for (place, _), text in zip(texts, self._ask([question for _, question in texts]), strict=True):
            found[place]["text"] = f"{text:g}" if isinstance(text, float) else (text or "")[:_MOST_CHARS]
        return _in_order(found, children)

    def _ask(self, questions: Sequence[Question]) -> list[Any]:
        """Return the answers to questions that are asked at once; None for one that fails."""
        answers: list[Any] = [None] * len(questions)
        left = len(questions)

        def keep(place: int) -> Callable[..., None]:
            def answered(bus: Any, result: Any) -> None:
                nonlocal left
                left -= 1
                try:
                    told = bus.call_finish(result)
                    answers[place] = told.unpack()[0] if told.n_children() else None
                except self._glib.Error:
                    return

            return answered

        for place, (name, path, kind, method, arguments) in enumerate(questions):
            interface = _INTERFACES.get(kind, _A11Y + kind)
            self._bus.call(
                name,
                path,
                interface,
                method,
                self._arguments(method, arguments),
                None,
                0,
                _PATIENCE_MS,
                None,
                keep(place),
            )
        context, until = self._glib.MainContext.default(), time.monotonic() + 2 * _PATIENCE_MS / 1000
        while left and time.monotonic() < until:
            context.iteration(True)
        return answers

    def _arguments(self, method: str, given: Any) -> Any:
        if given is None:
            return None
        if method == "Get":
            return self._glib.Variant("(ss)", (_A11Y + given[0], given[1]))
        return self._glib.Variant({"GetExtents": "(u)", "GetText": "(ii)"}.get(method, "(s)"), given)


_QUESTIONS = (
    ("Accessible", "GetState", None),
    ("Accessible", "GetRoleName", None),
    ("Properties", "Get", ("Accessible", "Name")),
    ("Properties", "Get", ("Accessible", "Description")),
    ("Component", "GetExtents", (0,)),
    ("Accessible", "GetInterfaces", None),
    ("Accessible", "GetChildren", None),
)
"""What each element is asked; those that have a text or a value are asked for it at the end."""

_OWNER: Question = (_BUS, "/", "", "GetNameOwner", (_REGISTRY,))
"""Who holds the registry, which knows no programs once another one holds it."""

_INTERFACES = {"": _BUS, "Properties": f"{_BUS}.Properties"}


def _named(bits: int) -> list[str]:
    return [name for number, name in _STATES.items() if bits >> number & 1]


def _in_order(found: list[dict[str, Any]], children: dict[int, list[int]]) -> list[dict[str, Any]]:
    """Return the elements in the order of the tree, instead of level by level.

    >>> flat = [{"name": "a", "above": -1}, {"name": "b", "above": -1}, {"name": "a1", "above": 0}]
    >>> [one["name"] for one in _in_order(flat, {-1: [0, 1], 0: [2], 1: [], 2: []})]
    ['a', 'a1', 'b']
    """
    order: list[int] = []
    waiting = children[-1][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]][::-1]
    place = {old: new for new, old in enumerate(order)}
    return [{**found[old], "above": place.get(found[old]["above"], -1)} for old in order]

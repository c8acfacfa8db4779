"""The view of the desktop: it prints the screen of a structured state.

It also computes what a line, a cell or a file would hold where an action has its usual effect (`named_values`), and
tells what the action is aimed at. Whether and where that effect stands is for the model to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.core.domain.view import StructuredState, View, compact, predicted
from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.desktop.engine.action_targets import aims
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.flat_state import flat_state
from agentworld_gym.domains.desktop.engine.known_values import found_values, given_values, places
from agentworld_gym.domains.desktop.engine.machine import DesktopMachine
from agentworld_gym.domains.desktop.engine.screen import RenderedScreen
from agentworld_gym.domains.desktop.engine.structured_state.desktop import restored
from agentworld_gym.domains.desktop.engine.structured_state.disk import TENTHS

_APART = frozenset(("lines", "dialogs"))
"""The parts of a window that are described on lines of their own."""
_LONGEST = 240
"""The largest number of characters of a described part of a window."""
_FIRST = ("id", "title")
"""The keys of a window and a dialog that are described first."""
_LINES = 2
"""The number of described lines of a terminal."""


class DesktopView(View):
    """Prints desktops.

    >>> view = DesktopView()
    >>> state = view.begin({"files": {"~/todo.txt": "Milk"}}, seed=0)
    >>> state["windows"].append({"id": "editor", "path": "~/todo.txt"})
    >>> print(next(line for line in view.view(state).splitlines() if "Milk" in line).split("\\t")[:3])
    ['text', 'todo.txt', 'Milk']
    """

    names_places = True
    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a desktop at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        machine = DesktopMachine.start(state, seed, Controls(controls or {}, control_seed))
        shown = machine.visible_state()
        machine.close()
        return shown

    def view(self, shown: StructuredState) -> str:
        """Return the table of the screen.

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            return RenderedScreen(restored(shown)).table()

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of the dialog or window that takes the keys, or of a window of no name where there is none.

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            window = _front(shown)
            if window is None:
                return "windows", ""
            dialogs = [number for number, dialog in enumerate(window.get("dialogs", ())) if not dialog.get("loading")]
            return ("windows", window["id"], *(("dialogs", dialogs[-1]) if dialogs else ()))

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return the time, the windows, what is in front as the state has it, and what an action is aimed at.

        An aim is the message that the widget under the pointer would send, which is part of what the view makes.

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            return "\n".join(filter(None, _lines(shown, action)))

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: what code and the window in front give, and what is open.

        >>> view = DesktopView()
        >>> state = view.begin({"open": [{"program": "files"}]}, seed=0)
        >>> given, found = view.named_values(state, "pyautogui.write('buy milk')")
        >>> given["typed"], given["folder"]
        ('buy milk', '~')

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            desktop, front, source = _asked(shown, action)
            return given_values(shown, desktop, front, source), found_values(desktop, source)

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the places of files by the names of the values that say where they are.

        >>> view = DesktopView()
        >>> state = view.begin({"open": [{"program": "files"}]}, seed=0)
        >>> view.places(state, "pyautogui.write('Photos')")["typed"]
        ('home', 'in', 'Photos')

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            desktop, front, source = _asked(shown, action)
            return places(given_values(shown, desktop, front, source))

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar] | None:
        """Return the fields of a state by name, as `DesktopMachine.state` tells its own.

        It is None once the web browser has been opened: what its sites stored before is not in the state.

        Raises:
            AnswerError: This is no state of a desktop.
        """
        with predicted():
            desktop = restored(shown)
            return None if "browser" in desktop.resources else flat_state(desktop)

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after code that opens a file, a copy of one or a program; None after any other action.

        Such code leaves the keyboard and the mouse alone. A hidden file in the home folder is a copy to look at.

        Raises:
            AnswerError: This is no state of a desktop.
        """
        if not isinstance(action, str) or "pyautogui" in action:
            return None
        with predicted():
            machine = DesktopMachine.viewed(shown)
            before = _stored(machine.visible_state())
            machine.act(action)
            after = machine.visible_state()
            machine.close()
            return after if _stored(after) == before else None


def _asked(shown: StructuredState, action: Any) -> tuple[Desktop, Mapping[str, Any], str]:
    """Return the desktop of a state, the window in front, and the code of an action."""
    return restored(shown), _front(shown) or {}, action if isinstance(action, str) else ""


def _stored(shown: StructuredState) -> list[Any]:
    """Return the settings and the files, without the hidden ones of the home folder."""
    home = {name: entry for name, entry in shown["home"]["in"].items() if not name.startswith(".")}
    return [home, shown["disk"], shown["settings"]]


def _front(shown: StructuredState) -> dict[str, Any] | None:
    """Return the window in front."""
    seen = (window for window in reversed(shown["windows"]) if not (window.get("minimized") or window.get("loading")))
    return next(seen, None)


def _lines(shown: StructuredState, action: Any) -> Iterator[str]:
    """Yield the lines that tell of a state before an action."""
    seconds = int(shown["clock"] / TENTHS - shown["device"]["began"])
    yield " ".join([str(seconds), *(str(window["id"]) for window in shown["windows"])])
    window = _front(shown)
    if window is not None:
        parts = window.items()
        yield _sorted_json({key: part for key, part in parts if key not in _APART and len(compact(part)) <= _LONGEST})
        yield from map(str, window.get("lines", ())[-_LINES:])
        yield from map(_sorted_json, window.get("dialogs", ()))
    for key in ("overview", "popup", "selected"):
        if key in shown:
            yield f"{key} {_sorted_json(shown[key])}"
    yield from (f"{notice['title']} until {notice['until']}" for notice in shown["notices"])
    if isinstance(action, str):
        yield from aims(restored(shown), action)


def _sorted_json(value: Any) -> str:
    """Return a part of a state as JSON, which is the same in whatever order its changes have come."""
    return compact(_in_order(value))


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value, key=lambda key: (key not in _FIRST, key))}
    return [_in_order(item) for item in value] if isinstance(value, list) else value

"""The view of the phone: it prints the screen of a structured state.

It also computes what a form or a text would hold where an action has its usual effect (`named_values`), and tells what
the action is aimed at. Whether and where that effect stands is for the model to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.core.domain.view import StructuredState, View, compact, predicted
from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.display import Display, next_field
from agentworld_gym.domains.android.engine.known_values import found_values, given_values
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.engine.phone import Phone
from agentworld_gym.domains.android.engine.pointing import (
    GESTURES,
    Target,
    aim_of,
    scrolled,
    step_of,
    target_of,
    touched,
    words_on,
)
from agentworld_gym.domains.android.engine.structured_state import restored, visible_state
from agentworld_gym.kit.gui import Message, Widget, find, handler

_STORED = ("data", "settings", "grants", "notifications")
"""The keys of a state under which is stored what an action may change beside the screens."""
_FEW = 8
"""The largest number of described texts in touchable rows; of a longer list only the touched text is described."""


class AndroidView(View):
    """Prints phones.

    >>> view = AndroidView()
    >>> state = view.begin({}, seed=0)
    >>> state["tasks"]["calculator"] = [{"screen": "main"}]
    >>> state["front"] = "calculator"
    >>> print(view.view(state).splitlines()[0])
    [ 0] | android.widget.TextView | text="Calculator" | bounds=[48,128][954,256]
    """

    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a phone at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        return visible_state(AndroidMachine.start(state, seed, Controls(controls or {}, control_seed)).phone)

    def view(self, shown: StructuredState) -> str:
        """Return the elements of the screen, one a line.

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            return Display(restored(shown)).text

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of the screen on top.

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            if shown["above"]:
                return "above", len(shown["above"]) - 1
            return "tasks", shown["front"], len(shown["tasks"][shown["front"]]) - 1

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return the screen on top as the state has it, the texts on it, and what an action is aimed at.

        An aim is the message that the widget under the finger would send, which is part of what the view makes.

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            return "\n".join(filter(None, _lines(shown, action)))

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: what the action and the screens give, and stored values.

        >>> view = AndroidView()
        >>> state = view.begin({}, seed=0)
        >>> given, found = view.named_values(state, {"action_type": "input_text", "text": "Milk"})
        >>> given["text"], given["now"]
        ('Milk', '2026-03-04 09:41')

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            phone = restored(shown)
            display = Display(phone)
            return given_values(shown, phone, display, action), found_values(shown, phone, display, action)

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `AndroidMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            return AndroidMachine(restored(shown), frozenset()).state()

    def refused(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that changes nothing; None after any other action.

        >>> view = AndroidView()
        >>> state = view.begin({}, seed=0)
        >>> view.refused(state, {"action_type": "navigate_back"}) == state
        True
        >>> view.refused(state, {"action_type": "open_app", "app_name": "Clock"}) is None
        True

        Raises:
            AnswerError: This is no state of a phone.
        """
        with predicted():
            machine = AndroidMachine(restored(shown), frozenset())
            before = machine.visible_state()
            machine.act(action)
            after = machine.visible_state()
            return after if after == before else None

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an app is opened, or something on a screen of an app; None after any other action.

        Dialogs, which do not say what their buttons do, belong to no app.

        Raises:
            AnswerError: This is no state of a phone.
        """
        kind = action.get("action_type") if isinstance(action, Mapping) else None
        with predicted():
            phone = restored(shown)
            if kind != "open_app" and (kind != "click" or phone.screen["app"] == "system" or phone.model["snack"]):
                return None
            machine = AndroidMachine(phone, frozenset())
            before = machine.visible_state()
            machine.act(action)
            after = machine.visible_state()
            return after if all(after[key] == before[key] for key in _STORED) else None


def _lines(shown: StructuredState, action: Any) -> list[str]:
    """Return the lines that tell of a state before an action."""
    phone = restored(shown)
    display = Display(phone)
    stack = shown["above"] or shown["tasks"][shown["front"]]
    holder = "above" if shown["above"] else shown["front"]
    lines = [f"{holder}/{len(stack) - 1} {compact(stack[-1])}"]
    if not shown["above"] and phone.screen["over"]:
        lines.append(compact({key: value for key, value in stack[-2].items() if key not in ("fields", "scroll")}))
    lines.append("|".join(_texts(display)))
    if isinstance(action, Mapping):
        lines += _aim(phone, display, action)
    lines += _named_rows(phone, lines)
    return lines


def _texts(display: Display) -> list[str]:
    """Return the texts on a display. Those of rows that can be touched count where there are few of them."""
    plain: list[str] = []
    rows: list[str] = []
    _collect(display.root, plain, rows, touchable=False)
    return [*plain, *rows] if len(rows) <= _FEW else plain


def _collect(widget: Widget, plain: list[str], rows: list[str], *, touchable: bool) -> None:
    if widget.text and widget.field is None and "click" not in widget.on:
        (rows if touchable else plain).append(widget.text)
    for child in widget.children:
        _collect(child, plain, rows, touchable=touchable or "click" in widget.on)


def _aim(phone: Phone, display: Display, action: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an action is aimed at: the element, and the message behind it; or the list that it scrolls."""
    kind = action.get("action_type")
    target = target_of(display, action)
    if kind in ("scroll", "swipe"):
        middle = Target(widgets.WIDTH // 2, widgets.HEIGHT // 2)
        yield from _scroll_aim(display, target or middle, str(action.get("direction")))
        return
    if target is not None:
        handled = aim_of(display, action)
        if handled is not None:
            yield _aimed(*handled)
        if kind not in GESTURES and handled is not None:
            slide = handled[0].on.get("slide")
            if slide is not None:
                yield f"> {_words(slide)} {round(100 * (target.x - handled[0].x) / handled[0].w)}"
    focus = phone.screen["focus"]
    field = find(display.root, focus) if focus else None
    if field is not None and kind in ("input_text", "keyboard_enter"):
        what = "changed" if kind == "input_text" else "enter"
        after = _words(field.on.get(what))
        if not after and kind == "keyboard_enter" and field.field is not None and not field.field.multiline:
            after = f"next {next_field(display.root, focus)}"
        yield f"{focus} > {after}"


def _named_rows(phone: Phone, lines: Sequence[str]) -> Iterator[str]:
    """Yield the paths of stored rows that the state names by a telephone number, as conversations are."""
    app = phone.screen["app"]
    for key, rows in phone.data.get(app, {}).items():
        numbered = (
            [row for row in rows if isinstance(row, dict) and row.get("number") and "id" in row]
            if type(rows) is list
            else []
        )
        found = [row for row in numbered if str(row["number"]) in lines[0] or str(row["number"]) in lines[-1]]
        if len(found) == 1:
            yield f"data/{app}/{key}/{found[0]['id']}"


def _scroll_aim(display: Display, target: Target, direction: str) -> Iterator[str]:
    area = scrolled(display, target)
    if area is not None:
        yield f"{area.key} {area.offset} of {area.extent - area.h} by {step_of(area)}"
    handled = handler(touched(display, target), direction)
    if handled is not None:
        yield f"> {_words(handled[1])}"


def _aimed(widget: Widget, message: Message) -> str:
    """Return a widget in a line: what stands on it, its flags that matter, and the message behind it."""
    flags = [flag for flag in widget.flags if flag in ("checked", "selected", "focused")]
    return " ".join([*dict.fromkeys(words_on(widget)), *flags, ">", _words(message)])


def _words(message: Any) -> str:
    """Return a message as words."""
    if isinstance(message, tuple | list):
        return " ".join(filter(None, map(_words, message)))
    return "" if message is None else message if isinstance(message, str) else compact(message)

"""The machine of the grounded phone: JSON actions go in, the elements of the screen come out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Self

from agentworld_gym.core.engines import (
    NO_CONTROLS,
    NOTHING,
    Controls,
    EngineError,
    Kind,
    RestorableMachine,
    Scalar,
    Span,
)
from agentworld_gym.domains.android.engine.actions import Actions
from agentworld_gym.domains.android.engine.dialects import DEFAULT, WRITERS, digests, focused_text, texts_shown
from agentworld_gym.domains.android.engine.display import Display
from agentworld_gym.domains.android.engine.elements import kind, quoted
from agentworld_gym.domains.android.engine.phone import Phone
from agentworld_gym.domains.android.engine.scenario import begin
from agentworld_gym.domains.android.engine.structured_state import hidden_state, restored, visible_state
from agentworld_gym.kit.gui import Widget, flat

_PIECES = re.compile(r" · |, |: |\n")
_MOMENTS = {5: "%H:%M", 10: "%Y-%m-%d"}
_TRANSIENT = frozenset(("visit", "reveal", "choices", "then", "disturbance"))
"""The keys of a screen that are no state: counters, and the messages of its buttons."""
_STATE = ("settings", "grants", "notifications", "front", "toast")


class AndroidMachine(RestorableMachine[Phone]):
    """One session with a phone.

    >>> machine = AndroidMachine.start({}, seed=0)
    >>> print(machine.act({"action_type": "open_app", "app_name": "Calculator"}).splitlines()[0])
    [ 0] | android.widget.TextView | text="Calculator" | bounds=[48,128][954,256]
    """

    noun = "phone"

    def __init__(self, phone: Phone, stored: frozenset[str]) -> None:
        """Take a phone; `stored` are the texts on it that the task did not state."""
        self._stored = stored
        self._seen: set[str] = set()
        self._display = Display(phone)
        super().__init__(phone, self._display.text)

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Return a phone on the first page of its launcher; `hidden` is ignored.

        Args:
            state: `scenario` (a name), `time`, `settings`, `permissions`, `apps`, and a key for every app whose
                contents the task states. What it leaves open is drawn.
            seed: The seed of what is drawn, where the state has no `seed` of its own.
            controls: The faults in force.
            hidden: Ignored.

        Raises:
            SpecError: The state is wrong. The error names the key, its value and what was expected.
        """
        phone = begin(state, seed, controls)
        stated = {form for text in _texts(dict(state)) for form in (*_forms(phone, text), *_PIECES.split(text))}
        stated |= {app.title for app in phone.apps.values()}
        stored = frozenset(form for text in _texts(phone.data) for form in _forms(phone, text)) - stated
        return cls(phone, stored)

    @property
    def observation(self) -> str:
        """The elements of the screen, one a line."""
        return self._display.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces of the observation that are not deterministic: times, and stored texts shown first."""
        return self.spans_in(DEFAULT)

    def observation_in(self, dialect: str) -> str:
        """The elements of the screen in another dialect, one of `dialects.WRITERS`.

        Raises:
            EngineError: The machine does not speak the dialect.
        """
        if dialect not in WRITERS:
            raise EngineError(f"the phone does not speak {dialect!r}, only {', '.join(WRITERS)}")
        return self._display.text_in(self.phone, dialect)

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """The pieces of the screen in another dialect that are not deterministic.

        They are those of the elements' lines, as far as the dialect shows them, and the digests of DroidBot's state.

        Raises:
            EngineError: The machine does not speak the dialect.
        """
        screen, elements = self.observation_in(dialect), self._display.elements
        lines = screen.split("\n")
        # A short message is the last line and stands on no element.
        head = len(lines) - len(elements) - bool(self.phone.model["toast"])
        spans = [*digests(dialect, screen), *self._origins(*focused_text(dialect, screen, elements), "deterministic")]
        start = sum(len(line) + 1 for line in lines[:head])
        for element, line in zip(elements, lines[head:], strict=False):
            place = 0
            for text in texts_shown(dialect, element):
                quotation = f'"{quoted(text)}"'
                at = line.index(quotation, place)
                spans += self._origins(text, start + at + 1, kind(element.widget))
                place = at + len(quotation)
            start += len(line) + 1
        return tuple(spans)

    @property
    def root(self) -> Widget:
        """The widgets of the display with their boxes, from which a picture can be drawn."""
        return self._display.root

    @property
    def phone(self) -> Phone:
        """The phone itself.

        Raises:
            EngineError: The machine is closed.
        """
        return self._open()

    def act(self, action: Any) -> str:
        """Carry out one action of AndroidWorld, a JSON object. An invalid or impossible action changes nothing.

        Raises:
            EngineError: The machine is closed.
        """
        phone = self.phone
        if not isinstance(action, dict):
            return self._display.text
        if self._stored:
            self._remember()
        if phone.controls.strengths and _remove_faults(phone):
            self._display = Display(phone)
        model = phone.model
        model["steps"] += 1
        actions = Actions(phone, self._display)
        if phone.controls.strikes("stale-element", model["steps"]):
            actions.shift = 1
        messages = model["toast"], model["snack"]
        model["toast"], model["snack"] = "", None
        changed = actions.perform(action)
        if not changed:
            model["toast"], model["snack"] = messages
        if not model["above"] and phone.controls.strikes("unexpected-dialog", model["steps"]):
            kinds = len(phone.defaults["device"]["interruptions"])
            which = int(phone.controls.draw("unexpected-dialog", "which", model["steps"]) * kinds)
            phone.raise_above("unexpected", which=which, sticky=True, disturbance="unexpected-dialog")
            changed = True
        if changed:
            self._display = Display(phone)
        return self._display.text

    def state(self) -> dict[str, Scalar]:
        """Return everything that actions change: stored data by app, settings, and the screens with their fields."""
        model = self.phone.model
        fields = {**model["data"], **{key: model[key] for key in _STATE}, "time": model["clock"]}
        fields["tasks"] = {
            app: [_without_transient(screen) for screen in stack] for app, stack in model["tasks"].items()
        }
        fields["above"] = [_without_transient(screen) for screen in model["above"]]
        return flat(fields)

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        own = {"stored": sorted(self._stored), "seen": sorted(self._seen)}
        return {**hidden_state(self.phone), **own}

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        return visible_state(self.phone)

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> AndroidMachine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        inner = structured_state["kept"]
        machine = cls(restored(structured_state["shown"], inner), frozenset(inner["stored"]))
        machine._seen.update(inner["seen"])
        return machine

    def _part_from(self, system: Phone) -> None:
        self._system = system.fork()
        self._seen = set(self._seen)
        self._display = Display(self._system)

    def _remember(self) -> None:
        for element in self._display.elements:
            for text in (element.widget.text, element.widget.description):
                self._seen.add(text)
                self._seen.update(_PIECES.split(text))

    def _origins(self, text: str, place: int, kind: Kind) -> Iterator[Span]:
        """Return the pieces of a text that are not deterministic; it is one stored text, or made of several."""
        if kind != "deterministic":
            yield Span(place, place + len(quoted(text)), kind)
        elif self._stored:
            start = 0
            for piece in (text,) if text in self._stored else _PIECES.split(text):
                start = text.index(piece, start)
                if piece and piece in self._stored and piece not in self._seen:
                    at = place + len(quoted(text[:start]))
                    yield Span(at, at + len(quoted(piece)), "pre-existing")
                start += len(piece)


def _remove_faults(phone: Phone) -> bool:
    """Remove the faults whose control is not in force, and return whether there were any."""
    model, strength = phone.model, phone.controls.strength
    removed = False
    for stack in (model["above"], *model["tasks"].values()):
        for screen in stack[:]:
            disturbance = screen.get("disturbance")
            if disturbance and not strength(disturbance):
                stack.remove(screen)
                removed = True
            elif screen.get("loading") and not strength("slow-loading"):
                del screen["loading"]
                removed = True
    return removed


def _without_transient(screen: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in screen.items() if key not in _TRANSIENT}


def _forms(phone: Phone, text: str) -> Iterator[str]:
    """Return the forms in which a stored text can stand on a screen: times and days in the words of the phone."""
    yield text
    if text[:1].isdecimal() and len(text) in _MOMENTS:
        with suppress(ValueError):
            moment = datetime.strptime(text, _MOMENTS[len(text)])
            yield phone.time_text(moment) if len(text) == 5 else phone.date_text(moment)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)

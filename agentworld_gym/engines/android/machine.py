"""A phone: JSON actions go in, the elements of the screen come out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from agentworld_gym.engines import Controls, EngineError, Kind, Scalar, Span
from agentworld_gym.engines.android.display import Display, kind, quoted
from agentworld_gym.engines.android.gestures import Gestures
from agentworld_gym.engines.android.phone import Phone
from agentworld_gym.engines.android.scenario import begin
from agentworld_gym.engines.gui import Widget, flat

NONE = Controls()
_PIECES = re.compile(r" · |, |: |\n")
_MOMENTS = {5: "%H:%M", 10: "%Y-%m-%d"}
_TRANSIENT = frozenset(("visit", "reveal", "choices", "then", "disturbance"))
"""What of a screen is no state: counters, and what its buttons mean."""
_STATE = ("settings", "grants", "notifications", "front", "toast")


class AndroidMachine:
    """One session with a phone.

    >>> machine = AndroidMachine.start({}, seed=0)
    >>> print(machine.act({"action_type": "open_app", "app_name": "Calculator"}).splitlines()[0])
    [0] text="Calculator" content_desc="" class=android.widget.TextView bounds=[48,128][954,256]
    """

    def __init__(self, phone: Phone, stored: frozenset[str]) -> None:
        """On a phone; `stored` are the texts on it that nobody was told."""
        self._phone: Phone | None = phone
        self._stored = stored
        self._seen: set[str] = set()
        self._display = Display(phone)

    @classmethod
    def start(
        cls,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = NONE,
        hidden: Mapping[str, Any] = MappingProxyType({}),
    ) -> AndroidMachine:
        """A phone on the first page of its launcher; nothing of `hidden` matters to it.

        Args:
            state: `scenario` (a name), `time`, `settings`, `permissions`, `apps`, and a key for every app whose
                contents the task states; what it leaves open is drawn.
            seed: of what is drawn, where the state has no `seed` of its own.
            controls: the perturbations in force.
            hidden: ignored.

        Raises:
            SpecError: if the state is wrong; names the key, its value and what was expected.
        """
        phone = begin(state, seed, controls)
        told = {form for text in _texts(dict(state)) for form in (*_forms(phone, text), *_PIECES.split(text))}
        told |= {app.title for app in phone.apps.values()}
        return cls(phone, frozenset(form for text in _texts(phone.data) for form in _forms(phone, text)) - told)

    @property
    def observation(self) -> str:
        """The elements of the screen, one a line."""
        return self._display.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """Times of day and running times, and stored texts that were not shown before."""
        found: list[Span] = []
        start = 0
        lines = self._display.text.split("\n")
        for element, line in zip(self._display.elements, lines, strict=False):
            widget = element.widget
            for name, text in (('text="', widget.text), ('content_desc="', widget.description)):
                if text:
                    place = start + line.index(name) + len(name)
                    found += self._origins(text, place, kind(widget))
            start += len(line) + 1
        return tuple(found)

    @property
    def root(self) -> Widget:
        """The widgets of the display with their boxes, for a painter."""
        return self._display.root

    @property
    def phone(self) -> Phone:
        """The phone itself.

        Raises:
            EngineError: the machine is closed.
        """
        if self._phone is None:
            raise EngineError("the phone was used after close()")
        return self._phone

    def act(self, action: Any) -> str:
        """Do one action as a JSON object of AndroidWorld; what is none, or cannot be done, leaves the screen as it is.

        Raises:
            EngineError: the machine is closed.
        """
        phone = self.phone
        if not isinstance(action, dict):
            return self._display.text
        if self._stored:
            self._remember()
        if phone.controls.strengths and _calmed(phone):
            self._display = Display(phone)
        model = phone.model
        model["steps"] += 1
        gestures = Gestures(phone, self._display)
        if phone.controls.strikes("stale-element", model["steps"]):
            gestures.shift = 1
        told = model["toast"], model["snack"]
        model["toast"], model["snack"] = "", None
        changed = gestures.perform(action)
        if not changed:
            model["toast"], model["snack"] = told
        if not model["above"] and phone.controls.strikes("unexpected-dialog", model["steps"]):
            kinds = len(phone.defaults["device"]["interruptions"])
            which = int(phone.controls.draw("unexpected-dialog", "which", model["steps"]) * kinds)
            phone.raise_above("unexpected", which=which, sticky=True, disturbance="unexpected-dialog")
            changed = True
        if changed:
            self._display = Display(phone)
        return self._display.text

    def state(self) -> dict[str, Scalar]:
        """Everything that actions change: stored data by app, settings, and the screens with their fields."""
        model = self.phone.model
        found = {**model["data"], **{key: model[key] for key in _STATE}, "time": model["clock"]}
        found["tasks"] = {app: [_told(screen) for screen in stack] for app, stack in model["tasks"].items()}
        found["above"] = [_told(screen) for screen in model["above"]]
        return flat(found)

    def fork(self) -> AndroidMachine:
        """An exact copy: equal actions on both give equal observations."""
        phone = self.phone.fork()
        twin = object.__new__(type(self))
        twin._phone, twin._stored, twin._seen = phone, self._stored, set(self._seen)
        twin._display = Display(phone)
        return twin

    def close(self) -> None:
        """Free it. May be called twice."""
        self._phone = None

    def _remember(self) -> None:
        for element in self._display.elements:
            for text in (element.widget.text, element.widget.description):
                self._seen.add(text)
                self._seen.update(_PIECES.split(text))

    def _origins(self, text: str, place: int, what: Kind) -> Iterator[Span]:
        """The pieces of one text that are not deterministic; it is stored as a whole, or put together of what is."""
        if what != "deterministic":
            yield Span(place, place + len(quoted(text)), what)
        elif self._stored:
            start = 0
            for piece in (text,) if text in self._stored else _PIECES.split(text):
                start = text.index(piece, start)
                if piece in self._stored and piece not in self._seen:
                    at = place + len(quoted(text[:start]))
                    yield Span(at, at + len(quoted(piece)), "pre-existing")
                start += len(piece)


def _calmed(phone: Phone) -> bool:
    """Take away what disturbs where its control is not in force; whether there was something."""
    model, strength = phone.model, phone.controls.strength
    found = False
    for stack in (model["above"], *model["tasks"].values()):
        for screen in stack[:]:
            disturbance = screen.get("disturbance")
            if disturbance and not strength(disturbance):
                stack.remove(screen)
                found = True
            elif screen.get("loading") and not strength("slow-loading"):
                del screen["loading"]
                found = True
    return found


def _told(screen: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in screen.items() if key not in _TRANSIENT}


def _forms(phone: Phone, text: str) -> Iterator[str]:
    """How a stored text can stand on a screen: times and days in the words of the phone."""
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

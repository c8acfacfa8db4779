"""The phone as apps see it: the model, and what changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar

from agentworld_gym.engines import Controls
from agentworld_gym.engines.gui import Field, Message, Widget, copied
from agentworld_gym.engines.gui.text_field import MAX_CHARS

T = TypeVar("T")
Choice = tuple[str, Message | None]
"""The label of a button or an entry, and the message it sends; None where it only closes."""

Screen = dict[str, Any]
"""One screen on a back stack, as plain data.

Its keys are `app`, `name`, `fields` (by key), `scroll` (offsets by key), `focus` (a key), `over` (whether it is a
dialog, a menu or a sheet over the screen below), and the arguments it was pushed with.
"""

LAUNCHER = "launcher"
MAX_DEPTH = 40
MAX_NOTIFICATIONS = 40
_EPOCH = datetime(1970, 1, 1)
_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class InstalledApp(Protocol):
    """What the phone needs of an app. `App`, the base class of all apps, says what each member means."""

    id: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    first: ClassVar[str]
    icon: ClassVar[bool]
    account: ClassVar[bool]
    permissions: ClassVar[tuple[str, ...]]
    shares: ClassVar[tuple[str, ...]]

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return what a screen shows."""
        ...

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""
        ...

    def opened(self, phone: Phone) -> None:
        """Act on the start of the app."""
        ...

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Act on a step back, and return whether the app dealt with it."""
        ...

    def tick(self, phone: Phone, seconds: int) -> None:
        """Act on time that has passed."""
        ...


class Phone:
    """A model, which is all that changes, and the apps that are installed.

    The model holds: `data` (by app), `settings`, `tasks` (a back stack for every app that runs), `front` (whose stack
    is shown), `above` (screens of the system over whatever is in front), `toast`, `snack`, `notifications`, `grants`
    (permissions by `app/permission`), `clock` (seconds), and counters.
    """

    __slots__ = ("apps", "controls", "defaults", "model", "viewing")

    def __init__(
        self,
        model: dict[str, Any],
        apps: Mapping[str, InstalledApp],
        controls: Controls,
        defaults: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """`defaults` are the files of the scenario by app, which never change."""
        self.model, self.apps, self.controls, self.defaults = model, apps, controls, defaults
        self.viewing: Screen | None = None

    def fork(self) -> Phone:
        """The same with a model of its own."""
        return Phone(copied(self.model), self.apps, self.controls, self.defaults)

    @property
    def data(self) -> dict[str, Any]:
        """What is stored, by app."""
        data: dict[str, Any] = self.model["data"]
        return data

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the system."""
        settings: dict[str, Any] = self.model["settings"]
        return settings

    @property
    def clock(self) -> datetime:
        """What time it is."""
        return _EPOCH + timedelta(seconds=self.model["clock"])

    @property
    def utc_hours(self) -> float:
        """How far the phone's time zone is ahead of UTC."""
        zone = str(self.settings["time_zone"])
        hours = int(zone[4:6]) + int(zone[7:9]) / 60
        return -hours if zone[3] == "-" else hours

    def time_text(self, time: datetime) -> str:
        """A time of day as the phone writes it: `9:41 AM`, or `09:41` where 24 hours are set."""
        if self.settings.get("24_hour"):
            return f"{time.hour:02}:{time.minute:02}"
        return f"{time.hour % 12 or 12}:{time.minute:02} {'AM' if time.hour < 12 else 'PM'}"

    def date_text(self, date: datetime) -> str:
        """A day as the phone writes it: `Wed, Mar 4`."""
        return f"{date:%a, %b} {date.day}"

    def new_id(self) -> int:
        """A number that no row has."""
        self.model["ids"] += 1
        return int(self.model["ids"])

    # Screens

    @property
    def stack(self) -> list[Screen]:
        """The back stack in front."""
        stack: list[Screen] = self.model["tasks"][self.model["front"]]
        return stack

    @property
    def screen(self) -> Screen:
        """The screen on top."""
        above: list[Screen] = self.model["above"]
        return above[-1] if above else self.stack[-1]

    def push(
        self,
        name: str,
        *,
        app: str = "",
        over: bool = False,
        fields: Mapping[str, str] | None = None,
        focus: str = "",
        **args: Any,
    ) -> Screen:
        """The next screen of an app (the one of the screen on top); with `over` a dialog in front of that one."""
        above, stack = self.model["above"], self.stack
        if not over:
            above.clear()
        screen = self.made(app or (above or stack)[-1]["app"], name, over, fields or {}, focus, args)
        if len(stack) >= MAX_DEPTH:
            del stack[1]
        stack.append(screen)
        return screen

    def raise_above(self, name: str, **args: Any) -> None:
        """A screen of the system over whatever is in front."""
        above: list[Screen] = self.model["above"]
        if len(above) < MAX_DEPTH:
            app, over = args.pop("app", "system"), not args.pop("full", False)
            above.append(self.made(app, name, over, args=args))

    def pop(self, times: int = 1) -> None:
        """Leave the screen on top. Leaving an app's last one leads to the launcher."""
        for _ in range(times):
            if self.model["above"]:
                self.model["above"].pop()
                continue
            front = self.model["front"]
            if front == LAUNCHER and len(self.stack) == 1:
                return
            self.stack.pop()
            if not self.stack:
                del self.model["tasks"][front]
                self.model["front"] = LAUNCHER
                return

    def replace(self, name: str, **args: Any) -> None:
        """Another screen of the same app in the place of the one on top: a tab."""
        app = self.screen["app"]
        self.stack.pop()
        self.stack.append(self.made(app, name, False, args.pop("fields", {}), args.pop("focus", ""), args))

    def home(self) -> None:
        """The first page of the launcher; apps stay as they are."""
        self.model["above"].clear()
        self._close_menus()
        self.model["front"] = LAUNCHER
        del self.stack[1:]
        self.stack[0] = self.made(LAUNCHER, "home", False, {}, "", {})

    def launch(self, app: str, fresh: bool = False) -> None:
        """Bring an app to the front: where it was left, or with `fresh` at its first screen."""
        tasks = self.model["tasks"]
        if app not in self.apps or not self.apps[app].icon:
            return
        self.model["above"].clear()
        self._close_menus()
        # A task that was brought to the front is the last one.
        stack = tasks.pop(app, None)
        tasks[app] = stack if stack and not fresh else []
        self.model["front"] = app
        if not tasks[app]:
            self.model["openings"] += 1
            self._forget_once(app)
            tasks[app].append(self.made(app, self.apps[app].first, False, {}, "", {}))
            self.apps[app].opened(self)
            self._disturb_opening(app)

    def stop(self, app: str) -> None:
        """End an app, with all of its screens."""
        self.model["tasks"].pop(app, None)
        if self.model["front"] == app:
            self.model["front"] = LAUNCHER
            self.home()

    def open(self, app: str, name: str = "", **args: Any) -> None:
        """A screen of another app on the same back stack; going back returns here."""
        if app in self.apps:
            self.push(name or self.apps[app].first, app=app, **args)
            self._sign_in(app)

    def made(
        self,
        app: str,
        name: str,
        over: bool = False,
        fields: Mapping[str, str] = _NO_FIELDS,
        focus: str = "",
        args: Mapping[str, Any] = _NO_FIELDS,
    ) -> Screen:
        """A screen that is on no stack yet."""
        self.model["visits"] += 1
        visit = self.model["visits"]
        screen: Screen = {"app": app, "name": name, "over": over, "visit": visit, "focus": focus, "reveal": bool(focus)}
        screen["fields"] = {key: Field(text) for key, text in fields.items()}
        screen["scroll"] = {}
        screen.update(args)
        if not over and self.apps[app].icon and self.controls.strikes("slow-loading", visit):
            screen["loading"] = True
        return screen

    def _close_menus(self) -> None:
        while self.stack[-1]["over"] and self.stack[-1]["app"] == "system" and len(self.stack) > 1:
            self.stack.pop()

    # Settings

    def switch(self, key: str, value: bool | int | str) -> None:
        """Change a setting, and what goes with it: no radios in airplane mode, another time in another zone."""
        before = self.utc_hours
        self.settings[key] = value
        self.model["clock"] += int(3600 * (self.utc_hours - before))
        if key == "airplane" and value:
            self.settings.update(wifi=False, bluetooth=False)

    # Fields

    def text(self, key: str) -> str:
        """What a field of the screen on top holds; empty if there is none."""
        field = self.screen["fields"].get(key)
        return field.value if field is not None else ""

    def set_text(self, key: str, value: str) -> None:
        """Another text in a field of the screen on top."""
        self.screen["fields"].setdefault(key, Field()).set(value)

    def focus(self, key: str) -> None:
        """Put the cursor in a field of the screen on top, which brings up the keyboard."""
        self.screen["focus"], self.screen["reveal"] = key, True

    def unfocus(self) -> None:
        """Take the cursor away, and the keyboard with it."""
        self.screen["focus"] = ""

    # Messages to the user

    def toast(self, text: str) -> None:
        """A short text that shows on the next screen only."""
        self.model["toast"] = text

    def snack(self, text: str, action: str, message: Message) -> None:
        """A bar at the bottom with one button, until the next action."""
        self.model["snack"] = (text, action, message)

    def confirm(self, title: str, text: str, *choices: Choice) -> None:
        """A dialog with a title, a text and buttons."""
        self.push("alert", app="system", over=True, title=title, text=text, choices=choices)

    def menu(self, *entries: Choice) -> None:
        """A menu over the screen."""
        self.push("menu", app="system", over=True, choices=entries)

    def choose(self, title: str, options: Sequence[str], chosen: int | None, message: Message) -> None:
        """A dialog to choose one of some texts; sends the message with the number of the text added."""
        self.push("choice", app="system", over=True, title=title, options=tuple(options), chosen=chosen, then=message)

    def ask_text(self, title: str, initial: str, message: Message, hint: str = "") -> None:
        """A dialog with one field; sends the message with its text added."""
        args = {"title": title, "then": message, "hint": hint}
        self.push("question", app="system", over=True, fields={"answer": initial}, focus="answer", **args)

    def pick_time(self, time: str, message: Message) -> None:
        """A dialog for a time of day, `HH:MM` of 24 hours; sends the message with such a text added."""
        hour, minute = int(time[:2]), time[3:5]
        whole = bool(self.settings.get("24_hour"))
        fields = {"hour": time[:2] if whole else str(hour % 12 or 12), "minute": minute}
        afternoon = None if whole else hour >= 12
        self.push("time", app="system", over=True, fields=fields, afternoon=afternoon, then=message)

    def pick_date(self, date: str, message: Message) -> None:
        """A dialog for a day, `YYYY-MM-DD`; sends the message with such a text added."""
        self.push("date", app="system", over=True, chosen=date, month=date[:7], then=message)

    def share(self, content: str, kind: str = "text") -> None:
        """A sheet with the apps that take such a thing."""
        self.push("share", app="system", over=True, content=content[:MAX_CHARS], kind=kind)

    def notify(self, app: str, title: str, text: str, message: Message | None = None) -> int:
        """A notification in the shade; a touch opens the app and sends the message.

        There is none where the app's notifications are off, or where it may not send any.
        """
        if not self.settings.get(f"notify:{app}", True) or not self.permitted("notifications", app):
            return 0
        rows = self.model["notifications"]
        rows.insert(0, {"id": self.new_id(), "app": app, "title": title, "text": text, "message": message})
        del rows[MAX_NOTIFICATIONS:]
        return int(rows[0]["id"])

    def cancel(self, notification: int) -> None:
        """Take a notification away."""
        self.model["notifications"] = [row for row in self.model["notifications"] if row["id"] != notification]

    # Permissions

    def permitted(self, permission: str, app: str | None = None) -> bool:
        """Whether an app (the one on top) may use something."""
        return self.model["grants"].get(f"{app or self.screen['app']}/{permission}") in ("allowed", "once")

    def ask_permission(self, permission: str, message: Message, app: str | None = None) -> None:
        """Send a message once the user allows it: at once, after a dialog, or not where it was refused before."""
        asking = app or self.screen["app"]
        grant = self.model["grants"].get(f"{asking}/{permission}")
        if grant in ("allowed", "once"):
            self.send(message)
        elif grant == "denied":
            self.toast(f"{self.apps[asking].title} has no permission: {permission}")
        else:
            args: dict[str, Any] = {"asking": asking, "permission": permission, "then": message}
            self.push("permission", app="system", over=True, sticky=True, **args)

    def _forget_once(self, app: str) -> None:
        """What was allowed only this time is asked again at the next start of the app."""
        grants = self.model["grants"]
        for permission in self.apps[app].permissions:
            if grants.get(f"{app}/{permission}") == "once":
                del grants[f"{app}/{permission}"]

    def send(self, message: Message | None) -> None:
        """Give a message to the app it is for."""
        if message is not None:
            app = self.apps.get(message[0].partition("/")[0])
            if app is not None:
                app.update(self, message)

    # Perturbations

    def ordered(self, name: str, items: Sequence[T]) -> list[T]:
        """The entries of a list or menu in their order; in another one at visits where menus are reordered."""
        visit = (self.viewing or self.screen)["visit"]
        if not self.controls.strikes("reordered-menu", name, visit):
            return list(items)
        draw = self.controls.draw
        return [items[at] for at in sorted(range(len(items)), key=lambda at: draw("order", name, visit, at))]

    def _disturb_opening(self, app: str) -> None:
        self._sign_in(app)
        if self.controls.strikes("intermittent-errors", self.model["openings"]):
            self.raise_above("stuck", sticky=True, asking=app, disturbance="intermittent-errors")

    def _sign_in(self, app: str) -> None:
        if self.apps[app].account and self.controls.strikes("session-expired", app, self.model["visits"]):
            screen = self.made("system", "sign_in", False, {}, "", {"asking": app, "disturbance": "session-expired"})
            screen.pop("loading", None)
            self.stack.append(screen)

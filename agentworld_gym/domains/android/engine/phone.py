"""The phone as apps see it: the model, and what changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar

from agentworld_gym.core.engines import Controls
from agentworld_gym.kit.gui import Field, Message, Widget, copied
from agentworld_gym.kit.gui.text_field import MAX_CHARS

T = TypeVar("T")
Choice = tuple[str, Message | None]
"""The label of a button or an entry, and the message that it sends; None where it only closes."""

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
    first: ClassVar[str]
    icon: ClassVar[bool]
    account: ClassVar[bool]
    permissions: ClassVar[tuple[str, ...]]
    shares: ClassVar[tuple[str, ...]]
    unseen: ClassVar[tuple[str, ...]]

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return what a screen shows."""
        ...

    def initial_texts(self, phone: Phone, screen: Screen) -> Mapping[str, str]:
        """Return the texts with which fields of a screen begin."""
        ...

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""
        ...

    def on_open(self, phone: Phone) -> None:
        """Act on the start of the app."""
        ...

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Act on a step back, and return whether the app dealt with it."""
        ...

    def tick(self, phone: Phone, seconds: int) -> None:
        """Act on time that has passed."""
        ...


class Phone:
    """A phone: a model, which is all that changes, and the installed apps.

    The model holds `data` (by app), `settings`, `tasks` (a back stack for every running app), `front` (the app whose
    stack is shown), `above` (screens of the system over whatever is in front), `toast`, `snack`, `notifications`,
    `grants` (permissions by `app/permission`), `clock` (seconds), and counters.
    """

    __slots__ = ("apps", "controls", "defaults", "model", "viewing")

    def __init__(
        self,
        model: dict[str, Any],
        apps: Mapping[str, InstalledApp],
        controls: Controls,
        defaults: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Take a model and apps; `defaults` are the files of the scenario by app, which never change."""
        self.model, self.apps, self.controls, self.defaults = model, apps, controls, defaults
        self.viewing: Screen | None = None

    def fork(self) -> Phone:
        """Return the same phone with a model of its own."""
        return Phone(copied(self.model), self.apps, self.controls, self.defaults)

    @property
    def data(self) -> dict[str, Any]:
        """The stored data by app."""
        data: dict[str, Any] = self.model["data"]
        return data

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the system."""
        settings: dict[str, Any] = self.model["settings"]
        return settings

    @property
    def clock(self) -> datetime:
        """The phone's time."""
        return _EPOCH + timedelta(seconds=self.model["clock"])

    @property
    def utc_hours(self) -> float:
        """The hours by which the phone's time zone is ahead of UTC."""
        zone = str(self.settings["time_zone"])
        hours = int(zone[4:6]) + int(zone[7:9]) / 60
        return -hours if zone[3] == "-" else hours

    def time_text(self, time: datetime) -> str:
        """Return a time of day as the phone writes it: `9:41 AM`, or `09:41` with a 24-hour clock."""
        if self.settings.get("24_hour"):
            return f"{time.hour:02}:{time.minute:02}"
        return f"{time.hour % 12 or 12}:{time.minute:02} {'AM' if time.hour < 12 else 'PM'}"

    def date_text(self, date: datetime) -> str:
        """Return a day as the phone writes it: `Wed, Mar 4`."""
        return f"{date:%a, %b} {date.day}"

    def new_id(self) -> int:
        """Return an id that no row has."""
        self.model["ids"] += 1
        return int(self.model["ids"])

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
        """Push a screen of an app, by default of the app on top; with `over`, a dialog over the present screen."""
        above, stack = self.model["above"], self.stack
        if not over:
            above.clear()
        screen = self.new_screen(app or (above or stack)[-1]["app"], name, over, fields or {}, focus, args)
        if len(stack) >= MAX_DEPTH:
            del stack[1]
        stack.append(screen)
        return screen

    def raise_above(self, name: str, **args: Any) -> None:
        """Show a screen of the system over whatever is in front."""
        above: list[Screen] = self.model["above"]
        if len(above) < MAX_DEPTH:
            app, over = args.pop("app", "system"), not args.pop("full", False)
            above.append(self.new_screen(app, name, over, args=args))

    def pop(self, times: int = 1) -> None:
        """Leave the screen on top. Leaving the last screen of an app leads to the launcher."""
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
        """Replace the screen on top by another one of the same app, such as another tab."""
        app = self.screen["app"]
        self.stack.pop()
        self.stack.append(self.new_screen(app, name, False, args.pop("fields", {}), args.pop("focus", ""), args))

    def home(self) -> None:
        """Go to the first page of the launcher; apps stay as they are."""
        self.model["above"].clear()
        self._close_menus()
        self.model["front"] = LAUNCHER
        del self.stack[1:]
        self.stack[0] = self.new_screen(LAUNCHER, "home", False, {}, "", {})

    def launch(self, app: str, fresh: bool = False) -> None:
        """Bring an app to the front where it was left, or with `fresh` at its first screen."""
        tasks = self.model["tasks"]
        if app not in self.apps or not self.apps[app].icon:
            return
        self.model["above"].clear()
        self._close_menus()
        # The task in front is the last one of the dictionary.
        stack = tasks.pop(app, None)
        tasks[app] = stack if stack and not fresh else []
        self.model["front"] = app
        if not tasks[app]:
            self.model["openings"] += 1
            self._forget_once(app)
            tasks[app].append(self.new_screen(app, self.apps[app].first, False, {}, "", {}))
            self.apps[app].on_open(self)
            self._disturb_opening(app)

    def stop(self, app: str) -> None:
        """End an app with all of its screens."""
        self.model["tasks"].pop(app, None)
        if self.model["front"] == app:
            self.model["front"] = LAUNCHER
            self.home()

    def open(self, app: str, name: str = "", **args: Any) -> None:
        """Push a screen of another app on the present back stack; going back returns here."""
        if app in self.apps:
            self.push(name or self.apps[app].first, app=app, **args)
            self._sign_in(app)

    def new_screen(
        self,
        app: str,
        name: str,
        over: bool = False,
        fields: Mapping[str, str] = _NO_FIELDS,
        focus: str = "",
        args: Mapping[str, Any] = _NO_FIELDS,
    ) -> Screen:
        """Return a screen that is on no stack yet."""
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

    def switch(self, key: str, value: bool | int | str) -> None:
        """Change a setting, with its effects: airplane mode switches radios off, a time zone changes the clock."""
        before = self.utc_hours
        self.settings[key] = value
        self.model["clock"] += int(3600 * (self.utc_hours - before))
        if key == "airplane" and value:
            self.settings.update(wifi=False, bluetooth=False)

    def text(self, key: str) -> str:
        """Return the text in a field of the screen on top; empty if there is no such field."""
        field = self.screen["fields"].get(key)
        return field.value if field is not None else ""

    def set_text(self, key: str, value: str) -> None:
        """Replace the text in a field of the screen on top."""
        self.screen["fields"].setdefault(key, Field()).set(value)

    def focus(self, key: str) -> None:
        """Put the cursor in a field of the screen on top, which opens the keyboard."""
        self.screen["focus"], self.screen["reveal"] = key, True

    def unfocus(self) -> None:
        """Remove the cursor, and close the keyboard."""
        self.screen["focus"] = ""

    # Messages to the user

    def toast(self, text: str) -> None:
        """Show a short text on the next screen only."""
        self.model["toast"] = text

    def snack(self, text: str, action: str, message: Message) -> None:
        """Show a bar at the bottom with one button until the next action."""
        self.model["snack"] = (text, action, message)

    def confirm(self, title: str, text: str, *choices: Choice) -> None:
        """Open a dialog with a title, a text and buttons."""
        self.push("alert", app="system", over=True, title=title, text=text, choices=choices)

    def menu(self, *entries: Choice) -> None:
        """Open a menu over the screen."""
        self.push("menu", app="system", over=True, choices=entries)

    def choose(self, title: str, options: Sequence[str], chosen: int | None, message: Message) -> None:
        """Open a dialog for choosing one of several texts; it sends the message with the number of the text."""
        self.push("choice", app="system", over=True, title=title, options=tuple(options), chosen=chosen, then=message)

    def ask_text(self, title: str, initial: str, message: Message, hint: str = "") -> None:
        """Open a dialog with one text field; it sends the message with the text."""
        args = {"title": title, "then": message, "hint": hint}
        self.push("question", app="system", over=True, fields={"answer": initial}, focus="answer", **args)

    def pick_time(self, time: str, message: Message) -> None:
        """Open a dialog for a time of day, `HH:MM` of 24 hours; it sends the message with the time."""
        hour, minute = int(time[:2]), time[3:5]
        whole = bool(self.settings.get("24_hour"))
        fields = {"hour": time[:2] if whole else str(hour % 12 or 12), "minute": minute}
        afternoon = None if whole else hour >= 12
        self.push("time", app="system", over=True, fields=fields, afternoon=afternoon, then=message)

    def pick_date(self, date: str, message: Message) -> None:
        """Open a dialog for a day, `YYYY-MM-DD`; it sends the message with the day."""
        self.push("date", app="system", over=True, chosen=date, month=date[:7], then=message)

    def share(self, content: str, kind: str = "text") -> None:
        """Open the share sheet with the apps that take such content."""
        self.push("share", app="system", over=True, content=content[:MAX_CHARS], kind=kind)

    def notify(self, app: str, title: str, text: str, message: Message | None = None) -> int:
        """Add a notification to the shade, and return its id; a touch on it opens the app and sends the message.

        Nothing is added, and 0 returned, where the app's notifications are off or not permitted.
        """
        if not self.settings.get(f"notify:{app}", True) or not self.permitted("notifications", app):
            return 0
        rows = self.model["notifications"]
        rows.insert(0, {"id": self.new_id(), "app": app, "title": title, "text": text, "message": message})
        del rows[MAX_NOTIFICATIONS:]
        return int(rows[0]["id"])

    def cancel(self, notification: int) -> None:
        """Remove a notification."""
        self.model["notifications"] = [row for row in self.model["notifications"] if row["id"] != notification]

    def permitted(self, permission: str, app: str | None = None) -> bool:
        """Return whether an app, by default the one on top, has a permission."""
        return self.model["grants"].get(f"{app or self.screen['app']}/{permission}") in ("allowed", "once")

    def ask_permission(self, permission: str, message: Message, app: str | None = None) -> None:
        """Send a message once the user permits it: at once, after a dialog, or never where that was refused before."""
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
        """Forget the permissions that were given only once, so that the next start of the app asks again."""
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

    def ordered(self, name: str, items: Sequence[T]) -> list[T]:
        """Return the entries of a list or menu, in another order where the control `reordered-menu` strikes."""
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
            screen = self.new_screen(
                "system", "sign_in", False, {}, "", {"asking": app, "disturbance": "session-expired"}
            )
            screen.pop("loading", None)
            self.stack.append(screen)

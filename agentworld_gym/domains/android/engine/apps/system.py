"""The system's own screens: dialogs, menus, pickers, the share sheet, permissions, and faults."""

from __future__ import annotations

import calendar
from datetime import date

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.domains.android.engine.widgets import button, buttons, entry, icon, item, label, panel, paragraph
from agentworld_gym.kit.gui import Message, Widget, column, grid, row

DISMISS: Message = ("system/dismiss",)
_USES = {
    "contacts": "access your contacts",
    "files": "access photos, media and files on your device",
    "notifications": "send you notifications",
    "location": "access this device's location",
}
_WHILE_USED = ("location",)


class SystemApp(App):
    """The screens that belong to no app."""

    id = "system"
    title = "Android System"
    package = "android"
    icon = False

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return a screen of the system."""
        return _VIEWS[screen["name"]](phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message of a system screen, or on one that any screen may send (back, focus, menu)."""
        name, screen = message[0].partition("/")[2], phone.screen
        if name == "focus":
            phone.focus(message[1])
        elif name == "menu":
            phone.menu(*message[1])
        elif name == "dismiss":
            phone.pop()
        elif name == "then":
            phone.pop()
            phone.send(message[1])
        elif name == "accept":
            phone.pop()
            for key, value in phone.defaults["device"]["interruptions"][screen["which"]].get("sets", {}).items():
                phone.switch(key, value)
        elif name == "answer":
            text = phone.text("answer").strip()
            phone.pop()
            phone.send((*screen["then"], text))
        elif name == "half":
            screen["afternoon"] = message[1]
        elif name == "set_time":
            _set_time(phone, screen)
        elif name == "set":
            phone.switch(message[1], message[2])
        elif name == "month":
            screen["month"] = message[1]
        elif name == "day":
            screen["chosen"] = message[1]
        elif name == "grant":
            _grant(phone, screen, message[1])
        elif name == "share":
            phone.pop()
            phone.open(message[1])
            phone.send((f"{message[1]}/shared", screen["kind"], screen["content"]))
        elif name == "close_app":
            phone.pop()
            phone.stop(screen["asking"])
        elif name == "sign_in":
            phone.pop()

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Close a system screen. A sign-in screen closes its app too; an unanswered permission is not given."""
        if screen["name"] == "sign_in":
            phone.pop(2)
            return True
        return False


def _alert(phone: Phone, screen: Screen) -> Widget:
    choices = [button(text, ("system/then", message)) for text, message in screen["choices"]]
    return panel(screen["title"], paragraph(screen["text"], 936), buttons(*choices))


def _menu(phone: Phone, screen: Screen) -> Widget:
    entries = phone.ordered("menu", screen["choices"])
    rows = [item(text, ("system/then", message), height=126) for text, message in entries]
    return column(widgets.gap(24), *rows, widgets.gap(24), width=widgets.MENU_WIDTH)


def _choice(phone: Phone, screen: Screen) -> Widget:
    options = phone.ordered("choice", list(enumerate(screen["options"])))
    rows = [
        widgets.radio_item(text, index == screen["chosen"], ("system/then", (*screen["then"], index)))
        for index, text in options
    ]
    height = min(132 * len(rows), 1188)
    body = widgets.scrolling(*rows, height=height, grow=0) if len(rows) > 9 else column(*rows)
    return panel(screen["title"], body, buttons(button("Cancel", DISMISS)))


def _question(phone: Phone, screen: Screen) -> Widget:
    field = entry(screen, "answer", screen["hint"] or screen["title"], enter=("system/answer",), width=840)
    choices = buttons(button("Cancel", DISMISS), button("OK", ("system/answer",)))
    return panel(screen["title"], row(widgets.gap(widgets.MARGIN), field, height=widgets.ROW), choices)


def _time(phone: Phone, screen: Screen) -> Widget:
    fields = [
        entry(screen, key, hint, digits=True, width=252, height=210, replace=True)
        for key, hint in (("hour", "Hour"), ("minute", "Minute"))
    ]
    halves = [
        Widget(
            widgets.RADIO,
            text=text,
            on={"click": ("system/half", late)},
            flags=("focusable", "checkable", *(("checked",) if late == screen["afternoon"] else ())),
            width=168,
            height=105,
        )
        for text, late in (("AM", False), ("PM", True))
        if screen["afternoon"] is not None
    ]
    face = row(
        widgets.gap(widgets.MARGIN), fields[0], label(":", width=48), fields[1], widgets.gap(48), column(*halves)
    )
    face.height = 230
    return panel("Select time", face, buttons(button("Cancel", DISMISS), button("OK", ("system/set_time",))))


def _set_time(phone: Phone, screen: Screen) -> None:
    """Set the time of a dialog; it stays open where no clock can show the time."""
    hour, minute = phone.text("hour").strip(), phone.text("minute").strip()
    if not (hour.isdecimal() and minute.isdecimal() and len(hour) < 3 and len(minute) < 3):
        phone.toast("Enter a valid time")
        return
    whole = screen["afternoon"] is None
    if int(hour) not in (range(24) if whole else range(1, 13)) or int(minute) > 59:
        phone.toast("Enter a valid time")
        return
    full = int(hour) if whole else int(hour) % 12 + (12 if screen["afternoon"] else 0)
    phone.pop()
    phone.send((*screen["then"], f"{full:02}:{int(minute):02}"))


def _date(phone: Phone, screen: Screen) -> Widget:
    year, month = int(screen["month"][:4]), int(screen["month"][5:])
    before = f"{year - (month == 1)}-{(month + 10) % 12 + 1:02}"
    after = f"{year + (month == 12)}-{month % 12 + 1:02}"
    arrows = []
    if year > 1971:
        arrows.append(icon("Previous month", ("system/month", before)))
    if year < 2099:
        arrows.append(icon("Next month", ("system/month", after)))
    first, count = calendar.monthrange(year, month)
    days = [widgets.gap(102, 120) for _ in range((first + 1) % 7)]
    for number in range(1, count + 1):
        day = date(year, month, number)
        chosen = day.isoformat() == screen["chosen"]
        days.append(
            Widget(
                widgets.TEXT,
                text=str(number),
                description=f"{day:%A, %B} {number}, {year}",
                on={"click": ("system/day", day.isoformat())},
                flags=("focusable", *(("selected",) if chosen else ())),
                width=120,
                height=102,
            )
        )
    top = row(widgets.gap(widgets.MARGIN), label(f"{date(year, month, 1):%B %Y}", grow=1), *arrows, height=widgets.BAR)
    ok = button("OK", ("system/then", (*screen["then"], screen["chosen"])))
    return panel("", top, grid(7, days, padding=(widgets.MARGIN, 0)), buttons(button("Cancel", DISMISS), ok))


def _permission(phone: Phone, screen: Screen) -> Widget:
    name, permission = phone.apps[screen["asking"]].title, screen["permission"]
    use = _USES.get(permission, f"use {permission}")
    if permission in _WHILE_USED:
        answers = [("While using the app", "allowed"), ("Only this time", "once"), ("Don't allow", "denied")]
    else:
        answers = [("Allow", "allowed"), ("Don't allow", "denied")]
    rows = [button(text, ("system/grant", grant), width=840) for text, grant in answers]
    return panel("", paragraph(f"Allow {name} to {use}?", 936), column(*rows, padding=(48, 0), gap=12))


def _grant(phone: Phone, screen: Screen, grant: str) -> None:
    phone.model["grants"][f"{screen['asking']}/{screen['permission']}"] = grant
    phone.pop()
    if grant != "denied":
        phone.send(screen["then"])


def _share(phone: Phone, screen: Screen) -> Widget:
    giver = phone.stack[-2]["app"]
    takers = [app for app in phone.apps.values() if screen["kind"] in app.shares and app.id != giver]
    rows = [item(app.title, ("system/share", app.id), height=132) for app in phone.ordered("share", takers)]
    return panel("Share", label(screen["content"][:40], at=(0, 0)), *rows)


def _stuck(phone: Phone, screen: Screen) -> Widget:
    close, wait = item("Close app", ("system/close_app",), height=132), item("Wait", DISMISS, height=132)
    return panel(f"{phone.apps[screen['asking']].title} isn't responding", close, wait)


def _unexpected(phone: Phone, screen: Screen) -> Widget:
    interruption = phone.defaults["device"]["interruptions"][screen["which"]]
    *others, last = interruption["buttons"]
    answers = [*(button(answer, DISMISS) for answer in others), button(last, ("system/accept",))]
    return panel(interruption["title"], paragraph(interruption["text"], 936), buttons(*answers))


def _sign_in(phone: Phone, screen: Screen) -> Widget:
    name = phone.apps[screen["asking"]].title
    account = phone.data[screen["asking"]].get("account") or phone.settings["account"]
    return widgets.page(
        widgets.bar(name, back=False),
        widgets.gap(300),
        paragraph("Your session has expired. Sign in to go on."),
        label(account, padding=(widgets.MARGIN, 0)),
        buttons(button(f"Continue as {account.partition('@')[0]}", ("system/sign_in",))),
    )


_VIEWS = {
    "alert": _alert,
    "menu": _menu,
    "choice": _choice,
    "question": _question,
    "time": _time,
    "date": _date,
    "permission": _permission,
    "share": _share,
    "stuck": _stuck,
    "unexpected": _unexpected,
    "sign_in": _sign_in,
}

APP = SystemApp()

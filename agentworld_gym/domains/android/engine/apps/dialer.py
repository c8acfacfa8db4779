"""The phone app: answered and missed calls, a keypad, and running calls."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps.contacts import Person, digits, matching, person_of, readable, title_of
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, column, grid, row

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_CALLS = 300
ANSWERED_AFTER = 60
"""The number of seconds until a call is answered."""
KEYS = "123456789*0#"
KINDS = {"incoming": "Incoming", "outgoing": "Outgoing", "missed": "Missed"}

Call = dict[str, Any]


class StatedCall(Strict):
    """One call. `who` is a contact's name or a number, and `time` is `YYYY-MM-DD HH:MM`."""

    who: str = Field(min_length=1)
    kind: Literal["incoming", "outgoing", "missed"]
    time: datetime
    seconds: int = Field(default=0, ge=0)


class CallLogSetup(Strict):
    """The call log as a task states it, and the blocked numbers."""

    calls: tuple[StatedCall, ...] | None = None
    blocked: tuple[str, ...] = ()


class PhoneApp(App):
    """The phone app: recent calls, contacts and keypad as tabs; details of a number; the screen of a call."""

    id, title, package = "phone", "Phone", "com.google.android.dialer"
    State = CallLogSetup
    permissions = granted = ("contacts",)

    def begin(self, stated: CallLogSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated calls, or some drawn ones of the last day."""
        people: list[Person] = scene.data.get("contacts", {}).get("people", [])
        numbers = {person["name"]: person["phone"] for person in people}
        if stated.calls is not None:
            drawn = [
                {
                    "number": numbers.get(call.who, call.who),
                    "kind": call.kind,
                    "time": _format_moment(call.time),
                    "seconds": call.seconds,
                }
                for call in stated.calls
            ]
        else:
            reachable = [person["phone"] for person in people if person["phone"]]
            drawn = []
            for number in scene.rng.sample(reachable, min(5, len(reachable))):
                kind = scene.rng.choice(list(KINDS))
                moment = scene.now - timedelta(minutes=scene.rng.randrange(10, 600))
                seconds = 0 if kind == "missed" else scene.rng.randint(12, 900)
                drawn.append({"number": number, "kind": kind, "time": _format_moment(moment), "seconds": seconds})
        return {
            "calls": [{"id": number, **call} for number, call in enumerate(drawn, 1)],
            "blocked": [digits(numbers.get(who, who)) for who in stated.blocked],
            "call": None,
        }

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return one of the tabs, the details of a number, or the running call."""
        match screen["name"]:
            case "keypad":
                return _keypad(screen)
            case "people":
                return _people(phone, screen)
            case "number":
                return _details(phone, screen["number"])
            case "call":
                return _call(phone)
        return _recents(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Dial, call, hang up, show a number, block it, clear the log."""
        name, *args = message
        data = phone.data["phone"]
        match name.removeprefix("phone/"):
            case "tab":
                phone.replace(args[0])
            case "number":
                phone.push("number", number=args[0])
            case "key":
                phone.set_text("number", (phone.text("number") + args[0])[:30])
            case "erase":
                phone.set_text("number", phone.text("number")[:-1])
            case "dial":
                if digits(phone.text("number")):
                    self._start(phone, phone.text("number").strip())
            case "call":
                self._start(phone, args[0])
            case "flip" if data["call"]:
                data["call"][args[0]] = not data["call"][args[0]]
            case "hang_up":
                self._hang_up(phone)
            case "ask_clear":
                phone.confirm(
                    "Clear call history?",
                    "This deletes all calls from your history.",
                    ("Cancel", None),
                    ("Clear", ("phone/clear",)),
                )
            case "clear":
                data["calls"].clear()
            case "forget":
                data["calls"][:] = [call for call in data["calls"] if digits(call["number"]) != digits(args[0])]
                phone.pop()
            case "block":
                blocked, number = data["blocked"], digits(args[0])
                if number in blocked:
                    blocked.remove(number)
                    phone.toast("Number unblocked")
                else:
                    blocked.append(number)
                    phone.toast("Number blocked")
            case "text":
                phone.send(("messages/write", args[0]))
            case "add":
                phone.open("contacts", "edit", person=None, focus="name", fields={"phone": args[0]})
            case "person":
                phone.open("contacts", "person", person=args[0])

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Keep a running call, which ends by its button and not by going back."""
        return screen["name"] == "call" and phone.data["phone"]["call"] is not None

    def tick(self, phone: Phone, seconds: int) -> None:
        """Let a call ring for a minute, and then last."""
        call = phone.data["phone"]["call"]
        if call is not None:
            call["seconds"] += seconds

    def _start(self, phone: Phone, number: str) -> None:
        if phone.settings.get("airplane", False):
            phone.confirm("Turn off airplane mode to make a call", "", ("OK", None))
            return
        data = phone.data["phone"]
        if data["call"] is None:
            data["call"] = {"number": number, "seconds": 0, "mute": False, "speaker": False}
            phone.open("phone", "call")

    def _hang_up(self, phone: Phone) -> None:
        data = phone.data["phone"]
        call, data["call"] = data["call"], None
        if call is None:
            return
        data["calls"].append(
            {
                "id": phone.new_id(),
                "number": call["number"],
                "kind": "outgoing",
                "time": _format_moment(phone.clock),
                "seconds": max(0, call["seconds"] - ANSWERED_AFTER),
            }
        )
        del data["calls"][:-MAX_CALLS]
        phone.pop()


def _format_moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")


def _name(phone: Phone, number: str) -> str:
    return title_of(phone, number) if readable(phone, "phone") else number


def _tabbed(title: str, selected: int, body: Widget, *actions: Widget, floating: Widget | None = None) -> Widget:
    names = (("Recents", "main"), ("Contacts", "people"), ("Keypad", "keypad"))
    return widgets.page(
        widgets.bar(title, *actions, back=False),
        body,
        floating=floating,
        bottom=widgets.tabs(tuple((name, ("phone/tab", screen)) for name, screen in names), selected),
    )


def _recents(phone: Phone, screen: Screen) -> Widget:
    calls = sorted(phone.data["phone"]["calls"], key=lambda call: (call["time"], call["id"]), reverse=True)

    def line(call: Call) -> Widget:
        return widgets.item(
            _name(phone, call["number"]),
            ("phone/number", call["number"]),
            detail=f"{KINDS[call['kind']]}, {_when(phone, call['time'])}",
            trailing=(widgets.icon(f"Call {_name(phone, call['number'])}", ("phone/call", call["number"])),),
        )

    body = widgets.listing(screen, phone.ordered("calls", calls), line) if calls else widgets.empty("No recent calls")
    return _tabbed("Recents", 0, body, widgets.more(("Clear call history", ("phone/ask_clear",))))


def _when(phone: Phone, time: str) -> str:
    moment = datetime.fromisoformat(time)
    clock = phone.time_text(moment)
    return clock if moment.date() == phone.clock.date() else f"{phone.date_text(moment)}, {clock}"


def _people(phone: Phone, screen: Screen) -> Widget:
    people = [person for person in matching(phone.data["contacts"]["people"], "") if person["phone"]]
    if not people or not readable(phone, "phone"):
        return _tabbed("Contacts", 1, widgets.empty("No contacts"))
    body = widgets.listing(
        screen,
        people,
        lambda person: widgets.item(person["name"], ("phone/number", person["phone"]), detail=person["phone"]),
    )
    return _tabbed("Contacts", 1, body)


def _keypad(screen: Screen) -> Widget:
    keys = grid(
        3,
        (
            Widget(widgets.BUTTON, text=key, on={"click": ("phone/key", key)}, flags=("focusable",), height=220)
            for key in KEYS
        ),
        padding=(widgets.MARGIN, 0),
        gap=12,
    )
    number = row(
        widgets.gap(widgets.MARGIN),
        widgets.entry(screen, "number", "Number", digits=True, enter=("phone/dial",), grow=1),
        widgets.icon("Backspace", ("phone/erase",)),
        height=widgets.ROW,
    )
    call = row(
        Widget(shown=False, grow=1), widgets.button("Call", ("phone/dial",)), Widget(shown=False, grow=1), height=200
    )
    return _tabbed("Keypad", 2, widgets.scrolling(number, keys, call))


def _details(phone: Phone, number: str) -> Widget:
    person = person_of(phone, number)
    calls = [call for call in phone.data["phone"]["calls"] if digits(call["number"]) == digits(number)]
    blocked = digits(number) in phone.data["phone"]["blocked"]
    about = ("Contact details", ("phone/person", person["id"])) if person else ("Add contact", ("phone/add", number))
    lines = [
        widgets.item(
            f"{KINDS[call['kind']]} call",
            detail=f"{_when(phone, call['time'])}, {call['seconds'] // 60} min {call['seconds'] % 60} sec",
        )
        for call in sorted(calls, key=lambda call: (call["time"], call["id"]), reverse=True)
    ]
    choices = (
        about,
        ("Unblock number" if blocked else "Block number", ("phone/block", number)),
        ("Delete calls", ("phone/forget", number)),
    )
    return widgets.page(
        widgets.bar(_name(phone, number), widgets.icon("Send message", ("phone/text", number)), widgets.more(*choices)),
        widgets.item(number, ("phone/call", number), detail="Call"),
        widgets.header("Call history"),
        widgets.scrolling(*lines) if lines else widgets.empty("No calls"),
    )


def _call(phone: Phone) -> Widget:
    call = phone.data["phone"]["call"]
    if call is None:
        return widgets.page(widgets.bar(""), widgets.empty("Call ended"))
    talked = call["seconds"] - ANSWERED_AFTER
    if talked >= 0:
        state = Widget(widgets.CHRONOMETER, text=f"{talked // 60:02}:{talked % 60:02}", height=widgets.LINE)
    else:
        state = widgets.label("Calling…")
    switches = row(
        *(
            widgets.chip(title, ("phone/flip", key), call[key])
            for key, title in (("mute", "Mute"), ("speaker", "Speaker"))
        ),
        gap=48,
        padding=(widgets.MARGIN, 0),
        height=150,
    )
    end = row(
        Widget(shown=False, grow=1),
        widgets.icon("End call", ("phone/hang_up",)),
        Widget(shown=False, grow=1),
        height=200,
    )
    return column(
        widgets.gap(400),
        row(widgets.gap(widgets.MARGIN), widgets.label(_name(phone, call["number"]), grow=1), height=110),
        row(widgets.gap(widgets.MARGIN), state, height=110),
        Widget(shown=False, grow=1),
        switches,
        end,
        widgets.gap(200),
    )


APP = PhoneApp()

"""The messages app: conversations with people and numbers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps.contacts import digits, matching, person_of, readable, title_of
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, row

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_THREADS, MAX_TEXTS = 200, 500
SNIPPET = 44
END = 10**6
"""A scroll offset beyond any conversation, so that its end is shown."""

Thread = dict[str, Any]


class StatedText(Strict):
    """One message; `time` is `YYYY-MM-DD HH:MM`."""

    text: str
    time: datetime
    mine: bool = False


class StatedThread(Strict):
    """One conversation; `who` is a contact's name or a number."""

    who: str = Field(min_length=1)
    texts: tuple[StatedText, ...]
    unread: int = Field(default=0, ge=0)


class MessagesSetup(Strict):
    """Conversations as a task states them."""

    threads: tuple[StatedThread, ...] | None = None


class MessageExamples(Strict):
    """Conversations to draw from; a line that starts with `> ` was sent from this phone."""

    talks: tuple[tuple[str, ...], ...]


class MessagesApp(App):
    """The messages app: conversations, search, composing, forwarding."""

    id, title, package = "messages", "Messages", "com.google.android.apps.messaging"
    State, Defaults = MessagesSetup, MessageExamples
    permissions = granted = ("contacts",)
    shares = ("text", "file")

    def begin(self, stated: MessagesSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated conversations, or a few drawn ones."""
        people = scene.data.get("contacts", {}).get("people", [])
        numbers = {person["name"]: person["phone"] for person in people}
        if stated.threads is not None:
            drawn = [
                (
                    numbers.get(thread.who, thread.who),
                    thread.unread,
                    [{"text": t.text, "time": _format_moment(t.time), "mine": t.mine} for t in thread.texts],
                )
                for thread in stated.threads
            ]
        else:
            talks = scene.rng.sample(scene.defaults.get("talks", ()), min(5, len(scene.defaults.get("talks", ()))))
            reachable = [person["phone"] for person in people if person["phone"]]
            drawn = []
            for talk, number in zip(talks, scene.rng.sample(reachable, min(len(talks), len(reachable))), strict=False):
                minute = scene.rng.randrange(60)
                moment = (scene.now - timedelta(days=1)).replace(hour=scene.rng.randint(8, 20), minute=minute)
                texts = [
                    {"text": line.removeprefix("> "), "time": _format_moment(moment), "mine": line.startswith("> ")}
                    for line in talk
                ]
                drawn.append((number, 0, texts))
        ids = iter(range(1, 100_000))
        return {
            "threads": [
                {
                    "id": next(ids),
                    "number": number,
                    "unread": unread,
                    "texts": [{"id": next(ids), **text, "sent": True} for text in texts],
                }
                for number, unread, texts in drawn
            ]
        }

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return the list, the search, one conversation, or the choice of a recipient."""
        name = screen["name"]
        if name == "thread":
            return _conversation(phone, screen)
        if name == "new":
            return _recipients(phone, screen)
        if name == "search":
            return _search(phone, screen)
        return _threads(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Open, send, forward and delete messages."""
        name, *args = message
        threads: list[Thread] = phone.data["messages"]["threads"]
        match name.removeprefix("messages/"):
            case "open":
                self._open(phone, *args)
            case "write":
                phone.open("messages", "thread", number=args[0])
                self._open(phone, args[0], push=False)
            case "new":
                phone.push("new", text="", focus="to")
            case "shared":
                phone.push("new", text=str(args[1]), focus="to")
            case "to":
                text = phone.screen.get("text", "")
                phone.replace("thread", number=args[0], fields={"text": text})
                self._open(phone, args[0], push=False)
            case "typed":
                if digits(phone.text("to")):
                    self.update(phone, ("messages/to", phone.text("to").strip()))
            case "send":
                self._send(phone, threads)
            case "resend":
                thread = _thread(phone, args[0])
                for text in thread["texts"] if thread else ():
                    if text["id"] == args[1]:
                        text["sent"] = not phone.settings.get("airplane", False)
            case "hold_text":
                number, text_id = args
                phone.menu(
                    ("Forward", ("messages/forward", number, text_id)), ("Delete", ("messages/drop", number, text_id))
                )
            case "forward":
                found = _text(phone, *args)
                if found:
                    phone.push("new", text=found["text"], focus="to")
            case "drop":
                thread, found = _thread(phone, args[0]), _text(phone, *args)
                if thread and found:
                    thread["texts"].remove(found)
            case "hold":
                number = args[0]
                phone.menu(("Mark as unread", ("messages/unread", number)), ("Delete", ("messages/ask_delete", number)))
            case "unread":
                thread = _thread(phone, args[0])
                if thread:
                    thread["unread"] = max(1, thread["unread"])
            case "all_read":
                for thread in threads:
                    thread["unread"] = 0
            case "ask_delete":
                phone.confirm(
                    "Delete this conversation?",
                    f"This permanently deletes your conversation with {title_of(phone, args[0])} from this phone.",
                    ("Cancel", None),
                    ("Delete", ("messages/delete", args[0])),
                )
            case "delete":
                thread = _thread(phone, args[0])
                if thread:
                    threads.remove(thread)
                if phone.screen["name"] == "thread":
                    phone.pop()
                phone.toast("Conversation deleted")
            case "search":
                phone.push("search", focus="query")
            case "call":
                phone.send(("phone/call", args[0]))
            case "add":
                phone.open("contacts", "edit", person=None, focus="name", fields={"phone": args[0]})
            case "details":
                person = person_of(phone, args[0])
                if person:
                    phone.open("contacts", "person", person=person["id"])

    def _open(self, phone: Phone, number: str, push: bool = True) -> None:
        if push:
            phone.push("thread", number=number)
        phone.screen["scroll"]["list"] = END
        thread = _thread(phone, number)
        if thread:
            thread["unread"] = 0

    def _send(self, phone: Phone, threads: list[Thread]) -> None:
        text, number = phone.text("text").strip(), phone.screen.get("number", "")
        if not text or not number:
            return
        thread = _thread(phone, number)
        if thread is None:
            if len(threads) >= MAX_THREADS:
                phone.toast("Storage is full. Delete some conversations.")
                return
            thread = {"id": phone.new_id(), "number": number, "unread": 0, "texts": []}
            threads.append(thread)
        if len(thread["texts"]) >= MAX_TEXTS:
            phone.toast("Storage is full. Delete some messages.")
            return
        sent = not phone.settings.get("airplane", False)
        thread["texts"].append(
            {"id": phone.new_id(), "text": text, "time": _format_moment(phone.clock), "mine": True, "sent": sent}
        )
        phone.set_text("text", "")
        phone.screen["scroll"]["list"] = END


def _format_moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")


def _when(phone: Phone, time: str) -> str:
    moment = datetime.fromisoformat(time)
    return phone.time_text(moment) if moment.date() == phone.clock.date() else phone.date_text(moment)


def _thread(phone: Phone, number: str) -> Thread | None:
    searched = digits(number) or number
    threads: list[Thread] = phone.data["messages"]["threads"]
    return next((t for t in threads if (digits(t["number"]) or t["number"]) == searched), None)


def _text(phone: Phone, number: str, text_id: int) -> dict[str, Any] | None:
    thread = _thread(phone, number)
    return next((text for text in thread["texts"] if text["id"] == text_id), None) if thread else None


def _name(phone: Phone, number: str) -> str:
    """Return the contact's name where the app may read the contacts, or else the number."""
    return title_of(phone, number) if readable(phone, "messages") else number


def _short(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= SNIPPET else line[: SNIPPET - 1].rstrip() + "…"


def _threads(phone: Phone, screen: Screen) -> Widget:
    threads: list[Thread] = phone.data["messages"]["threads"]
    latest = sorted(threads, key=lambda t: (t["texts"][-1]["time"] if t["texts"] else "", t["id"]), reverse=True)

    def line(thread: Thread) -> Widget:
        last = thread["texts"][-1] if thread["texts"] else None
        summary = "" if last is None else ("You: " if last["mine"] else "") + _short(last["text"])
        when = "" if last is None else _when(phone, last["time"])
        return widgets.item(
            _name(phone, thread["number"]),
            ("messages/open", thread["number"]),
            detail=summary,
            hold=("messages/hold", thread["number"]),
            trailing=(widgets.label(when, width=240),),
            description=f"{thread['unread']} unread" if thread["unread"] else "",
        )

    rows = phone.ordered("threads", latest)
    return widgets.page(
        widgets.bar(
            "Messages",
            widgets.icon("Search messages", ("messages/search",)),
            widgets.more(("Mark all as read", ("messages/all_read",))),
            back=False,
        ),
        widgets.listing(screen, rows, line, end=230) if rows else widgets.empty("No conversations"),
        floating=widgets.floating("Start chat", ("messages/new",)),
    )


def _conversation(phone: Phone, screen: Screen) -> Widget:
    number: str = screen["number"]
    name, thread = _name(phone, number), _thread(phone, number)
    is_contact = person_of(phone, number) is not None
    about = ("Details", ("messages/details", number)) if is_contact else ("Add contact", ("messages/add", number))
    bubbles = [_bubble(phone, number, name, text) for text in (thread["texts"] if thread else ())]
    compose = row(
        widgets.gap(widgets.MARGIN),
        widgets.entry(screen, "text", "Text message", enter=("messages/send",), grow=1, height=150),
        widgets.icon("Send SMS", ("messages/send",)),
        height=widgets.ROW,
    )
    return widgets.page(
        widgets.bar(
            name,
            widgets.icon("Call", ("messages/call", number)),
            widgets.more(about, ("Delete", ("messages/ask_delete", number))),
        ),
        widgets.scrolling(*bubbles) if bubbles else widgets.empty(f"Texting with {name}"),
        bottom=compose,
    )


def _bubble(phone: Phone, number: str, name: str, text: dict[str, Any]) -> Widget:
    who, when = "You" if text["mine"] else name, _when(phone, text["time"])
    description = f"{who}, {when}" if text["sent"] else f"{who}, not sent. Tap to try again"
    on: dict[str, Message] = {"long": ("messages/hold_text", number, text["id"])}
    if not text["sent"]:
        on["click"] = ("messages/resend", number, text["id"])
    return widgets.paragraph(text["text"], description=description, on=on, flags=("focusable",))


def _recipients(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "to", "Type a name or phone number", enter=("messages/typed",), grow=1)
    query = field.field.value if field.field else ""
    top = row(widgets.icon("Navigate up", widgets.BACK), widgets.label("To", width=80), field, height=widgets.ROW)
    rows: list[Widget] = []
    if digits(query) and not query.strip(" +0123456789*#-()"):
        rows.append(widgets.item(f"Send to {query.strip()}", ("messages/to", query.strip())))
    if readable(phone, "messages"):
        people = [person for person in matching(phone.data["contacts"]["people"], query) if person["phone"]]
        rows += [
            widgets.item(person["name"], ("messages/to", person["phone"]), detail=person["phone"])
            for person in phone.ordered("recipients", people)
        ]
    return widgets.page(top, widgets.scrolling(*rows) if rows else widgets.empty("No contacts"))


def _search(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "query", "Search messages", grow=1)
    query = (field.field.value if field.field else "").strip().lower()
    top = row(widgets.icon("Navigate up", widgets.BACK), field, height=widgets.ROW)
    threads: list[Thread] = phone.data["messages"]["threads"]
    matches = [
        (thread["number"], text)
        for thread in threads
        for text in thread["texts"]
        if query and query in f"{_name(phone, thread['number'])}\n{text['text']}".lower()
    ]
    matches.sort(key=lambda hit: str(hit[1]["time"]), reverse=True)
    if not matches:
        return widgets.page(top, widgets.empty("No results" if query else "Search your messages"))
    return widgets.page(
        top,
        widgets.listing(
            screen,
            matches,
            lambda hit: widgets.item(_name(phone, hit[0]), ("messages/open", hit[0]), detail=_short(hit[1]["text"])),
        ),
    )


APP = MessagesApp()

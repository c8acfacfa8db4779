"""The notes app: texts and checklists, pinned and labelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, column, row

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_NOTES, MAX_ITEMS = 300, 200
SNIPPET = 40
ALL = "All"

Note = dict[str, Any]


class StatedItem(Strict):
    """One line of a checklist."""

    text: str
    done: bool = False


class StatedNote(Strict):
    """One note: a text, or a checklist if it has `items`."""

    title: str = ""
    text: str = ""
    items: tuple[StatedItem, ...] = ()
    label: str = ""
    pinned: bool = False


class NotesSetup(Strict):
    """Notes as a task states them, the one edited last first."""

    notes: tuple[StatedNote, ...] | None = None
    labels: tuple[str, ...] = Field(default=())


class NoteExamples(Strict):
    """Notes to draw from."""

    notes: tuple[StatedNote, ...]


class NotesApp(App):
    """The notes app: a list with search and labels, and an editor that saves while the user types."""

    id, title, package = "notes", "Notes", "com.google.android.keep"
    State, Defaults = NotesSetup, NoteExamples
    shares = ("text",)
    unseen = ("deleted",)

    def begin(self, stated: NotesSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated notes, or some of the scenario's."""
        if stated.notes is not None:
            stated_notes = stated.notes
        else:
            examples = scene.defaults.get("notes", ())
            stated_notes = tuple(
                StatedNote.model_validate(note) for note in scene.rng.sample(examples, min(6, len(examples)))
            )
        ids = iter(range(1, 100_000))
        notes = [
            {
                "id": next(ids),
                "title": note.title,
                "text": note.text,
                "list": bool(note.items),
                "items": [{"id": next(ids), "text": item.text, "done": item.done} for item in note.items],
                "label": note.label,
                "pinned": note.pinned,
            }
            for note in stated_notes
        ]
        labels = dict.fromkeys([*stated.labels, *(note.label for note in stated_notes if note.label)])
        # The note edited last is stored last, so that an edit moves a note to the end.
        return {"notes": notes[::-1], "labels": list(labels)}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return the list, or one note."""
        if screen["name"] == "note":
            note = _note(phone, screen["note"])
            return widgets.deleted_screen("This note was deleted") if note is None else _editor(screen, note)
        return _list(phone, screen)

    def initial_texts(self, phone: Phone, screen: Screen) -> Mapping[str, str]:
        """Return title and text of the note that is open."""
        note = _note(phone, screen["note"]) if screen["name"] == "note" else None
        return {} if note is None else {"title": note["title"], "text": note["text"]}

    def update(self, phone: Phone, message: Message) -> None:
        """Create, edit, tick, pin, label, share and delete notes."""
        what, *args = message
        notes: list[Note] = phone.data["notes"]["notes"]
        note = _note(phone, args[0]) if args else None
        match what.removeprefix("notes/"):
            case "new":
                self._new(phone, notes, {"list": args[0] == "list"})
            case "shared":
                self._new(phone, notes, {"text": str(args[1])})
            case "show":
                phone.replace("main", label=args[0])
            case "open" if note:
                phone.push("note", note=note["id"])
            case "typed" if note:
                note["title"] = phone.text("title")
                if not note["list"]:
                    note["text"] = phone.text("text")
                _touched(notes, note)
            case "add" if note:
                self._add(phone, notes, note)
            case "tick" if note:
                for entry in note["items"]:
                    if entry["id"] == args[1]:
                        entry["done"] = not entry["done"]
                        _touched(notes, note)
            case "hold_item" if note:
                number, entry = note["id"], args[1]
                phone.menu(("Edit", ("notes/ask_item", number, entry)), ("Delete", ("notes/drop_item", number, entry)))
            case "ask_item" if note:
                text = next((entry["text"] for entry in note["items"] if entry["id"] == args[1]), "")
                phone.ask_text("Edit item", text, ("notes/change_item", *args[:2]))
            case "change_item" if note:
                for entry in note["items"]:
                    if entry["id"] == args[1] and args[2].strip():
                        entry["text"] = args[2].strip()
                        _touched(notes, note)
            case "drop_item" if note:
                note["items"] = [entry for entry in note["items"] if entry["id"] != args[1]]
                _touched(notes, note)
            case "untick" if note:
                for entry in note["items"]:
                    entry["done"] = False
            case "pin" if note:
                note["pinned"] = not note["pinned"]
            case "ask_label" if note:
                labels = phone.data["notes"]["labels"]
                chosen = labels.index(note["label"]) if note["label"] in labels else len(labels)
                options = [*labels, "No label", "Create new label"]
                phone.choose("Label", options, chosen, ("notes/label", note["id"]))
            case "label" if note:
                self._label(phone, note, args[1])
            case "new_label" if note:
                name, labels = args[1].strip()[:40], phone.data["notes"]["labels"]
                if name:
                    note["label"] = name
                    if name not in labels:
                        labels.append(name)
            case "share" if note:
                phone.share(note_text(note))
            case "delete" if note:
                place = notes.index(note)
                notes.remove(note)
                phone.data["notes"]["deleted"] = [place, note]
                if phone.screen["name"] == "note":
                    phone.pop()
                phone.snack("Note deleted", "Undo", ("notes/restore",))
            case "restore":
                place, back = phone.data["notes"].pop("deleted", (0, None))
                if back is not None:
                    notes.insert(place, back)
            case "hold" if note:
                number = note["id"]
                pin = "Unpin" if note["pinned"] else "Pin"
                phone.menu(
                    (pin, ("notes/pin", number)),
                    ("Label", ("notes/ask_label", number)),
                    ("Send", ("notes/share", number)),
                    ("Delete", ("notes/delete", number)),
                )

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Delete a note that is empty when it is left."""
        note = _note(phone, screen["note"]) if screen["name"] == "note" else None
        if note is not None and not (note["title"].strip() or note["text"].strip() or note["items"]):
            phone.data["notes"]["notes"].remove(note)
            phone.pop()
            phone.toast("Empty note discarded")
            return True
        return False

    def _new(self, phone: Phone, notes: list[Note], values: dict[str, Any]) -> None:
        if len(notes) >= MAX_NOTES:
            phone.toast("Too many notes. Delete some first.")
            return
        label = phone.screen.get("label", ALL)
        note = {"id": phone.new_id(), "title": "", "text": "", "list": False, "items": [], "pinned": False, **values}
        note["label"] = label if label != ALL else ""
        notes.append(note)
        phone.push("note", note=note["id"], focus="item" if note["list"] else "text")

    def _add(self, phone: Phone, notes: list[Note], note: Note) -> None:
        text = phone.text("item").strip()
        if text and len(note["items"]) < MAX_ITEMS:
            note["items"].append({"id": phone.new_id(), "text": text, "done": False})
            phone.set_text("item", "")
            _touched(notes, note)

    def _label(self, phone: Phone, note: Note, chosen: int) -> None:
        labels = phone.data["notes"]["labels"]
        if chosen < len(labels):
            note["label"] = labels[chosen]
        elif chosen == len(labels):
            note["label"] = ""
        else:
            phone.ask_text("New label", "", ("notes/new_label", note["id"]))


def note_text(note: Note) -> str:
    r"""Return a note as text, as it is shared.

    >>> note_text({"title": "Bakery", "text": "", "items": [{"text": "Rye", "done": True}]})
    'Bakery\n[x] Rye'
    """
    items = [f"[{'x' if item['done'] else ' '}] {item['text']}" for item in note["items"]]
    return "\n".join(filter(None, (note["title"], note["text"], *items)))


def _note(phone: Phone, number: int) -> Note | None:
    notes: list[Note] = phone.data["notes"]["notes"]
    return next((note for note in notes if note["id"] == number), None)


def _touched(notes: list[Note], note: Note) -> None:
    if notes[-1] is not note:
        notes.remove(note)
        notes.append(note)


def _list(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "query", "Search your notes", grow=1)
    query = (field.field.value if field.field else "").strip().lower()
    chosen = screen.get("label", ALL)
    matches = [
        note
        for note in reversed(phone.data["notes"]["notes"])
        if chosen in (ALL, note["label"]) and query in f"{note_text(note)}\n{note['label']}".lower()
    ]
    matches.sort(key=lambda note: not note["pinned"])
    labels = [ALL, *phone.data["notes"]["labels"][:4]]
    chips = row(
        *(widgets.chip(label[:12], ("notes/show", label), label == chosen) for label in labels),
        gap=18,
        padding=(widgets.MARGIN, 0),
        height=150,
    )
    matches = phone.ordered("notes", matches)
    rows = (
        widgets.listing(screen, matches, _row, end=230)
        if matches
        else widgets.empty("No notes" if not query else "No matching notes")
    )
    top = row(widgets.gap(widgets.MARGIN), field, widgets.icon("New list", ("notes/new", "list")), height=widgets.ROW)
    return widgets.page(top, chips, rows, floating=widgets.floating("New text note", ("notes/new", "text")))


def _row(note: Note) -> Widget:
    if note["list"]:
        done = sum(item["done"] for item in note["items"])
        detail = f"{done} of {len(note['items'])} done"
    else:
        detail = _short(note["text"])
    title = note["title"] or ("List" if note["list"] else "Untitled")
    side = (widgets.label(note["label"][:12], width=290),) if note["label"] else ()
    return widgets.item(
        title,
        ("notes/open", note["id"]),
        detail=detail,
        hold=("notes/hold", note["id"]),
        trailing=side,
        description="Pinned" if note["pinned"] else "",
    )


def _short(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= SNIPPET else line[: SNIPPET - 1].rstrip() + "…"


def _editor(screen: Screen, note: Note) -> Widget:
    number = note["id"]
    typed = ("notes/typed", number)
    body: list[Widget] = [
        column(
            widgets.entry(screen, "title", "Title", initial=note["title"], changed=typed), padding=(widgets.MARGIN, 0)
        )
    ]
    if note["list"]:
        body += [_line(number, item) for item in note["items"]]
        body.append(
            row(
                widgets.gap(widgets.MARGIN),
                widgets.entry(screen, "item", "List item", enter=("notes/add", number), grow=1),
                widgets.icon("Add item", ("notes/add", number)),
                height=widgets.ROW,
            )
        )
    else:
        lines = max(6, note["text"].count("\n") + 2 + len(note["text"]) // 42)
        text = widgets.entry(
            screen, "text", "Note", initial=note["text"], multiline=True, changed=typed, height=lines * widgets.LINE
        )
        body.append(column(text, padding=(widgets.MARGIN, 0)))
    if note["label"]:
        body.append(widgets.item(note["label"], ("notes/ask_label", number), detail="Label"))
    pin = "Unpin" if note["pinned"] else "Pin"
    extra = (("Uncheck all items", ("notes/untick", number)),) if note["list"] else ()
    choices = (
        ("Label", ("notes/ask_label", number)),
        ("Send", ("notes/share", number)),
        *extra,
        ("Delete", ("notes/delete", number)),
    )
    return widgets.page(
        widgets.bar("", widgets.icon(pin, ("notes/pin", number)), widgets.more(*choices)), widgets.scrolling(*body)
    )


def _line(number: int, item: dict[str, Any]) -> Widget:
    widget = widgets.check_item(item["text"], item["done"], ("notes/tick", number, item["id"]))
    widget.on = {**widget.on, "long": ("notes/hold_item", number, item["id"])}
    return widget


APP = NotesApp()

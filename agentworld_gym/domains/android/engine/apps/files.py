"""The files app: folders and files that are opened, searched, moved, renamed, deleted and shared."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field, field_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.domains.android.engine.widgets import button, buttons, gap, icon, item, paragraph
from agentworld_gym.kit.gui import Message, Widget, row

MAX_ITEMS = 400
MAX_NAME = 60
_SORTS = (("name", "Name"), ("changed", "Modified (newest first)"), ("size", "Size (largest first)"))
Item = dict[str, Any]


class PhoneFile(Strict):
    """A file: its folder (empty for the top), name, size in kB, day of its last change, and text."""

    path: str = ""
    name: str = Field(min_length=1, max_length=MAX_NAME)
    size: int = Field(default=0, ge=0)
    changed: str = ""
    text: str = Field(default="", max_length=2000)

    @field_validator("changed")
    @classmethod
    def _day(cls, changed: str) -> str:
        if changed:
            datetime.strptime(changed, "%Y-%m-%d")
        return changed


class FilesState(Strict):
    """The files as a task states them; None is drawn. A folder is named by its path: `Documents/Invoices`."""

    folders: tuple[str, ...] | None = None
    files: tuple[PhoneFile, ...] | None = Field(default=None, max_length=MAX_ITEMS // 2)


class FilesFile(Strict):
    """The document `files.yaml`."""

    folders: tuple[str, ...] = Field(min_length=1)
    files: tuple[PhoneFile, ...] = Field(min_length=1)


class FilesApp(App):
    """The files app. Its `items` are folders and files, each with the id of its folder (0 for the top)."""

    id = "files"
    title = "Files"
    package = "com.google.android.apps.nbu.files"
    State = FilesState
    Defaults = FilesFile
    permissions = ("files",)
    shares = ("file",)

    def begin(self, stated: Any, scene: AppScene) -> dict[str, Any]:
        """Return folders and files."""
        items: list[Item] = []
        given = stated.files is not None
        folders = stated.folders if stated.folders is not None else () if given else scene.defaults["folders"]
        for path in folders:
            _folder(items, path, scene.now)
        files = [file.model_dump() for file in stated.files] if given else [dict(f) for f in scene.defaults["files"]]
        for file in files:
            days = scene.rng.randint(0, 60) if not given else 0
            changed = file.get("changed") or (scene.now - timedelta(days=days)).date().isoformat()
            size = file.get("size") or (scene.rng.randint(12, 4800) if not given else 1)
            inside = _folder(items, file.get("path", ""), scene.now)
            items.append(_made(len(items) + 1, inside, file["name"], False, size, changed, file.get("text", "")))
        return {"items": items, "sort": "name"}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return a folder, the search, one file, or the target folders of a move; empty without the permission."""
        if not phone.permitted("files", "files"):
            return widgets.page(widgets.bar("Files", back=False), widgets.empty("Files may not access your files"))
        view = {"search": _search, "file": _file, "move": _move}.get(screen["name"], _browse)
        return view(phone, screen)

    def on_open(self, phone: Phone) -> None:
        """Ask for the permission without which it shows nothing."""
        phone.ask_permission("files", ("files/allowed",))

    def back(self, phone: Phone, screen: Screen) -> bool:
        """End a selection before its folder is left."""
        if screen.get("chosen"):
            screen["chosen"] = []
            return True
        return False

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""
        name = message[0].partition("/")[2]
        act = _ACTS.get(name)
        if act is not None:
            act(phone, *message[1:])


def _made(number: int, inside: int, name: str, folder: bool, size: int, changed: str, text: str) -> Item:
    return {"id": number, "in": inside, "name": name, "folder": folder, "size": size, "changed": changed, "text": text}


def _folder(items: list[Item], path: str, now: datetime) -> int:
    """Return the id of a folder, which is made if it does not exist."""
    inside = 0
    for name in path.split("/") if path else ():
        record = next((row for row in items if row["folder"] and row["in"] == inside and row["name"] == name), None)
        if record is None:
            record = _made(len(items) + 1, inside, name, True, 0, now.date().isoformat(), "")
            items.append(record)
        inside = record["id"]
    return inside


def _items(phone: Phone) -> list[Item]:
    items: list[Item] = phone.data["files"]["items"]
    return items


def _item(phone: Phone, number: int) -> Item:
    return next((row for row in _items(phone) if row["id"] == number), _TOP)


_TOP: Item = _made(0, 0, "Files", True, 0, "", "")


def _path(phone: Phone, number: int) -> str:
    """Return the names of a folder and of those around it, from the top."""
    names = []
    while number:
        record = _item(phone, number)
        names.append(record["name"])
        number = record["in"]
    return " > ".join(["Files", *reversed(names)])


def _size(size: int) -> str:
    return f"{size} kB" if size < 1000 else f"{size / 1000:.1f} MB"


def _detail(phone: Phone, record: Item) -> str:
    if record["folder"]:
        count = sum(other["in"] == record["id"] for other in _items(phone))
        return f"{count} item{'' if count == 1 else 's'}"
    return f"{_size(record['size'])}, {phone.date_text(datetime.fromisoformat(record['changed']))}"


def _sorted(phone: Phone, rows: list[Item]) -> list[Item]:
    sort = phone.data["files"]["sort"]
    rows.sort(key=lambda record: (record["name"].casefold(), record["id"]))
    if sort != "name":
        rows.sort(key=lambda record: record[sort], reverse=True)
    rows.sort(key=lambda record: not record["folder"])
    return rows


def _browse(phone: Phone, screen: Screen) -> Widget:
    inside, chosen = screen.get("inside", 0), screen.get("chosen", [])
    rows = phone.ordered("files", _sorted(phone, [record for record in _items(phone) if record["in"] == inside]))
    sort = ("Sort by", ("files/ask_sort",))
    if chosen:
        one = [("Rename", ("files/ask_rename", chosen[0]))] if len(chosen) == 1 else []
        whole = ("Select all", ("files/all",))
        top = widgets.bar(
            f"{len(chosen)} selected",
            icon("Share", ("files/share", *chosen)),
            icon("Delete", ("files/ask_delete", *chosen)),
            widgets.more(("Move to", ("files/move", *chosen)), *one, whole),
            up="Close selection",
        )
    else:
        icons = icon("Search", ("files/search",)), widgets.more(("New folder", ("files/ask_folder", inside)), sort)
        top = widgets.bar(_item(phone, inside)["name"], *icons, back=bool(inside))
    if not rows:
        return widgets.page(top, widgets.empty("No items"))
    return widgets.page(top, widgets.listing(screen, rows, lambda record: _line(phone, record, chosen)))


def _line(phone: Phone, record: Item, chosen: list[int]) -> Widget:
    number = record["id"]
    touch: Message = ("files/choose", number) if chosen else ("files/open", number)
    flags = ("selected",) if number in chosen else ()
    return item(record["name"], touch, detail=_detail(phone, record), hold=("files/choose", number), flags=flags,
                leading=widgets.avatar("Folder" if record["folder"] else "File"))  # fmt: skip


def _search(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "query", "Search files", height=widgets.BAR)
    field.grow = 1
    query = phone.text("query").strip().casefold()
    matches = _sorted(phone, [row for row in _items(phone) if query and query in row["name"].casefold()])
    top = row(icon("Navigate up", widgets.BACK), field, gap(widgets.MARGIN), height=widgets.BAR)
    if not matches:
        return widgets.page(top, widgets.empty("No results" if query else "Search names"))
    return widgets.page(
        top,
        widgets.listing(
            screen, matches, lambda one: item(one["name"], ("files/open", one["id"]), detail=_path(phone, one["in"]))
        ),
    )


def _file(phone: Phone, screen: Screen) -> Widget:
    record = _item(phone, screen["shown"])
    number = record["id"]
    menu = widgets.more(("Rename", ("files/ask_rename", number)), ("Move to", ("files/move", number)),
                      ("Delete", ("files/ask_delete", number)))  # fmt: skip
    lines = [
        item("Folder", detail=_path(phone, record["in"])),
        item("Size", detail=_size(record["size"])),
        item("Modified", detail=phone.date_text(datetime.fromisoformat(record["changed"] or "2000-01-01"))),
    ]
    body = [paragraph(record["text"])] if record["text"] else []
    return widgets.page(
        widgets.bar(record["name"], icon("Share", ("files/share", number)), menu), widgets.scrolling(*body, *lines)
    )


def _move(phone: Phone, screen: Screen) -> Widget:
    """Show the folders to move to, without those that are moved themselves."""
    inside, moving = screen["inside"], screen["moving"]
    rows = [row for row in _items(phone) if row["in"] == inside and row["folder"] and row["id"] not in moving]
    ends = buttons(button("Cancel", ("files/stop_move",)), button("Move here", ("files/moved",)))
    picture = widgets.avatar("Folder")
    lines = [item(row["name"], ("files/into", row["id"]), leading=copy(picture)) for row in _sorted(phone, rows)]
    body = widgets.scrolling(*lines) if lines else widgets.empty("No folders")
    return widgets.page(widgets.bar(f"Move to {_item(phone, inside)['name']}"), body, ends)


def _open(phone: Phone, number: int) -> None:
    if _item(phone, number)["folder"]:
        phone.push("main", inside=number, chosen=[])
    else:
        phone.push("file", shown=number)


def _choose(phone: Phone, number: int) -> None:
    chosen = phone.screen.setdefault("chosen", [])
    if number in chosen:
        chosen.remove(number)
    else:
        chosen.append(number)


def _all(phone: Phone) -> None:
    inside = phone.screen.get("inside", 0)
    phone.screen["chosen"] = [row["id"] for row in _items(phone) if row["in"] == inside]


def _free(phone: Phone, inside: int, name: str, but: int = 0) -> bool:
    """Return whether a name is free in a folder, and tell the user where it is not."""
    taken = any(row["in"] == inside and row["name"] == name and row["id"] != but for row in _items(phone))
    if taken:
        phone.toast(f"{name} already exists")
    return not taken


def _named(phone: Phone, inside: int, name: str) -> None:
    name = name[:MAX_NAME].replace("/", "_")
    if len(_items(phone)) >= MAX_ITEMS:
        phone.toast("Not enough space")
    elif name and _free(phone, inside, name):
        _items(phone).append(_made(phone.new_id(), inside, name, True, 0, phone.clock.date().isoformat(), ""))


def _renamed(phone: Phone, number: int, name: str) -> None:
    record, name = _item(phone, number), name[:MAX_NAME].replace("/", "_")
    if name and _free(phone, record["in"], name, number):
        record["name"] = name
        phone.screen["chosen"] = []


def _deleted(phone: Phone, *numbers: int) -> None:
    gone = set(numbers)
    while more := {row["id"] for row in _items(phone) if row["in"] in gone} - gone:
        gone |= more
    phone.data["files"]["items"] = [row for row in _items(phone) if row["id"] not in gone]
    if phone.screen["name"] == "file":
        phone.pop()
    phone.screen["chosen"] = []
    phone.toast(f"{len(numbers)} item{'' if len(numbers) == 1 else 's'} deleted")


def _moved(phone: Phone) -> None:
    screen = phone.screen
    inside, moving = screen["inside"], screen["moving"]
    if all(_free(phone, inside, _item(phone, number)["name"], number) for number in moving):
        for number in moving:
            _item(phone, number)["in"] = inside
        _stop_move(phone)
        phone.screen["chosen"] = []
        phone.toast(f"Moved to {_item(phone, inside)['name']}")


def _stop_move(phone: Phone) -> None:
    while phone.screen["name"] == "move":
        phone.pop()


def _shared(phone: Phone, kind: str, content: str) -> None:
    """Store what another app shares in the first folder for downloads, or else at the top."""
    folder = next((row["id"] for row in _items(phone) if row["folder"] and row["name"] == "Downloads"), 0)
    if len(_items(phone)) < MAX_ITEMS and _free(phone, folder, content):
        name = content[:MAX_NAME]
        _items(phone).append(_made(phone.new_id(), folder, name, False, 1, phone.clock.date().isoformat(), ""))
        phone.toast("Saved to Downloads")


def _ask_delete(phone: Phone, *numbers: int) -> None:
    what = _item(phone, numbers[0])["name"] if len(numbers) == 1 else f"{len(numbers)} items"
    delete = ("Delete", ("files/deleted", *numbers))
    phone.confirm(f"Delete {what}?", "This cannot be undone.", ("Cancel", None), delete)


def _ask_sort(phone: Phone) -> None:
    at = [key for key, _ in _SORTS].index(phone.data["files"]["sort"])
    phone.choose("Sort by", [text for _, text in _SORTS], at, ("files/sort",))


_ACTS: dict[str, Callable[..., object]] = {
    "open": _open,
    "choose": _choose,
    "all": _all,
    "named": _named,
    "renamed": _renamed,
    "ask_delete": _ask_delete,
    "deleted": _deleted,
    "moved": _moved,
    "stop_move": _stop_move,
    "shared": _shared,
    "ask_sort": _ask_sort,
    "search": lambda phone: phone.push("search", focus="query"),
    "sort": lambda phone, at: phone.data["files"].update(sort=_SORTS[at][0]),
    "ask_folder": lambda phone, inside: phone.ask_text("New folder", "", ("files/named", inside), hint="Folder name"),
    "ask_rename": lambda phone, number: phone.ask_text(
        "Rename", _item(phone, number)["name"], ("files/renamed", number), hint="Name"
    ),
    "move": lambda phone, *numbers: phone.push("move", inside=0, moving=list(numbers)),
    "into": lambda phone, number: phone.push("move", inside=number, moving=list(phone.screen["moving"])),
    "share": lambda phone, *numbers: phone.share(", ".join(_item(phone, n)["name"] for n in numbers), "file"),
}

APP = FilesApp()

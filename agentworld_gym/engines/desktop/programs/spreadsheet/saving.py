"""How documents of the spreadsheet are opened, saved and closed; each function acts out one message."""

from __future__ import annotations

from agentworld_gym.engines.desktop.program import Desk, Window
from agentworld_gym.engines.desktop.programs.spreadsheet import document, file_formats
from agentworld_gym.engines.desktop.programs.spreadsheet.document import Book

TYPES = (".ods", ".csv", ".xlsx")


def ending(path: str) -> str:
    """The ending of a path, in small letters."""
    return "." + path.rpartition(".")[2].lower()


def new(desk: Desk, window: Window) -> None:
    """Open an empty document."""
    desk.launch("spreadsheet")


def open_document(desk: Desk, window: Window) -> None:
    """Ask for a document to open."""
    desk.choose_file(window, "Open", ("opened",), "open", _folder(window["data"]), TYPES)


def opened(desk: Desk, window: Window, path: str) -> None:
    """Open the document that was chosen."""
    desk.open_file(path)


def _folder(book: Book) -> str:
    return book["path"].rpartition("/")[0] or "/home/user/Documents"


def save(desk: Desk, window: Window, then: str = "", path: str = "") -> None:
    """Save; a text file asks first where it cannot hold everything. `then` may be `close`."""
    book = window["data"]
    path = path or book["path"]
    if not path:
        save_as(desk, window, then)
    elif ending(path) == ".csv" and _loses(book):
        desk.dialog(
            window,
            "Keep Current Format?",
            "This document may contain formatting or content that cannot be saved in the currently selected file "
            "format “Text CSV”.\nUse the default ODF file format to be sure that the document is saved correctly.",
            (("cancel", "Cancel"), ("odf", "Use ODF Format!"), ("keep", "Use Text CSV Format!")),
            ("format chosen", then, path),
        )
    else:
        _write(desk, window, path, then)


def _loses(book: Book) -> bool:
    return len(book["sheets"]) > 1 or any(
        sheet["formats"] or sheet["bold"] or any(entry.startswith("=") for entry in sheet["cells"].values())
        for sheet in book["sheets"].values()
    )


def format_chosen(desk: Desk, window: Window, then: str, path: str, pressed: str, *_: object) -> None:
    """Save once it is decided in which format."""
    if pressed == "keep":
        _write(desk, window, path, then)
    elif pressed == "odf":
        save_as(desk, window, then, path.rpartition(".")[0] + ".ods")


def save_as(desk: Desk, window: Window, then: str = "", path: str = "") -> None:
    """Ask where to save."""
    book = window["data"]
    suggested = path or book["path"] or f"{_folder(book)}/Untitled 1.ods"
    desk.choose_file(window, "Save As", ("save to", then), "save", suggested)


def save_to(desk: Desk, window: Window, then: str, path: str) -> None:
    """Save where it was chosen."""
    save(desk, window, then, path if "." in path.rpartition("/")[2] else path + ".ods")


def written(book: Book, path: str) -> str:
    """The text of a document in the format of a file's name: in `.csv` the sheet in front, as it looks."""
    if ending(path) != ".csv":
        return file_formats.write_ods(book["sheets"])
    cells = {document.named(*place): document.display(book, place) for place in document.values(book)[book["sheet"]]}
    return file_formats.write_csv(cells)


def differs(desk: Desk, book: Book) -> bool:
    """Whether a document was changed since it was saved, and would be written in another way than it was."""
    if not book["unsaved"]:
        return False
    path = book["path"]
    node = desk.files.nodes.get(path) if path else None
    return node is None or node.content != written(book, path)


def _write(desk: Desk, window: Window, path: str, then: str) -> None:
    book = window["data"]
    if desk.write_file(window, path, written(book, path)):
        book.update(path=path, unsaved=False)
        if then == "close":
            desk.close(window, ask=False)


def close(desk: Desk, window: Window) -> None:
    """Close the window, after a question where changes are unsaved."""
    desk.close(window)


def closing(desk: Desk, window: Window, pressed: str, *_: object) -> None:
    """Close, saving first or not, as it was answered."""
    if pressed == "discard":
        desk.close(window, ask=False)
    elif pressed == "save":
        save(desk, window, "close")

"""How documents of the spreadsheet are opened, saved and closed; each function acts out one message."""

from __future__ import annotations

from agentworld_gym.engines.desktop.program import DesktopServices, Window
from agentworld_gym.engines.desktop.programs.spreadsheet import document, file_formats
from agentworld_gym.engines.desktop.programs.spreadsheet.document import Book

TYPES = (".ods", ".csv", ".xlsx")


def ending(path: str) -> str:
    """The ending of a path, in small letters."""
    return "." + path.rpartition(".")[2].lower()


def new(desktop: DesktopServices, window: Window) -> None:
    """Open an empty document."""
    desktop.launch("spreadsheet")


def open_document(desktop: DesktopServices, window: Window) -> None:
    """Ask for a document to open."""
    desktop.choose_file(window, "Open", ("opened",), "open", _folder(window["data"]), TYPES)


def opened(desktop: DesktopServices, window: Window, path: str) -> None:
    """Open the document that was chosen."""
    desktop.open_file(path)


def _folder(book: Book) -> str:
    return book["path"].rpartition("/")[0] or "/home/user/Documents"


def save(desktop: DesktopServices, window: Window, then: str = "", path: str = "") -> None:
    """Save; a text file asks first where it cannot hold everything. `then` may be `close`."""
    book = window["data"]
    path = path or book["path"]
    if not path:
        save_as(desktop, window, then)
    elif ending(path) == ".csv" and _loses(book):
        desktop.dialog(
            window,
            "Keep Current Format?",
            "This document may contain formatting or content that cannot be saved in the currently selected file "
            "format “Text CSV”.\nUse the default ODF file format to be sure that the document is saved correctly.",
            (("cancel", "Cancel"), ("odf", "Use ODF Format!"), ("keep", "Use Text CSV Format!")),
            ("format chosen", then, path),
        )
    else:
        _write(desktop, window, path, then)


def _loses(book: Book) -> bool:
    return len(book["sheets"]) > 1 or any(
        sheet["formats"] or sheet["bold"] or any(entry.startswith("=") for entry in sheet["cells"].values())
        for sheet in book["sheets"].values()
    )


def format_chosen(desktop: DesktopServices, window: Window, then: str, path: str, pressed: str, *_: object) -> None:
    """Save once it is decided in which format."""
    if pressed == "keep":
        _write(desktop, window, path, then)
    elif pressed == "odf":
        save_as(desktop, window, then, path.rpartition(".")[0] + ".ods")


def save_as(desktop: DesktopServices, window: Window, then: str = "", path: str = "") -> None:
    """Ask where to save."""
    book = window["data"]
    suggested = path or book["path"] or f"{_folder(book)}/Untitled 1.ods"
    desktop.choose_file(window, "Save As", ("save to", then), "save", suggested)


def save_to(desktop: DesktopServices, window: Window, then: str, path: str) -> None:
    """Save where it was chosen."""
    save(desktop, window, then, path if "." in path.rpartition("/")[2] else path + ".ods")


def written(book: Book, path: str) -> str:
    """The text of a document in the format of a file's name: in `.csv` the sheet in front, as it looks."""
    if ending(path) != ".csv":
        return file_formats.write_ods(book["sheets"])
    cells = {document.named(*place): document.display(book, place) for place in document.values(book)[book["sheet"]]}
    return file_formats.write_csv(cells)


def differs(desktop: DesktopServices, book: Book) -> bool:
    """Whether a document was changed since it was saved, and would be written in another way than it was."""
    if not book["unsaved"]:
        return False
    path = book["path"]
    node = desktop.files.nodes.get(path) if path else None
    return node is None or node.content != written(book, path)


def _write(desktop: DesktopServices, window: Window, path: str, then: str) -> None:
    book = window["data"]
    if desktop.write_file(window, path, written(book, path)):
        book.update(path=path, unsaved=False)
        if then == "close":
            desktop.close(window, ask=False)


def close(desktop: DesktopServices, window: Window) -> None:
    """Close the window, after a question where changes are unsaved."""
    desktop.close(window)


def closing(desktop: DesktopServices, window: Window, pressed: str, *_: object) -> None:
    """Close, saving first or not, as it was answered."""
    if pressed == "discard":
        desktop.close(window, ask=False)
    elif pressed == "save":
        save(desktop, window, "close")

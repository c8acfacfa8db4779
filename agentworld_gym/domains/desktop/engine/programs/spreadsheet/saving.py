"""Opening, saving and closing of documents; each function acts on one message."""

from __future__ import annotations

from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, file_formats
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book

TYPES = (".ods", ".csv", ".xlsx")


def ending(path: str) -> str:
    """Return the ending of a path in lower case."""
    return "." + path.rpartition(".")[2].lower()


def new(desktop: DesktopServices, window: Window) -> None:
    """Open an empty document."""
    desktop.launch("spreadsheet")


def open_document(desktop: DesktopServices, window: Window) -> None:
    """Open the file chooser for a document."""
    desktop.choose_file(window, "Open", ("opened",), "open", _folder(window["data"]), TYPES)


def load_document(desktop: DesktopServices, window: Window, path: str) -> None:
    """Open the document that was chosen."""
    desktop.open_file(path)


def _folder(book: Book) -> str:
    return book["path"].rpartition("/")[0] or "/home/user/Documents"


def save(desktop: DesktopServices, window: Window, then: str = "", path: str = "") -> None:
    """Save the document; ask first where a text file cannot hold all of it. `then` may be `close`."""
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
    """Save the document once its format is decided."""
    if pressed == "keep":
        _write(desktop, window, path, then)
    elif pressed == "odf":
        save_as(desktop, window, then, path.rpartition(".")[0] + ".ods")


def save_as(desktop: DesktopServices, window: Window, then: str = "", path: str = "") -> None:
    """Open the file chooser for a path to save to."""
    book = window["data"]
    suggested = path or book["path"] or f"{_folder(book)}/Untitled 1.ods"
    desktop.choose_file(window, "Save As", ("save to", then), "save", suggested)


def save_to(desktop: DesktopServices, window: Window, then: str, path: str) -> None:
    """Save the document to the path that was chosen."""
    save(desktop, window, then, path if "." in path.rpartition("/")[2] else path + ".ods")


def document_text(book: Book, path: str) -> str:
    """Return the text of a document in the format of a file name; `.csv` holds the current sheet as it looks."""
    if ending(path) != ".csv":
        return file_formats.write_ods(book["sheets"])
    cells = {
        document.named(*place): document.displayed_at(book, place) for place in document.values(book)[book["sheet"]]
    }
    return file_formats.write_csv(cells)


def differs(desktop: DesktopServices, book: Book) -> bool:
    """Return whether a document was changed since it was saved, and its file would change too."""
    if not book["unsaved"]:
        return False
    path = book["path"]
    node = desktop.files.nodes.get(path) if path else None
    return node is None or node.content != document_text(book, path)


def _write(desktop: DesktopServices, window: Window, path: str, then: str) -> None:
    book = window["data"]
    if desktop.write_file(window, path, document_text(book, path)):
        book.update(path=path, unsaved=False)
        if then == "close":
            desktop.close(window, ask=False)


def close(desktop: DesktopServices, window: Window) -> None:
    """Close the window, after a question about unsaved changes."""
    desktop.close(window)


def closing(desktop: DesktopServices, window: Window, pressed: str, *_: object) -> None:
    """Close the window after the answer, saving first where that was chosen."""
    if pressed == "discard":
        desktop.close(window, ask=False)
    elif pressed == "save":
        save(desktop, window, "close")

"""The listing of a folder window: its paths in order, and their names, kinds, sizes and times."""

from __future__ import annotations

from datetime import UTC, datetime

from agentworld_gym.domains.desktop.engine.filesystem import HOME, TRASH
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window

MAX_FOUND = 100
_KINDS = {
    ".txt": "Text",
    ".md": "Markdown",
    ".csv": "Spreadsheet",
    ".ods": "Spreadsheet",
    ".odt": "Document",
    ".pdf": "PDF document",
    ".png": "Image",
    ".jpg": "Image",
    ".py": "Program",
    ".sh": "Program",
    ".json": "Text",
    ".html": "Web page",
    ".mp3": "Audio",
    ".mp4": "Video",
    ".zip": "Archive",
}


def parent(path: str) -> str:
    """Return the folder of a path."""
    return path.rpartition("/")[0] or "/"


def title_of(folder: str) -> str:
    """Return the title of a folder's window."""
    if folder == "recent":
        return "Recent"
    return {HOME: "Home", TRASH: "Trash", "/": "Computer"}.get(folder, folder.rpartition("/")[2])


def kind_of(desktop: DesktopServices, path: str) -> str:
    """Return the kind of the file or folder at a path."""
    if desktop.files.is_folder(path):
        return "Folder"
    name = path.rpartition("/")[2]
    return _KINDS.get(name[name.rfind(".") :].lower(), "Text") if "." in name else "Text"


def size_of(desktop: DesktopServices, path: str) -> str:
    """Return the size of a file or folder as a list shows it."""
    node = desktop.files.node(path)
    if node.content is None:
        count = len(desktop.files.names(path))
        return f"{count} item" if count == 1 else f"{count} items"
    size = node.size
    return f"{size} bytes" if size < 1000 else f"{size / 1000:.1f} kB"


def time_of(desktop: DesktopServices, path: str) -> str:
    """Return the time of the last change as a list shows it."""
    changed = datetime.fromtimestamp(desktop.files.node(path).modified, UTC)
    if changed.date() == desktop.now.date():
        return f"{changed:%H:%M}"
    return f"{changed.day} {changed:%b}" if changed.year == desktop.now.year else f"{changed.day} {changed:%b %Y}"


def listed_paths(desktop: DesktopServices, window: Window) -> list[str]:
    """Return the paths that a window lists, in its order."""
    data = window["data"]
    folder, search = data["folder"], data["search"]
    files = desktop.files
    if search is not None and search.value.strip():
        query = search.value.strip().lower()
        start = HOME if folder in (TRASH, "recent") else folder
        paths = [
            path
            for path in sorted(files.within(start))
            if path != start
            and query in path.rpartition("/")[2].lower()
            and (data["hidden"] or "/." not in path[len(start) :])
        ][:MAX_FOUND]
    elif folder == "recent":
        return [path for path in desktop.recent if files.exists(path)]
    elif files.is_folder(folder):
        base = folder.rstrip("/")
        paths = [f"{base}/{name}" for name in files.names(folder) if data["hidden"] or not name.startswith(".")]
    else:
        return []
    sort, down = data["sort"], data["descending"]
    paths.sort(key=lambda path: path.rpartition("/")[2].lower(), reverse=down and sort == "name")
    if sort == "modified":
        paths.sort(key=lambda path: files.node(path).modified, reverse=down)
    elif sort == "size":
        paths.sort(key=lambda path: files.node(path).size, reverse=down)
    elif sort == "type":
        paths.sort(key=lambda path: kind_of(desktop, path), reverse=down)
    if folder != TRASH:
        paths.sort(key=lambda path: not files.is_folder(path))
    return paths

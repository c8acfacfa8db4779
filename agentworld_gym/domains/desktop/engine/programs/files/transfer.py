"""Moving and copying between folders, with a question before a file is replaced."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.desktop.engine.file_chooser import stem
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.files.listing import parent


def transfer(desktop: DesktopServices, window: Window, paths: list[str], folder: str, cut: bool) -> None:
    """Move or copy files into a folder, and ask before replacing one."""
    done = []
    for path in paths:
        name = path.rpartition("/")[2]
        target = f"{folder.rstrip('/')}/{name}"
        if not desktop.files.exists(path) or (cut and parent(path) == folder):
            continue
        if target == path:
            start = name[: stem(name)]
            target = desktop.files.free(f"{folder.rstrip('/')}/{start} (copy){name[len(start) :]}")
        elif desktop.files.exists(target):
            desktop.dialog(
                window,
                f"Replace file “{name}”?",
                "Another file with the same name already exists. Replacing it will overwrite its content.",
                (("cancel", "Skip"), ("rename", "Keep Both"), ("replace", "Replace")),
                ("conflict", path, target, cut),
            )
            continue
        if not _place(desktop, window, path, target, cut):
            break
        done.append(target)
    if folder == window["data"]["folder"]:
        window["data"]["selected"] = done


def resolve(desktop: DesktopServices, window: Window, path: str, target: str, cut: bool, button: str, _: Any) -> None:
    """Continue with one file after the question whether another one is to be replaced."""
    if button == "cancel" or not desktop.files.exists(path):
        return
    if button == "rename":
        target = desktop.files.free(target)
    elif desktop.files.exists(target) and not desktop.attempt(
        window, "The item could not be replaced", lambda: desktop.files.remove(target, tree=True)
    ):
        return
    _place(desktop, window, path, target, cut)


def _place(desktop: DesktopServices, window: Window, path: str, target: str, cut: bool) -> bool:
    change = desktop.files.move if cut else desktop.files.copy_to
    word = "moved" if cut else "copied"
    return desktop.attempt(window, f"“{path.rpartition('/')[2]}” could not be {word}", lambda: change(path, target))

"""Moving and copying between folders, with the question before something is replaced."""

from __future__ import annotations

from typing import Any

from agentworld_gym.engines.desktop.file_chooser import stem
from agentworld_gym.engines.desktop.program import Desk, Window
from agentworld_gym.engines.desktop.programs.files.listing import parent


def transfer(desk: Desk, window: Window, paths: list[str], folder: str, cut: bool) -> None:
    """Move or copy files into a folder; asks before it replaces one."""
    done = []
    for path in paths:
        name = path.rpartition("/")[2]
        target = f"{folder.rstrip('/')}/{name}"
        if not desk.files.exists(path) or (cut and parent(path) == folder):
            continue
        if target == path:
            start = name[: stem(name)]
            target = desk.files.free(f"{folder.rstrip('/')}/{start} (copy){name[len(start) :]}")
        elif desk.files.exists(target):
            desk.dialog(
                window,
                f"Replace file “{name}”?",
                "Another file with the same name already exists. Replacing it will overwrite its content.",
                (("cancel", "Skip"), ("rename", "Keep Both"), ("replace", "Replace")),
                ("conflict", path, target, cut),
            )
            continue
        if not _place(desk, window, path, target, cut):
            break
        done.append(target)
    if folder == window["data"]["folder"]:
        window["data"]["selected"] = done


def resolve(desk: Desk, window: Window, path: str, target: str, cut: bool, button: str, _: Any) -> None:
    """Carry on with one file after the question whether another one is to be replaced."""
    if button == "cancel" or not desk.files.exists(path):
        return
    if button == "rename":
        target = desk.files.free(target)
    elif desk.files.exists(target) and not desk.attempt(
        window, "The item could not be replaced", lambda: desk.files.remove(target, tree=True)
    ):
        return
    _place(desk, window, path, target, cut)


def _place(desk: Desk, window: Window, path: str, target: str, cut: bool) -> bool:
    change = desk.files.move if cut else desk.files.copy_to
    word = "moved" if cut else "copied"
    return desk.attempt(window, f"“{path.rpartition('/')[2]}” could not be {word}", lambda: change(path, target))

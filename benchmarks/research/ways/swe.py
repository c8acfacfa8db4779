"""Ways of the domain `swe`: other repairs than the expert's, with other tools, in another order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator

from agentworld_gym.core.screens.sight import ActionStream
from ways import swe_tasks
from ways.playing import Way, Ways, read
from ways.swe_calls import call, shell, text_of
from ways.swe_repairs import Repair, repaired, repairs_of

Change = Generator[str, str, None]
Changing = Callable[[str, str, str, str], Change]
"""The actions that replace a piece of a file: the path, its text, the wrong piece and the right one."""


def _package(screen: str) -> str:
    return next(name for name in re.findall(r"^\[DIR\] (\S+)$", screen, re.MULTILINE) if name not in ("tests", ".git"))


def with_edit(path: str, text: str, wrong: str, right: str) -> Change:
    """Replace the piece with the tool for that."""
    yield call("edit", file_path=path, old_string=wrong, new_string=right)


def with_the_whole_file(path: str, text: str, wrong: str, right: str) -> Change:
    """Write the whole file anew, with a comment more."""
    yield call("write_file", file_path=path, content=text.replace(wrong, right, 1) + "\n# Repaired.\n")


def with_python(path: str, text: str, wrong: str, right: str) -> Change:
    """Let a program replace the piece."""
    code = f"p = {path!r}; t = open(p).read(); open(p, 'w').write(t.replace({wrong!r}, {right!r}, 1))"
    yield shell(f"python - <<'END'\n{code}\nEND")


def with_a_here_document(path: str, text: str, wrong: str, right: str) -> Change:
    """Write the whole file in the shell."""
    yield shell(f"cat > {path} <<'END'\n{text.replace(wrong, right, 1).rstrip()}\nEND")


def with_a_patch(path: str, text: str, wrong: str, right: str) -> Change:
    """Try a wrong change, take it back, and then make the right one."""
    yield call("edit", file_path=path, old_string=wrong, new_string=f"{wrong}  # Here?")
    yield shell(f"git checkout -- {path}")
    yield call("edit", file_path=path, old_string=wrong, new_string=right)


def _change(
    instruction: str, screen: str, changing: Changing, backwards: bool = False
) -> Generator[str, str, list[str]]:
    """Repair all bugs, and return the paths from the root."""
    paths = []
    repairs = repairs_of(instruction)
    for repair in reversed(repairs) if backwards else repairs:
        path = yield from _one(instruction, screen, repair, changing)
        paths.append(path)
    return paths


def _one(instruction: str, screen: str, repair: Repair, changing: Changing) -> Generator[str, str, str]:
    inside = f"{_package(screen)}/{repair.file}"
    text = text_of((yield call("read_file", absolute_path=f"/repo/{inside}")))
    yield from changing(f"/repo/{inside}", text, *repaired(repair, instruction, text))
    return inside


def _noted_with_sed(paths: list[str]) -> ActionStream:
    lines = "\\n".join(f"- Fix {path}." for path in sorted(paths))
    yield shell(f"sed -i 's|^## Unreleased$|&\\n{lines}|' CHANGELOG.md")


def _noted_with_blank_lines(paths: list[str]) -> ActionStream:
    text = text_of((yield call("read_file", absolute_path="/repo/CHANGELOG.md")))
    lines = "\n".join(f"- Fix {path}." for path in sorted(paths))
    new = text.replace("## Unreleased\n", f"## Unreleased\n\n{lines}\n", 1)
    yield call("write_file", file_path="/repo/CHANGELOG.md", content=new if new.endswith("\n") else f"{new}\n")


def _noted_one_by_one(paths: list[str]) -> ActionStream:
    for path in sorted(paths, reverse=True):
        yield shell(f"sed -i '/^## Unreleased/a - Fix {path}.' CHANGELOG.md")


def repair_and_test(instruction: str, screen: str) -> ActionStream:
    """Repair by edits, the other bug first, and run the tests once."""
    paths = yield from _change(instruction, screen, with_edit, backwards=True)
    if "CHANGELOG" in instruction:
        yield from _noted_with_sed(paths)
    yield shell("python -m pytest -q")
    yield "finish"


def repair_in_the_shell(instruction: str, screen: str) -> ActionStream:
    """Repair by a program, without a look at the tests."""
    yield shell("git log --oneline; git status --short")
    paths = yield from _change(instruction, screen, with_python)
    if "CHANGELOG" in instruction:
        yield from _noted_one_by_one(paths)
    yield "finish"


def repair_by_writing(instruction: str, screen: str) -> ActionStream:
    """Write the files anew, and leave a test more in a file of its own."""
    yield call("todo_write", todos=[{"id": "1", "content": "Repair", "status": "in_progress"}])
    paths = yield from _change(instruction, screen, with_the_whole_file)
    test = f"import {_package(screen)}\n\n\ndef test_it_can_be_imported():\n    assert {_package(screen)}.__all__\n"
    yield call("write_file", file_path="/repo/tests/test_import.py", content=test)
    if "CHANGELOG" in instruction:
        yield from _noted_with_blank_lines(paths)
    yield shell("python -m pytest -q tests")
    yield "finish"


def repair_after_a_wrong_turn(instruction: str, screen: str) -> ActionStream:
    """Change, take back, change, and look at what changed."""
    paths = yield from _change(instruction, screen, with_a_patch)
    if "CHANGELOG" in instruction:
        yield from _noted_one_by_one(paths)
    yield shell("git diff")
    yield shell("python -m pytest -q; find . -name __pycache__ -prune -exec rm -r {} +; rm -rf .pytest_cache")
    yield "finish"


def _message(instruction: str) -> str:
    return read(r'with the message "([^"]+)"', instruction)


def publish_by_adding(instruction: str, screen: str) -> ActionStream:
    """Pull by fetching and merging, add everything, and name the remote."""
    if "pull before" in instruction:
        yield shell("git fetch origin && git merge origin/main")
    yield from _change(instruction, screen, with_edit, backwards=True)
    yield shell("python -m pytest -q")
    yield shell(f"git add -A && git commit -m {json.dumps(_message(instruction))} && git push origin main")
    yield "finish"


def publish_with_rebase(instruction: str, screen: str) -> ActionStream:
    """Pull with a rebase, commit the paths, and push the head."""
    if "pull before" in instruction:
        yield shell("git pull --rebase")
    paths = yield from _change(instruction, screen, with_python)
    yield shell(f"git add {' '.join(paths)} && git commit -q -m '{_message(instruction)}'")
    yield shell("git push -q origin HEAD && git status")
    yield "finish"


def publish_from_a_branch(instruction: str, screen: str) -> ActionStream:
    """Work on a branch, merge it, and remove it."""
    if "pull before" in instruction:
        yield shell("git pull --ff-only origin main")
    yield shell("git checkout -q -b repair")
    yield from _change(instruction, screen, with_a_here_document)
    yield shell(f"git commit -qam '{_message(instruction)}'")
    yield shell("git checkout -q main && git merge -q repair && git branch -d repair")
    yield shell("git push")
    yield "finish"


def publish_and_amend(instruction: str, screen: str) -> ActionStream:
    """Commit under other words, and set them right before the push."""
    if "pull before" in instruction:
        yield shell("git pull")
    yield from _change(instruction, screen, with_the_whole_file)
    yield shell("git commit -am 'Work in progress'")
    yield shell(f"git commit --amend -m '{_message(instruction)}' && git push origin main:main")
    yield "finish"


REPAIRING: list[Way] = [repair_and_test, repair_in_the_shell, repair_by_writing, repair_after_a_wrong_turn]
KINDS = (
    "off_by_one",
    "wrong_operator",
    "missing_guard",
    "swapped_arguments",
    "stale_default",
    "wrong_exception",
    "broken_import",
    "lost_update",
)

WAYS: Ways = {
    **dict.fromkeys(KINDS, REPAIRING),
    "publish": [publish_by_adding, publish_with_rebase, publish_from_a_branch, publish_and_amend],
    **swe_tasks.WAYS,
}
"""Family, or id of a hand-written task, → its ways."""

"""Ways of the jobs of composed tasks of repositories: to repair, to note what was repaired, and to publish it."""

from __future__ import annotations

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Way, Ways, read
from ways.swe import Changing, with_a_here_document, with_a_patch, with_python
from ways.swe_calls import call, output_of, shell, text_of
from ways.swe_repairs import repaired, repairs_of

JOB = "job"
"""The name under which the ways of all jobs are found."""


def _repair(instruction: str, changing: Changing) -> ActionStream:
    (repair,) = repairs_of(instruction)
    package = read(r"In the package (\S+):", instruction)
    path = f"/repo/{package}/{repair.file}"
    text = text_of((yield call("read_file", absolute_path=path)))
    yield from changing(path, text, *repaired(repair, instruction, text))


def _repaired() -> ActionStream:
    """Return the paths of the code that was changed."""
    shown = output_of((yield shell("git diff --name-only -- '*.py'")))
    return sorted(line for line in shown.split() if line.endswith(".py"))


def _note_with_sed() -> ActionStream:
    for path in reversed((yield from _repaired())):
        yield shell(f"sed -i '/^## Unreleased/a - Fix {path}.' CHANGELOG.md")


def _note_with_an_edit() -> ActionStream:
    lines = "".join(f"- Fix {path}.\n" for path in (yield from _repaired()))
    yield call(
        "edit", file_path="/repo/CHANGELOG.md", old_string="## Unreleased\n", new_string=f"## Unreleased\n{lines}"
    )


def _note_with_the_whole_file() -> ActionStream:
    lines = "".join(f"\n- Fix {path}." for path in (yield from _repaired()))
    text = text_of((yield call("read_file", absolute_path="/repo/CHANGELOG.md"))).rstrip("\n")
    new = text.replace("## Unreleased", f"## Unreleased\n{lines}", 1)
    yield call("write_file", file_path="/repo/CHANGELOG.md", content=f"{new}\n")


def _published(instruction: str, *commands: str) -> ActionStream:
    message = read(r'with the message "([^"]+)"', instruction)
    for command in commands:
        yield shell(command.replace("MESSAGE", f"'{message}'"))


def with_patches(instruction: str, screen: str) -> ActionStream:
    """Change, take back and change; note with `sed`; commit by adding."""
    if "In the package" in instruction:
        yield from _repair(instruction, with_a_patch)
        yield shell("python -m pytest -q")
    elif "CHANGELOG" in instruction:
        yield from _note_with_sed()
        yield shell("git diff CHANGELOG.md")
    else:
        yield from _published(instruction, "git add -u && git commit -qm MESSAGE", "git push origin main")
    yield "finish"


def with_programs(instruction: str, screen: str) -> ActionStream:
    """Repair by a program; note with an edit; commit and push in one line."""
    if "In the package" in instruction:
        yield from _repair(instruction, with_python)
    elif "CHANGELOG" in instruction:
        yield from _note_with_an_edit()
    else:
        yield from _published(
            instruction, "git status --short; git commit -am MESSAGE && git push && git log --oneline"
        )
    yield "finish"


def with_whole_files(instruction: str, screen: str) -> ActionStream:
    """Write the files anew; commit under other words, and set them right before the push."""
    if "In the package" in instruction:
        yield from _repair(instruction, with_a_here_document)
    elif "CHANGELOG" in instruction:
        yield from _note_with_the_whole_file()
    else:
        yield from _published(
            instruction,
            "git commit -qam 'Work in progress'",
            "git commit --amend -m MESSAGE && git push -q origin HEAD",
        )
    yield "finish"


REPAIRING: list[Way] = [with_patches, with_programs, with_whole_files]
WAYS: Ways = {JOB: REPAIRING}
"""The ways of all jobs."""

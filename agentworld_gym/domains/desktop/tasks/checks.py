"""Checks on what a desktop shows, and the patterns in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentworld_gym.core.domain.task import Check, Expect
from agentworld_gym.core.tasks.patterns import literal


def answers(answer: str) -> Check:
    """Return a check on what follows `finish:`: a number, or names in any order."""
    if re.fullmatch(r"-?\d+(\.\d+)?", answer):
        return Check(answer=Expect(number=float(answer), tolerance=0.005))
    return Check(answer=Expect(items=tuple(part.strip() for part in answer.split(","))))


def sets(panel: str, *rows: str, weight: float = 1.0) -> Check:
    """Return a check on a panel of the settings; each row is a pattern of `is_switched`, `is_chosen` or `says`."""
    probe = f"subprocess.Popen(['gnome-control-center', {panel!r}])\ntime.sleep(3)"
    title = literal(panel)
    return Check(probe=probe, expect=Expect(matches=in_window(title, rows)), weight=weight)


def is_switched(switch: str, on: bool) -> str:
    """Return a pattern for the row of a switch that is on or off."""
    return rf'switch\t{literal(switch)}\t""\t\t{"checked" if on else ""}\t'


def is_chosen(choice: str) -> str:
    """Return a pattern for the row of a radio button that is chosen."""
    return rf'radio-button\t{literal(choice)}\t""\t\tchecked\t'


def says(role: str, name: str, text: str) -> str:
    """Return a pattern for the row of a combo box, slider or entry with its value."""
    return rf"{role}\t{literal(name)}\t{literal(text)}\t"


def in_window(title: str, rows: Iterable[str]) -> str:
    """Return a pattern for a window with a title and with some rows, in any order."""
    return rf"(?m)^frame\t{title}\t" + "".join(rf"(?=(?:.*\n(?!frame\t))*?.*\n{row})" for row in rows)


def look(copy: str, source: str, program: str) -> str:
    """Return a probe that writes what a Python expression yields to a file and opens that file in a program.

    Args:
        copy: The path of the file.
        source: The Python expression of a text.
        program: The command that opens the file, as Python code for its words.
    """
    return f"seen = {source}\nopen({copy!r}, 'w').write(seen)\nsubprocess.Popen([{program}, {copy!r}])\ntime.sleep(3)"


def shows_text(copy: str, source: str, text: str, weight: float) -> Check:
    """Return a check that a Python expression yields a text.

    Args:
        copy: The path of the file in which the text editor shows what the expression yields.
        source: The Python expression of a text.
        text: The text. One line break at its end may be missing, here or in what the expression yields. The screen
            writes a line break as a backslash and an `n`, and does not tell it from these two characters.
        weight: The weight of the check.
    """
    escaped = text.removesuffix("\n").replace("\n", "\\n").replace("\t", "\\t")
    if '"' in escaped:
        pattern = '"' + literal(escaped.replace('"', '""')) + r'(?:\\n)?"'
    else:
        pattern = literal(escaped) + r"(?:\\n)?" if escaped else r'(?:""|\\n)'
    name = copy.rpartition("/")[2]
    matches = in_window(rf"{literal(name)} \(~\) - gedit", [rf"text\t{literal(name)}\t{pattern}\t"])
    return Check(probe=look(copy, source, "'gedit'"), expect=Expect(matches=matches), weight=weight)

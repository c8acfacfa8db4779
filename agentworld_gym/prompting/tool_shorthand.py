r"""Answers of a coding assistant's tools in fewer words, for small models: what follows from the rest is left out.

The report of a command loses its last line where that is the process group which the lines before it give. A part of a
file and the lines that a search found lose the rules below their headings. `restore` gives back every text as it was.

>>> print(shorten("Showing lines 2-3 of 9 total lines.\n\n---\n\nx = 1\ny = 2"))
[lines 2-3 of 9]
x = 1
y = 2
"""

from __future__ import annotations

import re

from agentworld_gym.text.process_group import process_group

RAW = "\\\n"
"""Begins a text that is written out because its short form would not come back as it was."""

_PART = re.compile(r"\AShowing lines (\d+-\d+ of \d+) total lines\.\n\n---\n\n")
_SHORT_PART = re.compile(r"\A\[lines (\d+-\d+ of \d+)\]\n")
_MATCHES = re.compile(r"\A(Found \d+ match(?:es)? for pattern .*:)\n---\nFile: ")
_SHORT_MATCHES = re.compile(r"\A(Found \d+ match(?:es)? for pattern .*:)\nFile: ")
_REPORT = "Command: "
_NOTHING, _SHORT_NOTHING = "\nOutput: (none)\nError: ", "\nOutput: (empty)\nError: "
_GROUP = "\nProcess Group PGID: "
_LAST = re.compile(r"\nBackground PIDs: [^\n]*\Z")


def shorten(text: str) -> str:
    """Shorten an answer."""
    short = _short(text)
    return short if restore(short) == text else RAW + text


def restore(short: str) -> str:
    """Return the answer that a shortened one stands for: the inverse of `shorten`, defined for every text."""
    if short.startswith(RAW):
        return short.removeprefix(RAW)
    if short.startswith(_REPORT):
        report = short.replace(_SHORT_NOTHING, _NOTHING, 1)
        return f"{report}{_GROUP}{process_group(report)}" if _LAST.search(report) else report
    if _SHORT_PART.match(short):
        return _SHORT_PART.sub(r"Showing lines \1 total lines.\n\n---\n\n", short)
    return _SHORT_MATCHES.sub(r"\1\n---\nFile: ", short)


def _short(text: str) -> str:
    if text.startswith(_REPORT):
        report, _, group = text.rpartition(_GROUP)
        whole = report if group == str(process_group(report)) else text
        return whole.replace(_NOTHING, _SHORT_NOTHING, 1)
    return _MATCHES.sub(r"\1\nFile: ", _PART.sub(r"[lines \1]\n", text))

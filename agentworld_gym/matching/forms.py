"""Whether an observation has the form of its domain, and what of its form means nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from agentworld_gym.documents.plain_json import read_unique
from agentworld_gym.screens import GRAPHICAL, android, read_screen
from agentworld_gym.screens.sight import shows

LONGEST_PROMPT = 5_000
"""Characters at the end of a text in which a prompt is looked for, so that the cost stays bounded."""

_PROMPT = re.compile(r"(?P<who>[\w.-]+@[\w.-]+):[~/][^\n$#]*[$#] ?\n?\Z")
_HEADINGS = re.compile(r"(?m)^### [^\n]*")
_ENVELOPE = re.compile(
    r"(?m)^(?:Command|Directory|Output|Stdout|Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID):"
)
_NUMBERED = re.compile(r"(?m)^ *\d+[\t→]")
_HIT = re.compile(r"(?m)^\[(\d{1,4})\] \S+$")
_BLANKS = re.compile(r"(?<=\S) {2,}")
_EMPTY_LINES = re.compile(r"\n{3,}")


def normalised(domain: str, text: str) -> str:
    """A text without what means nothing, for a comparison.

    In every domain: the kind of line ends, blanks at the end of a line, runs of blanks within one (an indentation
    stays, and so do the tabs of a table), empty lines around the text and repeated ones within. In tools' answers also
    the order of keys and the spacing of JSON, in search also letter case.

    >>> normalised("terminal", "a   b \\r\\n\\n\\n\\n$ "), normalised("mcp", '{"b": 1,"a":2}')
    ('a b\\n\\n$', '{"a": 2, "b": 1}')
    """
    if domain == "mcp" and (value := _json(text)) is not None:
        return json.dumps(value[0], sort_keys=True, ensure_ascii=False)
    lines = (_BLANKS.sub(" ", line.rstrip()) for line in text.replace("\r\n", "\n").split("\n"))
    plain = _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
    return plain.casefold() if domain == "search" else plain


def is_valid(domain: str, predicted: str, truth: str, before: str = "") -> bool:
    """Whether a prediction has the form that is due where the truth stands, whatever it says.

    Due is: something, where the truth is something; a screen whose every line can be read, where the truth shows one;
    the same kind of JSON; the prompt of the same user and host at the end; the same labels of a tool's envelope;
    numbered lines; hits that count from 1.

    >>> truth = "dev@box:/srv$ pwd\\ndev@box:/srv$"
    >>> is_valid("terminal", "dev@box:~$ ls\\ndev@box:~$", truth), is_valid("terminal", "dev@box:~$ ls\\n", truth)
    (True, False)
    """
    if not predicted.strip() or not truth.strip():
        return not predicted.strip() and not truth.strip()
    if domain in GRAPHICAL:
        return _is_screen(domain, predicted, truth)
    if domain == "terminal":
        return _has_prompt(predicted, truth, before)
    if domain == "search":
        hits = _hits(predicted)
        in_order = all(number in (last + 1, 1) for last, number in zip([0, *hits], hits, strict=False))
        return in_order and bool(hits) == bool(_hits(truth))
    if domain == "swe":
        return _has_envelope(predicted, truth)
    due, found = _json(truth), _json(predicted)
    return due is None or (found is not None and type(found[0]) is type(due[0]))


def _is_screen(domain: str, predicted: str, truth: str) -> bool:
    if not shows(domain, truth):
        return not _HEADINGS.search(truth) or bool(_HEADINGS.search(predicted))
    if not shows(domain, predicted):
        return False
    return _readable(domain, predicted)


def _readable(domain: str, screen: str) -> bool:
    """Whether every line of a screen is an element of it, or something else that belongs there."""
    if domain == "web":
        return _snapshot_readable(screen)
    lines = {node.line for node in read_screen(domain, screen)}
    rows = screen.rstrip("\n").split("\n")
    head = android.head_of(screen) if domain == "android" else int(rows[0].startswith("tag\t"))
    return all(number in lines for number in range(head, len(rows)))


def _snapshot_readable(screen: str) -> bool:
    """Whether every item of the snapshot is a node, a property or a text, and its fence is closed."""
    _, start, rest = screen.partition("```yaml\n")
    if not start:
        return True
    body, end, after = rest.partition("\n```")
    items = [line for line in body.split("\n") if line.strip()]
    if not end or (after.strip() and not after.lstrip().startswith("### ")):
        return False
    if not all(line.lstrip(" ").startswith("- ") for line in items):
        return False
    properties = sum(line.lstrip(" ").startswith("- /") for line in items)
    return len(read_screen("web", screen)) + properties >= len(items)


def _has_prompt(predicted: str, truth: str, before: str) -> bool:
    due = _prompted(truth)
    return due is None or _prompted(predicted) in (due, _prompted(before) or due)


def _prompted(text: str) -> str | None:
    """The user and host of the prompt at the end of a text."""
    match = _PROMPT.search(text[-LONGEST_PROMPT:])
    return match["who"] if match else None


def _has_envelope(predicted: str, truth: str) -> bool:
    if truth.startswith("Command:"):
        return predicted.startswith("Command:") and _ENVELOPE.findall(predicted) == _ENVELOPE.findall(truth)
    return _NUMBERED.search(predicted) is not None or _NUMBERED.match(truth) is None


def _hits(text: str) -> list[int]:
    return [int(number) for number in _HIT.findall(text)]


def _json(text: str) -> tuple[Any] | None:
    """A JSON value, as the one item of a tuple; None where the text is none, or an object in it holds a key twice."""
    stripped = text.strip()
    if not stripped or stripped[0] not in "[{":
        return None
    try:
        return (read_unique(stripped),)
    except (ValueError, RecursionError):
        return None

r"""Screens in the words of small models: the snapshot of a page leaves out what follows from the lines before.

The references of a page count up from line to line. One is written only where it does not follow, and then as the step
from the last one, so that a change in the middle of a page leaves the lines behind it as they are. `restore` gives
back every text as it was. The elements of a phone have the lines of `phone_shorthand`.

>>> page = '### Snapshot\n```yaml\n- list [ref=e4]:\n  - link "Cart" [ref=e5] [cursor=pointer]\n  - text: 2\n```'
>>> print(shorten("web", page))
### Snapshot
```yaml
- list [ref=+4]:
  - link "Cart" [cursor=pointer]
  - text: 2
```
>>> restore("web", shorten("web", page)) == page
True
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agentworld_gym.prompting import phone_shorthand, tool_shorthand

_FENCE, _END = "```yaml", "```"
RAW = "\\"
"""Begins a line that is written out because its short form would not come back as it was."""

_REF = re.compile(r" \[ref=e([0-9]{1,6})\]")
_STEP = re.compile(r" \[ref=\+([0-9]{1,6})\]")
_HEAD = re.compile(r' *- [a-z]+(?: "(?:[^"\\]|\\.)*")?(?: \[(?!cursor)[^\]]*\])*')
_BARE = re.compile(r" *- (?:/|text\b|option\b|'|\")")
"""The beginnings of items that have no reference."""


def shorten(domain: str, observation: str) -> str:
    """Rewrite an observation: those of `web` and `android` line for line, and those of `swe` as a whole."""
    if domain == "swe":
        return tool_shorthand.shorten(observation)
    if domain == "android":
        return "\n".join(map(_phone_short, observation.split("\n")))
    return _each_line(observation, _short) if domain == "web" else observation


def restore(domain: str, short: str) -> str:
    """Return the observation that a shortened one stands for: the inverse of `shorten`, defined for every text."""
    if domain == "swe":
        return tool_shorthand.restore(short)
    if domain == "android":
        return "\n".join(map(_phone_long, short.split("\n")))
    return _each_line(short, _long) if domain == "web" else short


def _phone_short(line: str) -> str:
    known = phone_shorthand.short(line)
    return known if _phone_long(known) == line else RAW + line


def _phone_long(known: str) -> str:
    return known[len(RAW) :] if known.startswith(RAW) else phone_shorthand.whole(known)


def _each_line(text: str, turned: Callable[[str, int], tuple[str, str]]) -> str:
    """Rewrite the lines of the snapshots in a text; `turned` also gives the line by which references are counted."""
    lines, last, inside = text.split("\n"), 0, False
    for number, line in enumerate(lines):
        if line == _FENCE:
            inside, last = True, 0
        elif line == _END:
            inside = False
        elif inside:
            lines[number], whole = turned(line, last)
            if found := _REF.findall(whole):
                last = int(found[-1])
    return "\n".join(lines)


def _short(line: str, last: int) -> tuple[str, str]:
    found = _REF.findall(line)
    short = line
    if len(found) == 1:
        step = int(found[0]) - last
        short = _REF.sub("" if step == 1 else f" [ref=+{step}]", line) if step > 0 else line
    return (short if _long(short, last)[0] == line else RAW + line), line


def _long(line: str, last: int) -> tuple[str, str]:
    if line.startswith(RAW):
        whole = line[len(RAW) :]
    elif step := _STEP.search(line):
        whole = f"{line[: step.start()]} [ref=e{last + int(step[1])}]{line[step.end() :]}"
    elif _REF.search(line) or _BARE.match(line) or not (head := _HEAD.match(line)):
        whole = line
    else:
        whole = f"{head[0]} [ref=e{last + 1}]{line[head.end() :]}"
    return whole, whole

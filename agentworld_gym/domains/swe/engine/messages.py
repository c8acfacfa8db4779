"""Rewrites the sandboxed shell's messages in the words of `bash -c`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentworld_gym.domains.terminal.api import bash_output

_NUMBERED = re.compile(r"^bash: line (\d+): ", re.MULTILINE)
_BARE = re.compile(r"^bash: (?!line |-c)(?=.*: )", re.MULTILINE)
_QUOTES = "\"'`"


def printed(
    chunks: Sequence[tuple[str, str]], error: str, script: str, cwd: str, before: int
) -> tuple[str, bool | None]:
    """Return what a script printed, and whether it would run for ever (`None`: the wall clock stopped it).

    `before` is the number of lines that were put before the script; line numbers in messages are lowered by it.
    """
    numbers = [max(int(number) - before, 1) for _, text in chunks for number in _NUMBERED.findall(text)]
    text, stuck = bash_output(chunks, error, script, cwd)
    queue = iter(numbers)
    return _BARE.sub(lambda _: f"bash: line {next(queue, 1)}: ", text), stuck


def syntax_error(script: str, token: str) -> str:
    """Return bash's message about a script with a syntax error.

    >>> print(syntax_error("echo )", ")"), end="")
    bash: -c: line 1: syntax error near unexpected token `)'
    bash: -c: line 1: `echo )'
    """
    lines = script.rstrip("\n").split("\n")
    number = next((n for n, line in enumerate(lines, 1) if token in line), 1) if token != "newline" else len(lines)
    return (
        f"bash: -c: line {number}: syntax error near unexpected token `{token}'\n"
        f"bash: -c: line {number}: `{lines[number - 1]}'\n"
    )


def unfinished(script: str) -> str:
    """Return bash's message about a script that ends too early.

    >>> print(unfinished('echo "a'), end="")
    bash: -c: line 1: unexpected EOF while looking for matching `"'
    """
    opened, at, number = "", 0, 1
    line = 1
    while at < len(script):
        char = script[at]
        line += char == "\n"
        if char == "\\" and opened != "'":
            at += 1
        elif char == opened:
            opened = ""
        elif not opened and char in _QUOTES:
            opened, number = char, line
        at += 1
    if opened:
        return f"bash: -c: line {number}: unexpected EOF while looking for matching `{opened}'\n"
    return f"bash: -c: line {script.rstrip(chr(10)).count(chr(10)) + 2}: syntax error: unexpected end of file\n"

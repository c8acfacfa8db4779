"""The line that runs the tests of a repository, with the programs of this machine by their whole paths."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from agentworld_gym.base.errors import SpecError
from agentworld_gym.kit.live import Confinement

_QUOTED = r"""'[^']*'|"(?:\\.|[^"\\])*"|\\."""
_PROGRAM = re.compile(
    rf"(?P<quoted>{_QUOTED})"
    rf"|(?P<before>(?:^|[;&|(\n])\s*(?:\w+=(?:{_QUOTED}|[^\s'\"\\])*\s+)*)"
    r"(?P<program>[^\s;&|()<>$`'\"\\]+)(?=[\s;&|)]|\Z)",
    re.DOTALL,
)
"""What is quoted, or the first word of a command, behind the variables that it is given."""


def runnable(
    line: str, confinement: Confinement, folders: Sequence[Path], has: Callable[[str], bool], made: bool
) -> str:
    """Return a line of bash as it runs in a sandbox, which shows the installations of its programs.

    A program with a relative path is one of the repository, or lies below one of some folders of this machine. Any
    other is one of the sandbox, or the one that this user's own shell would run.

    Args:
        line: The line.
        confinement: How commands run.
        folders: The folders from which a relative path may count.
        has: Tells whether the repository has a file at a relative path.
        made: Whether a setup may make further programs there.

    Raises:
        SpecError: The line is none, or there is no such program as its first one.

    >>> from agentworld_gym.kit.live import LiveConfig
    >>> with Confinement(LiveConfig(), "my.yaml", Path(".")) as confinement:
    ...     runnable("cd src && LANG=C sh -c 'sh; sh'", confinement, (), lambda path: False, False)
    "cd src && LANG=C sh -c 'sh; sh'"
    """
    try:
        shlex.split(line)
    except ValueError as error:
        raise SpecError(confinement.file, "tests", line, f"a command line ({error})") from error
    own_words = _own_words()

    def whole(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        program = os.path.expanduser(found["program"])
        relative = "/" in program and not program.startswith("/")
        if program in own_words or (relative and has(program)):
            return found[0]
        places = [str(folder / program) for folder in folders] if relative else [program]
        place = next((one for one in places if confinement.found(one) is not None), None)
        if place is not None:
            confinement.show([place], "tests")
            return f"{found['before']}{shlex.quote(confinement.inside([place])[0])}"
        if found.start() or (relative and made):
            return found[0]
        raise SpecError(confinement.file, "tests", found["program"], "a program that is installed here")

    return _PROGRAM.sub(whole, line)


def _own_words() -> frozenset[str]:
    """Return the words that bash knows itself, such as `cd` and `if`."""
    told = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True).stdout
    return frozenset(told.split())

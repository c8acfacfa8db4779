"""What a shell knows beside the files: its variables, functions, options, history, and where it stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentworld_gym.core.engines import EngineError
from agentworld_gym.kit.live.box import SandboxBox

KEY = r"\e[7771~"
"""The key by which the shell writes down what it knows, as bash names it."""

DUMPED = b"\x1b[7771~"
"""The characters of that key."""

_DUMP = r"""
builtin printf %s "$?" >/dev/shm/.status
{ builtin printf %s "$PWD"; } >/dev/shm/.cwd
builtin declare -p >/dev/shm/.variables
{ builtin declare -f; builtin declare -fx; builtin alias -p; } >/dev/shm/.functions
{ builtin trap -p; builtin umask -p; builtin shopt -p; builtin set +o; } >/dev/shm/.options
builtin history -w /dev/shm/.history
builtin printf '\e]7771;A\a'
"""
"""What the shell does at that key."""

_NAMES = ("status", "cwd", "variables", "functions", "options", "history")

_OWN = re.compile(
    r"declare -\S+ (?:BASH\w*|SHELLOPTS|EUID|PPID|UID|DIRSTACK|FUNCNAME|GROUPS|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH\w*"
    r"|HISTCMD|_|READLINE_\w+|COMP_\w+|PIPESTATUS|SHLVL|PS0)(?:=|$)"
)
"""The variables that a shell sets itself."""


class ShellMemory(NamedTuple):
    """What a shell knows."""

    script: str
    """The lines that bring it back."""

    cwd: str
    """Its working directory."""

    status: int
    """The status of its last command."""


def dump_job() -> str:
    """Return the job that lays out what the shell does at the key."""
    return f"cat >/dev/shm/.dump <<'END OF DUMP'\n{_DUMP}\nEND OF DUMP\n"


def memory_of(box: SandboxBox) -> ShellMemory | None:
    """Return what a shell wrote down; None where that cannot be read.

    Raises:
        EngineError: The sandbox does not answer.
    """
    told = box.read([f"/dev/shm/.{name}" for name in _NAMES])
    if told is None:
        return None
    status, cwd, variables, functions, options, history = told
    if not status.isdigit():
        raise EngineError(f"the shell tells what is no status: {status[:80]!r}")
    script = "\n".join(
        [
            _kept(variables),
            functions,
            # A shell that reads its start keeps it in no history; the option would turn that on at once.
            f"{{ {options.replace('set -o history', ':')}\n}} 2>/dev/null",
            f"cat >|/dev/shm/.old <<'END OF HISTORY'\n{history}END OF HISTORY",
            "history -c; history -r /dev/shm/.old; rm -f /dev/shm/.old",
        ]
    )
    return ShellMemory(script, cwd, int(status))


def _kept(variables: str) -> str:
    """Return the declarations of a shell's variables without those that it sets itself.

    >>> _kept('declare -- a="1\\n2"\\ndeclare -ir UID="1000"\\ndeclare -x B="3"\\n')
    'declare -- a="1\\n2"\\ndeclare -x B="3"'
    """
    kept, keeps = list[str](), True
    for line in variables.split("\n"):
        if re.match(r"declare -\S+ \w+(?:=|$)", line):
            keeps = _OWN.match(line) is None
        if keeps and line:
            kept.append(line)
    return "\n".join(kept)

"""What a shell knows beside the files: its variables, functions, options, history, and where it stands."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from agentworld_gym.core.engines import EngineError
from agentworld_gym.kit.live.box import SandboxBox

KEY = r"\e[7771~"
"""The key by which the shell writes down what it knows, as bash names it."""

DUMPED = b"\x1b[7771~"
"""The characters of that key."""

PRESSED = r'''READLINE_MARK="$? ${PIPESTATUS[*]}|$_"; . /dev/shm/.dump; : "${READLINE_MARK#*|}"'''
"""The command of that key. The shell removes the variable, and its last argument and statuses are as they were."""

_DUMP = r"""
{ \builtin printf %s "$READLINE_MARK"; } >|/dev/shm/.status
{ \builtin printf %s "$PWD"; } >|/dev/shm/.cwd
\builtin declare -p >|/dev/shm/.variables
{ \builtin declare -f; \builtin declare -fx; \builtin alias -p; } >|/dev/shm/.functions
{ \builtin trap -p; \builtin umask -p; \builtin set +o; } >|/dev/shm/.options
\builtin shopt -p >|/dev/shm/.shopts
{ [[ ${#BASH_CMDS[@]} = 0 ]] || \builtin hash -l; } >|/dev/shm/.hashes
\builtin history -w /dev/shm/.history
{
  \builtin printf '%q ' "$0" "${!:-}" "$-" "${PS0-}" "$@"
  \builtin dirs -l -p; \builtin jobs -p; \builtin enable -n; \builtin complete -p; \builtin history
} >|/dev/shm/.more 2>&1 || \builtin :
\builtin printf '\e]7771;A\a'
"""
"""What the shell does then. The last file tells what another shell cannot be given."""

_NAMES = ("status", "cwd", "variables", "functions", "options", "shopts", "hashes", "history", "more", "dump")

_OWN = re.compile(
    r"declare -\S+ (?:BASH\w*|SHELLOPTS|EUID|PPID|UID|DIRSTACK|FUNCNAME|GROUPS|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH\w*"
    r"|HISTCMD|_|READLINE_\w+|COMP_\w+|PIPESTATUS|SHLVL|PS0)(?:=|$)"
)
"""The variables that a shell sets itself."""

_SHADOWS = re.compile(r"(?m)^(?:bind|builtin|command) \(\)")
"""The functions that would change what a shell does at its start."""


class ShellMemory(NamedTuple):
    """What a shell knows."""

    script: str
    """The lines that bring it back."""

    cwd: str
    """Its working directory."""

    last: str
    """The line that brings back the statuses of the last command, and its last argument."""

    more: str
    """What no line brings back."""


def dump_job() -> str:
    """Return the job that lays out what the shell does at the key."""
    return f"cat >/dev/shm/.dump <<'END OF DUMP'\n{_DUMP}\nEND OF DUMP\n"


def memory_of(box: SandboxBox) -> ShellMemory | None:
    """Return what a shell wrote down; None where that cannot be read, or another shell could not do it.

    Raises:
        EngineError: The sandbox does not answer.
    """
    told = box.read([f"/dev/shm/.{name}" for name in _NAMES])
    if told is None:
        return None
    mark, cwd, variables, functions, options, shopts, hashes, history, more, _ = told
    codes, _, argument = mark.partition("|")
    statuses = codes.split()[1:]
    if not statuses or not all(map(str.isdigit, codes.split())):
        raise EngineError(f"the shell tells what are no statuses: {codes[:80]!r}")
    if _SHADOWS.search(functions) or ("set -o errexit" in options and {*statuses} != {"0"}):
        return None
    script = "\n".join(
        [
            # What the history holds could be any line, also the end of a here-document.
            f"printf %s {shlex.quote(history)} >/dev/shm/.old",
            "history -c; history -r /dev/shm/.old; rm -f /dev/shm/.old",
            _kept(variables),
            shopts,
            "\n".join(sorted(hashes.split("\n"))),
            functions,
            # A shell that reads its start keeps it in no history; the option would turn that on at once.
            f"{{ {options.replace('set -o history', ':')}\n}} 2>/dev/null",
        ]
    )
    last = f"\\builtin : {shlex.quote(argument)}\n{' | '.join(f'(exit {status})' for status in statuses)}"
    return ShellMemory(script, cwd, last, more)


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

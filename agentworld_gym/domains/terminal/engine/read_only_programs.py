"""What programs that only read print of the files of a state: a library of filters, which changes nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import lru_cache
from typing import Any, NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.view import StructuredState, compact
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.terminal.engine.builtins.identity import ABSENT
from agentworld_gym.domains.terminal.engine.command_entry import CommandEntry
from agentworld_gym.domains.terminal.engine.command_line import CommandLine, command_line
from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.shell import Shell
from agentworld_gym.domains.terminal.engine.state import TerminalState
from agentworld_gym.domains.terminal.engine.structured_state import ANSWER, shell_of, variables_of, with_answer

_ASIDE = "/usr/.output"
"""Where a redirected output goes, beside the files of a state."""


class Printed(NamedTuple):
    """What a line of programs prints."""

    screen: str
    """What appears on the screen."""
    output: str
    """What goes into the file to which the output is redirected; empty where it is printed."""
    status: int = 0
    """The value of `$?` afterwards."""
    env: tuple[tuple[str, str], ...] = ()
    """The variables that a script has set, such as that of a loop."""


def printed(shown: StructuredState, line: CommandLine) -> Printed | None:
    """Return what a line prints whose programs only read; None for another line, and for one that never ends.

    Args:
        shown: A state of a terminal.
        line: The line; of `sed -i` it is what the same program without that option prints, as if into a file.

    Raises:
        SpecError, LookupError, TypeError, ValueError: The state is none of a terminal.
    """
    source = line.edits or (line.source if line.reads else None)
    if source is None:
        return None
    files = compact({key: value for key, value in shown.items() if key not in ANSWER})
    found = _run(files, source, bool(line.target or line.edits))
    return found._replace(screen=found.screen + found.output) if found is not None and line.shows else found


def words_of(shown: StructuredState, typed: Sequence[str]) -> list[str]:
    """Return the words that the shell makes of what is typed: with variables, patterns and the output of commands.

    >>> state = {"user": "dev", "host": "box", "home": "/home/dev", "clock": "2026-03-02T09:00:00", "cwd": "/srv"}
    >>> words_of({**state, "files": {"srv": {"in": {"a.txt": {"text": ""}}}}}, ["*.txt", "$HOME/x"])
    ['a.txt', '/home/dev/x']
    """
    if not typed:
        return []
    line = CommandLine((), f"printf '%s\\n' {' '.join(typed)}")
    found = printed(shown, line)
    return [] if found is None or found.status else found.output.split("\n")[:-1] or found.screen.split("\n")[:-1]


def answered(shown: StructuredState, asked: CommandEntry | None, observation: str) -> StructuredState:
    """Return a state with the answer to a command, from which the view prints the observation.

    Args:
        shown: The state after the command, without an answer.
        asked: The command; None where what was typed is no command.
        observation: The capture after it.
    """
    if asked is None or not asked.enters:
        return with_answer(shown, None, observation, None)
    line = None if asked.rest else command_line(asked.command)
    output = None
    if line is not None and line.is_filter:
        with suppress(SpecError, LookupError, TypeError, ValueError, RuntimeError, OSError):  # Its folder may be gone.
            output = printed(shown, line) if not (line.target or line.edits) else Printed("", "")
    return with_answer(shown, asked.line, observation, None if output is None else output.screen)


@lru_cache(maxsize=1024)
def is_program(name: str) -> bool:
    """Whether the shell knows a program, a builtin or a keyword of a name.

    >>> is_program("sort"), is_program("cd"), is_program("zsh")
    (True, True, False)
    """
    state = TerminalState.of({})
    script = f"{shlex.quote(name)} </dev/null\n"
    with closing(Shell.start(state, 0)) as shell, suppress(EngineError, RuntimeError, OSError):
        return not shell.run(EnteredScript(script, tuple(parse(script))), 0).text.endswith(": command not found\n")
    return True


@lru_cache(maxsize=1)
def programs() -> tuple[str, ...]:
    """Return the names of the programs that can be run, beside what bash brings.

    >>> {"sort", "jq"} <= set(programs()), "curl" in programs()
    (True, False)
    """
    with closing(Shell.start(TerminalState.of({}), 0)) as shell:
        names = {str(entry["name"]) for entry in shell.files.read_dir("/usr/bin")}
    return tuple(sorted(names - {":", "[", *ABSENT}))


@lru_cache(maxsize=128)
def _run(shown: str, source: str, aside: bool) -> Printed | None:
    """Run a line over a copy of the files; several looks at one state ask for it."""
    state: dict[str, Any] = json.loads(shown)
    first, end, document = source.partition("\n") if "<<" in source else (source, "", "")
    script = f"{first} > {_ASIDE}{end}{document}\n" if aside else f"{source}\n"
    try:
        commands = tuple(parse(script))
    except Unexpected as error:
        return Printed(f"bash: syntax error near unexpected token `{error}'\n", "", 2)
    except (Incomplete, TooDeep):
        return None
    with closing(shell_of(state)) as shell:
        try:
            outcome = shell.run(EnteredScript(script, commands), state.get("status", 0))
            shell.context.history.append(source)
            env = tuple(sorted(variables_of(shell).items() - state.get("env", {}).items()))
            output = bytes(shell.files.read_file(_ASIDE)) if aside else b""
        except (EngineError, RuntimeError, OSError, ValueError):
            return None
    if outcome.stuck or outcome.wakes is not None:
        return None
    return Printed(outcome.text, output.decode("utf-8", "replace"), outcome.status, env)

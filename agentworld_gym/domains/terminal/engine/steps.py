"""The commands of which a line consists, one after the other: those of a list, of the rounds of a loop, of `xargs`.

Which commands there are is read from the line and the files, as the names of files instead of a pattern are. What
a command does is not known here, and neither is whether it fails, which the state says.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.terminal.engine.command_entry import CommandEntry, first_entered
from agentworld_gym.domains.terminal.engine.command_line import command_line, script_reads
from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.read_only_programs import printed, words_of
from agentworld_gym.domains.terminal.engine.script_outline import choice_of, loop_of, outlined
from agentworld_gym.domains.terminal.engine.structured_state import bare_prompt, plain_terminal, shell_of

MOST = 24
"""The largest number of commands that one line, or one loop, is taken apart into."""
_XARGS = re.compile(r"(.+?)\|\s*xargs\s+(?:-r\s+)?(?:(-n\s?1)\s+|-I\s?(\S+)\s+)?(\w.*)", re.DOTALL)
_FOUND = re.compile(r"(find\s.+?)\s-exec\s++(.+)\s(\\;|';'|\+)", re.DOTALL)
_DELETED = re.compile(r"(find\s.*-type\s+f\b.*?)\s-delete", re.DOTALL)
_GROUP = re.compile(r"\{\s(.*?);?\s*\}", re.DOTALL)


class CommandStep(NamedTuple):
    """One command of a line, or an empty line."""

    command: str
    """The command; empty where there is none, so that nothing is left to predict."""
    link: str = ";"
    """What stands before it: `;`, `&&` or `||`."""
    line: str | None = None
    """The line of the screen on which it is typed; None where that is the line of the command before."""
    first: bool = False
    """Whether nothing was typed before it."""
    typed: str = ""
    """What stays on the line."""
    status: int | None = None
    """The value of `$?` where nothing is run and it changes."""
    sets: tuple[str, str] | None = None
    """The variable that the round of a loop sets, and its value."""
    part: bool = False
    """Whether it is one of several steps of a line."""
    pending: str = ""
    """The lines of a script that goes on."""


class Typed(NamedTuple):
    """What is typed after a line of the same action."""

    text: str


def steps_of(asked: CommandEntry) -> list[CommandStep | Typed]:
    """Return what keys enter: a line, and what is typed after it."""
    part = bool(asked.rest)
    line = asked.line if asked.enters else None
    step = CommandStep(asked.command, ";", line, True, asked.typed, asked.status, part=part, pending=asked.pending)
    return [step, *([Typed(asked.rest)] if part else [])]


def inner_steps(shown: StructuredState, step: CommandStep | Typed) -> Sequence[CommandStep | Typed] | None:
    """Return the steps of which a step consists in a state; None where it consists of no others.

    >>> from agentworld_gym.domains.terminal.engine.view import TerminalView
    >>> shown = TerminalView().begin({"files": {"/home/dev/a": "", "/home/dev/b": ""}}, seed=0)
    >>> [inner.command for inner in inner_steps(shown, CommandStep("mkdir d && cd d; ls"))]
    ['mkdir d', 'cd d', 'ls']
    >>> [inner.sets for inner in inner_steps(shown, CommandStep("for f in *; do cp $f $f.old; done"))]
    [('f', 'a'), ('f', 'b')]
    >>> inner_steps({**shown, "status": 1}, CommandStep("cd d", "&&"))
    ()
    """
    if isinstance(step, Typed):
        asked = first_entered(bare_prompt(shown), shown.get("typed", "") + step.text, shown.get("pending", ""))
        return () if asked is None else [_later(one) for one in steps_of(asked)]
    if (step.link == "&&" and shown.get("status", 0)) or (step.link == "||" and not shown.get("status", 0)):
        return ()
    if not step.command:
        return None
    if step.sets is not None:  # The variable of a round is set before its first command.
        return [step._replace(command="", part=True), CommandStep(step.command, part=True)]
    parts = _parts(shown, step.command)
    if parts is None:
        return None
    if not parts:
        return [step._replace(command="")]
    first, *others = parts
    return [first._replace(line=step.line, first=step.first, part=True), *others]


def _later(step: CommandStep | Typed) -> CommandStep | Typed:
    return step._replace(first=False) if isinstance(step, CommandStep) else step


def _parts(shown: StructuredState, command: str) -> list[CommandStep] | None:
    outline = outlined(command)
    if outline is None or outline.background or script_reads(command):
        return None
    if len(outline.pieces) > 1:
        return (
            [CommandStep(piece.text, piece.link) for piece in outline.pieces] if len(outline.pieces) <= MOST else None
        )
    if (loop := loop_of(command)) is not None and (line := command_line(command)) is None:
        words = words_of(shown, [loop.words])
        return [CommandStep(loop.body, sets=(loop.name, word)) for word in words] if len(words) <= MOST else None
    if (choice := choice_of(command)) is not None:
        return _chosen(shown, choice)
    if found := _GROUP.fullmatch(command):
        return [CommandStep(found[1])]
    line = command_line(command)
    if line is None or line.is_filter:
        return None
    commands = [*_handed(shown, command)]
    return [CommandStep(one) for one in commands] if 0 < len(commands) <= MOST else None


def _chosen(shown: StructuredState, choice: Any) -> list[CommandStep] | None:
    if not script_reads(choice.condition):
        return None
    line = command_line(choice.condition)
    found = None if line is None else printed(shown, line)
    if found is None:
        return None
    body = choice.otherwise if found.status else choice.then
    return [CommandStep(choice.condition), CommandStep(body) if body else CommandStep("", status=0)]


def _handed(shown: StructuredState, command: str) -> Iterator[str]:
    """Yield the commands to which `xargs` or `find` hands what is found."""
    if found := _XARGS.fullmatch(command):
        names, one, place, program = _lines(shown, found[1].strip(), words=not found[3]), found[2], found[3], found[4]
    elif found := _FOUND.fullmatch(command):
        names, one, place, program = _lines(shown, found[1]), found[3] != "+", "{}", found[2].rstrip()
    elif found := _DELETED.fullmatch(command):
        names, one, place, program = _lines(shown, found[1]), None, None, "rm"
    else:
        return
    if not names or (place and place not in program):
        return
    quoted = [shlex.quote(name) for name in names]
    if place and one is not False:
        yield from (program.replace(place, name) for name in quoted)
    elif place:
        yield program.replace(place, " ".join(quoted))
    else:
        yield from (f"{program} {name}" for name in (quoted if one else [" ".join(quoted)]))


def _lines(shown: StructuredState, reader: str, words: bool = False) -> list[str]:
    line = command_line(f"{reader} | cat") if script_reads(reader) else None
    found = None if line is None else printed(shown, line)
    if found is None or found.status:
        return []
    return found.screen.split() if words else found.screen.splitlines()


Act = Callable[[StructuredState, Any], StructuredState]
"""Returns the state after a step that consists of no others."""


def played(before: StructuredState, steps: Sequence[CommandStep | Typed], noted: Act) -> list[StructuredState] | None:
    """Run the steps of a line in a sandbox and return the state after each; None where one holds the screen.

    It splits recorded sessions into steps. No world plays in this way.

    Args:
        before: The state before the first step.
        steps: The steps.
        noted: The state with a step on its line.
    """
    states: list[StructuredState] = []
    try:
        with closing(shell_of(before)) as shell:
            status = int(before.get("status", 0))

            def run(state: StructuredState, step: CommandStep) -> StructuredState:
                nonlocal status
                asked = noted(state, step)
                if step.sets is not None:
                    _run(shell, f"{step.sets[0]}={shlex.quote(step.sets[1])}", status)
                if not step.command:
                    status = int(asked.get("status", 0))
                    return asked
                text, status = _run(shell, step.command, status)
                line = command_line(step.command)
                after = {**asked, **plain_terminal(shell)}
                after.pop("status", None)
                if text or (line is not None and line.is_filter):
                    after["said"] = text
                if status:
                    after["status"] = status
                states.append(after)
                return after

            stepped(before, steps, inner_steps, run)
    except (EngineError, SpecError, RuntimeError, OSError, LookupError, TypeError, ValueError):
        return None
    return states


def stepped(
    state: StructuredState,
    steps: Sequence[Any],
    inner: Callable[[StructuredState, Any], Sequence[Any] | None],
    act: Act,
) -> StructuredState:
    """Return the state after steps, each of which may consist of others.

    Raises:
        ValueError: There are too many steps.
    """
    rest, count = [*reversed(steps)], 0
    while rest:
        step = rest.pop()
        parts = inner(state, step)
        if parts is not None:
            rest.extend(reversed(parts))
            continue
        count += 1
        if count > 4 * MOST:
            raise ValueError("a line has too many commands")
        state = act(state, step)
    return state


def _run(shell: Any, command: str, status: int) -> tuple[str, int]:
    script = f"{command}\n"
    try:
        commands = tuple(parse(script))
    except (Incomplete, Unexpected, TooDeep) as error:
        raise ValueError("no script") from error
    shell.context.history.append(command)
    outcome = shell.run(EnteredScript(script, commands), status)
    if outcome.stuck or outcome.wakes is not None:
        raise ValueError("a program holds the screen")
    return outcome.text, outcome.status

"""`timeout`: it runs a program in an interpreter of its own, which ends when its virtual time is over.

That interpreter shares the files of the one that called it, and nothing else but what is exported, as a process does.
"""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import inf
from signal import Signals
from types import MappingProxyType

from bashkit import Bash, BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import CommandUsageError, hint, options
from agentworld_gym.domains.terminal.engine.builtins.date_sleep import LONGEST, seconds_of
from agentworld_gym.domains.terminal.engine.context import ShellContext
from agentworld_gym.domains.terminal.engine.host_files import names_host, replaced_host_files

_TIMED_OUT, _REFUSED, _CANNOT_RUN, _NOT_FOUND = 124, 125, 126, 127
_REFUSAL = re.compile(
    r"bash: (?:line \d+: )?(?P<name>.*?): "
    r"(?:command not found.*|(?P<why>Permission denied|No such file or directory))\n"
)
"""What the interpreter says where it cannot run a program."""
_WITH_VALUE = ("-k", "-s", "--kill-after", "--signal")
_LONG: Mapping[str, str] = MappingProxyType(
    {"foreground": "f", "kill-after=": "k", "preserve-status": "p", "signal=": "s", "verbose": "v"}
)
_DEEPEST = 4
"""How deep one `timeout` may run in another: each has an interpreter and a thread."""
_STACK = 64 << 20
"""The stack in bytes of such a thread."""
_ENDLESS = ("maximum command count", "maximum loop iterations", "output limit (10000 lines) exceeded")
"""What the interpreter says of a command that would never end."""
_STOPPED = ("execution timeout", "execution timed out", "request closed")
_CANCELLED = "execution cancelled\n"
_INPUT = "__input"
_OF_THE_SHELL = """
. : alias bg break builtin cd command continue declare dirs disown eval exec exit export fc fg getopts hash
history jobs let local logout mapfile popd pushd read readonly return set shift shopt source suspend times
trap type typeset ulimit umask unalias unset wait
"""
_NO_PROGRAMS = frozenset(_OF_THE_SHELL.split())
"""What a shell does by itself, so that there is no program of the name."""


@dataclass
class _Ended:
    """What an interpreter printed, in order, and how it ended."""

    chunks: list[tuple[str, str]] = field(default_factory=list)
    status: int = 1
    endless: bool = False


@dataclass(frozen=True)
class _Limit:
    """What a `timeout` was asked for."""

    seconds: float
    """For how long its program may run, in seconds; infinity for as long as it likes."""
    signal: Signals
    """What ends the program."""
    keeps_status: bool
    """Whether the status is that of the program even where its time was over."""
    tells: bool
    """Whether it says so when it ends the program."""
    words: Sequence[str]
    """The program and its arguments."""

    @property
    def status(self) -> int:
        """The status where the time was over."""
        ended = 128 + self.signal
        return ended if self.keeps_status or self.signal is Signals.SIGKILL else _TIMED_OUT


def timeout(context: ShellContext, call: BuiltinContext) -> BuiltinResult:
    """`timeout`: the virtual clock decides whether a program ends in time."""
    try:
        limit = _limit(call.argv)
    except CommandUsageError as usage:
        return usage.result
    if limit.words[0] in _NO_PROGRAMS:
        return _failed(limit.words[0], "No such file or directory", _NOT_FOUND)
    if len(context.shells) > _DEEPEST or context.interpreter is None:
        return BuiltinResult("", "timeout: fork system call failed: Resource temporarily unavailable\n", _REFUSED)
    until, kept = context.until, context.kept
    deadline = round(context.clock.now + limit.seconds, 6)
    own = deadline <= round(until, 6) and deadline < inf
    if own:
        context.until, context.kept = deadline, len(context.shells)
    ended = _run(context, call, limit.words)
    if ended.endless and context.wakes is None and not context.failure:
        context.sleep(min(max(deadline - context.clock.now, 0.0), LONGEST) + 1.0)
    context.until, context.kept = until, kept
    if context.wakes is not None:  # What an inner one printed was lost with the interpreter that called it.
        ended.chunks.extend(context.unshown)
        context.unshown = []
    if own and context.wakes is not None:
        context.wakes = None
        context.clock.mark()
        if limit.tells:
            name = limit.signal.name.removeprefix("SIG")
            ended.chunks.append(("", f"timeout: sending signal {name} to command '{limit.words[0]}'\n"))
        return _printed_result(context, ended, limit.status)
    if context.wakes is not None:
        context.wakes, context.unshown = min(context.wakes, deadline), ended.chunks
    errors = "".join(error for _, error in ended.chunks)
    refused = _REFUSAL.fullmatch(errors) if ended.status in (_CANNOT_RUN, _NOT_FOUND) else None
    if refused is not None and refused["name"] == limit.words[0]:
        return _failed(limit.words[0], refused["why"] or "No such file or directory", ended.status)
    return _printed_result(context, ended, ended.status)


def _printed_result(context: ShellContext, ended: _Ended, status: int) -> BuiltinResult:
    """Return what was printed, of which the sandbox forgets the order of the two streams."""
    out, errors = ("".join(chunk[stream] for chunk in ended.chunks) for stream in (0, 1))
    if out and errors:
        context.chunks[out, errors] = ended.chunks
    return BuiltinResult(out, errors, status)


def _limit(argv: Sequence[str]) -> _Limit:
    """Return what the words behind `timeout` ask for.

    Raises:
        Usage: They ask for nothing.

    >>> limit = _limit(["-s", "KILL", "1m", "ls", "-l"])
    >>> limit.seconds, limit.status, limit.words
    (60.0, 137, ['ls', '-l'])
    """
    place = 0
    while place < len(argv) and argv[place].startswith("-") and argv[place] != "--":
        place += 2 if argv[place] in _WITH_VALUE else 1
    flags, _ = options("timeout", list(argv[:place]), "fk:ps:v", _LONG, _REFUSED)
    given = list(argv[place + (argv[place : place + 1] == ["--"]) :])
    if len(given) < 2:
        raise CommandUsageError("Try 'timeout --help' for more information.\n", _REFUSED)
    chosen = dict(flags)
    for interval in (chosen.get("k", "0"), given[0]):
        if seconds_of(interval) is None:
            raise hint("timeout", f"invalid time interval '{interval}'", _REFUSED)
    signal = _signal(chosen.get("s", "TERM"))
    return _Limit(seconds_of(given[0]) or inf, signal, "p" in chosen, "v" in chosen, given[1:])


def _signal(name: str) -> Signals:
    try:
        return Signals(int(name)) if name.isdigit() else Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except (KeyError, ValueError):
        raise hint("timeout", f"'{name}': invalid signal", _REFUSED) from None


def _failed(name: str, why: str, status: int) -> BuiltinResult:
    return BuiltinResult("", f"timeout: failed to run command '{name}': {why}\n", status)


def _run(context: ShellContext, call: BuiltinContext, words: Sequence[str]) -> _Ended:
    """Run a program, until it ends or is left, in a thread: within a call the sandbox mounts nothing."""
    ended = _Ended()

    def work() -> None:
        try:
            _interpret(context, call, words, ended)
        except BaseException as error:
            context.fail(f"the sandbox gave up: {type(error).__name__}: {error}")

    usual = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    return ended


def _interpret(context: ShellContext, call: BuiltinContext, words: Sequence[str], ended: _Ended) -> None:
    assert context.interpreter is not None
    first, *others = words
    quoted = first.replace("'", "'\\''")
    script = f"'{quoted}' {shlex.join(others)}"
    given: dict[str, Callable[[BuiltinContext], str]] = {}
    if call.stdin is not None:
        typed = call.stdin
        script, given = f"{_INPUT} | {script}", {_INPUT: lambda _: typed}
    clock = context.clock
    head = f"RANDOM={context.random.randrange(1 << 15)}; EPOCHSECONDS={int(clock.now)}; "
    head += f"EPOCHREALTIME={clock.now:.6f}; SECONDS=0; "
    bash: Bash = context.interpreter(cwd=call.cwd, env=dict(call.env), more=given)
    bash.mount("/", call.fs)
    context.shells.append(bash.cancel)
    try:
        with replaced_host_files(bash, context) if names_host(script) else nullcontext():
            result = bash.execute_sync(head + script, lambda out, err: _tell(context, ended, out, err))
    finally:
        context.shells.pop()
    ended.status = result.exit_code
    error = result.error or ""
    ended.endless = ended.endless or any(limit in error for limit in _ENDLESS)
    if any(stopped in text for stopped in _STOPPED for text in (error, *(error for _, error in ended.chunks))):
        context.fail("a command did not end in time")


def _tell(context: ShellContext, ended: _Ended, out: str, error: str) -> None:
    if any(limit in error for limit in _ENDLESS):
        ended.endless, error = True, ""
    if error.endswith(_CANCELLED):
        error = ""
    ended.chunks.extend(context.chunks.pop((out, error), [(out, error)]))


COMMANDS = {"timeout": timeout}

"""The shell: it runs every command in a fresh process over the files of the episode."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from random import Random
from types import MappingProxyType, NoneType
from typing import Any

from bashkit import Bash, BashError, ExecutionProfile

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.base.text.envelope import Envelope, bounded
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine import disk, faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.episode_transfer import SeenParts, changed, packed, text_or_bytes, unpacked
from agentworld_gym.domains.swe.engine.file_operations import number_of
from agentworld_gym.domains.swe.engine.files import DiskFull, absolute, relative
from agentworld_gym.domains.swe.engine.programs import PROGRAMS, ProgramRun, programs
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.sandbox import NO_SANDBOX
from agentworld_gym.domains.swe.engine.results import Refused
from agentworld_gym.domains.swe.engine.state import HOME
from agentworld_gym.domains.terminal.api import (
    Incomplete,
    ShellContext,
    SimpleCommand,
    TooDeep,
    Unexpected,
    VirtualClock,
    bash_output,
    builtins,
    checked,
    clock_variables,
    is_safe_script,
    names_host,
    need_shell_files,
    only_the_engines_errors,
    parse,
    replaced_host_files,
    rewritten,
    run_isolated,
)

MAX_COMMANDS = 5_000
MAX_LOOPS = 50_000
LAST_RESORT_SECONDS = 15.0
_APART = f"{__name__}:done"
TERMINATED = 15
_OUTCOME: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "output": (str,),
        "error": (str,),
        "exit_code": (int, NoneType),
        "signal": (int, NoneType),
        "pids": (list,),
        "timeout": (int, NoneType),
    }
)
"""What a process apart tells of a command, with the kinds of it."""
_TIMED = re.compile(r"\b(?:ls|stat|find|date|tar|test|touch|cp|diff)\b|-nt\b|-ot\b")


def run(episode: RepositoryEpisode, arguments: Mapping[str, Any], folder: str, background: bool = False) -> Envelope:
    """Run a command, which may change the episode, and return what it did.

    Args:
        episode: The episode.
        arguments: The arguments of the call, with `command` and `timeout`.
        folder: The folder in which the command runs.
        background: Whether the command is left in the background.

    Raises:
        Refused: The arguments are wrong.
    """
    command = arguments.get("command")
    if not isinstance(command, str) or not command.strip():
        raise Refused("argument", problem="command must be a non-empty string")
    command = command.replace("\0", "").encode("utf-8", "replace").decode()
    timeout = number_of(arguments, "timeout", 1)
    directory = relative(folder, episode.root)
    place = "" if directory == "." else directory
    try:
        commands = parse(command + "\n")
    except Unexpected as error:
        return Envelope(command, place, syntax_error(command, str(error)), exit_code=2)
    except Incomplete:
        if "<<" not in command:
            return Envelope(command, place, unfinished(command), exit_code=2)
        commands = []
    except TooDeep:
        return Envelope(command, place, "bash: -c: line 1: maximum nesting level exceeded\n", exit_code=2)
    given: dict[str, Any] = {
        "command": command,
        "folder": folder,
        "place": place,
        "timeout": timeout,
        "background": background,
    }
    if is_safe_script(f"{command}\n", commands, PROGRAMS):
        return _run(episode, commands, **given)
    known = SeenParts()
    job = {"episode": packed(episode, known), "sandbox": episode.sandbox.name, "given": given}
    become, outcome = run_isolated(
        _APART, job, LAST_RESORT_SECONDS, partial(_came_back, episode, known, command, place)
    )
    become()
    return outcome


def done(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a command in an episode, in a process of its own; return the episode afterwards, and what came of it.

    Args:
        job: What `run` asks for.
    """
    given, name, known = job["given"], job["sandbox"], SeenParts()
    sandbox = NO_SANDBOX if name == NO_SANDBOX.name else open_sandbox(name)
    episode = unpacked(job["episode"], known, sandbox)
    try:
        commands = parse(given["command"] + "\n")
    except (Incomplete, TooDeep):
        commands = []
    try:
        outcome = _run(episode, commands, **given)
    except EngineError as error:
        return {"failed": str(error)}
    return {"episode": packed(episode, known), "outcome": {name: getattr(outcome, name) for name in _OUTCOME}}


def _came_back(
    episode: RepositoryEpisode, known: SeenParts, command: str, place: str, answer: Mapping[str, Any]
) -> tuple[Callable[[], None], Envelope]:
    """Return what makes the episode the one that came back, and what came of the command."""
    outcome = {name: checked(answer["outcome"][name], *kinds) for name, kinds in _OUTCOME.items()}
    for name in ("output", "error"):
        text_or_bytes(outcome[name])
    outcome["pids"] = [checked(pid, int) for pid in outcome["pids"]]
    return changed(episode, answer["episode"], known), Envelope(command, place, **outcome)


def folder_of(episode: RepositoryEpisode, directory: Any) -> str:
    """Return the folder in which a command runs; an absent one is the root of the repository.

    Raises:
        Refused: There is no such folder.
    """
    if directory is None or directory == "":
        return episode.root
    if not isinstance(directory, str) or "\0" in directory:
        raise Refused("argument", problem="directory must be a string")
    folder = absolute(directory.encode("utf-8", "replace").decode(), episode.root)
    if folder not in episode.files.folders and folder not in ("/", "/tmp", HOME):
        raise Refused("no directory", path=folder)
    return folder


def _run(
    episode: RepositoryEpisode,
    commands: list[SimpleCommand],
    *,
    command: str,
    folder: str,
    place: str,
    timeout: int | None,
    background: bool,
) -> Envelope:
    context = ShellContext(
        user="dev",
        host="box",
        home=HOME,
        clock=VirtualClock(float(episode.now)),
        random=Random(f"swe {episode.seed} {episode.step}"),
        modes=disk.modes_of(episode.files),
    )
    run = ProgramRun(episode, context, timeout)
    pids = _started(episode, commands, command, background)
    try:
        text, code = _executed(run, command, commands, folder)
    except DiskFull:
        return Envelope(command, place, "bash: line 1: write error: No space left on device", exit_code=1)
    except (BashError, RuntimeError, OSError, ValueError) as error:
        return Envelope(command, place, "", f"The shell gave up: {bounded(str(error), 200)}", signal=9)
    finally:
        failure = context.failure
        # Both refer to the shell, which no garbage collector would free then, with three open files each.
        context.files, context.shells, context.interpreter = None, [], None
    if failure:
        raise EngineError(failure)
    if background:
        if run.stopped:
            episode.processes = {**episode.processes, pids[-1]: command}
        return Envelope(command, place, text, exit_code=None if run.stopped else code, pids=pids)
    text = faults.cut(episode, text, "output", command, place)
    if run.stopped:
        stopped = f"Command timed out after {run.limit} ms."
        return Envelope(command, place, text, stopped, signal=TERMINATED, pids=pids, timeout=run.limit)
    return Envelope(command, place, text, exit_code=code, pids=pids)


def _executed(run: ProgramRun, command: str, commands: list[SimpleCommand], folder: str) -> tuple[str, int]:
    """Run a command, make its files those of the episode, and return what it printed and its exit status.

    Raises:
        DiskFull: the command wrote too much; the episode keeps its files.
        BashError: the shell gave up; errors of its disk are raised as well.
    """
    episode, context = run.episode, run.context
    bash = _shell(run, folder)
    context.shells, context.interpreter = [bash.cancel], partial(_interpreter, run)
    script = _without_sleepers(command, commands)
    if script != command:
        commands = parse(script + "\n")
    for simple in commands:
        simple.hidden = True  # without a terminal `ls` does not print columns
    clock = context.clock
    head = f"RANDOM={context.random.randrange(1 << 15)}\n" + clock_variables(command, clock.now, clock.start)
    if _TIMED.search(command):
        bash.execute_sync("\n".join(disk.times(episode)))
    bash.execute_sync("unset OLDPWD EPOCHSECONDS EPOCHREALTIME")
    chunks: list[tuple[str, str]] = []
    stands_in = replaced_host_files(bash, context) if names_host(command) else nullcontext()
    with deferred_interrupt(), stands_in, only_the_engines_errors():
        result = bash.execute_sync(
            head + rewritten(script, commands, context),
            lambda out, err: chunks.extend(_in_order(run, out, err)),
        )
    error = "" if run.stopped else result.error or ""
    text, stuck = printed(chunks, error, command, bash.shell_state().cwd, head.count("\n"))
    if stuck is None:  # the wall clock stopped it at an unknown point, so that nothing of it counts
        run.stopped = True
        return "", result.exit_code
    run.stopped = run.stopped or stuck
    if any(simple.words[:1] == ["mv"] for simple in commands):
        run.free.update(context.modes)
    refused = disk.take_back(episode, context.files, context.modes, run.free)
    if episode.history is not None and not disk.has_git(episode, context.files):
        episode.history = None
    text += "".join(f"bash: line 1: {relative(path, episode.root)}: Permission denied\n" for path in refused)
    return text, result.exit_code or int(bool(refused))


def _shell(run: ProgramRun, folder: str) -> Bash:
    context, episode = run.context, run.episode
    need_shell_files()
    with deferred_interrupt():
        bash = _interpreter(
            run,
            cwd=folder,
            env={**context.environment(), "TERM": "dumb", "PWD": folder},
            files=disk.texts_of(episode.files),
        )
    context.take_files(bash.fs())
    disk.fill(bash, episode)
    return bash


def _in_order(run: ProgramRun, out: str, err: str) -> list[tuple[str, str]]:
    chunks = run.context.chunks.pop((out, err), [(out, err)])
    return [piece for out, err in chunks for piece in ([("", err), (out, "")] if err in run.early else [(out, err)])]


def _interpreter(
    run: ProgramRun, *, more: Mapping[str, Callable[..., Any]] = MappingProxyType({}), **given: Any
) -> Bash:
    return Bash(
        username=run.context.user,
        hostname=run.context.host,
        max_commands=MAX_COMMANDS,
        max_loop_iterations=MAX_LOOPS,
        timeout_seconds=LAST_RESORT_SECONDS,
        profile=ExecutionProfile.Interactive,
        custom_builtins={**builtins(run.context), **programs(run), **more},
        **given,
    )


def _started(episode: RepositoryEpisode, commands: list[SimpleCommand], command: str, background: bool) -> list[int]:
    """Return numbers for the processes that a command leaves in the background; those that only sleep stay alive."""
    jobs = [simple for simple in commands if simple.background and simple.words]
    count = len(jobs) + background
    pids = [episode.next_pid + 7 * number for number in range(count)]
    episode.next_pid += 7 * count
    waiting = {pid: " ".join(job.words) for pid, job in zip(pids, jobs, strict=False) if job.words[0] == "sleep"}
    if waiting:
        episode.processes = {**episode.processes, **waiting}
    return pids


def _without_sleepers(command: str, commands: list[SimpleCommand]) -> str:
    """Return the command with `:` for every `sleep` in the background, which would hold up the rest."""
    for simple in reversed(commands):
        if simple.background and simple.words[:1] == ["sleep"]:
            start, end = simple.spans[0]
            command = f"{command[:start]}:{command[end:]}"
    return command


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

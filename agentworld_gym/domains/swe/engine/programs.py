"""The programs that the shell lacks: git, Python and its tools, and programs about processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.disk import has_git, read
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.program import run_git
from agentworld_gym.domains.swe.engine.pip import pip
from agentworld_gym.domains.terminal.api import LONGEST_SLEEP, ShellContext, sleep

PYTHON_SECONDS = 10.0
ON_PATH = (
    "awk basename bash cat chmod cp cut date diff dirname du echo env expr false file find git grep gzip head id ls "
    "mkdir mv nl od paste pip pip3 printf ps pwd pytest python python3 readlink rm rmdir sed seq sh sleep sort "
    "stat tac tail tar tee test touch tr true uname uniq wc which xargs"
)
"""The programs that `which` knows."""

USAGE = "usage: python [option] ... [-c cmd | -m mod | file | -] [arg] ...\n"
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass
class ProgramRun:
    """One command line while it runs: the episode, the shell's own clock, and how to stop it."""

    episode: RepositoryEpisode
    """The episode whose files the command sees."""
    context: ShellContext
    """The context of the shell."""
    timeout: int | None
    """The timeout that the caller asked for, in milliseconds."""
    stopped: bool = False
    """Whether the time ran out."""
    early: set[str] = field(default_factory=set)
    """What programs wrote to standard error before they wrote to standard output."""
    free: set[str] = field(default_factory=set)
    """The paths at which a file replaced another one, whatever the permissions of that one."""
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.context.clock.now

    @property
    def limit(self) -> int:
        """The time in milliseconds after which the command is stopped."""
        return self.timeout or faults.DEFAULT_TIMEOUT

    def hang(self, out: str = "", errors: str = "") -> BuiltinResult:
        """Let the command run until its time is over: that of `timeout`, if it is the first to be over."""
        if (self.context.until - self.started) * 1000 < self.limit:
            self.context.sleep(LONGEST_SLEEP)
        else:
            self.stopped = True
            self.context.stop()
        return BuiltinResult(out, errors, 143)


Program = Callable[[ProgramRun, BuiltinContext], str | BuiltinResult]


def programs(run: ProgramRun) -> dict[str, Callable[[BuiltinContext], str | BuiltinResult]]:
    """Return every program, bound to a running command line."""

    def bound(program: Program) -> Callable[[BuiltinContext], str | BuiltinResult]:
        return lambda call: program(run, call)

    return {name: bound(program) for name, program in PROGRAMS.items()}


def _git(run: ProgramRun, call: BuiltinContext) -> BuiltinResult:
    episode = run.episode
    files, _ = read(call.fs)
    start = episode.root + "/"
    work = {path[len(start) :]: text for path, (text, _) in files.items() if path.startswith(start)}
    if episode.history is None or not has_git(episode, call.fs):
        answer = run_git(GitCall(_nothing(), {}, episode.root, call.cwd, episode.now), call.argv, repository=False)
    else:
        before = dict(work)
        command = GitCall(
            episode.history, work, episode.root, call.cwd, episode.now, call.stdin or "",
            lambda: faults.reachable(episode),
        )  # fmt: skip
        answer = run_git(command, call.argv)
        _apply(call.fs, start, before, work)
        run.free.update(start + name for name in before.keys() | work.keys() if before.get(name) != work.get(name))
    errors = "".join(answer.errors)
    run.early.add(errors)
    return BuiltinResult("".join(answer.out), errors, answer.status)


def _nothing() -> Any:
    return None


def _apply(disk: Any, start: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Change the disk from one set of files to another."""
    for name in before.keys() - after.keys():
        disk.remove(start + name)
        folder = name.rpartition("/")[0]
        while folder and not disk.read_dir(start + folder):
            disk.remove(start + folder)
            folder = folder.rpartition("/")[0]
    for name, text in after.items():
        if before.get(name) != text:
            disk.mkdir((start + name).rpartition("/")[0], recursive=True)
            disk.write_file(start + name, text.encode("utf-8", "surrogateescape"))
            disk.chmod(start + name, 0o644)


def _python(run: ProgramRun, call: BuiltinContext) -> str | BuiltinResult:
    argv = list(call.argv)
    while (argv and argv[0] in ("-u", "-B", "-s", "-S", "-E", "-I", "-O", "-q")) or argv[:1] == ["-W"]:
        del argv[: 2 if argv[0] == "-W" else 1]
    if argv[:1] in (["-V"], ["--version"], ["-VV"]):
        return f"Python {run.episode.version}\n"
    if argv[:1] in (["-h"], ["--help"]):
        return USAGE
    if argv[:2] == ["-m", "pip"]:
        return pip(run.episode, argv[2:])
    if argv[:2] == ["-m", "venv"]:
        return _venv(argv[2:])
    if argv[:1] in ([], ["-"]):
        if call.stdin is None:
            return run.hang()
        return _executed(run, call, ["-c", call.stdin, *argv[1:]], stdin="", file_name="<stdin>")
    if argv[0] in ("-c", "-m") and len(argv) == 1:
        return BuiltinResult(
            "",
            f"Argument expected for the {argv[0]} option\n{USAGE}",
            2,
        )
    if argv[0] == "-i":
        return run.hang()
    if argv[0].startswith("-") and argv[0] not in ("-c", "-m") and argv[0][:2] not in ("-c", "-m"):
        return BuiltinResult(
            "",
            f"unknown option {argv[0]}\n{USAGE}Try `python -h' for more information.\n",
            2,
        )
    if argv[0][:2] in ("-c", "-m") and len(argv[0]) > 2:
        argv[:1] = [argv[0][:2], argv[0][2:]]
    return _executed(run, call, argv, call.stdin or "")


def _pytest(run: ProgramRun, call: BuiltinContext) -> str | BuiltinResult:
    return _executed(run, call, ["-m", "pytest", *call.argv], call.stdin or "")


def _executed(run: ProgramRun, call: BuiltinContext, argv: list[str], stdin: str, file_name: str = "") -> BuiltinResult:
    episode = run.episode
    on_disk = {path: text for path, (text, _) in read(call.fs)[0].items()}
    texts = faults.executed_texts(episode, on_disk, argv)
    readable = {path: text for path, text in texts.items() if is_text(text)}
    env = {name: value for name, value in call.env.items() if _ENV_NAME.fullmatch(name)}
    result = episode.sandbox.run(readable, argv, cwd=call.cwd, stdin=stdin, env=env, timeout_s=_seconds(run))
    for path, text in result.files.items():
        if (
            path.startswith("/")
            and readable.get(path) != text
            and not path.startswith(("/bin", "/dev", "/etc", "/proc", "/usr"))
        ):
            try:
                call.fs.mkdir(path.rpartition("/")[0] or "/", recursive=True)
                call.fs.write_file(path, text.encode("utf-8", "surrogateescape"))
            except (RuntimeError, OSError):
                continue
    errors = result.stderr.replace('File "<string>"', f'File "{file_name}"') if file_name else result.stderr
    if result.timed_out:
        return run.hang(result.stdout, errors)
    if faults.is_test_run(argv) and faults.is_stopped(episode, on_disk, run.timeout):
        lines = result.stdout.splitlines(keepends=True)
        return run.hang("".join(lines[: min(2, len(lines) // 2)]))
    return BuiltinResult(result.stdout, errors, result.exit_code)


def is_text(text: str) -> bool:
    """Return whether the content of a file is text, and not bytes."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text))


def _seconds(run: ProgramRun) -> float:
    """Return the number of real seconds that a program may run."""
    return max(min(PYTHON_SECONDS, run.limit / 1000), 0.5)


def _venv(argv: list[str]) -> BuiltinResult:
    name = next((word for word in argv if not word.startswith("-")), "ENV_DIR")
    return BuiltinResult(
        "The virtual environment was not created successfully because ensurepip is not\n"
        "available.  On Debian/Ubuntu systems, you need to install the python3-venv\n"
        "package using the following command.\n\n    apt install python3.11-venv\n\n"
        "You may need to use sudo with that command.  After installing the python3-venv\n"
        f"package, recreate your virtual environment.\n\nFailing command: {name}/bin/python3\n\n", "", 1
    )  # fmt: skip


def _pip(run: ProgramRun, call: BuiltinContext) -> BuiltinResult:
    return pip(run.episode, call.argv)


def _sleep(run: ProgramRun, call: BuiltinContext) -> str | BuiltinResult:
    answer = sleep(run.context, call)
    if (run.context.clock.now - run.started) * 1000 >= run.limit:
        return run.hang()
    return answer


def _pager(run: ProgramRun, call: BuiltinContext) -> str | BuiltinResult:
    """Print everything, as a pager without a terminal does."""
    return (
        _cat(call, [word for word in call.argv if not word.startswith(("-", "+"))]) if call.argv else call.stdin or ""
    )


def _top(run: ProgramRun, call: BuiltinContext) -> BuiltinResult:
    return BuiltinResult("", "top: failed tty get\n", 1)


def _cat(call: BuiltinContext, names: list[str]) -> BuiltinResult:
    out: list[str] = []
    errors: list[str] = []
    for name in names:
        path = name if name.startswith("/") else f"{call.cwd}/{name}"
        try:
            out.append(call.fs.read_file(path).decode("utf-8", "replace"))
        except (RuntimeError, OSError):
            errors.append(f"{name}: No such file or directory\n")
    return BuiltinResult("".join(out), "".join(errors), int(bool(errors)))


def _which(run: ProgramRun, call: BuiltinContext) -> BuiltinResult:
    names = [word for word in call.argv if not word.startswith("-")]
    paths = [f"/usr/bin/{name.rpartition('/')[2]}\n" for name in names if name.rpartition("/")[2] in ON_PATH.split()]
    return BuiltinResult("".join(paths), "", int(len(paths) < len(names) or not names))


def _kill(run: ProgramRun, call: BuiltinContext) -> BuiltinResult:
    errors = []
    processes = dict(run.episode.processes)
    for word in call.argv:
        number = word.lstrip("-")
        if word.startswith("-") and word == call.argv[0]:
            continue
        if not number.isdigit():
            errors.append(f"bash: kill: {word}: arguments must be process or job IDs\n")
        elif processes.pop(int(number[:9]), None) is None:
            errors.append(f"bash: kill: ({number}) - No such process\n")
    run.episode.processes = processes
    return BuiltinResult("", "".join(errors), int(bool(errors)))


def _ps(run: ProgramRun, call: BuiltinContext) -> str:
    rows = sorted(run.episode.processes.items())
    if call.argv and call.argv[0].lstrip("-").startswith(("a", "e", "f")):
        head = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
        return head + "".join(
            f"dev      {pid:>7}  0.0  0.0   7196  3712 ?        S    09:00   0:00 {command}\n"
            for pid, command in [(1, "/bin/sh"), *rows]
        )
    return "    PID TTY          TIME CMD\n" + "".join(
        f"{pid:>7} ?        00:00:00 {c.split()[0]}\n" for pid, c in rows
    )


PROGRAMS: dict[str, Program] = {
    "git": _git,
    "kill": _kill,
    "less": _pager,
    "more": _pager,
    "pip": _pip,
    "pip3": _pip,
    "ps": _ps,
    "pytest": _pytest,
    "py.test": _pytest,
    "python": _python,
    "python3": _python,
    "python3.11": _python,
    "sleep": _sleep,
    "top": _top,
    "which": _which,
}

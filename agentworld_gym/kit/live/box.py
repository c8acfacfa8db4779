"""A sandbox that stays: its first process answers jobs, and all that lies in it is gone with it.

Its files lie in memory, so that the kernel bounds them and nothing is left on a disk. The first process is a small
script of bash, which no process inside can end. It tells the files as an archive, and runs commands; who acts inside
could at most make it tell wrong files of its own.
"""

from __future__ import annotations

import base64
import fcntl
import os
import select
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import EngineError, Inspection, SystemLate, SystemLost
from agentworld_gym.kit.live.confinement import HOME, Confinement
from agentworld_gym.kit.live.file_archive import FileArchive
from agentworld_gym.kit.live.process_watch import end_tree, family_of, process_watch

_NAMES = f"{HOME[1:]} tmp"
"""The folders whose files are told."""

_UNREADABLE = 2
"""The status of `tar` where it cannot read a file."""

TIMED_OUT = -1
"""The status of a command that took too long."""

TOO_MUCH = -2
"""The status of a command that took too much memory, or too many processes."""

_STOPPED = (124, 137)
"""The statuses that `timeout` tells of a command that it ended; a command may end with them by itself as well."""

LAST_WORDS = 4000
"""How many bytes of the standard error of bubblewrap are kept."""

_PROGRAMS = ("bash", "base64", "setsid", "tar", "timeout")
"""What an image needs."""

_FIRST = r"""
exec {jobs}<&"$1" {answers}>&"$2" {archive}<&"$3"
eval "exec $1<&- $2>&- $3<&-"
if [ "$4" = 1 ]; then exec {terminal}<>/dev/console; else exec {terminal}</dev/null; fi
exec </dev/null >/dev/null 2>&1
umask 022
if [ "$5" ]; then ulimit -u "$5"; fi
if [ "$6" ]; then exec {channel}<&"$6"; eval "exec $6<&-"; fi
tell() { base64 -w0 >&$answers; printf '\n' >&$answers; }
if tar -C / -xpf - <&$archive 2>/dev/shm/.said; then s=0; else s=$?; fi
exec {archive}<&-
head -c 2000 /dev/shm/.said | tell
rm -f /dev/shm/.said
echo "$s" >&$answers
while IFS= read -r -u $jobs job; do
  eval "$(base64 -d <<<"$job")" || true
done
"""
"""The first process: it unpacks the archive behind a descriptor, and then does jobs, each a line of Base64."""

_FILES = r"""
tar -C / --one-file-system --sort=name -cf - {names} 2>/dev/null | base64 -w0 >&$answers
printf '\n%s\n' "${{PIPESTATUS[0]}}" >&$answers
"""

_OPEN = r"""
cd /
for round in {{1..64}}; do
  found=
  while IFS= read -r -d '' path; do
    stat --printf='%a %n\0' -- "$path" && chmod u+rwX -- "$path" && found=1
  done < <(find {names} -xdev \( -type f ! -readable -o -type d \( ! -readable -o ! -executable \) \) -print0)
  if [ -z "$found" ]; then break; fi
done | tell
echo 0 >&$answers
"""
"""Lets the owner read what it may not, folder by folder, and tells which permissions there were."""

_CLOSE = r"""
cd /
while read -r mode path; do printf -v path %b "$path" && chmod "$mode" -- "$path"; done <<<{modes}
printf '\n0\n' >&$answers
"""

_READ = r"""
s=0 gap=
for path in {paths}; do
  printf %s "$gap" >&$answers
  base64 -w0 "$path" >&$answers || s=1
  gap=' '
done
rm -f {paths}
printf '\n%s\n' "$s" >&$answers
"""

_ADD = r"""
base64 -d <<<'{archive}' | tar -C / -xpf - 2>/dev/shm/.said
s=${{PIPESTATUS[1]}}
head -c 2000 /dev/shm/.said | tell
rm -f /dev/shm/.said
echo "$s" >&$answers
"""

_RUN = r"""
out=/dev/shm/.out
if cd {cwd} 2>$out; then
  timeout --kill-after=1 {seconds} env -i {env} bash --noprofile --norc -c {command} \
    </dev/null >$out 2>&1 {{jobs}}<&- {{answers}}>&- {{terminal}}<&-
  s=$?
else
  s=1
fi
cd /
size=$(stat -c %s $out)
{{ if [ "$size" -le {most} ]; then cat $out; else
   head -c {half} $out; printf '\n[... %s bytes are left out ...]\n' $((size - 2 * {half})); tail -c {half} $out; fi
}} | tell
rm -f $out
echo "$s" >&$answers
"""


class Ran(NamedTuple):
    """What a command did."""

    status: int
    """Its exit status; `TIMED_OUT` where it took too long, and `TOO_MUCH` where a check took more than it may."""

    output: str
    """What it printed to either stream, without the middle of what is long."""


class SandboxBox:
    """A sandbox with files in memory: a home and /tmp.

    Args:
        confinement: How commands run.
        files: What lies in it at the start.
        image: The folder of a root file system, whose programs there are; None shows those of this machine.
        terminal: The descriptor of a terminal that it gets as /dev/console; None for none.
        channel: The descriptor of a socket that the first job finds as `$channel`, and closes; None for none.

    Raises:
        EngineError: It cannot be started, or the files do not fit.
    """

    def __init__(
        self,
        confinement: Confinement,
        files: FileArchive,
        image: Path | None = None,
        terminal: int | None = None,
        channel: int | None = None,
    ) -> None:
        self._confinement, self.limits = confinement, confinement.config.limits
        self._variables = confinement.variables()
        jobs, self._jobs = os.pipe()
        self._answers, answers = os.pipe()
        # Numbers below 10 are for the shell that opens the filter of system calls.
        jobs, answers, archive = map(_above, (jobs, answers, files.descriptor()))
        # The terminal is the standard output of bubblewrap, which shows it as /dev/console.
        plain = subprocess.DEVNULL if terminal is None else terminal
        numbers = [
            str(jobs),
            str(answers),
            str(archive),
            str(int(terminal is not None)),
            str(confinement.most_threads or ""),
            str(channel or ""),
        ]
        words = ["bash", "--noprofile", "--norc", "-c", _FIRST, "live", *numbers]
        try:
            self._process = subprocess.Popen(
                confinement.command(words, cwd="/", new_session=False, first=True, image=image),
                env=confinement.environment(),
                cwd="/",
                stdin=plain,
                stdout=plain,
                stderr=subprocess.PIPE,
                pass_fds=(jobs, answers, archive, *(() if channel is None else (channel,))),
                start_new_session=True,
            )
        except OSError as error:
            for number in (self._jobs, self._answers):
                os.close(number)
            raise EngineError(f"the sandbox cannot be started: {error}") from error
        finally:
            for number in (jobs, answers, archive):
                os.close(number)
        self._watched = process_watch().add(self._process.pid, self.limits)
        self._open = True
        os.set_blocking(self._answers, False)
        self._unread = b""
        try:
            unpacked = self._answer(self.limits.start_seconds)
        except BaseException:
            self.close()
            raise
        if unpacked.status:
            self.close()
            told = f"the files cannot be laid out (limits.disk_mb is {self.limits.disk_mb}): {unpacked.output.strip()}"
            raise EngineError(told)

    @property
    def alive(self) -> bool:
        """Whether it can go on."""
        return self._open and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process of bubblewrap."""
        return self._process.pid

    @cached_property
    def first(self) -> int:
        """The number that the first process inside has outside.

        Raises:
            SystemLost: There is none.
        """
        children = children_of(self._process.pid)
        if not children:
            raise SystemLost(f"the sandbox ended: {self.why}")
        return children[0]

    def inside(self) -> list[int]:
        """Return the numbers of the processes inside but the first one."""
        return [pid for pid in family_of(self.first) if pid != self.first]

    @property
    def why(self) -> str:
        """Why it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        said = ""
        if self._process.poll() is not None and self._process.stderr is not None and not self._process.stderr.closed:
            said = self._process.stderr.read(LAST_WORDS).decode("utf-8", "replace").strip()
        return "; ".join(part for part in (self._watched.broken, said) if part) or "its first process was ended"

    def files(self) -> FileArchive:
        """Return all that lies in its home and in /tmp.

        Raises:
            EngineError: It ended, or does not answer.
        """
        modes, told = dict[str, int](), self._packed()
        if told.status == _UNREADABLE:
            modes = self._opened()
            try:
                told = self._packed()
            finally:
                # Inner ones come first, before the folders around them are closed.
                lines = [f"{mode:o} {_escaped(path)}" for path, mode in reversed(modes.items())]
                self._do(_CLOSE.format(modes=shlex.quote("\n".join(lines))), self.limits.start_seconds)
        with suppress(ValueError):
            if told.status in (0, 1):  # 1 is a file that changed meanwhile.
                archive = FileArchive(base64.b64decode(told.encoded, validate=True))
                return archive.with_modes(modes) if modes else archive
        raise EngineError(f"the files of the sandbox cannot be told (tar ended with status {told.status})")

    def _packed(self) -> _Told:
        return self._do(_FILES.format(names=_NAMES), self.limits.start_seconds)

    def _opened(self) -> dict[str, int]:
        """Let the owner read what its permissions forbid, and return the permissions by path, outer folders first."""
        told = self._do(_OPEN.format(names=_NAMES), self.limits.start_seconds)
        parts = base64.b64decode(told.encoded).decode("utf-8", "surrogateescape").split("\0")
        return {path: int(mode, 8) for mode, _, path in (one.partition(" ") for one in parts) if path}

    def run(
        self, command: str, cwd: str = HOME, seconds: float | None = None, env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run a command in a clean shell.

        Args:
            command: The command.
            cwd: The folder in which it runs.
            seconds: How long it may take; None takes the limit of a step.
            env: Further variables.

        Raises:
            EngineError: The sandbox ended, or does not answer.
        """
        seconds = self.limits.step_seconds if seconds is None else seconds
        variables = {**self._variables, **(env or {})}
        most = 4 * self.limits.output_chars
        job = _RUN.format(
            cwd=shlex.quote(cwd),
            seconds=f"{seconds:.3f}",
            env=" ".join(shlex.quote(f"{name}={value}") for name, value in variables.items()),
            command=shlex.quote(command),
            most=most,
            half=most // 2,
        )
        began = time.monotonic()
        told = self._do(job, seconds + 5.0)
        late = told.status in _STOPPED and time.monotonic() - began >= seconds
        return Ran(TIMED_OUT if late else told.status, told.output)

    def judge(self, command: str, cwd: str = HOME) -> Ran:
        """Run the command of a check in a clean shell. What an agent left there may make it hang or take too much,
        which is a status and no error.

        Args:
            command: The command.
            cwd: The folder in which it runs.

        Raises:
            EngineError: The sandbox ended by itself, or does not answer.
        """
        try:
            done = self.run(command, cwd, self.limits.check_seconds)
        except SystemLost:
            if not self._watched.broken:
                raise
            return Ran(TOO_MUCH, self._watched.broken)
        except SystemLate:  # What it printed to cannot be read, as a pipe that was put there.
            done = Ran(TIMED_OUT, "")
        if done.status == TIMED_OUT:
            late = f"It took longer than {self.limits.check_seconds:g} s (limits.check_seconds)."
            return Ran(TIMED_OUT, f"{done.output}\n{late}".strip())
        return done

    def read(self, paths: Sequence[str]) -> list[str] | None:
        """Return the texts of some files, which are removed; None where one cannot be read.

        Raises:
            EngineError: The sandbox ended, or does not answer.
        """
        told = self._do(_READ.format(paths=" ".join(map(shlex.quote, paths))), self.limits.start_seconds)
        try:
            texts = [base64.b64decode(part).decode("utf-8", "surrogateescape") for part in told.encoded.split(b" ")]
        except ValueError:
            return None
        return None if told.status or len(texts) != len(paths) else texts

    def add(self, files: FileArchive) -> None:
        """Lay out further files.

        Raises:
            EngineError: They do not fit.
        """
        given = base64.b64encode(files.data).decode()
        told = self._do(_ADD.format(archive=given), self.limits.start_seconds)
        if told.status:
            raise EngineError(f"the files cannot be laid out: {told.output.strip()}")

    def check(self) -> None:
        """Make sure that it can go on.

        Raises:
            SystemLost: It ended.
        """
        if not self.alive:
            raise SystemLost(f"the sandbox ended: {self.why}")

    def begin(self, job: str) -> None:
        """Have the first process run a line of bash that it does not answer.

        Raises:
            SystemLost: It ended.
        """
        self.check()
        self._send(job)

    def _do(self, job: str, seconds: float) -> _Told:
        self.check()
        self._send(job)
        try:
            return self._answer(seconds)
        except BaseException:  # What comes later would be taken for the answer to the next job.
            self.close()
            raise

    def _send(self, job: str) -> None:
        data = base64.b64encode(job.encode("utf-8", "surrogateescape")) + b"\n"
        try:
            while data:
                data = data[os.write(self._jobs, data) :]
        except OSError as error:
            raise SystemLost(f"the sandbox ended: {self.why}") from error

    def _answer(self, seconds: float) -> _Told:
        """Return an answer: a line of Base64, and a line with a status.

        Raises:
            SystemLost: The sandbox ended.
            SystemLate: It did not answer in time.
        """
        until = time.monotonic() + seconds
        most = (2 * (self.limits.disk_mb << 20) + (1 << 20)) * 3 // 2
        parts, lines, size = [self._unread], self._unread.count(b"\n"), len(self._unread)
        while lines < 2:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, min(0.5, until - time.monotonic())))
            data = b""
            if ready:
                data = os.read(self._answers, 1 << 20)
                if not data:
                    raise SystemLost(f"the sandbox ended: {self.why}")
            elif not self.alive:
                raise SystemLost(f"the sandbox ended: {self.why}")
            elif time.monotonic() >= until:
                raise SystemLate(f"the sandbox took longer than {seconds:g} s")
            parts.append(data)
            lines += data.count(b"\n")
            size += len(data)
            if size > most:
                raise EngineError("the sandbox answers too much")
        encoded, status, self._unread = b"".join(parts).split(b"\n", 2)
        if not status.isdigit():
            raise EngineError(f"the sandbox answers what is no status: {status[:80]!r}")
        return _Told(int(status), encoded)

    def close(self) -> None:
        """End all processes inside; their files are gone with them. A second call does nothing."""
        if not self._open:
            return
        self._open = False
        if self._process.poll() is None:
            family = family_of(self._process.pid)
            end_tree(family)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        process_watch().remove(self._watched)
        if self._process.stderr is not None:
            self._process.stderr.close()
        for number in (self._jobs, self._answers):
            with suppress(OSError):
                os.close(number)


def after_setup(
    confinement: Confinement, files: FileArchive, setup: str | None, cwd: str, image: Path | None = None
) -> FileArchive:
    """Return what lies in a sandbox with some files after a command ran in it once.

    Args:
        confinement: How commands run.
        files: The files.
        setup: The command; None leaves the files as they are.
        cwd: The folder in which it runs.
        image: The folder of a root file system, whose programs there are; None shows those of this machine.

    Raises:
        EngineError: The files cannot be laid out, or the command fails.
    """
    if setup is None:
        return files
    box = SandboxBox(confinement, files, image)
    try:
        done = box.run(setup, cwd, confinement.config.limits.start_seconds)
        if done.status:
            raise EngineError(f"the setup {setup[:100]!r} {_why(done)}")
        return box.files()
    finally:
        box.close()


def begin_task(box: SandboxBox, there: FileArchive, files: Mapping[str, str], setup: str | None, cwd: str) -> bool:
    """Write the files of a task, run its setup, and return whether there was anything to do.

    Args:
        box: The sandbox.
        there: What it began with. Files that it holds already are not written, and others keep their permissions.
        files: Texts by path; relative paths begin in `cwd`.
        setup: A command; None runs none.
        cwd: The folder in which it runs.

    Raises:
        SpecError: A file cannot lie there, or the command fails.
        EngineError: The sandbox ended, or does not answer.
    """
    whole = {os.path.normpath(os.path.join(cwd, path)): text.encode("utf-8", "replace") for path, text in files.items()}
    entries = there.entries() if whole else ()
    held = {entry.path: entry for entry in entries if entry.kind == "file" and entry.path in whole}
    new = {
        path: (data, held[path].mode if path in held else 0o644)
        for path, data in whole.items()
        if path not in held or held[path].data != data
    }
    if new:
        try:
            box.add(FileArchive.of_files(new))
        except EngineError as error:
            box.check()
            expected = f"paths at which files can lie ({error})"
            raise SpecError("task state", "files", sorted(files), expected) from error
    if setup:
        done = box.run(setup, cwd, box.limits.start_seconds)
        if done.status:
            raise SpecError("task state", "setup", setup, f"a command that succeeds; it {_why(done)}")
    return bool(new or setup)


def _why(done: Ran) -> str:
    """Return how a command failed."""
    how = "took too long" if done.status == TIMED_OUT else f"ended with status {done.status}"
    said = done.output.strip()[-500:]
    return f"{how}: {said}" if said else how


class PreparedFiles:
    """What every session of a sandbox begins with: a copy of a folder after its setup, which is made once.

    Args:
        confinement: How commands run.
        folder: The folder; None begins with nothing.
        setup: The command that runs in the copy; None runs none.
        cwd: The folder inside where the copy lies, and in which the command runs.
        image: The folder of a root file system, whose programs there are; None shows those of this machine.
    """

    def __init__(
        self, confinement: Confinement, folder: Path | None, setup: str | None, cwd: str, image: Path | None = None
    ) -> None:
        self._confinement, self._folder, self._setup, self._cwd, self._image = confinement, folder, setup, cwd, image
        self._made: FileArchive | None = None
        self._lock = threading.Lock()

    def get(self) -> FileArchive:
        """Return the files.

        Raises:
            EngineError: The folder cannot be copied, or the setup fails.
        """
        with self._lock:
            if self._made is None:
                files, most = FileArchive.of({}), self._confinement.config.limits.disk_mb << 20
                if self._folder is not None:
                    try:
                        files = FileArchive.of_folder(self._folder, self._cwd, most)
                    except OSError as error:
                        raise EngineError(f"the folder cannot be copied: {error}") from error
                self._made = after_setup(self._confinement, files, self._setup, self._cwd, self._image)
            return self._made


def run_on_copy(
    confinement: Confinement, files: FileArchive, command: str, cwd: str, image: Path | None = None
) -> Inspection:
    """Run the command of a check in a clean shell over a copy of some files.

    Args:
        confinement: How commands run.
        files: The files.
        command: The command.
        cwd: The folder in which it runs.
        image: The folder of a root file system, whose programs there are; None shows those of this machine.

    Raises:
        EngineError: The files cannot be laid out, or the sandbox ended by itself.
    """
    box = SandboxBox(confinement, files, image)
    try:
        done = box.judge(command, cwd)
    finally:
        box.close()
    return Inspection(done.status == 0, done.output)


def _above(number: int) -> int:
    """Return a descriptor with a number of 10 or more instead of another one, which is closed."""
    if number >= 10:
        return number
    higher = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(number)
    return higher


class _Told(NamedTuple):
    status: int
    encoded: bytes

    @property
    def output(self) -> str:
        """The text of the answer.

        Raises:
            EngineError: It is none.
        """
        try:
            return base64.b64decode(self.encoded, validate=True).decode("utf-8", "replace")
        except ValueError as error:
            raise EngineError("the sandbox answers what is no text") from error


def _escaped(path: str) -> str:
    """Return a path as `printf %b` reads it back.

    >>> _escaped("a b/c.txt")
    'a\\\\0040b/c.txt'
    """
    data = path.encode("utf-8", "surrogateescape")
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"/._-" else f"\\0{byte:03o}" for byte in data
    )


def children_of(pid: int) -> list[int]:
    """Return the children of the first thread of a process; none where it has ended."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return list(map(int, file.read().split()))
    except (OSError, ValueError):  # Some kernels have no such file.
        return family_of(pid)[1:2]


def missing_programs(image: Path) -> Sequence[str]:
    """Return the programs that an image lacks."""
    folders = [image / name for name in ("bin", "usr/bin", "usr/local/bin")]
    return [name for name in _PROGRAMS if not any(os.path.lexists(folder / name) for folder in folders)]

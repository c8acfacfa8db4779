"""The modules `os` and `subprocess` and the function `open`, over the files of the desktop."""

from __future__ import annotations

import errno
import os
import posixpath
import shlex
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.desktop.engine.commands import start_program
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import HOME, absolute
from agentworld_gym.domains.desktop.engine.interpreter.values import ActionBudget, CodeException, Function, Namespace

_VARIABLES = {"HOME": HOME, "USER": "user", "DISPLAY": ":0", "LANG": "en_US.UTF-8", "PATH": "/usr/bin:/bin"}


class OsModules:
    """What code does to files and programs. Every path names a file of the desktop."""

    def __init__(self, desktop: Desktop, budget: ActionBudget) -> None:
        self.desktop, self.budget = desktop, budget

    def environment(self) -> dict[str, str]:
        """The mapping `os.environ`."""
        return dict(_VARIABLES)

    def os_functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions of `os` by name."""
        files = self.desktop.files
        return {
            "getcwd": lambda: HOME,
            "getenv": lambda name, default=None: _VARIABLES.get(name, default),
            "listdir": lambda path=".": list(files.names(_path(path))),
            "mkdir": lambda path, mode=0o777: files.make_folder(_path(path)),
            "makedirs": self._make_folders,
            "rename": lambda source, target: files.move(_path(source), _path(target)),
            "replace": lambda source, target: files.move(_path(source), _path(target)),
            "remove": self._remove,
            "unlink": self._remove,
            "rmdir": self._remove_folder,
            "system": lambda command: self.run(command, shell=True).member("returncode"),
        }

    def path_functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions of `os.path` by name."""
        files = self.desktop.files
        return {
            "exists": lambda path: files.exists(_path(path)),
            "isfile": lambda path: files.exists(_path(path)) and not files.is_folder(_path(path)),
            "isdir": lambda path: files.is_folder(_path(path)),
            "getsize": lambda path: files.node(_path(path)).size,
            "getmtime": lambda path: files.node(_path(path)).modified,
            "join": self._join,
            "basename": lambda path: posixpath.basename(_text(path)),
            "dirname": lambda path: posixpath.dirname(_text(path)),
            "splitext": lambda path: posixpath.splitext(_text(path)),
            "abspath": lambda path: _path(path),
            "expanduser": lambda path: HOME + path[1:] if _text(path) == "~" or path.startswith("~/") else path,
        }

    def process_functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions of `subprocess` by name."""
        return {
            "run": self.run,
            "Popen": self.run,
            "call": lambda *args, **kwargs: self.run(*args, **kwargs).member("returncode"),
            "check_call": lambda *args, **kwargs: self._checked(*args, **kwargs).member("returncode"),
            "check_output": lambda *args, **kwargs: self._checked(*args, **kwargs).member("stdout"),
            "getoutput": lambda command: self.run(command, shell=True).member("stdout").rstrip("\n"),
        }

    def open(self, file: Any, mode: Any = "r", *args: Any, **options: Any) -> Namespace:
        """Open a text file, as the builtin `open` does."""
        files, path = self.desktop.files, _path(file)
        if mode not in ("r", "w", "a", "x", "rt", "wt", "at", "r+"):
            raise CodeException("ValueError", f"invalid mode: {mode!r}"[:80])
        kind = mode[0]
        if kind == "x" and files.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if kind in "wx" or (kind == "a" and not files.exists(path)):
            files.write(path, "")
        elif kind == "r":
            files.read(path)

        def read(size: Any = -1) -> str:
            if kind != "r":
                raise CodeException("UnsupportedOperation", "not readable")
            content = files.read(path)
            self.budget.spend(len(content))
            return content

        def write(text: Any) -> int:
            if kind == "r" and mode != "r+":
                raise CodeException("UnsupportedOperation", "not writable")
            before = files.read(path)
            self.budget.spend(len(before))
            files.write(path, before + _text(text))
            return len(text)

        members: dict[str, Callable[..., Any]] = {
            "read": read,
            "readlines": lambda: read().splitlines(keepends=True),
            "write": write,
            "writelines": lambda lines: [write(line) for line in lines][:0] or None,
            "close": lambda: None,
            "flush": lambda: None,
        }
        return Namespace("TextIOWrapper", {name: Function(name, call) for name, call in members.items()}, "object")

    def run(self, args: Any, *rest: Any, shell: Any = False, **options: Any) -> Namespace:
        """Run a program: one with a window, or a command in the shell of the terminal."""
        self.budget.commands -= 1
        if self.budget.commands < 0:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        if isinstance(args, str):
            words, line = (_split(args), args) if shell else ([args], shlex.quote(args))
        elif isinstance(args, list | tuple):
            words = [_text(word) for word in args]
            line = shlex.join(words)
        else:
            raise CodeException("TypeError", "expected str, list or tuple of arguments")
        if not words:
            raise CodeException("IndexError", "list index out of range")
        if len(words) == 3 and words[0] in ("bash", "sh", "/bin/bash", "/bin/sh") and words[1] in ("-c", "-lc"):
            line, shell = words[2], True
            words = _split(line)
        status, out = self._run(words, line, bool(shell), options.get("cwd"))
        if options.get("check") and status:
            raise CodeException("CalledProcessError", f"Command '{line[:200]}' returned non-zero exit status {status}.")
        return _result(status, out)

    def _checked(self, *args: Any, **options: Any) -> Namespace:
        return self.run(*args, **{**options, "check": True})

    def _run(self, words: list[str], line: str, shell: bool, cwd: Any) -> tuple[int, str]:
        folder = _path(cwd) if cwd is not None else HOME
        words = [word for word in words if word not in ("nohup", "setsid", "&") and not word.startswith("DISPLAY=")]
        plain = not shell or (
            not any(sign in line for sign in "|;><$`*?") and line.count("&") <= line.rstrip().endswith("&")
        )
        if plain and words and start_program(self.desktop, words[0], words[1:], folder):
            return 0, ""
        terminal = self.desktop.programs.get("terminal")
        if terminal is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0] if words else "")
        status, out = terminal.tool_methods()["run"](self.desktop, line, folder)
        if status == 127 and not shell:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0][:200])
        self.budget.spend(len(out))
        return status, out

    def _join(self, *parts: Any) -> str:
        return posixpath.join(*[_text(part) for part in parts])

    def _make_folders(self, name: Any, mode: Any = 0o777, exist_ok: Any = False) -> None:
        path = _path(name)
        if self.desktop.files.is_folder(path) and exist_ok:
            return
        above: list[str] = []
        folder = path.rpartition("/")[0] or "/"
        while not self.desktop.files.exists(folder):
            above.append(folder)
            folder = folder.rpartition("/")[0] or "/"
        for missing in reversed(above):
            self.desktop.files.make_folder(missing)
        self.desktop.files.make_folder(path)

    def _remove(self, path: Any) -> None:
        place = _path(path)
        if self.desktop.files.is_folder(place):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place)
        self.desktop.files.remove(place)

    def _remove_folder(self, path: Any) -> None:
        place = _path(path)
        if not self.desktop.files.is_folder(place):
            self.desktop.files.node(place)
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), place)
        self.desktop.files.remove(place)


def _result(status: int, out: str) -> Namespace:
    """Return the result of a `subprocess` function."""
    calls: dict[str, Callable[..., Any]] = {
        "poll": lambda: status,
        "wait": lambda timeout=None: status,
        "communicate": lambda *args, **kwargs: (out, ""),
        "kill": lambda: None,
        "terminate": lambda: None,
    }
    members: dict[str, Any] = {name: Function(name, call) for name, call in calls.items()}
    return Namespace(
        "CompletedProcess", {**members, "returncode": status, "stdout": out, "stderr": "", "pid": 4217}, "object"
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise CodeException("TypeError", f"expected str, bytes or os.PathLike object, not {type(value).__name__}")
    return value


def _path(value: Any) -> str:
    text = _text(value)
    if "\0" in text:
        raise CodeException("ValueError", "embedded null byte")
    # Unlike a shell, Python does not expand `~`.
    return absolute("./" + text if text.startswith("~") else text)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()

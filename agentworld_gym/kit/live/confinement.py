"""Commands of a live system in a sandbox: a read-only system, a private home, no network, limits.

bubblewrap makes the sandbox, where the configuration does not say `trusted: true`.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.base.process.bubblewrap import knows
from agentworld_gym.core.engines import EngineError, SystemLate
from agentworld_gym.kit.live.config import LiveConfig
from agentworld_gym.kit.live.owned_folder import OwnedFolder
from agentworld_gym.kit.live.system_calls import filter_of

HOME = "/home/user"
"""The home inside a sandbox, which is empty at the start and gone at the end."""

WRITABLE = (HOME, "/tmp", "/dev/shm")
"""The folders that a command in a sandbox may write."""

_SYSTEM = (
    "alternatives",
    "ca-certificates",
    "fonts",
    "java-17-openjdk",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "ssl/certs",
    "ssl/openssl.cnf",
)
"""What is seen of /etc; nothing of it is a secret."""

_OWN = frozenset(("dev", "home", "proc", "run", "sys", "tmp"))
"""The folders at the root of an image that a sandbox has itself."""

_FOR_NETWORK = ("hosts", "nsswitch.conf", "resolv.conf", "services")

_USERS = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/bash\n",
    "group": "root:x:0:\nuser:x:1000:\n",
}

FILTER = 9
"""The number of the descriptor behind which bubblewrap finds the filter of system calls. What starts a command may use
others: a shell knows those below 10 alone."""

PACKAGES: Mapping[str, str] = {
    "bun": "see https://bun.sh",
    "deno": "see https://deno.com",
    "java": "apt install default-jre-headless",
    "node": "apt install nodejs",
    "npm": "apt install npm",
    "npx": "apt install npm",
    "perl": "apt install perl",
    "php": "apt install php-cli",
    "python3": "apt install python3",
    "ruby": "apt install ruby",
    "uv": "pip install uv",
    "uvx": "pip install uv",
}
"""How to install programs that others need."""

_INTERPRETER = re.compile(r"(?:bash|bun|deno|java|node|perl|php|pypy|python|ruby|sh|tsx)[\d.]*")
_SCRIPT = re.compile(r"\S+\.(?:[cm]?[jt]s|jar|php|pl|py|rb|sh)")

_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""What only the folder of an environment of Python has."""

_PARTS = ("bin", "conf", "include", "jmods", "lib", "lib32", "lib64", "libexec", "share")
"""The folders of an installation: of Python, Node, Java, and what `make install` leaves."""

THREADS = 4
"""How many threads a process counts for where the kernel bounds both."""

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for, inside a sandbox."""


class Confinement:
    """How the commands of one configuration run.

    Args:
        config: The configuration.
        file: Where it stands, for errors.
        folder: The folder from which its paths count.

    Raises:
        SpecError: A key asks for what a sandbox does not have.
        WorldNotConfigured: Nothing can be confined here; the message says what to install.

    >>> with Confinement(LiveConfig(trusted=True), "my.yaml", Path(".")) as confinement:
    ...     confinement.command(["echo", "hi"])
    ['echo', 'hi']
    """

    def __init__(self, config: LiveConfig, file: str, folder: Path) -> None:
        self.config, self.file, self.folder = config, file, folder
        self._files: OwnedFolder | None = None
        self._named: list[Path] = []
        if config.trusted:
            return
        if isinstance(config.network, tuple) and config.network:
            expected = "true or false: the network of a command cannot be narrowed to some hosts"
            raise SpecError(file, "network", list(config.network), expected)
        if not sys.platform.startswith("linux"):
            raise WorldNotConfigured(f"{file}: commands run under bubblewrap, which needs Linux; or say trusted: true")
        if shutil.which("bwrap") is None:
            raise WorldNotConfigured(
                f"{file}: commands run under bubblewrap, which is not installed: apt install bubblewrap; "
                "or say trusted: true"
            )
        for place in self.readable:
            if not place.exists():
                raise SpecError(file, "read", str(place), "a folder that is there")

    @cached_property
    def readable(self) -> tuple[Path, ...]:
        """The folders of this machine that a sandboxed command may read, as the configuration lists them."""
        return tuple((self.folder / os.path.expanduser(place)).absolute() for place in self.config.read)

    def show(self, words: Sequence[str], key: str = "command") -> None:
        """Show a sandbox what a command names: the installation of its program, and files of this folder.

        The installation of `PREFIX/bin/PROGRAM` is `PREFIX` where that is a virtual environment, and elsewhere `bin`,
        `lib` and the like in it, but nothing else that lies beside them. So is that of each file to which a link leads,
        and of the interpreter behind a virtual environment.

        Args:
            words: The words of the command.
            key: The key that errors name.

        Raises:
            SpecError: There is no such program, no such script, or its installation cannot be told from the rest of a
                home.
        """
        found = self.found(words[0]) if words else None
        if found is None:
            program = words[0] if words else ""
            how = f": {PACKAGES[program]}" if program in PACKAGES else ""
            if (self.folder / program).is_file():
                how = f", and not a file that cannot be executed: chmod +x {program}, or name its interpreter first"
            raise SpecError(self.file, key, program, f"a program that is installed here{how}")
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        runs_it = _INTERPRETER.fullmatch(Path(words[0]).name) and _SCRIPT.fullmatch(script)
        if runs_it and not (self.folder / script).is_file():
            raise SpecError(self.file, key, script, f"a script that is there, by its path from {self.folder}")
        if self.config.trusted:
            return
        for place in _needed(Path(found).absolute()):
            if self.shows(place):
                continue
            whole = place.parents[1] if place.parent.name == "bin" else place
            if Path.home().is_relative_to(whole) or whole == Path.home() / ".local":
                if place.is_symlink():  # What it leads to comes next.
                    self._named.append(place)
                    continue
                told = f"a program with a folder of its own, or the key `read: [{place.parent}, ...]`"
                raise SpecError(self.file, key, words[0], told)
            self._named += _installation(whole)
        for word in words[1:]:
            place = Path(self._word(word))
            if place.is_absolute() and place.is_file() and not self.shows(place):
                self._named.append(place)

    def require(self, program: str, why: str) -> None:
        """Make sure that a command finds a program.

        Raises:
            WorldNotConfigured: It is not installed; the message says how it is.
        """
        if self.found(program) is None:
            raise WorldNotConfigured(f"{self.file}: {why} needs {program}: {PACKAGES[program]}")

    def show_reset(self, words: Sequence[str]) -> None:
        """Show a sandbox what the command of a reset names.

        Raises:
            SpecError: It could reach no server, or names what is not there.
        """
        if not self.config.trusted and self.config.network is not True:
            expected = "network: true or trusted: true beside it: a command without either reaches no server"
            raise SpecError(self.file, "reset.command", " ".join(words), expected)
        self.show(words, "reset.command")

    def reset(self, words: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Run the command of a reset to its end.

        Args:
            words: The words of the command.
            env: Further variables.

        Raises:
            EngineError: It fails, or takes longer than a start may.
        """
        seconds = self.config.limits.start_seconds
        try:
            done = subprocess.run(
                self.command(words, env=env),
                env=self.environment(env),
                cwd=self.folder if self.config.trusted else "/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SystemLate(f"the command of the reset took longer than {seconds:g} s") from error
        except OSError as error:
            raise EngineError(f"the command of the reset cannot be started: {error}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise EngineError(f"the command of the reset ended with status {done.returncode}: {said}")

    def found(self, program: str) -> str | None:
        """Return the path of a program, of those inside and then of those that this user finds; None for no program."""
        path = None if self.config.trusted else f"{PATH}:{os.environ.get('PATH', '')}"
        return shutil.which(self._word(program), path=path)

    def _program(self, word: str) -> str:
        """Return a program as it is called inside: by its path where only a folder of this machine has it."""
        if "/" in word or shutil.which(word, path=PATH) is not None:
            return self._word(word)
        found = self.found(word)
        return found if found is not None and self.shows(Path(found).absolute()) else word

    def shows(self, place: Path) -> bool:
        """Return whether a sandboxed command sees a file at its path."""
        if place.is_relative_to("/usr") or place.parent in (Path("/bin"), Path("/sbin")):
            return True
        return any(map(place.is_relative_to, (*self.readable, *self._named)))

    def command(
        self,
        words: Sequence[str],
        *,
        cwd: str = HOME,
        binds: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        new_session: bool = True,
        first: bool = False,
        image: Path | None = None,
    ) -> list[str]:
        """Return a command as it is started: under bubblewrap, or as it is where the configuration trusts it.

        Args:
            words: The words of the command. The path of a file counts from the folder of the configuration.
            cwd: The folder inside in which it runs.
            binds: Folders of this machine that the command may write, by their paths inside.
            env: Further variables, beside those of the configuration.
            new_session: Whether it has no terminal to control; a shell on a pseudo-terminal makes a session of its own.
            first: Whether it is the first process inside, which no other one there can end.
            image: The folder of a root file system, whose programs there are instead of those of this machine.
        """
        words = [self._word(word) for word in words] if image else self.inside(words)
        if self.config.trusted:
            return words
        limits, config = self.config.limits, self.config
        size = str(limits.disk_mb << 20)
        line = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
        line += ["--die-with-parent", "--clearenv", "--cap-drop", "ALL", "--hostname", "live"]
        line += ["--new-session"] if new_session else []
        line += ["--disable-userns"] if knows("--disable-userns") else []
        line += ["--share-net"] if config.network is True else []
        line += ["--as-pid-1"] if first else []
        line += ["--seccomp", str(FILTER)]
        line += self._system() if image is None else _root_of(image)
        for name in (*(_SYSTEM if image is None else ()), *(_FOR_NETWORK if config.network is True else ())):
            if os.path.exists(f"/etc/{name}"):
                line += ["--ro-bind", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
        for name in _USERS:
            line += ["--ro-bind", f"{self._folder}/{name}", f"/etc/{name}"]
        line += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
        line += ["--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        line += ["--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", HOME]
        for place in (*self.readable, *self._named):
            line += ["--ro-bind", str(place), str(place)]
        for inside, outside in (binds or {}).items():
            line += ["--bind", outside, inside]
        line += ["--remount-ro", "/"]  # What lies between the folders has no bound.
        for name, value in {**self.variables(), **(env or {}), **config.env}.items():
            line += ["--setenv", name, value]
        bound = [f"--fsize={limits.disk_mb << 20}", "--core=0", "--nofile=4096"]
        limiter = shutil.which("prlimit")
        opening = ["/bin/sh", "-c", f'exec "$@" {FILTER}<"$0"', f"{self._folder}/filter"]
        if limiter is None:
            return [*opening, *line, "--chdir", cwd, "--", *words]
        if image is not None:  # The program need not be there inside.
            return [*opening, limiter, *bound, "--", *line, "--chdir", cwd, "--", *words]
        if (most := self.most_threads) is not None:
            bound.append(f"--nproc={most}")
        return [*opening, *line, "--chdir", cwd, "--", limiter, *bound, "--", *words]

    @property
    def most_threads(self) -> int | None:
        """How many processes and threads the kernel lets a sandbox have; None where it does not count them apart.

        It counts by user and namespace, but not those of root, so that only `process_watch` bounds them then.
        """
        return THREADS * self.config.limits.processes if os.getuid() and _counts_apart() else None

    def variables(self) -> dict[str, str]:
        """Return the variables that a sandboxed command sees, those of the configuration among them."""
        return {
            "HOME": HOME,
            "PATH": PATH,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "USER": "user",
            "TERM": "xterm-256color",
            **self.config.env,
        }

    def _system(self) -> list[str]:
        """Return the options that show this machine's programs."""
        line = ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "lib", "lib32", "lib64", "sbin"):
            if os.path.islink(f"/{name}"):
                line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
            elif os.path.isdir(f"/{name}"):
                line += ["--ro-bind", f"/{name}", f"/{name}"]
        return line

    def inside(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command as they are where it runs: its files by their whole paths, and so its program
        where it lies in a folder of `read`.
        """
        if self.config.trusted:
            return [self._word(word) for word in words]
        return [self._program(word) for word in words[:1]] + [self._word(word) for word in words[1:]]

    def _word(self, word: str) -> str:
        if word.startswith(("/", "-")):
            return word
        place = self.folder / word
        try:
            return str(place) if (place.exists() if "/" in word else place.is_file()) else word
        except (OSError, ValueError):  # It is no path, as a script is none.
            return word

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment in which `command` is started: bubblewrap's own, or all of that of a trusted one."""
        if not self.config.trusted:
            return {"PATH": PATH}
        return {**os.environ, **(env or {}), **self.config.env}

    @property
    def _folder(self) -> str:
        """A folder with the names of the users inside, and the filter of system calls."""
        if self._files is None:
            files = OwnedFolder()
            for name, text in _USERS.items():
                (files.path / name).write_text(text, encoding="utf-8")
            (files.path / "filter").write_bytes(filter_of())
            self._files = files
        return str(self._files.path)

    def close(self) -> None:
        """Remove what it made; a second call does nothing."""
        files, self._files = self._files, None
        if files is not None:
            files.close()

    def __enter__(self) -> Confinement:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _counts_apart() -> bool:
    """Return whether the kernel counts a user's processes in each namespace apart, as Linux does since 5.14.

    >>> _counts_apart() in (True, False)
    True
    """
    version = re.match(r"(\d+)\.(\d+)", platform.release())
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)


def _installation(prefix: Path) -> list[Path]:
    """Return what is shown of the folder of an installation, or a program itself.

    >>> Path("/usr/bin") in _installation(Path("/usr")), Path("/usr/src") in _installation(Path("/usr"))
    (True, False)
    """
    if prefix.is_file() or any((prefix / name).exists() for name in _ENVIRONMENTS):
        return [prefix]
    return [prefix / name for name in _PARTS if (prefix / name).is_dir()]


def _needed(program: Path) -> Iterator[Path]:
    """Return a program, each file to which it leads as a link, and the same of its virtual environment's interpreter.

    >>> [str(one) for one in _needed(Path("/nowhere"))]
    ['/nowhere']
    """
    for place in _links(program):
        yield place
        if (place.parent.parent / _ENVIRONMENTS[0]).exists():
            yield from _links(place.with_name("python"))


def _links(place: Path) -> Iterator[Path]:
    """Return a file, and each one to which it leads as a link.

    >>> [str(one) for one in _links(Path("/nowhere"))]
    ['/nowhere']
    """
    yield place
    for _ in range(40):  # As many as Linux follows.
        if not place.is_symlink():
            return
        place = Path(os.path.normpath(place.parent / os.readlink(place)))
        yield place


def _root_of(image: Path) -> list[str]:
    """Return the options that show the root file system of an image, which cannot be written."""
    line: list[str] = []
    for place in sorted(image.iterdir()):
        if place.is_symlink():
            line += ["--symlink", os.readlink(place), f"/{place.name}"]
        elif place.name not in _OWN:
            line += ["--ro-bind", str(place), f"/{place.name}"]
    return line

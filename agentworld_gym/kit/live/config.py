"""What a user says of a live system: the keys that all domains share, and where they stood."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, field_validator

from agentworld_gym.base.documents.strict import Regex, Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.kit.live.hosts import is_below

OPTION = "options.live"
"""What errors name as the place of a configuration that is no file."""

INSTRUCTION = "Try what this system can do, and finish when you know it."
"""The instruction of free play, where the configuration has none."""

EXTENDS = "extends"
"""The key of a file that names another one, whose keys count where the file does not have them."""

FOLDER = "paths_from"
"""The key of a configuration that is no file which names the folder from which its relative paths count."""

C = TypeVar("C", bound="LiveConfig")


def _words(given: Any) -> Any:
    """Split a command that is one text, as a shell would."""
    return tuple(shlex.split(given)) if isinstance(given, str) else given


Words = Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]
"""The words of a command, or one text."""


def _variables(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"names without = and values, none with a zero byte (got {name!r}: {value!r})")
    return given


Variables = Annotated[dict[str, str], AfterValidator(_variables)]
"""Variables of the environment of commands."""


def _url(given: str) -> str:
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("a URL with http:// or https:// and a host, such as http://localhost:8000")
    return given


Url = Annotated[str, AfterValidator(_url)]
"""The URL of a server."""


def reset_by(*keys: str) -> Discriminator:
    """Return what tells the forms of a reset apart, so that an error speaks of the form that was meant.

    The form that has a key bears the tag `[KEY]`, and the text `restart` the tag `[restart]`.

    Args:
        keys: The keys, of which each form has one.
    """

    def tag(given: Any) -> str | None:
        if given == "restart":
            return "[restart]"
        named = given if isinstance(given, Mapping) else getattr(given, "model_fields_set", ())
        found = [key for key in keys if key in named]
        return f"[{found[0]}]" if len(found) == 1 else None

    forms = ", ".join(f"{{{key}: ...}}" for key in keys)
    return Discriminator(tag, custom_error_type="reset", custom_error_message=f"one of restart, {forms}")


class CommandReset(Strict):
    """A command that brings a system back to its start."""

    command: Words
    """The words of the command, or one text. It runs beside the system, in a sandbox of its own, so that it needs
    `network: true` or `trusted: true` to reach it."""


class LiveLimits(Strict):
    """What one session of a live system may take. A session that takes more ends, and its member alone fails."""

    start_seconds: float = Field(default=60.0, gt=0)
    """How long the system may take to start."""

    step_seconds: float = Field(default=30.0, gt=0)
    """How long it may take to answer an action."""

    check_seconds: float = Field(default=300.0, gt=0)
    """How long the command of a check, or the tests of a repository, may take. A longer one has failed."""

    memory_mb: int = Field(default=2048, ge=16)
    """The resident memory of all its processes, in MiB."""

    processes: int = Field(default=128, ge=1)
    """How many processes it may have."""

    disk_mb: int = Field(default=512, ge=1)
    """What it may write, in MiB: to its home and to /tmp, each, and to one file."""

    output_chars: int = Field(default=16_000, ge=200)
    """How many characters of an answer are shown. The middle of a longer one is left out, and its length is told."""


def paths_inside(files: dict[str, str]) -> dict[str, str]:
    """Return texts of files by path, if all lie where a sandbox can be written.

    >>> paths_inside({"a.txt": "one"})
    {'a.txt': 'one'}

    Raises:
        ValueError: A path lies elsewhere.
    """
    for path in files:
        if "\0" in path or ".." in path.split("/"):
            raise ValueError(f"paths without `..`, not {path!r}")
        if path.startswith("/") and not path.startswith(("/home/user/", "/tmp/")):
            raise ValueError(f"paths below /home/user or /tmp, not {path!r}")
    return files


SandboxFiles = Annotated[dict[str, str], AfterValidator(paths_inside)]
"""Texts of files of a sandbox by path; relative paths begin in its working folder."""


class LiveConfig(Strict):
    """The keys of a live system that all domains share; a domain adds its own.

    >>> LiveConfig(network=["example.org"]).allows("example.org"), LiveConfig().allows("localhost")
    (True, True)
    """

    domain: str | None = None
    """The id of the domain, for commands that are given nothing but a file."""

    instruction: str = Field(default=INSTRUCTION, min_length=1)
    """What an agent is asked to do where there are no tasks."""

    tasks: tuple[str | dict[str, Any], ...] = ()
    """The tasks: paths and patterns (`tasks/*.yaml`) of YAML files, from the folder of this file, or tasks themselves.
    Without any, an episode is free play: nothing is tested, and the reward is 0."""

    network: bool | tuple[str, ...] = False
    """Whether the system may use the network: not at all, `true`, or the hosts that it may reach. This machine itself
    is always reached where the system lies outside the sandbox, as a server behind a URL does."""

    trusted: bool = False
    """Whether commands run as they are, without a sandbox and with everything that this user may do."""

    read: tuple[str, ...] = ()
    """Folders of this machine that a sandboxed command may read, at the same path."""

    env: Variables = Field(default_factory=dict)
    """Variables of the environment of commands; they see no other ones of this machine."""

    limits: LiveLimits = LiveLimits()
    """What a session may take."""

    sessions: int = Field(default=128, ge=2)
    """How many sessions there may be at a time, those of forks and those that wait among them. An environment has two
    while it goes from one episode to the next."""

    ahead: int = Field(default=1, ge=0)
    """How many sessions are started ahead and wait for an episode."""

    told_chars: int = Field(default=60_000, ge=0)
    """How many characters of the files that all sessions begin with stand in the system message of a language world. A
    model that is trained on the system needs none: it learns them by heart."""

    masks: tuple[Regex, ...] = ()
    """Patterns of what varies between two equal episodes, such as times and process ids; where one has a group, that
    group varies. `agentworld live check` learns them. Such pieces are metadata, which nobody has to foresee."""

    deterministic: bool = False
    """Whether equal actions give equal observations, as `agentworld live check` measures it."""

    forks: bool = True
    """Whether episodes are copied or played again for forks. Without, planning and probes are refused."""

    @field_validator("tasks", "network", "read", "masks", "path", mode="before", check_fields=False)
    @classmethod
    def _list_one(cls, given: Any) -> Any:
        """Take a text as a list of one."""
        return (given,) if isinstance(given, str) else given

    @property
    def shared(self) -> bool:
        """Whether all episodes play on one system that is reset for each of them, so that there is one at a time."""
        return False

    def allows(self, host: str) -> bool:
        """Return whether the system may reach a host; a name stands for the hosts below it too."""
        return host in ("localhost", "127.0.0.1", "::1") or self.reaches(host)

    def reaches(self, host: str) -> bool:
        """Return whether `network` names a host; this machine too has to be named."""
        return self.network is True or is_below(host, self.network or ())


class LiveSource(NamedTuple):
    """A configuration as it was given, and where it stood."""

    data: Mapping[str, Any]
    """The keys."""

    file: str
    """The file, or the option, for errors."""

    folder: Path
    """The folder from which relative paths count: that of the file, or of the file that it extends."""

    @classmethod
    def of(cls, given: Any, folder: Path | None = None) -> LiveSource:
        """Read a configuration: a mapping, or the path of a YAML file. The paths of a mapping count from the folder
        that its key `paths_from` names.

        >>> source = LiveSource.of({"folder": "pages", "paths_from": "/srv"})
        >>> dict(source.data), str(source.path("pages"))
        ({'folder': 'pages'}, '/srv/pages')

        Args:
            given: The mapping or the path.
            folder: The folder from which a relative path counts; None takes the current one.

        Raises:
            MissingFile: There is no such file.
            SpecError: It is neither, or the file holds no keys.
        """
        folder = folder or Path.cwd()
        if isinstance(given, Mapping):
            data = {str(key): value for key, value in given.items()}
            place = data.pop(FOLDER, ".")
            if not isinstance(place, str):
                raise SpecError(OPTION, FOLDER, place, "a folder")
            return cls(data, OPTION, folder / os.path.expanduser(place))
        if not isinstance(given, str | Path) or not str(given):
            raise SpecError("options", "live", given, "keys by name, or the path of a YAML file")
        return cls._read(folder / os.path.expanduser(given), ())

    @classmethod
    def _read(cls, path: Path, extending: tuple[Path, ...]) -> LiveSource:
        """Read a file, and what it extends.

        Args:
            path: The file.
            extending: The files that extend it.

        Raises:
            MissingFile: There is no such file.
            SpecError: A file holds no keys, extends what is no file, or extends itself.
        """
        data = read_yaml(path, "the configuration of a live system")
        if not isinstance(data, dict):
            raise SpecError(path, "the whole document", data, "keys by name, as in `command: [...]`")
        read = cls(data, str(path), path.parent.resolve())
        if EXTENDS not in data:
            return read
        named, chain = data[EXTENDS], (*extending, path.resolve())
        if not isinstance(named, str) or not named:
            raise SpecError(path, EXTENDS, named, "the path of a YAML file")
        other = read.folder / os.path.expanduser(named)
        if other.resolve() in chain:
            raise SpecError(path, EXTENDS, named, "a file that does not extend this one in turn")
        base = cls._read(other, chain)
        own = {key: value for key, value in data.items() if key != EXTENDS}
        return cls({**base.data, **own}, str(path), base.folder)

    def read(self, model: type[C], domain: str) -> C:
        """Validate the keys.

        Args:
            model: The model of the domain.
            domain: The id of the domain.

        Raises:
            SpecError: A key does not exist, or a value does not fit: the error names the key and what was expected.
        """
        if (of := self.data.get("domain", domain)) != domain and isinstance(of, str):
            raise SpecError(self.file, "domain", of, f"{domain}, the domain of the environment")
        return validated(model, dict(self.data), self.file)

    def path(self, text: str) -> Path:
        """Return a path of the configuration, which counts from its folder."""
        return self.folder / os.path.expanduser(text)

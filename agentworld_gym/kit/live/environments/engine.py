"""The engine of a user's text environment."""

from __future__ import annotations

import glob
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.core.contracts.verdict import Verdict
from agentworld_gym.core.domain.splits import split_seed
from agentworld_gym.core.engines import EngineError, SystemLate
from agentworld_gym.core.registration import all_domains
from agentworld_gym.kit.live.config import LiveSource
from agentworld_gym.kit.live.confinement import HOME, WRITABLE, Confinement
from agentworld_gym.kit.live.engine import LiveAbout, LiveEngine, LiveSession, LiveStart, SharedFiles
from agentworld_gym.kit.live.environments.config import EnvironmentConfig
from agentworld_gym.kit.live.environments.process import WORKER, EnvironmentProcess, EpisodeLine, number
from agentworld_gym.kit.live.owned_folder import OwnedFolder

logger = logging.getLogger(__name__)

VARIABLES: Mapping[str, str] = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Variables of the process: one thread, so that it can be forked, and sets in the same order each time."""

_PREFIXES = "import sys, json; print(json.dumps([sys.prefix, sys.base_prefix]))"


class _State(Strict):
    """What a task states to its environment."""

    seed: int | None = None
    """The seed of the episode; without it that follows the seed of the environment and the split."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The options of the environment's own reset; of ScienceWorld the `variation`."""


def open_live(source: LiveSource) -> EnvironmentEngine:
    """Open a user's text environment.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: Commands cannot be confined here, or Java is missing.
    """
    config = validated(EnvironmentConfig, dict(source.data), source.file)
    if config.domain in all_domains():
        expected = "custom, or the path of a spec of your own, for a text environment"
        raise SpecError(source.file, "domain", config.domain, expected)
    return EnvironmentEngine(config, source.file, source.folder)


class EnvironmentEngine(LiveEngine[EnvironmentConfig]):
    """Starts processes with a text environment.

    Args:
        config: The environment.
        file: Where the configuration stands, for errors.
        folder: The folder from which its paths count.
    """

    splits = True
    pays = True

    def __init__(self, config: EnvironmentConfig, file: str, folder: Path) -> None:
        self.file = file
        self._python = sys.executable if config.python is None else str(folder / os.path.expanduser(config.python))
        self._path = [str((folder / os.path.expanduser(place)).absolute()) for place in config.path]
        self._environment = _located(config.environment, folder)
        for place in self._path:
            if not Path(place).exists():
                raise MissingFile(place, "a folder with modules", kind="folder", key="path")
        games = _games(self._environment)
        if not games and config.environment.startswith("textworld:") and config.environment.endswith(".z8"):
            raise SpecError(file, "env", config.environment, f"files of games; {folder} has none")
        if 0 < len(games) < 3:
            logger.warning("%s: there are %d files of games, so that all splits play the same ones", file, len(games))
        read = [*config.read, *self._path, str(WORKER.parent)]
        if not config.trusted:
            read += interpreter_folders(self._python, file)
            read += dict.fromkeys(str(Path(game).parent) for game in games)
        self._temporary = OwnedFolder() if config.trusted else None
        """What the processes write to where no sandbox has a folder of its own for that."""
        self._confinement = Confinement(config.model_copy(update={"read": tuple(read)}), file, folder)
        if config.environment.startswith("scienceworld:"):
            self._confinement.require("java", "ScienceWorld")
        super().__init__(config)

    def open_session(self) -> EnvironmentSession:
        """Start a process, and open the environment in it."""
        confinement, limits = self._confinement, self.config.limits
        words = confinement.command([self._python, "-u", str(WORKER)], env=VARIABLES)
        environment = confinement.environment(VARIABLES)
        if self._temporary is not None:
            environment.pop("PYTHONPATH", None)
            environment["TMPDIR"] = str(self._temporary.path)
        cwd = str(confinement.folder) if self.config.trusted else "/"
        process = EnvironmentProcess(words, environment, cwd, limits, f"the environment {self.config.environment}")
        request = {
            "do": "open",
            "environment": self._environment,
            "settings": self.config.settings,
            "actions": self.config.actions,
            "path": self._path,
            "forks": self.config.forks,
            "folders": () if self.config.trusted else WRITABLE,
        }
        try:
            return EnvironmentSession(self, process, process.line, process.line.ask(request, limits.start_seconds))
        except EngineError as error:
            told = process.why(error)
            process.line.close()
            process.leave()
            raise told from error

    def close(self) -> None:
        """End all processes."""
        super().close()
        self._confinement.close()
        if self._temporary is not None:
            self._temporary.close()


class EnvironmentSession(LiveSession):
    """An environment that runs, or a copy of its episode, in the process of the first one.

    Args:
        engine: The engine.
        process: The process.
        line: The line to the episode.
        opened: What the process said of itself.
        copied: Whether it is a copy.
    """

    def __init__(
        self,
        engine: EnvironmentEngine,
        process: EnvironmentProcess,
        line: EpisodeLine,
        opened: Mapping[str, Any],
        copied: bool = False,
    ) -> None:
        self._engine, self._process, self._line, self._opened = engine, process, line, opened
        self._copied, self._closed = copied, False

    def about(self) -> LiveAbout:
        """Return the versions of what decides the answers, and the menu."""
        parts = self._opened.get("parts")
        versions = {str(key): str(value) for key, value in parts.items()} if isinstance(parts, dict) else {}
        return LiveAbout(versions, {"menu": self._engine.config.menu})

    def begin(self, start: LiveStart) -> str:
        """Begin the episode of a seed."""
        state, config = validated(_State, dict(start.state), "task state"), self._engine.config
        known = self._opened.get("options")
        if isinstance(known, list) and (unknown := [name for name in state.options if name not in known]):
            expected = f"none but {', '.join(known)}" if known else "none: this environment takes no options"
            raise SpecError("task state", f"options.{unknown[0]}", state.options[unknown[0]], expected)
        index = start.seed if config.episodes is None else start.seed % config.episodes
        seed = split_seed(start.split, index)
        if state.seed is not None:
            seed = index = state.seed
        request = {"do": "begin", "seed": seed, "index": index, "split": start.split, "state": state.options}
        self.verdict = None
        return self._shown(request, config.limits.start_seconds)

    def act(self, action: Any) -> str:
        """Do an action."""
        text = action if isinstance(action, str) else json.dumps(action, ensure_ascii=False)
        return self._shown({"do": "act", "action": text}, self._engine.config.limits.step_seconds)

    def _shown(self, request: Mapping[str, Any], seconds: float) -> str:
        try:
            told = self._line.ask(request, seconds)
        except EngineError as error:
            raise self._process.why(error) from error
        if told.get("shared") is True:
            raise SharedFiles("another copy of the episode works on the same files")
        text, offers = told.get("text"), told.get("offers")
        if not isinstance(text, str):
            raise EngineError(f"the environment answers {text!r}, expected a text")
        told_all = self._engine.config.admissible
        self.offers = tuple(map(str, offers[:told_all])) if isinstance(offers, list) and told_all else None
        if request["do"] == "act":
            ended = {key: told.get(key) is True for key in ("terminated", "truncated")}
            won = told.get("success")
            won = won if isinstance(won, bool) else None
            self.verdict = Verdict(number(told, "reward"), success=won, offers=self.offers, **ended)
        return text

    def copy(self) -> LiveSession | None:
        """Return a copy, by a fork of the process; None where the episode has to be played again."""
        if not self._opened.get("forks"):
            return None
        seconds = self._engine.config.limits.step_seconds
        ours, theirs = socket.socketpair()
        line = EpisodeLine(ours, "the copy of the environment")
        self._process.join()
        try:
            with theirs:
                copied = self._line.ask({"do": "copy"}, seconds, theirs).get("copied") is True
            if copied:
                line.answer(seconds, "copy")
                twin = EnvironmentSession(self._engine, self._process, line, self._opened, copied=True)
                twin.verdict, twin.offers = self.verdict, self.offers
                return twin
        except BaseException as error:
            line.close()
            self._process.leave()
            if isinstance(error, TimeoutError):
                raise SystemLate("the copy of the environment did not start in time") from error
            raise
        line.close()
        self._process.leave()
        return None

    def reset(self) -> bool:
        """Make ready for another episode, in a process that the last one did not change, or that shows the same first
        observation again.
        """
        if self._copied:
            return False
        self.verdict = self.offers = None
        return self._line.ask({"do": "reset"}, self._engine.config.limits.start_seconds).get("certain") is True

    @property
    def alive(self) -> bool:
        """Whether the process runs, and answers."""
        return not self._closed and not self._line.broken and self._process.alive

    @property
    def pids(self) -> list[int]:
        """The process, where it is no copy's."""
        return [] if self._copied else [self._process.pid]

    def close(self) -> None:
        """End the episode, and the process where no copy of it is left."""
        if not self._closed:
            self._closed = True
            if self._copied:  # Copies live as long as the first process, which ends with its line.
                self._line.close()
            self._process.leave()


def _located(environment: str, folder: Path) -> str:
    """Return the name of an environment, whose pattern of files counts from a folder."""
    scheme, _, rest = environment.partition(":")
    if scheme == "textworld" and rest.endswith(".z8"):
        return f"{scheme}:{folder.absolute() / os.path.expanduser(rest)}"
    return environment


def _games(environment: str) -> list[str]:
    """Return the files of games that the name of an environment means; there are none where it is a challenge."""
    scheme, _, pattern = environment.partition(":")
    return sorted(glob.glob(pattern, recursive=True)) if scheme == "textworld" and pattern.endswith(".z8") else []


def interpreter_folders(python: str, file: str) -> list[str]:
    """Return the folders of an interpreter that a sandbox has to show beside /usr.

    Raises:
        SpecError: It is none.
        WorldNotConfigured: It lies where a sandbox has its own files.
    """
    if python == sys.executable:
        found = [sys.prefix, sys.base_prefix]
    else:
        try:
            done = subprocess.run([python, "-c", _PREFIXES], capture_output=True, text=True, timeout=30, check=True)
            found = json.loads(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise SpecError(file, "python", python, f"an interpreter of Python ({error})") from error
    places = list(dict.fromkeys(place for place in found if not Path(place).is_relative_to("/usr")))
    for place in places:
        if any(Path(inside).is_relative_to(place) for inside in ("/tmp", HOME)):
            raise WorldNotConfigured(f"{file}: the interpreter {python} lies in {place}, which a sandbox does not show")
    return places

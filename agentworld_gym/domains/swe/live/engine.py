"""The engine of a user's own repository."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.live.config import RepositoryConfig, rows_of
from agentworld_gym.domains.swe.live.session import RepositoryMachine, RepositorySession, place_of
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource, Masks
from agentworld_gym.kit.live.box import Box
from agentworld_gym.kit.live.confinement import HOME
from agentworld_gym.kit.live.file_archive import FileArchive

DOMAIN = "swe"
"""The domain of repositories."""

_VARY = (
    r"in (\d+\.\d+s)\b",
    r"(?m)^Process Group PGID: (\d+)$",
    r"(?m)^Background PIDs: (\d+)$",
    r"<timestamp>([^<]*)</timestamp>",
)
"""What varies in the answers of tools, beside what the configuration says."""

_TOLD_CHARS = 60_000
"""How many characters of files are told to a language world that plays the system."""


def open_live(source: LiveSource) -> RepositoryEngine:
    """Open a user's own repository.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: Commands cannot be confined here, or git is missing.
    """
    config = source.read(RepositoryConfig, DOMAIN)
    if config.rows is not None:
        tasks = (*config.tasks, *(row.task() for row in rows_of(source, config.rows)))
        config = config.model_copy(update={"tasks": tasks})
    return RepositoryEngine(config, source)


class RepositoryEngine(LiveEngine[RepositoryConfig]):
    """Starts sessions in clones of one repository.

    Args:
        config: The repository.
        source: Where the configuration stands.

    Raises:
        SpecError: A key is wrong, or a folder is not there.
        WorldNotConfigured: Commands cannot be confined here, or git is missing.
    """

    machine = RepositoryMachine

    def __init__(self, config: RepositoryConfig, source: LiveSource) -> None:
        if config.trusted:
            raise SpecError(source.file, "trusted", True, "false: commands of a repository always run in a sandbox")
        if shutil.which("git") is None:
            raise WorldNotConfigured(f"{source.file}: a live repository needs git: apt install git")
        self.confinement = Confinement(config, source.file, source.folder)
        self.repository = source.path(config.repository).resolve()
        if not self.repository.is_dir():
            raise MissingFile(self.repository, "a folder that git knows", kind="folder", key="repository")
        self.root = f"{HOME}/{place_of(self.repository)}"
        self._source = source
        self.config = config
        self.resolved(config.commit)
        try:
            words = shlex.split(config.tests)
        except ValueError as error:
            raise SpecError(source.file, "tests", config.tests, f"a command line ({error})") from error
        self.confinement.require(words[0] if words else "", "tests")
        self._files: dict[str, FileArchive] = {}
        self._cloning = threading.Lock()
        super().__init__(config)
        self.masks = Masks((*config.masks, *_VARY))

    def resolved(self, commit: str) -> str:
        """Return the id of a commit.

        Raises:
            SpecError: The repository has no such commit, or is none.
        """
        try:
            return self._git(
                self.repository, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}"
            ).strip()
        except EngineError as error:
            raise SpecError(self._source.file, "commit", commit, f"a commit of {self.repository} ({error})") from error

    def _git(self, folder: Path, *words: str) -> str:
        # The folder is the user's own, whoever runs this process.
        line = ["git", "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *words]
        env = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                line, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"git {words[0]} failed: {error}") from error
        if done.returncode:
            raise EngineError(f"git {words[0]} failed: {done.stderr.strip()[-500:]}")
        return done.stdout

    def open_session(self) -> RepositorySession:
        """Start a session at the commit of the configuration."""
        return RepositorySession(self)

    def files_at(self, commit: str) -> FileArchive:
        """Return what a session begins with at a commit: a clone that holds no later ones, after its setup.

        Raises:
            EngineError: It cannot be cloned, or the setup fails.
        """
        name = self.resolved(commit)
        with self._cloning:
            if name not in self._files:
                self._files[name] = self._cloned(name)
            return self._files[name]

    def _cloned(self, commit: str) -> FileArchive:
        limits = self.config.limits
        with tempfile.TemporaryDirectory(prefix="agentworld-live-") as folder:
            place = Path(folder) / "clone"
            self._git(Path(folder), "clone", "--quiet", "--no-local", "--no-checkout", str(self.repository), str(place))
            self._git(place, "checkout", "--quiet", "-B", "main", commit)
            for ref in self._git(place, "for-each-ref", "--format=%(refname)").split():
                if ref != "refs/heads/main":
                    self._git(place, "update-ref", "-d", ref)
            with suppress(EngineError):  # The branch that the repository has checked out.
                self._git(place, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
            self._git(place, "remote", "remove", "origin")
            self._git(place, "reflog", "expire", "--expire=now", "--all")
            self._git(place, "-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now")
            for key, value in (("user.name", "Dev"), ("user.email", "dev@example.com")):
                self._git(place, "config", key, value)
            files = FileArchive.of_folder(place, self.root, limits.disk_mb << 20)
        if self.config.setup is None:
            return files
        box = Box(self.confinement, files)
        try:
            done = box.run(self.config.setup, self.root, limits.start_seconds)
            if done.status:
                raise EngineError(f"the setup ended with status {done.status}: {done.output.strip()[-500:]}")
            return box.files()
        finally:
            box.close()

    def told_files(self, files: FileArchive) -> dict[str, str]:
        """Return the texts of the repository by path, as many as a language model can be told of."""
        told, chars = dict[str, str](), 0
        for entry in files.entries():
            if entry.kind != "file" or not entry.path.startswith(f"{self.root}/") or "/.git/" in entry.path:
                continue
            with suppress(UnicodeDecodeError):
                text = entry.data.decode("utf-8")
                chars += len(text) + len(entry.path)
                if chars > _TOLD_CHARS:
                    break
                told[entry.path] = text
        return told

    def close(self) -> None:
        """End all sessions."""
        super().close()
        self.confinement.close()

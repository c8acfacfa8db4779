"""Private clones of a user's repository, which hold no commits after the one at which an episode begins."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.live.command_line import runnable
from agentworld_gym.domains.swe.live.config import RepositoryConfig
from agentworld_gym.kit.live import Confinement, LiveSource
from agentworld_gym.kit.live.box import after_setup
from agentworld_gym.kit.live.confinement import HOME
from agentworld_gym.kit.live.file_archive import FileArchive
from agentworld_gym.kit.live.owned_folder import OwnedFolder


class Clones:
    """Makes clones of one repository, one for each commit.

    Args:
        config: The repository.
        source: Where the configuration stands.
        confinement: How its setup runs.

    Raises:
        SpecError: There is no such folder, no such commit, or no program that runs the tests.
    """

    def __init__(self, config: RepositoryConfig, source: LiveSource, confinement: Confinement) -> None:
        self.config, self.confinement, self._source = config, confinement, source
        self.repository = source.path(config.repository).resolve()
        if not self.repository.is_dir():
            raise MissingFile(self.repository, "a folder that git knows", kind="folder", key="repository")
        self.root = f"{HOME}/{place_of(self.repository)}"
        """The folder of the clone inside a sandbox."""
        self._files: dict[str, FileArchive] = {}
        self._cloning = threading.Lock()
        self._check_root()
        self.resolved(config.commit, source.file)
        folders, made = (source.folder, self.repository), config.setup is not None
        self.tests = runnable(config.tests, confinement, folders, self._has, made)
        """The line of bash that runs the tests inside a sandbox."""
        self.tried: set[str] = set()
        """The ids of rows whose tests were seen to run."""

    def _has(self, path: str) -> bool:
        """Return whether the repository has a file at a relative path."""
        with suppress(EngineError):
            self._git(self.repository, "cat-file", "-e", f"{self.config.commit}:{os.path.normpath(path)}")
            return True
        return False

    def _check_root(self) -> None:
        """Make sure that the folder is the root of a repository.

        Raises:
            SpecError: It is none.
        """
        with suppress(EngineError):
            if not self._git(self.repository, "rev-parse", "--show-cdup").strip():
                return
        raise SpecError(self._source.file, "repository", self.config.repository, "the root of a repository of git")

    def resolved(self, commit: str, file: str = "task state") -> str:
        """Return the id of a commit.

        Args:
            commit: The commit, by any name that git knows.
            file: Where it is named, for errors.

        Raises:
            SpecError: The repository has no such commit.
        """
        words = ("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
        try:
            return self._git(self.repository, *words).strip()
        except EngineError as error:
            raise SpecError(file, "commit", commit, f"a commit of {self.repository}") from error

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
        with OwnedFolder() as folder:
            place = folder / "clone"
            self._git(folder, "clone", "--quiet", "--no-local", "--no-checkout", str(self.repository), str(place))
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
        return after_setup(self.confinement, files, self.config.setup, self.root)


def place_of(folder: Path) -> str:
    """Return the name that a clone has in the home folder.

    >>> place_of(Path("/src/my lib.git"))
    'my_lib'
    """
    return re.sub(r"[^\w.-]+", "_", folder.name.removesuffix(".git")) or "repository"

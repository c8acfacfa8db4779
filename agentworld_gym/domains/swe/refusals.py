"""What a curious assistant tries in vain in a repository: files, folders, branches and lines that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename, relpath
from typing import ClassVar

from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.domains.swe.explorer import CodeExplorer, tool


def shell(command: str) -> str:
    """Return a call of the shell."""
    return tool("run_shell_command", command=command)


class CodeRefusals(Refusals, CodeExplorer):
    """Uses the tools of an assistant, the shell and git on what is not there."""

    @property
    def file(self) -> str:
        """A file of the repository."""
        return self._file()

    @property
    def short(self) -> str:
        """A file of the repository, from its root."""
        return relpath(self._file(), self._root)

    @property
    def missing(self) -> str:
        """A file that is not there, at times one whose name is nearly that of a file."""
        folder, name = self._folder(), self.names.near(basename(self._file())) if self.chance(0.3) else self.names.file
        return f"{folder}/{name}"

    @property
    def short_missing(self) -> str:
        """A file that is not there, from the root."""
        return relpath(self.missing, self._root)

    @property
    def nowhere(self) -> str:
        """A folder that is not there."""
        return f"{self._folder()}/{self.names.word}"

    def passing(self, line: str) -> str:
        """Return a line that makes things with fresh names and takes them away again."""
        return shell(line.format(self.names.word, self.names.word, self.names.word, missing=self.short_missing))

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "missing file": (
            lambda t: tool("read_file", absolute_path=t.missing),
            lambda t: tool("read_file", absolute_path=t.missing),
            lambda t: shell(f"cat {t.short_missing}"),
            lambda t: shell(f"rm {t.short_missing}"),
            lambda t: shell(f"git add {t.short_missing}"),
            lambda t: shell(f"head -n 3 {t.short_missing}"),
        ),
        "missing folder": (
            lambda t: tool("list_directory", path=t.nowhere),
            lambda t: shell(f"cd {t.names.word}"),
            lambda t: shell(f"ls {t.names.word}"),
            lambda t: tool("list_directory", path=f"/{t.names.word}"),
        ),
        "missing branch": (
            lambda t: shell(f"git checkout {t.names.word}"),
            lambda t: shell(f"git branch -d {t.names.word}"),
            lambda t: shell(f"git show {t.names.word}"),
            lambda t: shell(f"git diff {t.names.word}"),
            lambda t: shell(f"git switch {t.names.word}"),
        ),
        "text that is not there": (
            lambda t: tool("edit", file_path=t.file, old_string=f"{t.names.word} = 1", new_string=t.names.word),
            lambda t: tool("edit", file_path=t.missing, old_string=t.names.word, new_string=t.names.word),
            lambda t: tool("search_file_content", pattern=t.names.word),
            lambda t: shell(f"grep -n {t.names.word} {t.short}"),
            lambda t: tool("edit", file_path=t.file, old_string=f"def {t.names.word}():", new_string="pass"),
        ),
        "nowhere to write": (
            lambda t: tool("write_file", file_path=t._folder(), content=t.names.word),
            lambda t: shell(f"echo {t.names.word} > {t.names.word}/{t.names.file}"),
            lambda t: shell(f"cp {t.short} {t.names.word}/{t.names.file}"),
            lambda t: shell(f"mkdir {t.names.word}/{t.names.word}"),
            lambda t: shell(f"touch {t.names.word}/{t.names.file}"),
        ),
        "wrong arguments": (
            lambda t: tool("read_file", absolute_path=t.short),
            lambda t: tool("read_file", absolute_path=t._folder()),
            lambda t: tool("list_directory", path=t.file),
            lambda t: tool("search_file_content", pattern="("),
            lambda t: shell(f"cp {t.short}"),
            lambda t: shell(f"cut {t.short}"),
        ),
        "unknown program": (
            lambda t: shell(t.names.word),
            lambda t: shell(f"{t.names.word} {t.short}"),
            lambda t: shell(f"git {t.names.word}"),
            lambda t: shell(f"{t.names.word} --version"),
        ),
        "nothing to do": (
            lambda t: shell(f"git commit -m '{t.names.word}' --dry-run"),
            lambda t: shell("git stash pop"),
            lambda t: tool("glob", pattern=f"**/{t.names.word}.*"),
            lambda t: shell(f"ls *.{t.names.word}"),
            lambda t: tool("glob", pattern=f"{t.names.word}/*"),
        ),
        "chain": (
            lambda t: t.passing("touch {0} && mv {0} {1} && touch {2} && rm {1}"),
            lambda t: t.passing("touch {0} && mv {0} {1} && rm {1}"),
            lambda t: t.passing("mkdir {0} && cd {0} && cd .. && rmdir {0}"),
            lambda t: t.passing("cat {missing} && echo {0}"),
            lambda t: t.passing("cat {missing} || echo {0}"),
            lambda t: t.passing("touch {0} && cp {0} {1} && rm {0} {1}"),
        ),
    }
    """The kinds of calls."""

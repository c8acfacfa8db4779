"""What the words of a command line name: files, and the message of a commit."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from agentworld_gym.domains.swe.engine.structured_state.command_list import WRITERS, steps_of
from agentworld_gym.domains.swe.engine.structured_state.read_only import simple_commands
from agentworld_gym.domains.terminal.api import unquoted

_GIT_NAMING = {("git", verb) for verb in ("add", "branch", "checkout", "merge", "mv", "rm", "switch", "tag")}
"""The commands of git whose operands are names."""


@lru_cache(maxsize=1024)
def words_of(command: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of the simple commands of a command line, without their quotes.

    >>> words_of("git commit -m 'Fix it' && ls")
    (('git', 'commit', '-m', 'Fix it'), ('ls',))
    """
    return tuple(tuple(map(unquoted, simple.words)) for simple in simple_commands(command) if simple.words)


def is_commit(command: str) -> bool:
    """Whether a command line is one commit, of which git prints a summary.

    >>> is_commit("git commit -am 'Fix it'"), is_commit("git commit --amend"), is_commit("git add . && git commit")
    (True, False, False)
    """
    commands = words_of(command)
    if len(commands) != 1 or commands[0][:2] != ("git", "commit"):
        return False
    return not {"-q", "--quiet", "--amend"}.intersection(commands[0])


def commit_message(command: str) -> str | None:
    """Return the message of the first commit that a command line makes; None where it gives none.

    >>> commit_message("git add a.py; git commit -am 'Fix it'")
    'Fix it'
    """
    for words in words_of(command):
        if words[:2] == ("git", "commit"):
            for option, value in pairwise(words[2:]):
                if option == "--message" or (option[:1] == "-" and option[1:2] != "-" and option.endswith("m")):
                    return value
    return None


def operands_of(command: str) -> list[str]:
    """Return the words of a command line that may name files or branches: no options, programs, scripts, and commands
    of git. Words that are no paths by their looks count where the program takes nothing else.

    >>> operands_of("rm tests/a.py; sed -i s/b/c/ d.md; git checkout -- e.py; python -m pytest -q f.py::test_g")
    ['tests/a.py', 'd.md', 'e.py', 'f.py::test_g']
    """
    found = []
    for words in words_of(command):
        if words[0] == "cd":
            continue
        first = 3 if words[1:2] == ("-m",) else 2 if words[0] == "git" else 1
        operands = [word for word in words[first:] if not word.startswith("-")]
        if words[0] == "chmod" or (words[0] == "sed" and "-e" not in words):
            del operands[:1]
        named = words[0] in WRITERS or words[:2] in _GIT_NAMING
        found += [word for word in operands if _is_path(word) or (named and "/" not in word)]
    found += [step.target for step in steps_of(command) if step.target]
    return list(dict.fromkeys(found))


def _is_path(word: str) -> bool:
    return word != "." and ("." in word or "/" in word) and ".." not in word and not word.startswith("refs/")

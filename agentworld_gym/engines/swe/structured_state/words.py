"""What the words of a command line name: files, and the message of a commit."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.engines.swe.structured_state.read_only import simple_commands
from agentworld_gym.engines.terminal.lexer import unquoted


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
            for option, value in zip(words[2:], words[3:], strict=False):
                if option == "--message" or (option[:1] == "-" and option[1:2] != "-" and option.endswith("m")):
                    return value
    return None


def operands_of(command: str) -> list[str]:
    """Return the words of a command line that may name files: no options, no programs, and no commands of git.

    >>> operands_of("rm tests/a.py; git checkout -- b.py; python -m pytest -q tests/c.py::test_d")
    ['tests/a.py', 'b.py', 'tests/c.py::test_d']
    """
    found = []
    for words in words_of(command):
        first = 3 if words[1:2] == ("-m",) else 2 if words[0] == "git" else 1
        found += [word for word in words[first:] if not word.startswith("-") and ("." in word or "/" in word)]
    return list(dict.fromkeys(found))

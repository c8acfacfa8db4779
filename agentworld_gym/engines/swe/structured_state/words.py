"""What the words of a command line name: files, and the message of a commit."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

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
            for option, value in pairwise(words[2:]):
                if option == "--message" or (option[:1] == "-" and option[1:2] != "-" and option.endswith("m")):
                    return value
    return None


def operands_of(command: str) -> list[str]:
    """Return the words of a command line that may name files: no options, programs, scripts, and commands of git.

    >>> operands_of("rm tests/a.py; sed -i s/b/c/ d.md; git checkout -- e.py; python -m pytest -q f.py::test_g")
    ['tests/a.py', 'd.md', 'e.py', 'f.py::test_g']
    """
    found = []
    for words in words_of(command):
        first = 3 if words[1:2] == ("-m",) else 2 if words[0] == "git" else 1
        operands = [word for word in words[first:] if not word.startswith("-")]
        if words[0] == "sed" and "-e" not in words:
            del operands[:1]
        found += [word for word in operands if _is_path(word)]
    return list(dict.fromkeys(found))


def replaced_by_sed(command: str) -> tuple[list[str], list[str]] | None:
    """Return the words of a program that prints what `sed -i` writes, and the files that are written.

    It is None for any other command line.

    >>> replaced_by_sed("sed -i 's/a/b/' c.txt d.txt")
    (['sed', 's/a/b/'], ['c.txt', 'd.txt'])
    """
    commands = words_of(command)
    if len(commands) != 1 or commands[0][:2] != ("sed", "-i"):
        return None
    files = operands_of(command)
    return ["sed", *(word for word in commands[0][2:] if word not in files)], files


def _is_path(word: str) -> bool:
    return word != "." and ("." in word or "/" in word) and ".." not in word and not word.startswith("refs/")

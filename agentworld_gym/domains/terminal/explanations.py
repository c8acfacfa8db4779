"""Explains the answers of a terminal: the command, the files that it names, and what it prints."""

from __future__ import annotations

import posixpath
import re
import shlex
from types import MappingProxyType

from agentworld_gym.domains.terminal.observations import is_idle, keystrokes
from agentworld_gym.recipe.thinking.explainers.state_changes import file_clauses
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, several

_ERROR = re.compile(
    r"No such file|not found|[Pp]ermission denied|cannot|Is a directory|Not a directory|invalid|File exists|"
    r"syntax error|missing operand|not empty|fatal|Operation not permitted|No space"
)
_PROGRAMS = MappingProxyType(
    {
        "awk": "goes through the lines and computes with their fields",
        "cat": "prints what it is given as it is",
        "cd": "goes to another directory",
        "chmod": "sets permissions",
        "cp": "copies",
        "cut": "keeps some fields of each line",
        "diff": "compares line by line",
        "du": "adds up sizes",
        "echo": "prints its arguments",
        "find": "walks the directory tree",
        "grep": "keeps the lines that match",
        "head": "keeps the first lines",
        "ls": "lists names in order",
        "mkdir": "makes directories",
        "mv": "moves or renames",
        "pwd": "prints the working directory",
        "rm": "removes",
        "rmdir": "removes empty directories",
        "sed": "edits line by line",
        "sort": "puts the lines in order",
        "tail": "keeps the last lines",
        "tar": "packs or unpacks",
        "tee": "writes its input to a file and on",
        "touch": "makes a file that is not there",
        "tr": "replaces letters",
        "uniq": "joins equal neighbours",
        "wc": "counts",
        "xargs": "runs a program for what it reads",
    }
)
"""What the common programs do, in few words."""

_OPERATORS = re.compile(r"(?<!\\)(?:\|\||&&|[|;<>&]+)")


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a terminal's answer."""
    cwd = turn.state.get("cwd") if turn.state else None
    base = cwd if isinstance(cwd, str) else "/"
    typed = _typed(turn.action)
    place = f" in {quote}" if (quote := turn.cite(base)) else ""
    if not typed.strip():
        asks = "The agent types nothing and lets time pass"
    elif typed.endswith("\n"):
        asks = f"The agent runs {turn.cite(typed.strip()) or 'a command'}{place}"
    else:
        asks = f"The agent types {turn.cite(typed) or 'keys'} without a line end{place}"
    changes = [change for change in turn.changes if change.field.startswith("/")]
    clauses = file_clauses(turn, changes, base)
    if any(change.field == "cwd" for change in turn.changes):
        after = next(change.after for change in turn.changes if change.field == "cwd")
        clauses.insert(0, f"the working directory becomes {turn.either(after) or 'another one'}")
    return Explanation(asks, _reads(turn, typed, base), clauses, _shows(turn))


def _typed(action: str) -> str:
    """Return the keystrokes of an action as one text."""
    typed = keystrokes(action)
    return action + "\n" if typed is None else "".join(typed)


def _reads(turn: Situation, typed: str, base: str) -> list[str]:
    """Describe the files that the command names."""
    programs = _programs(typed)
    bare = _OPERATORS.sub(" ", typed)
    try:
        words = shlex.split(bare)
    except ValueError:
        words = bare.split()
    if words[:1] == ["ls"] and all(word.startswith("-") for word in words[1:]):
        words.append(".")
    for word in dict.fromkeys(words[1:]):
        if word.startswith("-") or len(programs) == 4:
            continue
        path = posixpath.normpath(posixpath.join(base, word))
        name = turn.cite(word)
        content = turn.state.get(path) if turn.state else None
        if isinstance(content, str):
            programs.append(_file(turn, name, content))
        elif turn.state and path.rstrip("/") + "/" in turn.state:
            inside = _children(turn, path)
            listed = f"with {several(inside, 5)} in it" if inside else "with nothing known in it"
            programs.append(f"{name or 'The place'} is a directory {listed}")
        elif name and "No such file" in turn.observation and _missed(turn, word):
            programs.append(f"There is no {name}")
    return programs


def _programs(typed: str) -> list[str]:
    """Describe what the programs of a command line do, one after the other."""
    names = [part.split()[0] for part in _OPERATORS.split(typed) if part.strip()]
    programs = [f"`{name}` {_PROGRAMS[name]}" for name in dict.fromkeys(names) if name in _PROGRAMS]
    return [", ".join(programs[:3])] if programs else []


def _file(turn: Situation, name: str, content: str) -> str:
    lines = content.rstrip("\n").split("\n") if content else []
    if not lines:
        return f"{name or 'The file'} is empty"
    quotes = [quote for line in lines if (quote := turn.cite(line))]
    holds = f": {several(quotes, 4)}" if quotes else ""
    return f"{name or 'The file'} holds {turn.count(len(lines), 'line')}{holds}"


def _children(turn: Situation, path: str) -> list[str]:
    prefix = path.rstrip("/") + "/"
    names = {
        field[len(prefix) :].split("/")[0] for field in turn.state if field.startswith(prefix) and "#" not in field
    }
    return [quote for name in sorted(names - {""}) if (quote := turn.either(name))]


def _missed(turn: Situation, word: str) -> bool:
    """Whether a line of the answer says that something of this name is not there."""
    return any(word in line for line in turn.observation.split("\n") if "No such file" in line)


def _shows(turn: Situation) -> str:
    lines = turn.observation.split("\n")
    if len(lines) == 1:
        if is_idle(lines[0]):
            return "Nothing appears: the prompt stands there as before"
        if not _typed(turn.action) and turn.before.endswith(lines[0]):
            return "Nothing appears: the line stands there as before"
        running = _typed(turn.action).endswith("\n")
        return (
            "The command still runs: only its echo stands there"
            if running
            else "No line is run, so the text just stands there"
        )
    body, prompt = [line for line in lines[1:-1] if line.strip()], turn.show(lines[-1])
    end = f"; then comes the prompt {prompt}" if prompt else "; then comes the prompt"
    if not body:
        return "Nothing is printed, so the echo stands alone" + end
    first, last = turn.show(body[0]), turn.show(body[-1])
    if _ERROR.search(body[0]):
        return f"After the echo comes the error in the program's own words, {first}" + end
    if len(body) == 1:
        return f"After the echo comes one line, {first}" + end
    return f"After the echo come {turn.count(len(body), 'line')}, from {first} to {last}" + end

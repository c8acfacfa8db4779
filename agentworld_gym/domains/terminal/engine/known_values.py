"""What the change of a terminal can refer to by a name, so that a world model need not copy it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.domains.terminal.engine.builtins.mkdir_rm_chmod import changed_mode
from agentworld_gym.domains.terminal.engine.command_line import CommandLine, absolute
from agentworld_gym.domains.terminal.engine.read_only_programs import is_program, printed, words_of
from agentworld_gym.domains.terminal.engine.structured_state import at, members_of

_BRACES = re.compile("[{}]")
_PATTERN = re.compile(r"[*?\[]")
_EXPANDED = re.compile(r"[$`{]")
"""What the shell may expand in a word that is typed, beside patterns."""
_MOST = 20
"""The largest number of operands, and of members of an archive, that have names."""


def expanded_operands(shown: StructuredState, line: CommandLine) -> list[str]:
    """Return the operands of a command with names of files instead of patterns.

    >>> from agentworld_gym.domains.terminal.engine.command_line import command_line
    >>> shown = {"cwd": "/srv", "home": "/home/dev", "files": {"srv": {"in": {"a.log": {}, "b.log": {}, ".c.log": {}}}}}
    >>> expanded_operands(shown, command_line("rm *.log x"))
    ['a.log', 'b.log', 'x']
    """
    found: list[str] = []
    for word in _operands(shown, line):
        folder, slash, pattern = word.rpartition("/")
        names = at(shown, _path(shown, folder + slash)).get("in", {}) if _PATTERN.search(pattern) else {}
        hidden = pattern.startswith(".")
        matches = [name for name in sorted(names) if fnmatchcase(name, pattern) and (hidden or name[:1] != ".")]
        found += [f"{folder}{slash}{name}" for name in matches] or [word]
    return found[:_MOST]


def _operands(shown: StructuredState, line: CommandLine) -> Sequence[str]:
    """Return the operands of a command with the values of what the shell expands, but for patterns."""
    if not any(_EXPANDED.search(word) for word in line.typed[1:]):
        return line.operands
    words = words_of(shown, line.typed[1:])
    return [word for word in words if not word.startswith("-")]


def operand_paths(shown: StructuredState, line: CommandLine) -> dict[str, str]:
    """Return absolute paths by name.

    `>` is the file that gets the output of a command, `1` its first operand, `2/1` what has the name of the first
    operand within the second, and `1.1` where the first member of the archive `1` is unpacked.

    >>> from agentworld_gym.domains.terminal.engine.command_line import command_line
    >>> shown = {"cwd": "/srv", "home": "/home/dev", "files": {"srv": {"in": {"d": {"in": {}}}}}}
    >>> operand_paths(shown, command_line("mv a.txt d"))
    {'1': '/srv/a.txt', '2': '/srv/d', '2/1': '/srv/d/a.txt'}
    """
    paths = {">": _path(shown, target)} if (target := target_of(shown, line)) else {}
    operands = expanded_operands(shown, line)
    paths |= {str(number): _path(shown, word) for number, word in enumerate(operands, 1)}
    if len(operands) > 1:
        last = str(len(operands))
        if "in" in at(shown, paths[last]):
            inside = {f"{last}/{name}": path.rpartition("/")[2] for name, path in paths.items() if name != last}
            paths |= {name: f"{paths[last].rstrip('/')}/{alone}" for name, alone in inside.items() if alone}
    if operands:
        folder = line.words[line.words.index("-C") + 1 :][:1] if "-C" in line.words else ()
        for number, member in enumerate(_archived(shown, paths["1"]), 1):
            paths[f"1.{number}"] = _path(shown, "/".join((*folder, member["id"].rstrip("/"))))
    return paths


def target_of(shown: StructuredState, line: CommandLine) -> str:
    """Return the name of the file that gets the output of a command; empty where it is printed."""
    if not _EXPANDED.search(line.target):
        return line.target
    return next(iter(words_of(shown, [line.target])), line.target)


def given_values(shown: StructuredState, line: CommandLine, paths: Mapping[str, str]) -> dict[str, Any]:
    """Return what a command gives, by name: what values become where it has its usual effect, then its words.

    `said` is what programs that only read print, `text`, `mode`, `cwd` and `tar` are what these fields become, and `0`
    is the name of the program, `1` its first operand.

    Args:
        shown: The structured state before the change.
        line: The command.
        paths: Paths by name, as `operand_paths` gives them.
    """
    operands = expanded_operands(shown, line)
    words = {"0": line.words[0], **{str(number): word for number, word in enumerate(operands, 1)}}
    words |= {f"|{number}": program[0] for number, program in enumerate(line.programs[1:], 1)}
    if line.target:
        words[">"] = target_of(shown, line)
    return _named({**dict(_effects(shown, line, paths)), **words})


def found_values(shown: StructuredState, paths: Mapping[str, str]) -> dict[str, Any]:
    """Return what stands at paths, by name: `*1` is the file, folder or link that the first operand names."""
    nodes = {f"*{name}": at(shown, path) for name, path in paths.items() if "." not in name and name != ">"}
    members = _archived(shown, paths["1"]) if "1" in paths else []
    for number, member in enumerate(members, 1):
        nodes[f"*1.{number}"] = {key: value for key, value in member.items() if key != "id"}
    return _named({name: node for name, node in nodes.items() if node})


def told_paths(
    shown: StructuredState, paths: Mapping[str, str], seen: dict[str, str] | None = None, step: str = ""
) -> Iterator[str]:
    """Yield a line for each path: what stands there, or that nothing or not even its folder does.

    Args:
        shown: The structured state.
        paths: The paths by name.
        seen: The names of paths that already have been given; this call adds its own.
        step: What stands before the names that are added there.

    >>> shown = {"files": {"srv": {"in": {"a": {"text": "", "mode": "600"}, "b": {"text": "1"}}}}}
    >>> [*told_paths(shown, {"1": "/srv/a", "2": "/srv/b", "3": "/srv/c", "4": "/tmp/d", "5": "/srv/a"})]
    ['1 empty 600', '2 file', '3 -', '4 --', '5 = 1']
    """
    seen = {} if seen is None else seen
    for name, path in paths.items():
        same, own = seen.setdefault(path, f"{step}{name}"), f"{step}{name}"
        yield f"{name} {_kind(shown, path)}" if same == own else f"{name} = {same.removeprefix(step)}"


def told_programs(shown: StructuredState, line: CommandLine) -> Iterator[str]:
    """Yield a line for each program of a command that is not there, or that is a file of the state.

    >>> from agentworld_gym.domains.terminal.engine.command_line import command_line
    >>> shown = {"cwd": "/srv", "home": "/home/dev", "files": {"srv": {"in": {"run.sh": {"text": "ls"}}}}}
    >>> [*told_programs(shown, command_line("zsh run.sh | sort"))], [*told_programs(shown, command_line("./run.sh"))]
    (['0 -'], ['0 file'])
    """
    for number, (program, *_) in enumerate(line.programs):
        name = f"|{number}" if number else "0"
        if "/" in program:
            yield f"{name} {_kind(shown, _path(shown, program))}"
        elif program != "=" and not is_program(program):
            yield f"{name} -"


def _kind(shown: StructuredState, path: str) -> str:
    node = at(shown, path)
    if not node:
        above = at(shown, path.rpartition("/")[0])
        return "-" if "in" in above else "-/" if above else "--"
    if "in" in node:
        word = "folder" if node["in"] else "empty folder"
    elif "text" in node:
        word = "file" if node["text"] else "empty"
    elif "tar" in node:
        word = f"tar {len(node['tar'])}"
    else:
        word = "link" if "link" in node else "file"
    return f"{word} {node['mode']}" if "mode" in node else word


def _path(shown: StructuredState, word: str) -> str:
    return absolute(shown["cwd"], word, shown["home"])


def _effects(shown: StructuredState, line: CommandLine, paths: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    program, operands = line.words[0], expanded_operands(shown, line)
    for word in line.typed[1:] if program in ("=", "export") else ():
        name, sign, _ = word.partition("=")
        if sign and (value := words_of(shown, [f'"{name}"{word[len(name) :]}'])):
            yield name, " ".join(value)[len(name) + 1 :]
    output = printed(shown, line)
    if output is not None:
        yield "said", output.screen
        if line.target or line.edits:
            begun = at(shown, paths[">"]).get("text", "") if line.appends else ""
            yield "text", begun + output.output
    elif program in ("cp", "mv") and operands:
        yield "text", at(shown, paths["1"]).get("text")
    elif program == "chmod" and len(operands) > 1:
        node = at(shown, paths["2"])
        before = int(str(node.get("mode", "755" if "in" in node else "644")), 8)
        after = changed_mode(operands[0], before, "in" in node)
        yield "mode", None if after is None else f"{after:o}"
    elif program == "cd":
        yield "cwd", paths["1"] if operands else shown["home"]
    elif program == "tar" and operands:
        nodes = ((word.rstrip("/"), at(shown, paths[str(number)])) for number, word in enumerate(operands, 1))
        yield "tar", [member for word, node in [*nodes][1:] if node for member in members_of(word, node)]


def _archived(shown: StructuredState, path: str) -> list[dict[str, Any]]:
    return list(at(shown, path).get("tar", ()))[:_MOST]


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and not _BRACES.search(name)}

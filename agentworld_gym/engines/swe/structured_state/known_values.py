"""The values to which the change that a call makes can refer by a name, so that a world model need not copy them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import basename
from shlex import quote
from typing import Any

from agentworld_gym.engines.swe.episode import Episode
from agentworld_gym.engines.swe.files import absolute
from agentworld_gym.engines.swe.git.call import GitCall
from agentworld_gym.engines.swe.git.commands.status import long_status
from agentworld_gym.engines.swe.git.diff import compare, stat
from agentworld_gym.engines.swe.git.history import History
from agentworld_gym.engines.swe.git.objects import Tree
from agentworld_gym.engines.swe.structured_state.episode import path_in
from agentworld_gym.engines.swe.structured_state.history import changes_between
from agentworld_gym.engines.swe.structured_state.read_only import only_reads
from agentworld_gym.engines.swe.structured_state.said import named_path
from agentworld_gym.engines.swe.structured_state.words import (
    commit_message,
    operands_of,
    replaced_by_sed,
    words_of,
)
from agentworld_gym.engines.swe.tools import SHELL, read_call, use
from agentworld_gym.text.envelope import Envelope

MOST = 4
"""The largest number of files of which it is known what `sed` writes into them."""
_SHORT = 7
"""The number of characters of a short hash."""


def given_values(episode: Episode, call: Any) -> dict[str, Any]:
    """Return what a call gives, by name.

    The arguments have their own names. `edited` is the text of the file with the new string in the place of the old
    one, wherever that stands. `word`, `word/1`, … are the words of a command that may name files, `message` is that of
    a commit, and `sed`, `sed/1`, … are what `sed -i` writes into files.
    """
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return {}
    if name == SHELL:
        return dict(_command_values(episode, arguments.get("command"), _folder(episode, arguments)))
    values = {key: value for key, value in arguments.items() if isinstance(key, str) and isinstance(value, str)}
    if name == "edit":
        return {"edited": _edited(episode, named_path(name, values), values), **values}
    return values


def found_values(episode: Episode, call: Any) -> dict[str, Any]:
    """Return what a command of git finds, by name.

    `head`, `origin` and `remote` are the short hashes of the commits that are checked out, were fetched last, and stand
    at the remote. `fetched`, `forward`, `pushed` and `status` are what git prints where it fetches commits, moves to
    them, pushes, and has nothing to commit. A file has the text of the commit that is checked out, or of the remote
    where commits are fetched from it; its name is enough where no other one has it. `changes` is what a commit of all
    changed files would hold, and `staged` what one of the index would.
    """
    name, arguments = read_call(call)
    history = episode.history
    if name != SHELL or not isinstance(arguments, Mapping) or history is None:
        return {}
    command = arguments.get("command")
    commands = [words[1:] for words in words_of(command) if words[0] == "git"] if isinstance(command, str) else []
    if not commands:
        return {}
    verbs = {words[0] for words in commands if words}
    server = history.server.get(history.branch or "", "")
    tips = {"head": history.head.id, "origin": history.tracking.get(history.branch or "", ""), "remote": server}
    values: dict[str, Any] = {name: tip[:_SHORT] for name, tip in tips.items() if tip}
    work = episode.work()
    if server and history.branch:
        values |= _with_remote(history, values)
    values |= {"branch": history.branch, "url": history.url} if history.branch else {"url": history.url}
    if "commit" in verbs:
        values["status"] = long_status(_call(episode, history.copy(), work)).rstrip("\n")
        tracked = {path: text for path, text in work.items() if path in history.index}
        values["changes"] = changes_between(history.head.tree, tracked)
        values["staged"] = changes_between(history.head.tree, history.index)
    values.update(_committed(_target(history, verbs, server), work))
    return values


def named_places(episode: Episode, call: Any) -> dict[str, tuple[str, ...]]:
    """Return the places of the files that a call names, by the names of what names them."""
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return {}
    shown = {"root": episode.root}
    if name != SHELL:
        path = named_path(name, arguments)
        return {} if path is None or path == episode.root else {"file": path_in(shown, path)}
    folder, words = _folder(episode, arguments), _named("word", operands_of(str(arguments.get("command", ""))))
    places = {name: absolute(word, folder) for name, word in words if "\0" not in word}
    return {name: path_in(shown, path) for name, path in places.items() if path not in ("/", episode.root)}


def _folder(episode: Episode, arguments: Mapping[str, Any]) -> str:
    directory = arguments.get("directory")
    return absolute(directory, episode.root) if isinstance(directory, str) and directory else episode.root


def _command_values(episode: Episode, command: Any, folder: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(command, str):
        return
    message = commit_message(command)
    if message is not None:
        yield "message", message
    yield from _named("word", operands_of(command))
    replaced = replaced_by_sed(command)
    if replaced is not None:
        yield from _named("sed", [_printed(episode, [*replaced[0], file], folder) for file in replaced[1][:MOST]])


def _printed(episode: Episode, words: list[str], folder: str) -> str:
    """Return what a program that only reads prints; nothing where it fails."""
    command = " ".join(map(quote, words))
    result = use(episode.copy(), SHELL, {"command": command, "directory": folder}) if only_reads(command) else None
    return result.output if isinstance(result, Envelope) and result.exit_code == 0 else ""


def _named(name: str, values: list[str]) -> list[tuple[str, str]]:
    return [(name if not number else f"{name}/{number}", value) for number, value in enumerate(values)]


def _edited(episode: Episode, path: str | None, values: Mapping[str, str]) -> str:
    file = episode.files.get(path) if path is not None else None
    old, new = values.get("old_string"), values.get("new_string", "")
    if file is None or not old:
        return new
    return file.text.replace(old, new)


def _with_remote(history: History, tips: Mapping[str, str]) -> dict[str, str]:
    """Return what git prints where commits are fetched, followed and pushed."""
    branch, server = history.branch or "", history.commits[history.server[history.branch or ""]]
    changes = compare(history.head.tree, server.tree)
    made = "".join(
        f" {'create' if change.old is None else 'delete'} mode 100644 {change.path}\n"
        for change in changes
        if change.letter != "M"
    )
    old = tips.get("origin", "")
    return {
        "fetched": f"From {history.url.removesuffix('.git')}\n"
        f"   {old}..{tips['remote']}  {branch:<10} -> {history.remote}/{branch}",
        "forward": f"Updating {tips['head']}..{tips['remote']}\nFast-forward\n{stat(changes)}{made}".rstrip("\n"),
        "pushed": f"To {history.url}\n   {tips['remote']}..{tips['head']}  {branch} -> {branch}",
    }


def _call(episode: Episode, history: History, work: dict[str, str]) -> GitCall:
    return GitCall(history, work, episode.root, episode.root, episode.now)


def _target(history: History, verbs: set[str], server: str) -> Tree:
    """Return the tree from which commands of git take files."""
    if verbs & {"pull", "merge", "rebase"} and server in history.commits:
        return history.commits[server].tree
    return history.index if verbs & {"checkout", "restore", "stash"} else history.head.tree


def _committed(tree: Tree, work: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for path, text in sorted(tree.items()):
        if work.get(path) != text:
            name = basename(path)
            values[path if name in values else name] = text
    return values

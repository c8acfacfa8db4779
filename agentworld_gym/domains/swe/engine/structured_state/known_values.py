"""The values to which the change that a call makes can refer by a name, so that a world model need not copy them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import basename
from typing import Any

from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import absolute
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.commands.status import long_status
from agentworld_gym.domains.swe.engine.git.diff import compare, stat
from agentworld_gym.domains.swe.engine.git.history import GitHistory
from agentworld_gym.domains.swe.engine.git.objects import Tree
from agentworld_gym.domains.swe.engine.structured_state.call_answers import PATHS, named_path
from agentworld_gym.domains.swe.engine.structured_state.command_list import commit_message, operands_of, words_of
from agentworld_gym.domains.swe.engine.structured_state.episode import path_in
from agentworld_gym.domains.swe.engine.structured_state.history import changes_between
from agentworld_gym.domains.swe.engine.structured_state.imports import broken_import
from agentworld_gym.domains.swe.engine.structured_state.shell_effects import ShellEffects, folder_of_steps, left_by
from agentworld_gym.domains.swe.engine.structured_state.test_reports import NoTests, plan_of
from agentworld_gym.domains.swe.engine.tools import SHELL, read_call

_SHORT = 7
"""The number of characters of a short hash."""
_ALL = re.compile(r"-[b-z]*a[a-z]*|--all")
"""The option with which a commit takes all changed files."""


def given_values(episode: RepositoryEpisode, call: Any) -> dict[str, Any]:
    """Return what a call gives, by name.

    The arguments have their own names, but for the path of the file, which no file holds. `edited` is the text of the
    file with the new string instead of the old one, wherever that stands. `word`, `word/1`, … are the words of a
    command that may name files, and `message` is that of a commit. What a command would leave in a file has the name of
    the file, or `left/1`, … where that is taken.
    """
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return {}
    if name == SHELL:
        return dict(_command_values(episode, arguments))
    values = {key: value for key, value in arguments.items() if isinstance(key, str) and isinstance(value, str)}
    path = named_path(name, values)
    others = {key: value for key, value in values.items() if key != PATHS.get(name)}
    return {"edited": _edited(episode, path, values), **others} if name == "edit" else others


def found_values(episode: RepositoryEpisode, call: Any) -> dict[str, Any]:
    """Return what a command of git or a test run finds, by name.

    Of a test run these are the files of tests that import what is not there, with the failure that this is.

    `head`, `origin` and `remote` are the short hashes of the commits that are checked out, were fetched last, and stand
    at the remote. `fetched`, `forward`, `pushed` and `status` are what git prints where it fetches commits, moves to
    them, pushes, and has nothing to commit. A file has the text of the commit that is checked out, or of the remote
    where commits are fetched from it; its name is enough where no other one has it. `staged` is what the index would
    hold after the files that the command adds, and `files` what a commit would: with `-a` the changed files, too.
    """
    name, arguments = read_call(call)
    history = episode.history
    if name != SHELL or not isinstance(arguments, Mapping):
        return {}
    command = arguments.get("command")
    broken = _broken(episode, arguments) if isinstance(command, str) and "pytest" in command else {}
    commands = [words[1:] for words in words_of(command) if words[0] == "git"] if isinstance(command, str) else []
    if history is None or not commands:
        return broken
    verbs = {words[0] for words in commands if words}
    server = history.server.get(history.branch or "", "")
    tips = {"head": history.head.id, "origin": history.tracking.get(history.branch or "", ""), "remote": server}
    values: dict[str, Any] = {**broken, **{name: tip[:_SHORT] for name, tip in tips.items() if tip}}
    left = _left(episode, arguments)
    work = left.work
    if server and history.branch:
        values |= _with_remote(history, values)
    values |= {"branch": history.branch, "url": history.url} if history.branch else {"url": history.url}
    if "commit" in verbs:
        values["status"] = long_status(_call(episode, history.copy(), dict(work))).rstrip("\n")
        values["files"] = changes_between(history.head.tree, _commits(left, commands, history))
    if left.staged is not None and {"add", "mv", "rm"} & verbs:
        values["staged"] = changes_between(history.head.tree, left.staged)
    values.update(_committed(_target(history, verbs, server), work))
    return values


def _broken(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> dict[str, Any]:
    files = episode.files.texts()
    try:
        plan = plan_of(files, str(arguments["command"]), _folder(episode, arguments))
    except (NoTests, RecursionError):
        return {}
    found = {file.shown: broken_import(files, file.path, plan.root) for file in plan.files}
    return {name: failure for name, failure in found.items() if failure is not None}


def named_places(episode: RepositoryEpisode, call: Any) -> dict[str, tuple[str, ...]]:
    """Return the places of the files that a call names, by the names of what names them."""
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return {}
    shown = {"root": episode.root}
    if name != SHELL:
        path = named_path(name, arguments)
        return {} if path is None or path == episode.root else {"file": path_in(shown, path)}
    command = str(arguments.get("command", ""))
    folder, words = folder_of_steps(command, _folder(episode, arguments)), _named("word", operands_of(command))
    left = _left(episode, arguments)
    places = dict([*_named("to", list(left.entries)), *_named("from", list(left.gone))])
    places |= {name: absolute(word, folder) for name, word in words if "\0" not in word}
    return {name: path_in(shown, path) for name, path in places.items() if path not in ("/", episode.root)}


def _folder(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> str:
    directory = arguments.get("directory")
    return absolute(directory, episode.root) if isinstance(directory, str) and directory else episode.root


def _left(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> ShellEffects:
    command = arguments.get("command")
    return left_by(episode, command if isinstance(command, str) else "", _folder(episode, arguments))


def _commits(left: ShellEffects, commands: list[tuple[str, ...]], history: GitHistory) -> Tree:
    """Return the tree of the commit that a command makes."""
    index = history.index if left.staged is None else left.staged
    if not any(words[:1] == ("commit",) and any(map(_ALL.fullmatch, words[1:])) for words in commands):
        return index
    return {path: left.work[path] for path in index if path in left.work}


def _command_values(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    command = arguments.get("command")
    if not isinstance(command, str):
        return
    message = commit_message(command)
    if message is not None:
        yield "message", message
    yield from _named("word", operands_of(command))
    names = set[str]()
    for number, (path, entry) in enumerate(_left(episode, arguments).entries.items()):
        name = basename(path)
        yield (f"left/{number}" if name in names or "{" in name or "}" in name else name), entry
        names.add(name)


def _named(name: str, values: list[str]) -> list[tuple[str, str]]:
    return [(name if not number else f"{name}/{number}", value) for number, value in enumerate(values)]


def _edited(episode: RepositoryEpisode, path: str | None, values: Mapping[str, str]) -> str:
    file = episode.files.get(path) if path is not None else None
    old, new = values.get("old_string"), values.get("new_string", "")
    if file is None or not old:
        return new
    return file.text.replace(old, new)


def _with_remote(history: GitHistory, tips: Mapping[str, str]) -> dict[str, str]:
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


def _call(episode: RepositoryEpisode, history: GitHistory, work: dict[str, str]) -> GitCall:
    return GitCall(history, work, episode.root, episode.root, episode.now)


def _target(history: GitHistory, verbs: set[str], server: str) -> Tree:
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

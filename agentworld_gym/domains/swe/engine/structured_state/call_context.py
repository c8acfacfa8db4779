"""Describes a repository to a world model before a call: what stands at the paths that the call names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.file_operations import rows_of
from agentworld_gym.domains.swe.engine.files import absolute, relative
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitHistory
from agentworld_gym.domains.swe.engine.state import parents
from agentworld_gym.domains.swe.engine.structured_state.call_answers import named_path
from agentworld_gym.domains.swe.engine.structured_state.command_list import operands_of, words_of
from agentworld_gym.domains.swe.engine.structured_state.files import USUAL
from agentworld_gym.domains.swe.engine.structured_state.imports import broken_import
from agentworld_gym.domains.swe.engine.structured_state.read_only import only_reads
from agentworld_gym.domains.swe.engine.structured_state.shell_effects import folder_of_steps, left_by
from agentworld_gym.domains.swe.engine.structured_state.test_reports import NoTests, lines_of, plan_of
from agentworld_gym.domains.swe.engine.tools import SHELL, read_call

MOST = 6
"""The largest number of words of a command, and of changed files."""
LONGEST = 120
"""The largest number of characters of a path."""


def context_lines(episode: RepositoryEpisode, call: Any) -> Iterator[str]:
    """Yield what stands at the paths that a call names: the number of lines of a file, and how often a text stands."""
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return
    if name == SHELL:
        yield from _before_command(episode, arguments)
        return
    path = named_path(name, arguments)
    if path is None:
        return
    facts: dict[str, Any] = {}
    old = arguments.get("old_string")
    if isinstance(old, str) and old and path in episode.files:
        facts["old_string"] = episode.files[path].text.count(old)
    yield _standing(episode, path, facts)


def _standing(episode: RepositoryEpisode, path: str, facts: Mapping[str, Any], *, in_shell: bool = False) -> str:
    """Return the line about what stands at a path; the shell makes no missing folders."""
    shown = relative(path, episode.root)[:LONGEST].encode("unicode_escape").decode()
    file = episode.files.get(path)
    if file is not None:
        mode = {"mode": f"{file.mode:o}"} if file.mode != USUAL else {}
        binary = {"binary": True} if file.display_text != file.text or "\0" in file.text else {}
        return f"{shown} {compact({'lines': len(rows_of(file.text)), **mode, **binary, **facts})}"
    if path in episode.files.folders or path == "/":
        return f"{shown} folder"
    above = next((parent for parent in parents(path) if parent in episode.files), None)
    if above is not None:
        return f"{shown} below a file"
    return f"{shown} {'nowhere' if in_shell and dirname(path) not in episode.files.folders | {'/'} else 'none'}"


def _before_command(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> Iterator[str]:
    command, directory = arguments.get("command"), arguments.get("directory")
    if not isinstance(command, str):
        return
    folder = episode.root
    if isinstance(directory, str) and directory and "\0" not in directory:
        folder = absolute(directory, episode.root)
        yield _standing(episode, folder, {})
    if only_reads(command):
        return
    tests = _test_lines(episode, command, folder)
    words = [word for word in operands_of(command) if "\0" not in word][:MOST]
    left = left_by(episode, command, folder)
    inner = folder_of_steps(command, folder)
    if inner != folder:
        yield _standing(episode, inner, {})
    named = (absolute(word.partition("::")[0], inner) for word in words)
    for path in dict.fromkeys((*left.entries, *left.gone, *named, *tests)):
        yield _standing(episode, path, tests.get(path, {}), in_shell=True)
    if tests and episode.failures:
        yield f"failures {compact(sorted(episode.failures)[:MOST])}"
    if episode.history is not None and any(words[0] in ("git", "python", "pytest") for words in words_of(command)):
        yield f"git {compact(_history_lines(episode, episode.history))}"


def _test_lines(episode: RepositoryEpisode, command: str, folder: str) -> dict[str, dict[str, Any]]:
    """Return the chosen tests of a command that runs tests, by file, with the lines in which they begin.

    A file is `broken` where it imports what is not there.
    """
    files = episode.files.texts()
    try:
        plan = plan_of(files, command, folder)
    except (NoTests, RecursionError):
        return {}
    broken = {file.path: {"broken": True} for file in plan.files if broken_import(files, file.path, plan.root)}
    chosen = {plan.ids[number].partition("[")[0] for number in plan.chosen}
    return {
        file.path: {
            "tests": {name: line for name, line in lines_of(file).items() if f"{file.shown}::{name}" in chosen},
            **broken.get(file.path, {}),
        }
        for file in plan.files
    }


def _history_lines(episode: RepositoryEpisode, history: GitHistory) -> dict[str, Any]:
    """Return the branch, what the remote and the branch have beyond each other, and the files that have changed."""
    head = {commit.id for commit in history.ancestors(history.head.id)}
    told: dict[str, Any] = {"branch": history.branch}
    for name, tips in (("fetched", history.tracking), ("remote", history.server)):
        if tip := tips.get(history.branch or ""):
            there = {commit.id for commit in history.ancestors(tip)}
            told[name] = [len(there - head), len(head - there)]
    work = episode.work()
    tracked = {path: text for path, text in work.items() if path in history.index}
    told["changed"] = [change.path for change in compare(history.index, tracked)][:MOST]
    told["untracked"] = GitCall(history, work, episode.root, episode.root, episode.now).untracked()[:MOST]
    told["staged"] = [change.path for change in compare(history.head.tree, history.index)][:MOST]
    return {key: value for key, value in told.items() if value not in ([], None)}

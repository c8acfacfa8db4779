"""An episode as plain JSON data, in two parts: what the view reads, and what updates alone need.

`shown` has the folder of the repository (`root`), the version of Python, the seed and the controls in force, the number
of calls so far (`step`), the files of the repository (`files`) and all others (`elsewhere`), version control (`git`),
the tests that failed when they were last run (`failures`), and the last answer (`said`); the modules beside this one
tell of each. `kept` has what no answer of the first dialect shows before an update, such as the to-do list, processes,
and what the controls remember.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.swe.engine import results
from agentworld_gym.domains.swe.engine.episode import STEP_SECONDS, BackgroundShell, RepositoryEpisode, Todo
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox
from agentworld_gym.domains.swe.engine.results import Match, Refused, Result
from agentworld_gym.domains.swe.engine.state import parents
from agentworld_gym.domains.swe.engine.structured_state.files import (
    entry_at,
    files_of,
    plain_text,
    plain_tree,
    text_of_plain,
    with_texts,
    with_times,
)
from agentworld_gym.domains.swe.engine.structured_state.history import history_of, plain_history

_TREES = ("files", "elsewhere")


def shown_episode(episode: RepositoryEpisode) -> StructuredState:
    """Return what the view reads of an episode, without the last answer."""
    shown: StructuredState = {"root": episode.root, "python": episode.version, "seed": episode.seed}
    strengths = {name: episode.controls.strength(name) for name in episode.controls.strengths}
    if any(strengths.values()):
        shown |= {"controls": strengths, "control_seed": episode.controls.seed}
    tree = plain_tree(episode.files)
    shown |= {"step": episode.step, "elsewhere": tree}
    inside = entry_at(tree, episode.root)
    if isinstance(inside, dict):
        shown["files"] = inside
        above, _, name = episode.root.rpartition("/")
        del (entry_at(tree, above) if above else tree)[name]
    shown["failures"] = dict(episode.failures)
    if episode.history is not None:
        shown["git"] = plain_history(episode.history)
    return shown


def shown_tree(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree of all files of a state.

    Raises:
        LookupError, TypeError, ValueError: The state is none of a repository.
    """
    tree: Any = _copied(shown["elsewhere"])
    if "files" in shown:
        inner = tree
        for folder in reversed(parents(shown["root"])):
            inner = inner.setdefault(folder.rpartition("/")[2], {})
        inner[shown["root"].rpartition("/")[2]] = shown["files"]
    return dict(tree)


def path_in(shown: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Return the path in a state at which a file or a folder stands, or would stand.

    >>> path_in({"root": "/repo"}, "/repo/src/a.py"), path_in({"root": "/repo"}, "/tmp/b")
    (('files', 'src', 'a.py'), ('elsewhere', 'tmp', 'b'))
    """
    root = shown["root"]
    inside = path == root or path.startswith(f"{root}/")
    names = path.removeprefix(root) if inside else path
    return ("files" if inside else "elsewhere", *filter(None, names.split("/")))


def episode_of(shown: Mapping[str, Any], sandbox: PythonSandbox) -> RepositoryEpisode:
    """Return the episode of what the view reads, whose Python runs in the given sandbox.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: The state is none of a repository.
    """
    controls = Controls(shown.get("controls", {}), shown.get("control_seed", 0))
    if type(shown["step"]) is not int or not 0 <= shown["step"] < 10**6:
        raise ValueError(f"no number of calls: {shown['step']!r}")
    files = files_of(shown_tree(shown))
    episode = RepositoryEpisode(
        shown["root"], shown["python"], shown["seed"], files, None, sandbox, controls, shown["step"]
    )
    episode.failures = dict(shown["failures"])
    if "git" in shown:
        episode.history = history_of(shown["git"])
    return episode


def kept_episode(episode: RepositoryEpisode) -> dict[str, Any]:
    """Return what updates need of an episode beside what the view reads."""
    shells = {
        name: [shell.command, plain_text(shell.output), shell.exit_code, shell.running, shell.pid]
        for name, shell in episode.shells.items()
    }
    return {
        "todos": [[todo.id, todo.content, todo.status] for todo in episode.todos],
        "processes": {str(pid): command for pid, command in episode.processes.items()},
        "shells": shells,
        "memories": list(episode.memories),
        "next_pid": episode.next_pid,
        "stale": {compiled: list(source) for compiled, source in episode.stale.items()},
        "flaky": episode.flaky,
        "tested": episode.tested,
        "stopped": episode.stopped,
        "reached": episode.reached,
        "attempts": episode.attempts,
        "initial": dict(episode.initial),
        "sandbox": episode.sandbox.name,
    }


def keep(episode: RepositoryEpisode, kept: Mapping[str, Any]) -> None:
    """Give an episode what `kept_episode` returned."""
    episode.todos = tuple(Todo(*todo) for todo in kept["todos"])
    episode.processes = {int(pid): command for pid, command in kept["processes"].items()}
    episode.shells = {
        name: BackgroundShell(command, text_of_plain(output), code, running, pid)
        for name, (command, output, code, running, pid) in kept["shells"].items()
    }
    episode.memories = tuple(kept["memories"])
    episode.next_pid = kept["next_pid"]
    episode.stale = {compiled: (path, text) for compiled, (path, text) in kept["stale"].items()}
    episode.flaky, episode.tested, episode.stopped = kept["flaky"], kept["tested"], kept["stopped"]
    episode.reached, episode.attempts, episode.initial = kept["reached"], kept["attempts"], dict(kept["initial"])


def marked_files(shown: Mapping[str, Any], after: Mapping[str, Any]) -> StructuredState:
    """Return a state after a change with its text alone instead of each file that has been written."""
    now = after["step"] * STEP_SECONDS
    return {**after, **{key: with_texts(shown.get(key), after[key], now) for key in _TREES if key in after}}


def timed_files(after: Mapping[str, Any]) -> StructuredState:
    """Return a state with its time beside each text that stands alone: the inverse of `marked_files`."""
    now = after["step"] * STEP_SECONDS
    return {**after, **{key: with_times(after[key], now) for key in _TREES if key in after}}


def _copied(tree: Any) -> Any:
    return {name: _copied(entry) for name, entry in tree.items()} if isinstance(tree, dict) else tree


def plain_result(result: Result) -> list[Any]:
    """Return a result as plain data: its kind and its fields.

    >>> plain_result(results.Written("/repo/a.py", there=False))
    ['Written', {'path': '/repo/a.py', 'there': False}]
    """
    if isinstance(result, Refused):
        return ["Refused", {"reason": result.reason, **result.details}]
    fields = {field.name: _plain(getattr(result, field.name)) for field in dataclasses.fields(result)}
    return [type(result).__name__, fields]


def result_of(plain: Any) -> Result:
    """Return the result that `plain_result` was given."""
    kind, fields = plain
    made: type[Any] = Envelope if kind == "Envelope" else getattr(results, kind)
    values: dict[str, Any] = {
        name: result_of(value) if name == "outcome" else _value(value)  # An outcome is a result itself.
        for name, value in fields.items()
    }
    if kind == "LinesFound":
        values["matches"] = [Match(*match) for match in values["matches"]]
    result: Result = made(**values)
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, Envelope):
        return plain_result(value)
    if isinstance(value, str):
        return plain_text(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return text_of_plain(value)
    return [_value(item) for item in value] if isinstance(value, list) else value

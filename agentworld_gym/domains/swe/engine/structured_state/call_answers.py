"""The answer to a call as plain data, so that its text follows from the files and version control.

An answer begins as a note of the call: the tool, what it names, and what stands there (`noted_call`). Where nothing
else is said, the text is that of a call with its usual effect: what a tool that reads shows of the files, or that a
file was written. What is said beside the note is why a call was refused (`refused`), and what a command printed
(`output`, `exit`, `error`, `signal`, `pids`), or what it printed before what the view shows (`before`). An answer of
another kind is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from agentworld_gym.base.text.envelope import Envelope, bounded
from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import absolute, relative
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.pretty import committed
from agentworld_gym.domains.swe.engine.python.testing.collection import CollectionPlan
from agentworld_gym.domains.swe.engine.results import (
    Edited,
    Reason,
    Refused,
    Remembered,
    Result,
    Said,
    Started,
    TodosWritten,
    Written,
)
from agentworld_gym.domains.swe.engine.scaffolds import FIRST, PRINTERS
from agentworld_gym.domains.swe.engine.structured_state.command_list import (
    COMMITTED,
    is_commit,
    script_before_last,
    shown_script,
)
from agentworld_gym.domains.swe.engine.structured_state.read_only import after_fetch, only_reads
from agentworld_gym.domains.swe.engine.structured_state.test_reports import NoTests, plan_of, report_in, report_text
from agentworld_gym.domains.swe.engine.tools import SHELL, read_call, use

READING = frozenset(("glob", "list_directory", "read_file", "read_many_files", "search_file_content"))
"""The tools that only read files."""
PATHS = {
    "edit": "file_path",
    "glob": "path",
    "list_directory": "path",
    "read_file": "absolute_path",
    "search_file_content": "path",
    "write_file": "file_path",
}
"""The argument that is a path, by tool."""
_ALL_REASONS: tuple[str, ...] = get_args(Reason)
_ARGUMENT = ("argument",)
_WRITING = ("argument", "is a directory", "no space", "not in a directory", "permission", "relative", "too long")
_REASONS = {
    "edit": (*_WRITING, "binary", "exists", "many", "no change", "no file", "no text"),
    "save_memory": _ARGUMENT,
    SHELL: _ARGUMENT,
    "todo_write": _ARGUMENT,
    "write_file": _WRITING,
    **dict.fromkeys(READING, _ALL_REASONS),
}
_COMMAND = {"output": "", "error": "", "exit": 0, "signal": None, "pids": []}
"""What a command does that succeeds and prints nothing."""

_FETCHED = re.compile(r"From [^\n]*\n(?: [^\n]*\n)+")
"""What git prints of commits that it fetches."""

PlainSaid = str | dict[str, Any]


def noted_call(episode: RepositoryEpisode, call: Any) -> dict[str, Any]:
    """Return the note of a call that is about to be answered: what it names, and what stands there.

    What follows from the call is not in it.
    """
    name, arguments = read_call(call)
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return {}
    try:
        given = _encodable(dict(arguments))
    except RecursionError:
        return {}
    note: dict[str, Any] = {"tool": _encodable(name)[:100]}
    if name == SHELL:
        return note | _noted_command(episode, given)
    path = named_path(name, given) or given.get(PATHS.get(name, ""))
    if isinstance(path, str):
        note["path"] = path
    if name in READING:
        note["arguments"] = given
    elif name == "write_file":
        note["there"] = note.get("path") in episode.files
    elif name == "edit":
        note |= _noted_edit(episode, note.get("path"), given)
    elif name == "save_memory" and isinstance(given.get("fact"), str):
        note["fact"] = given["fact"].strip()
    return note


def named_path(name: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the absolute path that a call of a tool of files names; None where it names none."""
    path = arguments.get(PATHS.get(name, ""))
    return absolute(path) if isinstance(path, str) and path.startswith("/") and "\0" not in path else None


def answer_text(
    episode: RepositoryEpisode, dialect: str, result: Result, name: str, arguments: Mapping[str, Any]
) -> str:
    """Return a result as a scaffold prints it; the shell bounds and cuts what a command prints itself.

    Args:
        episode: The episode after the call.
        dialect: The dialect of the scaffold.
        result: The result.
        name: The name of the tool.
        arguments: Its arguments.
    """
    text = PRINTERS[dialect](result)
    if isinstance(result, Envelope | Refused | Said | Started):
        return text
    return faults.cut(episode, bounded(text), name, *sorted(map(str, arguments.items())))


def said_of(episode: RepositoryEpisode, note: dict[str, Any], result: Result, text: str) -> PlainSaid:
    """Return an answer as plain data.

    Args:
        episode: The episode after the call.
        note: The note of the call, from before it.
        result: What the call has done.
        text: The answer.
    """
    for said in _candidates(episode, note, result):
        try:
            if text_of(episode, said) == text:
                return said
        except (LookupError, TypeError, ValueError):
            continue
    return text


def text_of(episode: RepositoryEpisode, said: Any) -> str:
    """Return the text of an answer; the episode may be used up.

    Args:
        episode: The episode after the call.
        said: The answer as plain data.

    Raises:
        LookupError, TypeError, ValueError: There is no such answer.
    """
    if isinstance(said, str):
        return said
    tool = said.get("tool", "")
    if "refused" in said:
        if said["refused"] not in reasons_of(tool):
            raise ValueError(f"{tool} is never refused so: {said['refused']!r}")
        noun = "occurrence" if said.get("expected") == 1 else "occurrences"
        return PRINTERS[FIRST](Refused(said["refused"], **{"name": tool, "noun": noun, **said}))
    if tool == SHELL:
        return _command_text(episode, said)
    return answer_text(episode, FIRST, _result(episode, said), tool, said.get("arguments", {}))


def reasons_of(tool: Any) -> tuple[str, ...]:
    """Return why a call of a tool can be refused.

    >>> reasons_of("run_shell_command"), reasons_of("fly")
    (('argument',), ('no tool',))
    """
    if tool == "":
        return _ALL_REASONS
    return _REASONS.get(tool, ("no tool",)) if isinstance(tool, str) else ()


def _result(episode: RepositoryEpisode, said: Mapping[str, Any]) -> Result:
    """Return the result of a call of which nothing is said; one that finds nothing to read is refused."""
    tool = said["tool"]
    if tool in READING:
        return use(episode, tool, said["arguments"])
    if tool == "write_file" or (tool == "edit" and said.get("creates")):
        return Written(_path(said), bool(said.get("there")))
    if tool == "edit":
        return Edited(_path(said), "", "", False, said["count"], 0, ())
    if tool == "todo_write":
        return TodosWritten()
    if tool == "save_memory":
        return Remembered(said["fact"])
    raise LookupError(f"nothing is known of what {tool!r} shows")


def _path(said: Mapping[str, Any]) -> str:
    path = said["path"]
    if not isinstance(path, str):
        raise TypeError(f"no path: {path!r}")
    return path


def _command_text(episode: RepositoryEpisode, said: Mapping[str, Any]) -> str:
    command, directory = said["command"], said["directory"]
    if not isinstance(command, str) or not isinstance(directory, str):
        raise TypeError("a command and its folder are texts")
    output, error, code, signal, pids = (said.get(key, usual) for key, usual in _COMMAND.items())
    if not said.keys() & _COMMAND.keys():
        if (refused := _refused_folder(episode, said.get("path"))) is not None:
            return PRINTERS[FIRST](refused)
        if only_reads(after_fetch(command)):
            return _read_text(episode, said)
        if is_commit(command):
            output = _commit_text(episode)
        elif (script := shown_script(command)) is not None:
            return _script_text(episode, said, script)
        elif (plan := _plan(episode, command, said.get("path"))) is not None:
            output, code = report_text(plan, episode.files.texts(), episode.failures)
            output = f"{_before_tests(episode, said)}{output}"
    if not isinstance(output, str) or not isinstance(error, str) or not isinstance(pids, list):
        raise TypeError("a command prints texts")
    if not all(value is None or type(value) is int for value in (code, signal, *pids)):
        raise TypeError("a command ends with a number")
    return Envelope(command, directory, output, error, code, signal, pids).text


def _read_text(episode: RepositoryEpisode, said: Mapping[str, Any]) -> str:
    """Return what a command that only reads shows; the commits that it fetches before are in the state already."""
    return _script_text(episode, said, after_fetch(said["command"]))


def _script_text(episode: RepositoryEpisode, said: Mapping[str, Any], script: str) -> str:
    """Return what a script that only reads shows instead of a command whose files are in the state already."""
    result = use(episode, SHELL, {"command": script, "directory": said.get("path")})
    if not isinstance(result, Envelope):
        raise ValueError("the command shows nothing here")
    output = result.output
    if f"{COMMITTED}\n" in output:
        output = output.replace(COMMITTED, _commit_text(episode).rstrip("\n"), 1)
    return replace(result, command=said["command"], output=f"{said.get('before', '')}{output}").text


def _before_tests(episode: RepositoryEpisode, said: Mapping[str, Any]) -> str:
    """Return what a command prints before its tests run; what only reads shows that itself."""
    script = script_before_last(said["command"])
    if "before" in said or not script:
        return str(said.get("before", ""))
    result = use(episode.copy(), SHELL, {"command": script, "directory": said.get("path")})
    return result.output if isinstance(result, Envelope) else ""


def _refused_folder(episode: RepositoryEpisode, path: Any) -> Refused | None:
    """Return why a command cannot run in a folder: it is not there."""
    # The shell is a compiled library; only episodes that run a command load it.
    from agentworld_gym.domains.swe.engine.shell import folder_of

    try:
        folder_of(episode, path)
    except Refused as refused:
        return refused.with_traceback(None)
    return None


def _plan(episode: RepositoryEpisode, command: str, folder: str | None) -> CollectionPlan | None:
    """Return the tests that a command runs; None where it runs none that are known."""
    if "pytest" not in command:
        return None
    try:
        return plan_of(episode.files.texts(), command, folder or episode.root)
    except NoTests:
        return None


def _commit_text(episode: RepositoryEpisode) -> str:
    """Return what git prints of the commit that is checked out, after it was made."""
    history = episode.history
    if history is None:
        raise LookupError("there is no version control")
    made = history.head
    before = history.commits[made.parents[0]].tree if made.parents else {}
    where = history.branch if history.branch is not None else "detached HEAD"
    root = "" if made.parents else " (root-commit)"
    return f"[{where}{root} {made.id[:7]}] {made.subject}\n{committed(compare(before, made.tree))}"


def _candidates(episode: RepositoryEpisode, note: Mapping[str, Any], result: Result) -> Iterator[dict[str, Any]]:
    """Yield what may be said of a result, the shortest first."""
    yield dict(note)
    if isinstance(result, Refused):
        yield {**note, "refused": result.reason}
        details = {key: value for key, value in result.details.items() if key not in ("noun", "old")}
        yield {**note, "refused": result.reason, **details}
        return
    if isinstance(result, Envelope):
        found = _FETCHED.match(result.output)
        if before := found[0] if found else result.output[: report_in(result.output)]:
            yield {**note, "before": before}
        ended = {"exit": result.exit_code, "signal": result.signal, "pids": list(result.pids)}
        told = {"output": result.printed, "error": result.error, **ended}
        unusual = {key: value for key, value in told.items() if value != _COMMAND[key]}
        yield {**note, **unusual}
        yield {**note, "output": result.printed, **unusual}


def _noted_command(episode: RepositoryEpisode, arguments: Mapping[str, Any]) -> dict[str, Any]:
    command, directory = arguments.get("command"), arguments.get("directory")
    if not isinstance(command, str) or not isinstance(directory, str | None) or "\0" in (directory or ""):
        return {}
    folder = absolute(directory, episode.root) if directory else episode.root
    place = relative(folder, episode.root)
    return {"command": command.replace("\0", ""), "directory": "" if place == "." else place, "path": folder}


def _noted_edit(episode: RepositoryEpisode, path: str | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    old, expected = arguments.get("old_string"), arguments.get("expected_replacements")
    if not isinstance(old, str):
        return {}
    if not old:
        return {"creates": True}
    file = episode.files.get(path) if path is not None else None
    count = file.text.count(old) if file is not None else 0
    return {"count": count, "expected": expected if type(expected) is int else 1}


def _encodable(value: Any) -> Any:
    """Return plain data whose texts can be encoded."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_encodable(str(key)): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value

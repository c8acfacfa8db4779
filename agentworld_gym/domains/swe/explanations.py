"""Explains the answers of a coding assistant's tools: the file and its lines, or what a command runs."""

from __future__ import annotations

import re

from agentworld_gym.domains.swe.actions import canonical
from agentworld_gym.recipe.thinking.explainers.state_changes import file_clauses, file_name
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, amount, read_call, several

_PATHS = ("absolute_path", "file_path", "path", "dir_path")
_FIELD = re.compile(r"^(Output|Error|Exit Code|Signal): (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"^(?=.*\bin \d)(?:=+ )?(\d+ (?:passed|failed|error)[^=\n]*?)(?: =+)?$", re.MULTILINE)
_NUMBERED = re.compile(r"(?m)^ *\d+→|^L\d+: ")
_FAILED = re.compile(r"Exit code (\d+)(?:\n(.*))?")
_VERBS = {
    "read_file": "reads",
    "write_file": "writes",
    "edit": "edits",
    "list_directory": "lists",
    "glob": "looks for files in",
    "search_file_content": "searches",
}


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a tool's answer."""
    name, arguments = read_call(turn.action)
    call = canonical({"name": name, "arguments": arguments})
    name, arguments = call["name"], call["arguments"]
    files = [change for change in turn.changes if change.field.startswith("/")]
    changes = file_clauses(turn, files, "/repo")
    if any(change.field.startswith("git/") for change in turn.changes):
        changes.append("the history of the repository moves on")
    if name == "run_shell_command":
        return Explanation(*_command(turn, str(arguments.get("command", ""))), changes, _envelope(turn))
    path = next((str(arguments[key]) for key in _PATHS if key in arguments), "")
    asks = f"The agent {_VERBS.get(name, 'calls ' + (turn.cite(name) or 'a tool') + ' on')} "
    asks += file_name(turn, path, "/repo") if path else "the repository"
    pattern = arguments.get("pattern")
    asks += f" for {turn.cite(str(pattern))}" if pattern else ""
    return Explanation(asks, _file(turn, name, path, arguments), changes, _shows(turn))


def _file(turn: Situation, name: str, path: str, arguments: dict[str, object]) -> list[str]:
    content = turn.state.get(path) if turn.state else None
    inside = bool(turn.state) and any(field.startswith(path.rstrip("/") + "/") for field in turn.state)
    if not isinstance(content, str):
        if name == "todo_write" or not path:
            return []
        return ["It is a directory of the repository"] if inside else ["Nothing lies there"]
    lines = content.rstrip("\n").split("\n")
    first = next((quote for line in lines if (quote := turn.cite(line))), "")
    reads = [f"The file has {turn.count(len(lines), 'line')}" + (f", from {first} on" if first else "")]
    old = arguments.get("old_string")
    if name == "edit" and isinstance(old, str) and old:
        times = content.count(old)
        where = {0: "does not stand in it", 1: "stands in it just once"}.get(
            times, f"stands in it {amount(times, 'time')}"
        )
        begins = "The old text, beginning with" if "\n" in old.strip("\n") else "The old text"
        reads.append(f"{begins} {turn.cite(old)} {where}" if turn.cite(old) else f"The old text {where}")
        if times == 1 and turn.cite(str(arguments.get("new_string", ""))):
            reads.append(f"In its place comes {turn.cite(str(arguments['new_string']))}")
    return reads


def _shows(turn: Situation) -> str:
    lines = turn.observation.split("\n")
    if len(lines) == 1:
        return f"So the tool says {turn.show(lines[0])}"
    first, last = turn.show(lines[0]), next((turn.show(line) for line in reversed(lines) if line.strip(" -")), "")
    numbers = (
        ", with the numbers of the lines as the file stands at this moment"
        if _NUMBERED.search(turn.observation)
        else ""
    )
    return f"So the answer goes from {first} to {last}{numbers}"


def _command(turn: Situation, command: str) -> tuple[str, list[str]]:
    asks = f"The agent runs {turn.cite(command) or 'a command'} in a fresh shell at the root of the repository"
    reads = []
    named = [path for path in (turn.state or ()) if path.startswith("/") and path.rpartition("/")[2] in command]
    if named:
        reads.append(f"It concerns {several([file_name(turn, path, '/repo') for path in named])}")
    if "pytest" in command:
        tests = [path for path in (turn.state or ()) if path.rpartition("/")[2].startswith("test_")]
        names = several([file_name(turn, path, "/repo") for path in tests])
        reads.append("The tests follow the code as it stands now" + (f", they are in {names}" if names else ""))
        failed = re.findall(r"^FAILED (\S+)", turn.observation, re.MULTILINE)
        if failed:
            reads.append(f"By that code, {several([turn.show(test) for test in failed])} cannot pass")
    return asks, reads


def _printed(turn: Situation) -> str:
    """Explain what a command printed, without an envelope around it."""
    failed = _FAILED.match(turn.observation)
    text = failed[2] or "" if failed else turn.observation
    first_line = turn.show(text.partition("\n")[0])
    said = f"begins with {first_line}" if first_line else "is empty" if not text else "follows"
    counted = (
        f" and ends with the count {turn.show(summary[1])}" if (summary := _SUMMARY.search(turn.observation)) else ""
    )
    return f"The output {said}{counted}" + (f", below the exit code {turn.show(failed[1])}" if failed else "")


def _envelope(turn: Situation) -> str:
    if not turn.observation.startswith("Command: "):
        return _printed(turn)
    fields = dict(_FIELD.findall(turn.observation))
    code, output = turn.show(fields.get("Exit Code", "")), fields.get("Output", "")
    said = f"begins with {turn.show(output)}" if turn.show(output) and output != "(none)" else "has no output"
    summary = _SUMMARY.search(turn.observation)
    counted = f" and ends with the count {turn.show(summary[1])}" if summary else ""
    ends = f"exit code {code}" if code and fields.get("Exit Code") != "(none)" else "no exit code"
    last = "the fields for signal, background processes and process group"
    return f"The envelope {said}{counted}; it closes with {ends} and {last}"

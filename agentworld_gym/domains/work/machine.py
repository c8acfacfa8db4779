"""The machine of office work: a desk with mail and issues, and a repository, which share files and one clock."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Regex, Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, BaseMachine, Controls, Scalar
from agentworld_gym.domains.mcp.api import ToolMachine
from agentworld_gym.domains.swe.api import SweEngine, SweMachine, read_call

DESK = Path(__file__).with_name("desk")
"""The scenario of the desk: its tables and tools."""

PREFIX = "desk-"
"""What the names of the desk's tools begin with; all other tools are those of the repository."""

USER = "you@workshop.example"
"""The person who is signed in."""

DELIVER = f"{PREFIX}deliver"
"""The tool by which people write to the agent, who does not have it."""

SENDING = (f"{PREFIX}send_message", f"{PREFIX}reply")
"""The tools by which the agent writes to people."""

STATE = ("desk", "repository")
"""The keys of a task's state: the rows of the desk by table, and the state of a repository."""


class WorkAnswer(Strict):
    """What a person writes back when a message asks them."""

    person: str
    """The address of the person."""
    about: Regex
    """The pattern that subject or text of the message has to match."""
    body: str = Field(min_length=1)
    """The answer."""


class _Hidden(Strict):
    """What a task hides from the agent."""

    answers: tuple[WorkAnswer, ...] = ()


class WorkEngine:
    """Starts office work; `variant` names what runs Python, as in `agentworld_gym.domains.swe.engine.SweEngine`.

    Raises:
        EngineError: the sandbox does not work on this machine.
    """

    def __init__(self, variant: str = "auto") -> None:
        self._repositories = SweEngine(variant)
        self.variant = self._repositories.variant

    def start(
        self, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> WorkMachine:
        """Start a desk and a repository.

        Args:
            state: `desk`, rows by table, and `repository`, the state of a repository.
            seed: the seed of what both leave open.
            controls: the faults in force in the repository; the desk has none.
            hidden: `answers`, what people write back when they are asked: `person`, the pattern `about` that the
                message to them has to match, and `body`, each once.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        for key in STATE:
            if not isinstance(state.get(key), Mapping):
                raise SpecError("task state", key, state.get(key), "a mapping")
        for key in state:
            if key not in STATE:
                raise SpecError("task state", str(key), state[key], f"one of {', '.join(STATE)}")
        repository = self._repositories.start(state["repository"], seed, controls)
        desk = ToolMachine.start({"scenario": str(DESK), "tables": dict(state["desk"])}, seed)
        answers = validated(_Hidden, dict(hidden), "task hidden").answers
        return WorkMachine((desk, repository), answers)


class WorkMachine(BaseMachine[tuple[ToolMachine, SweMachine]]):
    """One episode at a desk. An attachment is a file of the repository's machine, and each action takes ten seconds.

    >>> desk = {"people": [], "messages": [], "attachments": [], "issues": [], "comments": []}
    >>> machine = WorkEngine("monty").start({"desk": desk, "repository": {"files": {"/repo/a.txt": "1"}}}, seed=0)
    >>> machine.act({"name": "desk-list_issues", "arguments": {}})
    '{"issues": [], "count": 0}'
    >>> machine.act({"name": "read_file", "arguments": {"absolute_path": "/repo/a.txt"}})
    '1'
    """

    noun = "desk"

    def __init__(self, system: tuple[ToolMachine, SweMachine], answers: tuple[WorkAnswer, ...] = ()) -> None:
        desk, repository = system
        self._answers = answers
        desk.set_time(_written(repository.now))
        super().__init__(system, first_observation(repository.observation))

    def act(self, action: Any) -> str:
        """Call a tool of the desk or of the repository: `{"name": ..., "arguments": {...}}`.

        Raises:
            EngineError: the machine is closed, or a command broke the process in which it ran.
        """
        desk, repository = self._open()
        name, arguments = read_call(action)
        if isinstance(name, str) and name.startswith(PREFIX) and isinstance(arguments, Mapping):
            shown = self._at_desk(name, dict(arguments))
        else:
            shown = repository.act(action)
            self._spans = repository.spans
        desk.set_time(_written(repository.now))
        self._observation = shown
        return shown

    def _at_desk(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool of the desk; those that read and write files are made of others."""
        desk, repository = self._open()
        self._spans = ()
        if name == f"{PREFIX}save_attachment":
            return self._save(arguments)
        repository.pass_step()
        if name == DELIVER:
            return f"Unknown tool: {name}"
        path = arguments.pop("attach", None)
        if path is not None:
            path = _normal(path)
            text = None if path is None else repository.state().get(path)
            if path is None or not isinstance(text, str):
                return _refused(404, "There is no such text file")
            arguments |= {"filename": PurePosixPath(path).name, "content": text}
        shown = desk.act({"name": name, "arguments": arguments})
        self._spans = desk.spans
        if name in SENDING and not desk.refused:
            self._ask(json.loads(shown), str(arguments["body"]))
        return shown

    def _ask(self, sent: Mapping[str, Any], body: str) -> None:
        """Have a person answer a message to them; the answer stands in the inbox with the next action."""
        desk, _ = self._open()
        text = f"{sent['subject']}\n{body}"
        for answer in self._answers:
            if answer.person == sent["recipient"] and re.search(answer.about, text):
                arguments = {"sender": answer.person, "answers": sent["message_id"], "body": answer.body}
                desk.act({"name": DELIVER, "arguments": arguments})
                self._answers = tuple(other for other in self._answers if other is not answer)
                return

    def _save(self, arguments: dict[str, Any]) -> str:
        """Write an attachment into a file, as the repository's own tool writes one."""
        desk, repository = self._open()
        number, path = arguments.get("attachment_id"), _normal(arguments.get("path"))
        text = desk.state().get(f"attachments/{number}/content")
        if not isinstance(text, str):
            repository.pass_step()
            return _refused(404, f"Attachment {str(number)[:40]} not found")
        shown = repository.act({"name": "write_file", "arguments": {"file_path": path, "content": text}})
        if path is None or repository.state().get(path) != text:
            return _refused(409, shown)
        return json.dumps({"attachment_id": number, "path": path, "size": len(text)})

    def state(self) -> dict[str, Scalar]:
        """Return the rows of the desk below `desk`, and what the repository's machine holds."""
        desk, repository = self._open()
        return {**{f"desk/{path}": value for path, value in desk.state().items()}, **repository.state()}

    def passes(self, tests: Mapping[str, str | None]) -> bool:
        """Return whether the tests of some files pass (`engines.Testable`).

        Raises:
            EngineError: a path names no file of the start, or its tests cannot be judged in this way.
        """
        return self._open()[1].passes(tests)

    def _part_from(self, system: tuple[ToolMachine, SweMachine]) -> None:
        desk, repository = system
        self._system = desk.fork(), repository.fork()

    def _free(self, system: tuple[ToolMachine, SweMachine]) -> None:
        for machine in system:
            machine.close()


def first_observation(listing: str) -> str:
    """Return what an episode shows first: who is signed in, and what the repository shows of itself."""
    return f"Signed in as {USER}.\n{listing}"


def _normal(path: Any) -> str | None:
    """Return an absolute path in its shortest form; None where it is none."""
    return normpath(path) if isinstance(path, str) and path.startswith("/") else None


def _written(seconds: int) -> str:
    """Return a time as the desk writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _refused(code: int, message: str) -> str:
    """Return a refusal as the desk's own tools print one."""
    return json.dumps({"status": "error", "code": code, "message": message})

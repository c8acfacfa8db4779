"""The machine of one repository: it answers the tool calls of a coding assistant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, EngineError, RestorableMachine, Scalar, Span
from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox
from agentworld_gym.domains.swe.engine.results import BackgroundRead, Listed, Refused, Result, Said, Started
from agentworld_gym.domains.swe.engine.scaffolds import FIRST, PRINTERS
from agentworld_gym.domains.swe.engine.state import RepositoryState
from agentworld_gym.domains.swe.engine.structured_state.call_answers import answer_text, noted_call, said_of
from agentworld_gym.domains.swe.engine.structured_state.episode import (
    episode_of,
    keep,
    kept_episode,
    plain_result,
    result_of,
    shown_episode,
)
from agentworld_gym.domains.swe.engine.structured_state.test_reports import TestRun
from agentworld_gym.domains.swe.engine.tools import read_call, use
from agentworld_gym.domains.terminal.api import LineLost

_METADATA = re.compile(
    r"(?m)^(?:Output: )?(?:"
    r"(?:commit|index|HEAD is now at|Updating|\[[\w./-]+) (?P<hash>\^?[0-9a-f]{7,40}(?:\.\.[0-9a-f]{7,40})?)"
    r"|(?P<short>\^?[0-9a-f]{7,8}) |Date: +(?P<date>\w.*)$|.* in (?P<seconds>\d+\.\d\ds)\b)"
    r"|^Background PIDs: (?P<pids>\d.*)$|^Process Group PGID: (?P<group>\d+)$"
)
_LISTING = re.compile(r"(?:python3? -m )?pip3? (?:list|freeze|show)\b[^\n]*")
"""A command that shows the installed packages."""

_PRE_EXISTING = re.compile(rf"(?ms)^Command: {_LISTING.pattern}\n[^\n]*\nOutput: (.*)^Error: ")
_READ_AT = re.compile(r"<timestamp>([^<]*)</timestamp>\Z")


class SweEngine:
    """Starts repositories whose Python runs in one sandbox.

    Args:
        variant: `bubblewrap` (real CPython behind Linux namespaces), `monty` (a subset of Python, anywhere), or `auto`
            for the first that works here. The attribute `variant` holds the name of the one in use.

    Raises:
        EngineError: the sandbox does not work on this machine.
    """

    def __init__(self, variant: str = "auto") -> None:
        self._sandbox = open_sandbox(variant)
        self.variant = self._sandbox.name

    def start(
        self, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> SweMachine:
        """Start a repository; `hidden` is ignored.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        return SweMachine.start(state, seed, controls, self._sandbox)

    @staticmethod
    def restore(structured_state: Mapping[str, Any]) -> SweMachine:
        """Return the machine of a complete state (`SweMachine.restore`)."""
        return SweMachine.restore(structured_state)


class SweMachine(RestorableMachine[RepositoryEpisode]):
    r"""One episode in a repository.

    >>> machine = SweEngine("monty").start({"files": {"/repo/a.py": "print(6 * 7)\n"}}, seed=0)
    >>> print(machine.act({"name": "read_file", "arguments": {"absolute_path": "/repo/a.py"}}))
    print(6 * 7)
    >>> print(machine.act({"name": "run_shell_command", "arguments": {"command": "git status --short; wc -l a.py"}}))
    Command: git status --short; wc -l a.py
    Directory: (root)
    Output: 1 a.py
    Error: (none)
    Exit Code: 0
    Signal: (none)
    Background PIDs: (none)
    Process Group PGID: 5079
    >>> print(machine.observation_in("claude-code"))
    1 a.py
    """

    noun = "repository"

    def __init__(self, episode: RepositoryEpisode) -> None:
        listing = PRINTERS[FIRST](Listed(episode.root, *episode.files.names(episode.root)))
        self._name, self._arguments, self._note = "", dict[str, Any](), dict[str, Any]()
        self._result: Result = Said(f"Working directory: {episode.root}\n{listing}")
        self._runs: tuple[TestRun, ...] = ()
        super().__init__(episode, answer_text(episode, FIRST, self._result, self._name, self._arguments))

    @classmethod
    def start(cls, state: Mapping[str, Any], seed: int, controls: Controls, sandbox: PythonSandbox) -> SweMachine:
        """Start a repository in the given state, whose Python runs in the given sandbox.

        Raises:
            SpecError: the state is wrong.
        """
        repository = RepositoryState.of(state)
        try:
            episode = RepositoryEpisode.of(repository, seed, controls, sandbox)
        except UnicodeEncodeError as error:
            raise SpecError("task state", "files", str(error), "valid Unicode") from error
        if controls:
            faults.lay_out(episode)
        return cls(episode)

    @property
    def now(self) -> int:
        """The time of the repository's machine, in seconds since the epoch."""
        return self._open().now

    def pass_step(self) -> None:
        """Let the time of one action go by in which nothing is asked of the repository."""
        self._open().step += 1

    def observation_in(self, dialect: str) -> str:
        """Return the answer to the last action as another scaffold prints it.

        Raises:
            EngineError: no scaffold has the name.
        """
        if dialect not in PRINTERS:
            raise EngineError(f"the repository speaks {' and '.join(PRINTERS)}, not {dialect!r}")
        return self._answer_text(dialect)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces that are not deterministic: times, hashes, process numbers, and the installed packages."""
        return self.spans_in(FIRST)

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of the last answer, as another scaffold prints it, that are not deterministic.

        Claude Code prints no process numbers, and tells when the output of a command in the background was read.

        Raises:
            EngineError: no scaffold has the name.
        """
        text, result = self.observation_in(dialect), self._result
        if isinstance(result, BackgroundRead):
            times = [Span(*found.span(1), "metadata") for found in _READ_AT.finditer(text)]
            return tuple(sorted([*_metadata(text, 0), *times]))
        if not isinstance(result, Envelope | Started):
            return ()
        start = end = 0
        if dialect == FIRST and (listing := _PRE_EXISTING.search(text)):
            start, end = listing.span(1)
        elif dialect != FIRST and isinstance(result, Envelope) and _LISTING.fullmatch(result.command):
            start, end = len(text) - len(result.printed), len(text)
        listed = [Span(start, end, "pre-existing")] if start < end else []
        return (*listed, *_metadata(text, end))

    def act(self, call: Any) -> str:
        """Call a tool: `{"name": ..., "arguments": {...}}`. Any other action is answered with an error as text.

        Raises:
            LineLost: a command broke the process in which it ran; the repository is as before.
            EngineError: the machine was closed.
        """
        before = (self._note, self._name, self._arguments)
        try:
            return self._answer(call)
        except LineLost:
            self._open().step -= 1
            self._note, self._name, self._arguments = before
            raise

    def _answer(self, call: Any) -> str:
        episode = self._open()
        episode.step += 1
        self._note = noted_call(episode, call)
        name, arguments = read_call(call)
        if isinstance(name, str) and isinstance(arguments, Mapping):
            self._name, self._arguments = name, dict(arguments)
            self._result = use(episode, name, arguments)
        else:
            self._result = Refused("no call")
        if isinstance(self._result, Envelope) and "pytest" in self._result.command:
            run = TestRun(episode.files.texts(), self._result.command, self._note["path"], self._result.output)
            self._runs = (*self._runs, run)
        self._observation = self._answer_text(FIRST)
        return self._observation

    def _answer_text(self, dialect: str) -> str:
        return answer_text(self._open(), dialect, self._result, self._name, self._arguments)

    def state(self) -> dict[str, Scalar]:
        """Return every file by its path, the to-do list, version control and the processes in the background."""
        return flat_state(self._open())

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        last = {"result": plain_result(self._result), "name": self._name, "arguments": self._arguments}
        return {**kept_episode(self._open()), **last, "note": self._note}

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        episode = self._open()
        for run in self._runs:
            episode.failures = run.failures(episode.failures)
        self._runs = ()
        said = said_of(episode.copy(), self._note, self._result, self._observation)
        return {**shown_episode(episode), "said": said}

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> SweMachine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        kept = structured_state["kept"]
        episode = episode_of(structured_state["shown"], open_sandbox(kept["sandbox"]))
        keep(episode, kept)
        machine = cls(episode)
        machine._result, machine._note = result_of(kept["result"]), kept["note"]
        machine._name, machine._arguments = kept["name"], kept["arguments"]
        machine._observation = machine._answer_text(FIRST)
        return machine

    def passes(self, tests: Mapping[str, str | None]) -> bool:
        """Return whether the tests of some files pass, judged by the values that the code returns (`engines.Testable`).

        Raises:
            EngineError: a path names no file of the start, or its tests cannot be judged in this way.
        """
        from agentworld_gym.domains.swe.engine.grading import passes

        return passes(self._open(), tests)

    def _part_from(self, system: RepositoryEpisode) -> None:
        self._system = system.copy()


def _metadata(text: str, start: int) -> tuple[Span, ...]:
    """Return the times, hashes and process numbers from a place in a report on."""
    groups = ((match, match.lastgroup or 0) for match in _METADATA.finditer(text, start))
    return tuple(Span(match.start(group), match.end(group), "metadata") for match, group in groups)


def flat_state(episode: RepositoryEpisode) -> dict[str, Scalar]:
    """Return every file by its path, the to-do list, version control and the processes in the background."""
    fields: dict[str, Scalar] = {path: file.display_text for path, file in sorted(episode.files.items())}
    for path, file in episode.files.items():
        if file.mode != 0o644:
            fields[f"mode/{path}"] = f"{file.mode:o}"
    fields.update({f"memory/{number}": fact for number, fact in enumerate(episode.memories, 1)})
    for todo in episode.todos:
        fields[f"todo/{todo.id}/content"], fields[f"todo/{todo.id}/status"] = todo.content, todo.status
    fields.update({f"processes/{pid}": command for pid, command in sorted(episode.processes.items())})
    history = episode.history
    fields["git"] = history is not None
    if history is not None:
        fields["git/head"], fields["git/branch"] = history.head.id, history.branch
        fields.update({f"git/branches/{name}": tip for name, tip in sorted(history.branches.items())})
        fields.update({f"git/remote/{name}": tip for name, tip in sorted(history.server.items())})
        fields["git/user"] = history.user
        fields.update({f"git/config/{key}": value for key, value in sorted(history.settings.items())})
        for place, tips in (("branches", history.branches), ("remote", history.server)):
            authors = {name: history.commits[tip].author for name, tip in sorted(tips.items())}
            # The user of the repository is the author whom one expects.
            fields.update({f"git/{place}/{name}/author": one for name, one in authors.items() if one != history.user})
        fields["git/stashes"] = len(history.stashes)
        head = history.head.tree
        staged = {path for path in {*head, *history.index} if head.get(path) != history.index.get(path)}
        fields.update({f"git/staged/{path}": history.index.get(path) for path in sorted(staged)})
    return fields

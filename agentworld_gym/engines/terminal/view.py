"""The view of a terminal: it prints the capture that a structured state says, and computes no transition."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from agentworld_gym.domain.view import StructuredState, predicted
from agentworld_gym.engines import Controls, Restorable, Scalar
from agentworld_gym.engines.terminal.command_line import CommandLine, command_line
from agentworld_gym.engines.terminal.engine import TerminalEngine
from agentworld_gym.engines.terminal.known_values import found_values, given_values, operand_paths, told_paths
from agentworld_gym.engines.terminal.machine import TerminalMachine
from agentworld_gym.engines.terminal.reading import printed
from agentworld_gym.engines.terminal.structured_state import (
    ANSWER,
    entered_command,
    place,
    prompt,
    require_files,
    screen_of,
    shell_of,
)

READS = "reads"
"""What is told of a command whose programs only read."""


class TerminalView:
    """Prints captures of a terminal: what programs print of files follows from the files, and what becomes of them not.

    >>> view = TerminalView()
    >>> state = view.begin({"files": {"/home/dev/a.txt": "hi\\n"}}, seed=0)
    >>> print(view.view({**state, "line": "dev@box:~$ cat a.txt", "said": "hi\\n"}))
    dev@box:~$ cat a.txt
    hi
    dev@box:~$
    """

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a terminal at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        with closing(TerminalEngine().start(state, seed, Controls(controls or {}, control_seed))) as machine:
            assert isinstance(machine, Restorable)
            return machine.shown()

    def view(self, shown: StructuredState) -> str:
        """Return the capture of a state.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            require_files(shown)
            return screen_of(shown)

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of what is in the working folder, where the paths of changes begin.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            return (*place(shown["cwd"]), "in") if shown["cwd"] != "/" else ("files",)

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return the state with a command on its line, and without what was printed before.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            asked = entered_command(screen_of(shown), prompt(shown), action)
            state = {key: value for key, value in shown.items() if key not in ANSWER}
            return state if asked is None else {**state, "line": asked.line}

    def opened(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after a command whose programs only read and print; None after any other action.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            line = self._line(shown, action)
            if line is None or line.target or line.edits or (output := printed(shown, line)) is None:
                return None
            return {**self.noted(shown, action), "said": output.screen}

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `TerminalMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted(), closing(TerminalMachine(shell_of(shown))) as machine:
            return machine.state()

    def told(self, shown: StructuredState, action: Any) -> str:
        """Return whether the programs of a command only read, and what stands where it may write.

        What the command does, and whether it fails, is not said.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            line = self._line(shown, action)
            if line is None:
                return ""
            paths = operand_paths(shown, line)
            if line.reads:
                paths = {name: path for name, path in paths.items() if name == ">"}
            return "\n".join([*([READS] if line.is_filter else []), *told_paths(shown, paths)])

    def known(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: what a command gives, and what stands at its operands.

        >>> view = TerminalView()
        >>> state = view.begin({"files": {"/home/dev/a.txt": "b\\na\\n"}}, seed=0)
        >>> view.known(state, [{"keystrokes": "sort a.txt > b.txt\\n"}])[0]["text"]
        'a\\nb\\n'

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            line = self._line(shown, action)
            if line is None:
                return {}, {}
            paths = operand_paths(shown, line)
            return given_values(shown, line, paths), {} if line.is_filter else found_values(shown, paths)

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the places of the operands of a command by name; see `operand_paths`.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            line = self._line(shown, action)
            paths = {} if line is None else operand_paths(shown, line)
            return {name: place(path) for name, path in paths.items() if path != "/"}

    def _line(self, shown: StructuredState, action: Any) -> CommandLine | None:
        asked = entered_command(screen_of(shown), prompt(shown), action)
        return None if asked is None else command_line(asked.command)

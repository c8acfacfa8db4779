"""The view of a terminal: it prints the capture that a structured state says.

The engine computes the usual effect of a line; a model decides whether and where it stands. `noted` enters the line,
the variables that it sets and the status of what only reads; `named_values` runs programs in the engine's shell for
what is printed, and computes what redirections, `sed -i`, `chmod`, `cd`, `cp` and `tar` would leave;
`describe_for_model` says what stands at the operands, and what is missing there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.view import StructuredState, View, predicted
from agentworld_gym.core.engines import Controls, Restorable, Scalar
from agentworld_gym.domains.terminal.engine.command_entry import INTERRUPT, CommandEntry, entered_command
from agentworld_gym.domains.terminal.engine.command_line import CommandLine, command_line
from agentworld_gym.domains.terminal.engine.engine import TerminalEngine
from agentworld_gym.domains.terminal.engine.known_values import (
    found_values,
    given_values,
    operand_paths,
    told_paths,
    told_programs,
)
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.engine.read_only_programs import printed
from agentworld_gym.domains.terminal.engine.screen import capture
from agentworld_gym.domains.terminal.engine.steps import CommandStep, Typed, inner_steps, played, stepped, steps_of
from agentworld_gym.domains.terminal.engine.structured_state import (
    ANSWER,
    bare_prompt,
    place,
    prompt,
    require_files,
    screen_of,
    shell_of,
)

NEXT = ";"
"""Separates the descriptions of the commands of a line."""
READS = "reads"
"""The description of a command whose programs only read."""


class TerminalView(View):
    """Prints captures of a terminal: what programs print of files follows from them, and the changes of files do not.

    >>> view = TerminalView()
    >>> state = view.begin({"files": {"/home/dev/a.txt": "hi\\n"}}, seed=0)
    >>> print(view.view({**state, "line": "dev@box:~$ cat a.txt", "said": "hi\\n"}))
    dev@box:~$ cat a.txt
    hi
    dev@box:~$
    """

    takes_steps = True
    names_places = True
    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a terminal at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        with closing(TerminalEngine().start(state, seed, Controls(controls or {}, control_seed))) as machine:
            assert isinstance(machine, Restorable)
            return machine.visible_state()

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

        Of a command that only reads, the status is known as what it prints is.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            step = self._step(shown, action)
            state = {key: value for key, value in shown.items() if key not in (*ANSWER, "typed", "pending")}
            if step is None:
                kept = ("typed", "pending", *(("screen",) if self._holds(shown) else ()))
                return {**state, **{key: shown[key] for key in kept if key in shown}}
            if not step.first:
                state["line"] = shown.get("line", "")
                state["above"] = f"{shown.get('above', '')}{shown.get('said', '')}"
                if step.line is not None:
                    state["above"] += f"{step.line}\n"
            else:
                state |= {"line": step.line} if step.line is not None else {}
                state |= {"above": ""} if step.part else {}
            for key in ("typed", "pending"):
                if value := getattr(step, key):
                    state[key] = value
            if step.sets is not None:
                state["env"] = {**state.get("env", {}), step.sets[0]: step.sets[1]}
            if step.status is not None:
                state.pop("status", None)
                state |= {"status": step.status} if step.status else {}
            if not step.command:
                return state
            state.pop("status", None)
            line = command_line(step.command)
            found = None
            with suppress(
                SpecError, LookupError, TypeError, ValueError, RuntimeError, OSError
            ):  # It can be no shell's.
                found = None if line is None else printed(shown, line)
            if found is not None and found.env:
                state["env"] = {**state.get("env", {}), **dict(found.env)}
            return {**state, "status": found.status} if found is not None and found.status else state

    def steps(self, shown: StructuredState, action: Any) -> Sequence[Any] | None:
        """Return the commands of which an action consists, one after the other; None where it is none but itself.

        A command that a list leaves out consists of nothing. What is entered is a line and what is typed after it.

        >>> view = TerminalView()
        >>> state = view.begin({}, seed=0)
        >>> [step.command for step in view.steps(state, [{"keystrokes": "ls > a\\npwd > b\\n"}])[:1]]
        ['ls > a']

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            if isinstance(action, CommandStep | Typed):
                return inner_steps(shown, action)
            asked = self._asked(shown, action)
            return None if asked is None else steps_of(asked)

    def silent(self, action: Any) -> bool:
        """Whether a step is none that has an answer: an empty line, or text that stays on the line."""
        return isinstance(action, CommandStep) and not action.command

    def joined(self, shown: StructuredState) -> StructuredState:
        """Return the state after the last step of an action, with all that its steps have printed."""
        said = f"{shown.get('above', '')}{shown.get('said', '')}"
        if "above" not in shown:
            return shown
        state = {key: value for key, value in shown.items() if key not in ("above", "said")}
        return {**state, "said": said} if said else state

    def played(self, shown: StructuredState, action: Any) -> Sequence[StructuredState] | None:
        """Return the states after the steps of a recorded action; see `steps.played`."""
        with predicted():
            return played(shown, self.steps(shown, action) or (), self.noted)

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after a command whose programs only read and print; None after any other action.

        A probe begins at a prompt of its own: what stands on the line is gone, and so is a program that holds the
        screen. Of several lines nothing is opened.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            fresh = {key: value for key, value in shown.items() if key not in (*ANSWER, "typed", "pending")}
            asked = self._asked(fresh, action)
            line = None if asked is None or asked.rest else command_line(asked.command)
            if line is None or line.target or line.edits or (output := printed(fresh, line)) is None:
                return None
            return {**self.noted(fresh, action), "said": output.screen}

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `TerminalMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted(), closing(TerminalMachine(shell_of(shown))) as machine:
            return machine.state()

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return whether the programs of a command only read, and what stands where it may write.

        What the command does, and whether it fails, is not said.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            told: list[str] = []
            seen: dict[str, str] = {}

            def tell(state: StructuredState, step: Any) -> StructuredState:
                if not self.silent(step):
                    told.append(self._describe_step(state, step, seen, f"{len(told) + 1}:"))
                return state if not isinstance(step, CommandStep) or step.sets is None else self.noted(state, step)

            asked = self.steps(shown, action)
            stepped(shown, [action] if asked is None else asked, self._all_steps, tell)
            return f"\n{NEXT}\n".join(told)

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: what a command gives, and what stands at its operands.

        >>> view = TerminalView()
        >>> state = view.begin({"files": {"/home/dev/a.txt": "b\\na\\n"}}, seed=0)
        >>> view.named_values(state, [{"keystrokes": "sort a.txt > b.txt\\n"}])[0]["text"]
        'a\\nb\\n'

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            screens = self._screens(shown, action)
            line = self._line(shown, action)
            if line is None:
                return screens, {}
            paths = operand_paths(shown, line)
            given = {**given_values(shown, line, paths), **screens}
            return given, {} if line.is_filter else found_values(shown, paths)

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the places of the operands of a command by name; see `operand_paths`.

        Raises:
            AnswerError: This is no state of a terminal.
        """
        with predicted():
            line = self._line(shown, action)
            paths = {} if line is None else operand_paths(shown, line)
            return {name: place(path) for name, path in paths.items() if path != "/"}

    def _screens(self, shown: StructuredState, action: Any) -> dict[str, str]:
        """Return what the screen becomes where a program takes it or gives it back, and the prompt of one cleared."""
        at_prompt = bare_prompt({**shown, "pending": ""})
        step = self._step(shown, action)
        if step is not None and step.line is not None:
            return {"screen": capture(step.line), "prompt": at_prompt}
        if not self._holds(shown):
            return {"prompt": prompt(shown)}
        keys = "".join(str(entry.get("keystrokes", "")) for entry in action if isinstance(entry, Mapping))
        left = "^C\n" if keys in ("C-c", INTERRUPT) else ""
        return {"screen": capture(f"{screen_of(shown)}\n{left}{at_prompt}"), "prompt": at_prompt}

    def _describe_step(self, shown: StructuredState, action: Any, seen: dict[str, str], step: str) -> str:
        line = self._line(shown, action)
        if line is None:
            return ""
        paths = operand_paths(shown, line)
        if line.reads:
            paths = {name: path for name, path in paths.items() if name == ">"}
        programs = [READS] if line.is_filter else told_programs(shown, line)
        return "\n".join([*programs, *told_paths(shown, paths, seen, step)])

    def _all_steps(self, shown: StructuredState, action: Any) -> Sequence[Any] | None:
        """Return the steps of an action, whether or not a list leaves them out."""
        if not isinstance(action, CommandStep | Typed):
            return None
        return inner_steps(shown, action._replace(link=";") if isinstance(action, CommandStep) else action)

    def _line(self, shown: StructuredState, action: Any) -> CommandLine | None:
        step = self._step(shown, action)
        return None if step is None else command_line(step.command)

    def _step(self, shown: StructuredState, action: Any) -> CommandStep | None:
        if isinstance(action, CommandStep):
            return action
        asked = self._asked(shown, action)
        if asked is None:
            return None
        first = steps_of(asked)[0]
        assert isinstance(first, CommandStep)
        return first

    def _asked(self, shown: StructuredState, action: Any) -> CommandEntry | None:
        typed, pending = str(shown.get("typed", "")), str(shown.get("pending", ""))
        return entered_command(screen_of(shown), bare_prompt(shown), action, typed, pending)

    def _holds(self, shown: StructuredState) -> bool:
        """Whether a program holds the screen."""
        return screen_of(shown).rpartition("\n")[2] != prompt(shown)

"""The codec of the state form: a model writes the change of the structured state, and a view prints the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import StructuredState, View, compact
from agentworld_gym.llm.prompting.change_constraint import ChangeConstraint, TextConstraint
from agentworld_gym.llm.prompting.state_changes import Completed, applied, write_change
from agentworld_gym.llm.prompting.state_references import References
from agentworld_gym.llm.prompting.state_steps import ALL, StateTurn, StepAnswers, StepConstraint


@dataclass(frozen=True, slots=True, eq=False)
class StateAnswers:
    """An answer is the change of the structured state, from which a view prints the screen.

    What other codecs take and give as a screen is here a structured state as JSON; `printed` gives its screen. A turn
    tells what the view says of the state before an action, in place of the screen. Where screens repeat the action, it
    is noted in the state before the change.

    Args:
        view: The view of the domain.
        parser: The parser of its actions; None where none is noted.
    """

    view: View
    parser: ActionParser | None = None
    refers: ClassVar[bool] = False
    shows_screen: ClassVar[bool] = True

    def begin(self, task: Task, seed: int) -> str:
        """Return the structured state in which an episode begins."""
        return compact(self.view.begin(task.state, seed, task.controls, task.control_seed_in(seed)))

    def printed(self, state: str) -> str:
        """Return the screen of a structured state.

        Raises:
            AnswerError: The domain has no such state.
        """
        return self.view.view(json.loads(state))

    @property
    def accounts(self) -> bool:
        """Whether the view knows the fields of a state."""
        return self.view.knows_fields

    def fields(self, state: str) -> Mapping[str, str | int | float | bool | None] | None:
        """Return the fields of a structured state by name; None where the state says too little.

        Raises:
            AnswerError: The domain has no such state.
        """
        return self.view.fields(json.loads(state))

    def state_after_opening(self, state: str, parsed: Any) -> str | None:
        """Return the structured state after an action of a probe that only opens what is there.

        It is None after any other action, where the view opens nothing, and where the domain has no such state.
        """
        try:
            after = self.view.state_after_opening(json.loads(state), parsed)
        except AnswerError:
            return None
        return None if after is None else compact(after)

    def refused(self, state: str, parsed: Any) -> str | None:
        """Return the structured state after an action that is refused where the state before has rules.

        It is None after any other action, where the view knows no rules, and where the domain has no such state.
        """
        try:
            after = self.view.refused(json.loads(state), parsed)
        except AnswerError:
            return None
        return None if after is None else compact(after)

    def write(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return the change that leads from one structured state to the other."""
        return self.change(self._turn(task, before, action), json.loads(observation))

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the structured state after a change.

        Raises:
            AnswerError: The change does not fit the state before.
        """
        return compact(self.state_after(self._turn(task, before, action), answer))

    def allows(self, task: Task | None, before: str, action: str | None = None) -> TextConstraint:
        """Return which changes of a structured state can be read, for constrained decoding."""
        return self.constraint(self._turn(task, before, action))

    def turn(self, before: str, parsed: Any) -> StateTurn:
        """Return the turn of an action in a structured state.

        Args:
            before: The structured state before the action, as JSON.
            parsed: The action as its parser read it; None where there is none that can be read.
        """
        return StateTurn(self.view, json.loads(before), parsed if self.parser is not None else None)

    def change(self, turn: StateTurn, after: StructuredState) -> str:
        """Return the change by which a turn leads to a structured state."""
        return self._steps.write(turn, after)

    def state_after(self, turn: StateTurn, answer: str) -> StructuredState:
        """Return the structured state to which an answer leads.

        Raises:
            AnswerError: The change does not fit the state before.
        """
        if turn.whole or answer.startswith(f"{ALL}\n"):
            return self._applied(turn.noted, answer.removeprefix(f"{ALL}\n"), turn.references)
        return self._steps.read(turn, answer)

    def constraint(self, turn: StateTurn) -> TextConstraint:
        """Return which answers to a turn can be read, for constrained decoding."""
        if turn.whole:
            return self._constraint(turn.noted, turn.references)
        return StepConstraint(self._steps, turn, self._constraint)

    @property
    def _steps(self) -> StepAnswers:
        return StepAnswers(self._write_change, self._applied)

    def _turn(self, task: Task | None, before: str, action: str | None) -> StateTurn:
        return _turn_of(self, before, action, _Same(task.tools if task is not None else ()))

    def _constraint(self, state: StructuredState, references: References | None) -> ChangeConstraint:
        return ChangeConstraint(state, self.view.place(state), self.view.choices, references, self._completed(state))

    def _write_change(self, state: StructuredState, after: StructuredState, references: References | None) -> str:
        marked = self.view.marked(state, after)
        counts = partial(self.view.counts, state)
        return write_change(state, marked, self.view.place(state), counts, references, self._completed(state))

    def _applied(self, state: StructuredState, answer: str, references: References | None) -> StructuredState:
        after = applied(state, answer, self.view.place(state), references, self._completed(state))
        return self.view.summed(after)

    def _completed(self, state: StructuredState) -> Completed:
        return partial(self.view.completed, state)

    def display(self, screen: str, parsed: Any = None) -> str:
        """Return what a model reads of a structured state before an action; an empty text where it is no state."""
        try:
            return self.turn(screen, parsed).description
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """Tools as the key of a cache: they are equal to themselves alone, which costs no look at them."""

    tools: Sequence[Mapping[str, Any]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.tools is other.tools

    def __hash__(self) -> int:
        return id(self.tools)


@lru_cache(maxsize=16)
def _turn_of(answers: StateAnswers, before: str, action: str | None, same: _Same) -> StateTurn:
    """Return the turn of an action as an agent wrote it. Whoever makes samples asks for one turn again and again."""
    read = answers.parser.parse(action, same.tools) if action is not None and answers.parser is not None else None
    return answers.turn(before, None if read is None or read.error is not None else read.parsed)

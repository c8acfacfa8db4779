"""Answers to an action that consists of several: the change of each of them, one after the other.

    {1}/in = {}
    ;
    cwd = "{}"

A line `;` parts the changes. The names in each of them are of the state that the one before has led to. The line `all`
begins the change of the action as a whole, where its steps cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import StructuredState, View
from agentworld_gym.llm.prompting.change_constraint import TextConstraint
from agentworld_gym.llm.prompting.state_changes import SAME
from agentworld_gym.llm.prompting.state_references import References

ALL = "all"
"""Begins the change of an action as a whole."""
PARTED = "\n;\n"
"""Parts the changes of steps."""
MOST = 96
"""The largest number of steps of an action."""

Written = Callable[[StructuredState, StructuredState, References | None], str]
"""The change from one state to another, with the names to which it refers."""
Applied = Callable[[StructuredState, str, References | None], StructuredState]
"""The state after a change."""


class StepPosition(NamedTuple):
    """Where the steps of an action have come to."""

    state: StructuredState
    """The state with the next step noted; that after all steps where there is none."""

    references: References | None = None
    """The names to which the change of the step can refer."""

    rest: tuple[Any, ...] = ()
    """The steps after it, the last one first."""

    number: int = 0
    """How many steps with a change there were, this one included."""

    ended: bool = False
    """Whether there is no further step."""


class StateTurn:
    """The turn of a world in the state form: a structured state, the action, and the names that an answer can use.

    A world shows a turn, reads the answer to it, and writes the answer into the history. Each piece is made when it is
    first needed, and kept. Nothing of it is changed.

    Args:
        view: The view of the domain.
        state: The state before the action.
        action: The action as its parser read it; None where there is none that can be read.
    """

    def __init__(self, view: View, state: StructuredState, action: Any) -> None:
        self.view, self.state, self.action = view, state, action

    @cached_property
    def description(self) -> str:
        """What a model reads of the state before the action; nothing where the domain has no such state."""
        try:
            return self.view.describe_for_model(self.state, self.action)
        except AnswerError:
            return ""

    @cached_property
    def noted(self) -> StructuredState:
        """The state with the action noted as a whole."""
        return self.state if self.action is None else self.view.noted(self.state, self.action)

    @cached_property
    def references(self) -> References | None:
        """The names to which the change of the action as a whole can refer."""
        return references_of(self.view, self.state, self.action)

    @cached_property
    def steps(self) -> Sequence[Any] | None:
        """The steps of which the action consists; None where it consists of none but itself."""
        return None if self.whole else self.view.steps(self.state, self.action)

    @property
    def whole(self) -> bool:
        """Whether the answer is one change: there is no action, or the view reads no steps from one."""
        return self.action is None or not self.view.takes_steps

    @cached_property
    def first(self) -> StepPosition:
        """The first step whose change is predicted."""
        steps = (self.action,) if self.steps is None else tuple(reversed(self.steps))
        return self._onward(self.state, steps, 0)

    def after(self, position: StepPosition, state: StructuredState) -> StepPosition:
        """Return the step after another one.

        Args:
            position: The other step.
            state: The state after it.
        """
        return self._onward(state, position.rest, position.number)

    def _onward(self, state: StructuredState, steps: Sequence[Any], count: int) -> StepPosition:
        rest = [*steps]
        while rest:
            step = rest.pop()
            parts = self.view.steps(state, step)
            if parts is not None:
                rest.extend(reversed(parts))
                continue
            noted = self.view.noted(state, step)
            if self.view.silent(step):
                state = noted
                continue
            if count == MOST:
                raise AnswerError(f"an action has at most {MOST} steps")
            return StepPosition(noted, references_of(self.view, state, step), tuple(rest), count + 1)
        return StepPosition(self.view.joined(state), number=count, ended=True)


@dataclass(frozen=True, slots=True)
class StepAnswers:
    """Writes and reads the answers to actions step by step.

    Args:
        written: What writes the change of a step.
        applied: What reads it.
    """

    written: Written
    applied: Applied

    def write(self, turn: StateTurn, after: StructuredState) -> str:
        """Return the answer that leads from the state of a turn to another one."""
        if turn.steps is None:
            return self.written(turn.noted, after, turn.references)
        with suppress(AnswerError, LookupError):
            answer = self._stepwise(turn, after)
            if self.read(turn, answer) == after:
                return answer
        return f"{ALL}\n{self.written(turn.noted, after, turn.references)}"

    def read(self, turn: StateTurn, answer: str) -> StructuredState:
        """Return the state after an answer. A step of which it says nothing has no effect.

        Raises:
            AnswerError: The answer has more changes than there are steps, or one that does not fit.
        """
        changes = answer.split(PARTED)
        position = turn.first
        while not position.ended:
            change = changes.pop(0) if changes else SAME
            position = turn.after(position, self.applied(position.state, change, position.references))
        if changes and changes != [SAME]:
            raise AnswerError(f"the action has no step for the change {changes[0][:80]!r}")
        return position.state

    def position_after(self, turn: StateTurn, changes: Sequence[str]) -> StepPosition | None:
        """Return the step after some changes; None where there is none.

        Raises:
            AnswerError: A change does not fit.
        """
        position = turn.first
        for change in changes:
            if position.ended:
                return None
            position = turn.after(position, self.applied(position.state, change, position.references))
        return None if position.ended else position

    def _stepwise(self, turn: StateTurn, after: StructuredState) -> str:
        """Return the changes of all steps.

        Raises:
            LookupError: The view cannot say which states the steps lead to.
        """
        position, changes = turn.first, list[str]()
        states: list[StructuredState] | None = None
        while not position.ended:
            if states is None:
                states = [after] if self._alone(turn) else [*(turn.view.played(turn.state, turn.action) or ())]
            state = states.pop(0)
            changes.append(self.written(position.state, state, position.references))
            position = turn.after(position, state)
        return PARTED.join(changes) or SAME

    def _alone(self, turn: StateTurn) -> bool:
        """Whether an action consists of one step that consists of no others."""
        steps = turn.steps or ()
        return len(steps) == 1 and turn.view.steps(turn.state, steps[0]) is None


class StepConstraint:
    """Tells which texts an answer to steps may begin with, and which are one.

    Args:
        answers: What reads the answers.
        turn: The turn.
        constraint: What makes the constraint of the change of one step.
    """

    def __init__(
        self,
        answers: StepAnswers,
        turn: StateTurn,
        constraint: Callable[[StructuredState, References | None], TextConstraint],
    ) -> None:
        self._answers, self._turn, self._constraint = answers, turn, constraint
        self._whole = constraint(turn.noted, turn.references)
        self._known: dict[tuple[str, ...], TextConstraint | None] = {}

    def __call__(self, text: str, whole: bool = False) -> bool:
        """Whether a text may begin an answer; or, if it is the `whole` answer, whether it is one."""
        if self._after(()) is None:  # The action has no step about which there is anything to say.
            return text == SAME if whole else SAME.startswith(text)
        if text.startswith(f"{ALL}\n"):
            return self._whole(text.removeprefix(f"{ALL}\n"), whole)
        if not whole and ALL.startswith(text):
            return True
        *before, last = text.split(PARTED)
        allows = self._after(tuple(before))
        if allows is None:
            return False
        if not whole and last.endswith(PARTED[:-1]):
            last = last.removesuffix(PARTED[:-1])
            return allows(last, True) and self._after((*before, last)) is not None
        return allows(last, whole) and (not whole or self._after((*before, last)) is None)

    def _after(self, changes: tuple[str, ...]) -> TextConstraint | None:
        """Return the constraint of the change after some others; None where there is none, or they cannot be read."""
        if changes not in self._known:
            try:
                position = self._answers.position_after(self._turn, changes)
            except AnswerError:
                position = None
            self._known[changes] = None if position is None else self._constraint(position.state, position.references)
        return self._known[changes]


def references_of(view: View, state: StructuredState, action: Any) -> References | None:
    """Return what an answer can refer to: nothing where the view fails on a state, though it may print it."""
    try:
        places = view.places(state, action) if view.names_places else None
        known = view.named_values(state, action)
        return None if known is None else References(*known, places)
    except AnswerError:
        return References({}, {}, {} if view.names_places else None)

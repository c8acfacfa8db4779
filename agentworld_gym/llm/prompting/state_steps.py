"""Answers to an action that consists of several: the change of each of them, one after the other.

    {1}/in = {}
    ;
    cwd = "{}"

A line `;` parts the changes. The names in each of them are of the state that the one before has led to. The line `all`
begins the change of the action as a whole, where its steps cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import StructuredState, View
from agentworld_gym.llm.prompting.change_constraint import Constraint
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


Asked = tuple[StructuredState, References | None]
"""A state with a step noted, and the names to which its change can refer."""


@dataclass(frozen=True, slots=True)
class StepAnswers:
    """Writes and reads the answers to actions step by step.

    Args:
        view: The view of the domain.
        written: What writes the change of a step.
        applied: What reads it.
    """

    view: View
    written: Written
    applied: Applied

    def write(self, before: StructuredState, action: Any, after: StructuredState, whole: Callable[[], str]) -> str:
        """Return the answer that leads from one state to another.

        Args:
            before: The state before the action, without the action noted.
            action: The action as its parser read it.
            after: The state after it.
            whole: What writes the change of the action as a whole.
        """
        steps = self.view.steps(before, action)
        if steps is None:
            return whole()
        with suppress(AnswerError, LookupError):
            answer = self._stepwise(before, action, after, alone=len(steps) == 1)
            if answer is not None and self.read(before, action, answer) == after:
                return answer
        return f"{ALL}\n{whole()}"

    def read(self, before: StructuredState, action: Any, answer: str) -> StructuredState:
        """Return the state after an answer. A step of which it says nothing has no effect.

        Raises:
            AnswerError: The answer has more changes than there are steps, or one that does not fit.
        """
        changes = answer.split(PARTED)
        walk = self._walk(before, action)
        with _Ended() as ended:
            noted, references = next(walk)
            while True:
                change = changes.pop(0) if changes else SAME
                noted, references = walk.send(self.applied(noted, change, references))
        if changes and changes != [SAME]:
            raise AnswerError(f"the action has no step for the change {changes[0][:80]!r}")
        return ended.state

    def asked(self, before: StructuredState, action: Any, changes: Sequence[str]) -> Asked | None:
        """Return what the change after some others begins with; None where there is no step after them.

        Raises:
            AnswerError: A change does not fit.
        """
        walk = self._walk(before, action)
        try:
            noted, references = next(walk)
            for change in changes:
                noted, references = walk.send(self.applied(noted, change, references))
        except StopIteration:
            return None
        return noted, references

    def _stepwise(self, before: StructuredState, action: Any, after: StructuredState, alone: bool) -> str | None:
        """Return the changes of all steps; None where they cannot be told."""
        walk = self._walk(before, action)
        told: list[str] = []
        states: list[StructuredState] | None = None
        with _Ended():
            noted, references = next(walk)
            while True:
                if states is None:
                    states = [after] if alone and not self._parted(before, action) else self._played(before, action)
                state = states.pop(0)
                told.append(self.written(noted, state, references))
                noted, references = walk.send(state)
        return PARTED.join(told) or SAME

    def _parted(self, before: StructuredState, action: Any) -> bool:
        return any(self.view.steps(before, step) is not None for step in self.view.steps(before, action) or ())

    def _played(self, before: StructuredState, action: Any) -> list[StructuredState]:
        return [*(self.view.played(before, action) or ())]

    def _walk(self, before: StructuredState, action: Any) -> Generator[Asked, StructuredState, StructuredState]:
        """Yield each step whose change is predicted, and be sent the state after it."""
        state, rest, count = before, [action], 0
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
            if (count := count + 1) > MOST:
                raise AnswerError(f"an action has at most {MOST} steps")
            state = yield noted, references_of(self.view, state, step)
        return self.view.joined(state)


class _Ended:
    """A block that goes through a walk to its end, where it keeps the last state."""

    state: StructuredState

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, StopIteration):
            return False
        self.state = error.value
        return True


class StepConstraint:
    """Tells which texts an answer to steps may begin with, and which are one.

    Args:
        answers: What reads the answers.
        before: The state before the action.
        action: The action as its parser read it.
        whole: The constraint of the change of the action as a whole.
        constraint: What makes the constraint of the change of one step.
    """

    def __init__(
        self,
        answers: StepAnswers,
        before: StructuredState,
        action: Any,
        whole: Constraint,
        constraint: Callable[[StructuredState, References | None], Constraint],
    ) -> None:
        self._answers, self._before, self._action = answers, before, action
        self._whole, self._constraint = whole, constraint
        self._known: dict[tuple[str, ...], Constraint | None] = {}

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

    def _after(self, changes: tuple[str, ...]) -> Constraint | None:
        """Return the constraint of the change after some others; None where there is none, or they cannot be read."""
        if changes not in self._known:
            try:
                asked = self._answers.asked(self._before, self._action, changes)
            except AnswerError:
                asked = None
            self._known[changes] = None if asked is None else self._constraint(*asked)
        return self._known[changes]


def references_of(view: View, state: StructuredState, action: Any) -> References | None:
    """Return what an answer can refer to: nothing where the view fails on a state, though it may print it."""
    try:
        places = view.places(state, action) if view.names_places else None
        known = view.known(state, action)
        return None if known is None else References(*known, places)
    except AnswerError:
        return References({}, {}, {} if view.names_places else None)

"""The view of a domain: it prints the screen from the structured state, and names what is known before an action.

The engine computes the usual effect of an action; the model decides whether and where it stands. A view may therefore
run parts of the engine on copies of a state, for the values that a change can name, for what it notes of the action and
for what it tells of the state. It never puts an effect into a state by itself, but for what follows from the note.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from agentworld_gym.base.errors import AnswerError

StructuredState = dict[str, Any]
"""A structured state: plain JSON data, with what is shown by its path (`tasks/clock/0/scroll/list`)."""

Entries = Sequence[Mapping[str, Any]]
"""The entries of a list."""


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact(value: Any) -> str:
    """Return plain data as JSON without blanks.

    >>> compact({"screen": "main", "scroll": {"list": 126}})
    '{"screen":"main","scroll":{"list":126}}'
    """
    return _COMPACT.encode(value)


@contextmanager
def predicted() -> Iterator[None]:
    """Make an answer error of any error in this block, which reads a predicted state: it may be wrong in any way.

    >>> with predicted():
    ...     {"front": "clock"}["tasks"]
    Traceback (most recent call last):
    agentworld_gym.base.errors.AnswerError: the view cannot print this state: it has no 'tasks'
    """
    try:
        yield
    except Exception as error:
        raise AnswerError(f"the view cannot print this state: {_worded(error)}") from error


def _worded(error: Exception) -> str:
    """Return why a state cannot be printed, in words."""
    if isinstance(error, KeyError) and error.args:
        return f"it has no {error.args[0]!r}"
    return str(error) or f"it is none ({type(error).__name__})"


Choices = tuple[Collection[str] | None, ...]
"""What a text can be: the choices of each of its parts, which commas join; None for a part that may be anything."""


class View(ABC):
    """Prints the screens of a domain, as a decoder prints what a latent dynamics model predicts.

    A view reads structured states and changes none. Which state follows on an action is what a world model predicts.
    What it can name may be an effect that the engine computed, as that of a redirection; whether it comes to this
    effect, and where, is predicted.

    The first four methods are needed; each of the others has a default that stands for a view which knows nothing of
    its kind.
    """

    takes_steps: ClassVar[bool] = False
    """Whether the view reads several actions from one, such as the commands of a line; see `steps`."""

    names_places: ClassVar[bool] = False
    """Whether the view knows places of a state by name; see `places`."""

    knows_fields: ClassVar[bool] = False
    """Whether the view knows the fields of a state; see `fields`."""

    @abstractmethod
    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float], control_seed: int
    ) -> StructuredState:
        """Return the structured state at the start.

        Args:
            state: The initial state of a task.
            seed: The seed of everything that the state leaves open.
            controls: The faults in force: their strengths by name.
            control_seed: The seed of their draws.

        Raises:
            SpecError: The state is wrong.
        """

    @abstractmethod
    def view(self, shown: StructuredState) -> str:
        """Return the screen of a structured state.

        Raises:
            AnswerError: The domain has no such state.
        """

    @abstractmethod
    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of what the agent is at, such as the screen in front, where the paths of changes begin.

        Raises:
            AnswerError: The domain has no such state.
        """

    @abstractmethod
    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return what a world model reads of a state before an action, in few words.

        It describes what stands in front and what the action is aimed at, and not which state follows.

        Args:
            shown: The structured state.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return a state with the action noted that is about to be answered, where screens repeat it.

        What an action does that only reads, such as the status of a command, is noted as well. What else follows from
        the action is not said.

        Args:
            shown: The structured state.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return shown

    def steps(self, shown: StructuredState, action: Any) -> Sequence[Any] | None:
        """Return the steps of which an action, or a step, consists; None where it consists of none but itself.

        The change of such an action is that of each step, one after the other. What each of them does is predicted, and
        what it reads of those before it is read off the predicted state.

        Args:
            shown: The structured state in which it is its turn.
            action: The action as its parser read it, or a step.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def silent(self, action: Any) -> bool:
        """Whether nothing about a step is predicted, once it is noted."""
        return False

    def joined(self, shown: StructuredState) -> StructuredState:
        """Return the state after the last step of an action, with what all steps have left."""
        return shown

    def played(self, shown: StructuredState, action: Any) -> Sequence[StructuredState] | None:
        """Return the states after each step of an action that was recorded; None where they cannot be told.

        It is for recordings alone: no world plays in this way.

        Args:
            shown: The structured state before the action.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that only opens what is there, such as a file; None after any other action.

        It answers probes: a check asks what is true of a state, and its answer is read off the state. What an agent
        does is never answered in this way. All that is stored has to stay as it is.

        Args:
            shown: The structured state, with no controls in force.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def refused(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that is refused; None where the action is carried out, or this is unknown.

        It is asked where a predicted state breaks a rule of what is stored, such as a stock below zero: what was
        predicted cannot follow, and an action that breaks the rule is refused, in the words of whoever refuses it. All
        that is stored stays as it is.

        Args:
            shown: The structured state before the action.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def fields(self, shown: StructuredState) -> Mapping[str, str | int | float | bool | None] | None:
        """Return the fields of a state by name, as the engine's machine tells its own; None where it says too little.

        They tell what an episode changed beside its task.

        Args:
            shown: The structured state.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def counts(self, shown: StructuredState, path: tuple[str, ...]) -> bool:
        """Whether a change says by how much the number at a path grows, such as a balance or a stock.

        A world model then copies the amount and adds nothing.

        Args:
            shown: The structured state before the change.
            path: The path.

        Raises:
            AnswerError: The domain has no such state.
        """
        return False

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Return values by their names, the most likely first: those of the action, and those of the state.

        A change names such a value and does not copy it: which value stands where is predicted, and its letters are
        not. A name may also stand for what a value becomes where the action has its usual effect, such as the line of a
        text with what is typed into it. Whether it has this effect is predicted. None where the view names no values.

        Args:
            shown: The structured state before the change.
            action: The action as its parser read it; None where there is none that can be read.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return paths by their names, such as that of the file that a window has open, the most likely first.

        The path of a change then begins with such a name. There need not be anything at a path yet.

        Args:
            shown: The structured state before the change.
            action: The action as its parser read it; None where there is none that can be read.

        Raises:
            AnswerError: The domain has no such state.
        """
        return {}

    def marked(self, shown: StructuredState, after: StructuredState) -> StructuredState:
        """Return the state after a change with marks instead of values that have changed and follow from others.

        Such a value is the total of an order. A change then says that it follows, and the view reads it off the
        predicted state.

        Args:
            shown: The structured state before the change.
            after: The structured state after it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return after

    def summed(self, after: StructuredState) -> StructuredState:
        """Return a state with values instead of the marks.

        Raises:
            AnswerError: The domain has no such state.
        """
        return after

    def completed(self, shown: StructuredState, path: tuple[str, ...], entries: Entries, entry: Any) -> Any:
        """Return an entry that is added to a list, with what does not depend on the action, such as its number.

        Args:
            shown: The structured state before the change.
            path: The path of the list.
            entries: The entries of the list so far.
            entry: The entry as a change has it.

        Raises:
            AnswerError: The domain has no such state.
        """
        return entry

    def choices(self, shown: StructuredState, path: tuple[str, ...]) -> Choices | None:
        """Return what a text at a path can be, such as the options of a list; None where it may be anything.

        Args:
            shown: The structured state, which may be between two operations of a change.
            path: The path. `+` is the name of an entry that is added to a list.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

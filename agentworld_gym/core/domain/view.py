"""The view of a domain: it prints the screen from the structured state, and names what is known before an action.

The engine computes the usual effect of an action; the model decides whether and where it stands. A view may therefore
run parts of the engine on copies of a state, for the values that a change can name, for what it notes of the action and
for what it tells of the state. It never puts an effect into a state by itself, but for what follows from the note.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from agentworld_gym.base.errors import AnswerError

StructuredState = dict[str, Any]
"""A structured state: plain JSON data, with what is shown by its path (`tasks/clock/0/scroll/list`)."""

Entries = Sequence[Mapping[str, Any]]
"""The entries of a list."""


def compact(value: Any) -> str:
    """Return plain data as JSON without blanks.

    >>> compact({"screen": "main", "scroll": {"list": 126}})
    '{"screen":"main","scroll":{"list":126}}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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


class View(Protocol):
    """Prints the screens of a domain, as a decoder prints what a latent dynamics model predicts.

    A view reads structured states and changes none. Which state follows on an action is what a world model predicts.
    What it can name may be an effect that the engine computed, as that of a redirection; whether it comes to this
    effect, and where, is predicted.
    """

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float], control_seed: int
    ) -> StructuredState:
        """Return the structured state at the start.

        Args:
            state: The initial state of a task.
            seed: The seed of everything that the state leaves open.
            controls: The perturbations in force: their strengths by name.
            control_seed: The seed of their draws.

        Raises:
            SpecError: The state is wrong.
        """
        ...

    def view(self, shown: StructuredState) -> str:
        """Return the screen of a structured state.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of what the agent is at, such as the screen in front, where the paths of changes begin.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...

    def told(self, shown: StructuredState, action: Any) -> str:
        """Return what a world model is told of a state before an action, in few words.

        It is what stands in front, and what the action is aimed at. Which state follows is not said.

        Args:
            shown: The structured state.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Repeating(View, Protocol):
    """A view whose screens repeat the action that they follow on, as the answers of a browser's tools do."""

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return a state with the action noted that is about to be answered.

        What an action does that only reads, such as the status of a command, is noted as well. What else follows from
        the action is not said.

        Args:
            shown: The structured state.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Stepping(Repeating, Protocol):
    """A view that reads several actions from one, such as the commands of a line.

    The change of such an action is that of each of them, one after the other. What each of them does is predicted, and
    what it reads of those before it is read off the predicted state.
    """

    def steps(self, shown: StructuredState, action: Any) -> Sequence[Any] | None:
        """Return the steps of which an action, or a step, consists; None where it consists of none but itself.

        Args:
            shown: The structured state in which it is its turn.
            action: The action as its parser read it, or a step.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...

    def silent(self, action: Any) -> bool:
        """Whether nothing about a step is predicted, once it is noted."""
        ...

    def joined(self, shown: StructuredState) -> StructuredState:
        """Return the state after the last step of an action, with what all steps have left."""
        ...

    def played(self, shown: StructuredState, action: Any) -> Sequence[StructuredState] | None:
        """Return the states after each step of an action that was recorded; None where they cannot be told.

        It is for recordings alone: no world plays in this way.

        Args:
            shown: The structured state before the action.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Opening(View, Protocol):
    """A view that knows what a probe shows which only opens what is there, such as a file, a page or an app.

    A check asks what is true of a state, and its answer is read off the state. What an agent does is never answered in
    this way.
    """

    def opened(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that opens something; None after any other action.

        All that is stored has to stay as it is.

        Args:
            shown: The structured state, with no controls in force.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Refusing(View, Protocol):
    """A view that knows how an action is refused, in the words of whoever refuses it.

    It is asked where a predicted state breaks a rule of what is stored, such as a stock below zero: what was predicted
    cannot follow, and an action that breaks the rule is refused. Nothing else that an agent does is answered in this
    way.
    """

    def refused(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that is refused; None where the action is carried out, or this is unknown.

        All that is stored stays as it is.

        Args:
            shown: The structured state before the action.
            action: The action as its parser read it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Accounting(View, Protocol):
    """A view that knows the fields of a state, by which it is told what an episode changed beside its task."""

    def fields(self, shown: StructuredState) -> Mapping[str, str | int | float | bool | None] | None:
        """Return the fields of a state by name, as the engine's machine tells its own; None where it says too little.

        Args:
            shown: The structured state.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Counting(View, Protocol):
    """A view that knows which numbers actions change by an amount, such as a balance or a stock.

    A change then says by how much such a number grows, so that a world model copies the amount and adds nothing.
    """

    def counts(self, shown: StructuredState, path: tuple[str, ...]) -> bool:
        """Whether a change says by how much the number at a path grows.

        Args:
            shown: The structured state before the change.
            path: The path.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Referring(View, Protocol):
    """A view that knows values to which a world model can refer by a name, such as the arguments of a call.

    A change then names a value in place of copying it: which value stands where is predicted, and its letters are not.
    A name may also stand for what a value becomes where the action has its usual effect, such as the line of a text
    with what is typed into it. Whether it has this effect is predicted.
    """

    def known(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values by their names, the most likely first: those of the action, and those of the state.

        Args:
            shown: The structured state before the change.
            action: The action as its parser read it; None where there is none that can be read.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Placing(Referring, Protocol):
    """A view that knows places of a state by name, such as that of the file that a window has open.

    The path of a change then begins with such a name.
    """

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return paths by their names, the most likely first. There need not be anything at a path yet.

        Args:
            shown: The structured state before the change.
            action: The action as its parser read it; None where there is none that can be read.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Summing(View, Protocol):
    """A view that knows which values follow from others of the same state, such as the total of an order.

    A change then says that such a value follows, and the view reads it off the predicted state.
    """

    def marked(self, shown: StructuredState, after: StructuredState) -> StructuredState:
        """Return the state after a change with marks in the place of values that have changed and follow from others.

        Args:
            shown: The structured state before the change.
            after: The structured state after it.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...

    def summed(self, after: StructuredState) -> StructuredState:
        """Return a state with values in the place of the marks.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


@runtime_checkable
class Completing(View, Protocol):
    """A view that knows what an added entry has where nothing else is said, such as the next number of its list."""

    def completed(self, shown: StructuredState, path: tuple[str, ...], entries: Entries, entry: Any) -> Any:
        """Return an entry that is added to a list, with what does not depend on the action.

        Args:
            shown: The structured state before the change.
            path: The path of the list.
            entries: The entries of the list so far.
            entry: The entry as it is told.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...


Choices = tuple[Collection[str] | None, ...]
"""What a text can be: the choices of each of its parts, which commas join; None for a part that may be anything."""


@runtime_checkable
class Choosing(View, Protocol):
    """A view that knows where only some texts can stand, such as the options of a list."""

    def choices(self, shown: StructuredState, path: tuple[str, ...]) -> Choices | None:
        """Return what a text at a path can be; None where it may be anything.

        Args:
            shown: The structured state, which may be between two operations of a change.
            path: The path. `+` is the name of an entry that is added to a list.

        Raises:
            AnswerError: The domain has no such state.
        """
        ...

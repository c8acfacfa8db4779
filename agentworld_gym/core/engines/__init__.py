"""The engines of the grounded worlds: code that really executes an action, sandboxed and in process.

An engine knows nothing of prompts, tasks, worlds or environments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.engines.controls import Controls

__all__ = [
    "NOTHING",
    "NO_CONTROLS",
    "BaseMachine",
    "ConcurrentEngine",
    "Controls",
    "Engine",
    "EngineError",
    "InexactFork",
    "Inspected",
    "Inspection",
    "Kind",
    "Machine",
    "Multilingual",
    "OutOfTime",
    "Probed",
    "Restorable",
    "RestorableMachine",
    "Scalar",
    "Span",
    "SystemLate",
    "SystemLost",
    "Testable",
    "VariantEngine",
]

Kind = Literal["deterministic", "pre-existing", "metadata"]
"""What decides a piece of text.

- `deterministic`: it follows from the rules and from what was shown before.
- `pre-existing`: it was there before the episode and had not been shown.
- `metadata`: it belongs to the moment of the run, as times, durations and random identifiers do.
"""

Scalar = str | int | float | bool | None
"""The value of one field of a machine's state."""

NO_CONTROLS = Controls()
"""The controls of an undisturbed world."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""What a world hides whose task hides nothing."""

_System = TypeVar("_System")


class EngineError(AgentWorldError):
    """The engine cannot execute an action, and its machine cannot go on."""

    kind: ClassVar[str] = "engine"
    """The kind of the failure that a world makes of it, see `agentworld_gym.core.contracts.FailureKind`."""


class SystemLost(EngineError):
    """A live system ended, or was ended, while it was used."""

    kind = "connection"


class OutOfTime(EngineError):
    """An action took longer than the engine waits, in real time; on a machine with less to do it may not."""


class SystemLate(OutOfTime):
    """A live system did not answer in time. What it has done is not known, so that its machine cannot go on."""

    kind = "timeout"


class InexactFork(EngineError):
    """A live system does not repeat itself: its episode was played again for a fork, and was answered otherwise."""


class Span(NamedTuple):
    """A piece of an observation, `text[start:end]`, whose content is of one kind."""

    start: int
    end: int
    kind: Kind


@runtime_checkable
class Machine(Protocol):
    """One running episode of a grounded domain.

    A machine executes actions one after the other and can be forked exactly: equal actions on both copies give equal
    observations.
    """

    @property
    def observation(self) -> str:
        """The text that is shown since the last action."""
        ...

    @property
    def spans(self) -> Sequence[Span]:
        """The pieces of the observation that are not deterministic, in order and without overlap."""
        ...

    def act(self, action: Any, /) -> str:
        """Execute one action, in the form that the domain's parser gives it, and return what it shows."""
        ...

    def state(self) -> Mapping[str, Scalar]:
        """Return everything that an action can change, as flat fields: values by paths such as `orders/12/status`."""
        ...

    def fork(self) -> Machine:
        """Return an exact copy of the machine."""
        ...

    def close(self) -> None:
        """Free what the machine holds; a second call does nothing."""
        ...


@runtime_checkable
class Probed(Protocol):
    """A machine in which an agent can change what later actions mean, as functions and aliases of a shell do.

    A success check runs on the machine's `probe()`, so that such changes cannot affect it.
    """

    def probe(self) -> Machine:
        """Return a copy with the same files and data, whose shell or other tools are those of the start."""
        ...


@runtime_checkable
class Restorable(Protocol):
    """A machine whose complete state is plain data, as that of a screen engine of updates and a view is."""

    def structured_state(self) -> dict[str, Any]:
        """Return the complete state as plain JSON data.

        Its key `shown` holds what the domain's view reads (see `agentworld_gym.core.domain.view`), and `kept` what
        updates alone need.
        """
        ...

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        ...

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any], /) -> Machine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        ...


@runtime_checkable
class Multilingual(Protocol):
    """A machine that speaks several dialects of its domain.

    It takes actions, answers them and is probed in the first dialect, and it can show the same observation in another
    one.
    """

    def observation_in(self, dialect: str, /) -> str:
        """Return what `observation` shows in another dialect.

        Raises:
            EngineError: The machine does not speak the dialect.
        """
        ...

    def spans_in(self, dialect: str, /) -> Sequence[Span]:
        """Return the pieces of `observation_in` that are not deterministic, in order and without overlap.

        Raises:
            EngineError: The machine does not speak the dialect.
        """
        ...


@runtime_checkable
class Lasting(Protocol):
    """A machine in which something may go on after the last action, such as a command that sleeps."""

    def last_state(self) -> dict[str, Scalar]:
        """Return what `state` tells when all of that has happened, and whatever else an episode may leave behind."""
        ...


def last_state(machine: Machine) -> dict[str, Scalar]:
    """Return the state that an episode leaves behind if it ends now."""
    return machine.last_state() if isinstance(machine, Lasting) else dict(machine.state())


class BaseMachine(ABC, Generic[_System]):
    """What the machines of engines share: a system that runs until `close`, and what it showed last.

    The system is what an action changes, such as a shell, a browser or a game. A machine says how it is copied
    (`_part_from`) and freed (`_free`). Its `act` leaves what it shows in `_observation`, and in `_spans` which pieces
    of that are not deterministic.

    >>> class Counter(BaseMachine[list[str]]):
    ...     noun = "counter"
    ...
    ...     def act(self, action: str) -> str:
    ...         self._open().append(action)
    ...         self._observation = str(len(self._open()))
    ...         return self._observation
    ...
    ...     def _part_from(self, system: list[str]) -> None:
    ...         self._system = list(system)
    >>> counter = Counter([], "0")
    >>> twin = counter.fork()
    >>> counter.act("up"), twin.observation
    ('1', '0')
    >>> counter.close()
    >>> counter.act("up")
    Traceback (most recent call last):
    agentworld_gym.core.engines.EngineError: the counter was used after close()
    """

    noun: ClassVar[str]
    """What errors call the machine."""

    _spans: tuple[Span, ...] = ()

    def __init__(self, system: _System, observation: str) -> None:
        self._system: _System | None = system
        self._observation = observation

    @property
    def observation(self) -> str:
        """What was shown last: the answer to the last action, or the start."""
        return self._observation

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces of the observation that are not deterministic."""
        return self._spans

    def fork(self) -> Self:
        """Return an exact copy: equal actions on both copies give equal observations.

        Raises:
            EngineError: the machine is closed.
        """
        system = self._open()
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._system = None  # A copy that fails must not free the system of its original.
        twin._part_from(system)
        return twin

    def close(self) -> None:
        """Free what the machine holds; a second call does nothing."""
        system, self._system = self._system, None
        if system is not None:
            self._free(system)

    def _open(self) -> _System:
        """Return the system.

        Raises:
            EngineError: the machine is closed.
        """
        if self._system is None:
            raise EngineError(f"the {self.noun} was used after close()")
        return self._system

    @abstractmethod
    def _part_from(self, system: _System) -> None:
        """Take a copy of a system, and copy what else may change; all but the system is still that of the original."""

    def _free(self, system: _System) -> None:
        """Free the system."""


class RestorableMachine(BaseMachine[_System]):
    """A machine whose complete state is plain data; see `Restorable`."""

    def structured_state(self) -> dict[str, Any]:
        """Return the complete state as plain JSON data, from which `restore` makes a machine that goes on exactly.

        Its key `shown` holds what the view reads, and `kept` what updates alone need.
        """
        shown = self.visible_state()
        return {"shown": shown, "kept": self._hidden_state(shown)}

    @abstractmethod
    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""

    @abstractmethod
    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of the complete state that updates alone need; `shown` is the other part."""

    @classmethod
    @abstractmethod
    def restore(cls, structured_state: Mapping[str, Any], /) -> Self:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""


@runtime_checkable
class Testable(Protocol):
    """A machine that runs tests of the agent's code and forms the verdict where none of that code runs."""

    def passes(self, tests: Mapping[str, str | None], /) -> bool:
        """Return whether the tests of all these files pass.

        Args:
            tests: the text of each test file by its path; `None` for a file of the start, which must be unchanged.

        Raises:
            EngineError: a path names no file of the start, or the tests of a file cannot be judged in this way.
        """
        ...


class Inspection(NamedTuple):
    """What a command of a check found."""

    passed: bool
    """Whether the command succeeded: a shell's exited with status 0, a tool's was no error."""

    output: str
    """What it printed."""


@runtime_checkable
class Inspected(Protocol):
    """A machine that runs a command for a check, where the agent cannot see or change what the command means."""

    def inspect(self, command: str, /) -> Inspection:
        """Run a command on the system as it is now.

        Args:
            command: The command, in the form that the domain defines: a line of a shell, or a call of a tool as JSON.

        Raises:
            EngineError: The system cannot run it.
        """
        ...


@runtime_checkable
class Engine(Protocol):
    """Starts the machines of one domain; a class with a class method `start` is an engine as well."""

    def start(
        self,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = ...,
        hidden: Mapping[str, Any] = ...,
    ) -> Machine:
        """Start a machine in the given state.

        Args:
            state: the task's initial state, in the form that the domain defines.
            seed: the seed of everything that the state leaves open.
            controls: the faults in force.
            hidden: what the world knows and the agent is never shown.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        ...


@runtime_checkable
class ComparingEngine(Protocol):
    """An engine that says what of a state counts where the outcomes of two episodes are compared."""

    def compared(self, state: Mapping[str, Scalar], /) -> dict[str, Scalar]:
        """Return the flat fields of a machine's state as they are compared: equal where nobody could tell them apart.

        Args:
            state: The fields.
        """
        ...


@runtime_checkable
class ConcurrentEngine(Protocol):
    """An engine that says whether its machines may act at the same time, each on a thread of its own."""

    concurrent: bool


@runtime_checkable
class VariantEngine(Protocol):
    """An engine that says which of its variants it is, as one does that chose it by what is installed."""

    variant: str

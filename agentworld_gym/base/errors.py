"""Every exception the library raises on purpose.

    AgentWorldError
    ├── SpecError              a spec, task, prompt or configuration is wrong (names file, key, value, expected)
    │   ├── MissingFile        a file or folder that was named is not there
    │   └── UnknownOption      an environment has no such option; also a TypeError, as of any keyword argument
    ├── WorldNotConfigured     the domain has no such world; says what to pass
    ├── FingerprintMismatch    another world than the one that was expected
    ├── RecordingError         a recording has no such transition, or cannot be read
    ├── TraceError             a trace log cannot be written or read
    ├── AnswerError            what a world model wrote cannot be read: a change or a reference that does not fit
    │   └── ImpossibleState    it breaks a rule of what is stored, such as that no stock is below zero
    ├── TooManyFiles           the limit of open files is reached, and cannot be raised
    ├── GeneratorError         a generator cannot be made (missing extra, no such model, no server)
    ├── TrainingError          a training run cannot go on (a loss that explodes, a full disk)
    ├── UnderWayError          an episode's step is under way, or none is where one is waited for
    └── ClosedError            used after close()

    UnseenWarning              a world model is asked about tools, sites or apps that its training data did not hold

A failure of the world during an episode is not an exception: see `agentworld_gym.core.contracts.Failure`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any


def install(extra: str) -> str:
    """Return how to install what an optional part needs, for the end of a message.

    Args:
        extra: The name of one of the package's extras.

    >>> install("lwm")
    "pip install -e '.[lwm]' in a clone of agentworld-gym"
    """
    return f"pip install -e '.[{extra}]' in a clone of agentworld-gym"


class AgentWorldError(Exception):
    """The base of all exceptions of this library."""


class SpecError(AgentWorldError, ValueError):
    """A spec, a task, a prompt or an option is wrong.

    >>> str(SpecError("my.yaml", "limits.max_steps", -1, "an integer of at least 1"))
    'my.yaml: limits.max_steps: got -1, expected an integer of at least 1'
    """

    def __init__(self, file: str | Path, key: str, value: Any, expected: str) -> None:
        self.file, self.key, self.value, self.expected = str(file), key, value, expected
        try:
            text = repr(value)
        except RecursionError:
            text = f"a deep {type(value).__name__}"
        except ValueError:  # Python writes down no number of so many digits.
            text = "a number of too many digits"
        if len(text) > 120:
            text = text[:117] + "..."
        super().__init__(f"{self.file}: {key}: got {text}, expected {expected}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.key, self.value, self.expected)


class MissingFile(SpecError):
    """A file or a folder that was named is not there.

    >>> str(MissingFile("data/train.jsonl", "sessions that `agentworld collect` wrote"))
    'data/train.jsonl: no such file, expected sessions that `agentworld collect` wrote'
    >>> str(MissingFile("runs/tiny/model", "a trained model", kind="folder", key="model.path"))
    'model.path: runs/tiny/model: no such folder, expected a trained model'
    """

    def __init__(self, file: str | Path, expected: str, kind: str = "file", key: str = "file") -> None:
        super().__init__(file, key, None, expected)
        self.kind = kind
        named = self.file if key == "file" else f"{key}: {self.file}"
        self.args = (f"{named}: no such {kind}, expected {expected}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.expected, self.kind, self.key)


def one_of(name: str, known: Iterable[str]) -> str:
    """Return what was expected instead of an unknown name: all known ones, and the one that is most like it.

    >>> one_of("gaurd", ["form", "guard"]), one_of("colour", ["form", "guard"])
    ('one of form, guard; did you mean guard?', 'one of form, guard')
    """
    names = sorted(known)
    like = get_close_matches(name, names, 1, cutoff=0.7)
    return f"one of {', '.join(names)}" + (f"; did you mean {like[0]}?" if like else "")


class UnknownOption(SpecError, TypeError):
    """An environment was given an option that it does not have.

    The error is a `TypeError` in Python's wording as well, because libraries that pass options of their own look for
    that. `gym.make` raises it again with its text alone: `key` and `value` are then empty.

    Args:
        owner: The name of the class that was given the option, or a whole message.
        name: The name of the option.
        value: The value of the option.
        known: The names of the options that there are.
        instead: What to pass instead, where that is known.

    >>> print(UnknownOption("Env", "wrld", "tiny", ["world", "spec"]))
    Env.__init__() got an unexpected keyword argument 'wrld' (options: wrld: got 'tiny', expected one of spec, \
world; did you mean world?)
    """

    def __init__(
        self, owner: str, name: str = "", value: Any = None, known: Iterable[str] = (), instead: str = ""
    ) -> None:
        known = tuple(known)
        self._made = (owner, name, value, known, instead) if name else (owner,)
        super().__init__("options", name, value, instead or one_of(name, known))
        if name:
            owner = f"{owner}.__init__() got an unexpected keyword argument {name!r} ({self.args[0]})"
        self.args = (owner,)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made


class WorldNotConfigured(AgentWorldError):
    """A domain was asked for a world it does not have; the message says what to pass instead."""


class FingerprintMismatch(AgentWorldError):
    """The world is not the one that a lock names; the message lists the parts that differ."""


class RecordingError(AgentWorldError):
    """A recording lacks the transition that was asked for, or cannot be read."""


class TraceError(AgentWorldError):
    """A trace cannot be written (a full disk, say) or read."""


class AnswerError(AgentWorldError, ValueError):
    """What a world model wrote does not fit what it builds on: the screen before, or the state of the task."""


class ImpossibleState(AnswerError):
    """A world model predicted what the rules of a state refuse, such as a stock below zero."""


class GeneratorError(AgentWorldError):
    """A generator cannot be made: a missing extra, a model that is not there, a server that does not answer."""


class TrainingError(AgentWorldError):
    """A training run cannot go on; its last checkpoint is whole, and the message says what to do."""


class ClosedError(AgentWorldError):
    """An environment, world or generator was used after `close()`."""


class UnseenWarning(UserWarning):
    """A world model plays a task with tools, sites or apps that its training data did not hold; the message names
    them, and those that it held."""


class UnderWayError(AgentWorldError):
    """A step of an episode is under way, so that it can take no other; or no step is, where one is waited for."""

"""What a shell runs apart: in a process whose death costs one line, and neither the shell nor its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any, TypeVar

from agentworld_gym.base.process.disposable import WorkLost, disposable
from agentworld_gym.core.engines import EngineError

T = TypeVar("T")

GRACE_SECONDS = 5.0
"""How much longer than its interpreter a line may take in all, for what the interpreter cannot stop."""
_LONGEST_REASON = 200
"""The most characters that a process says of its failure."""


class LineLost(EngineError):
    """A line broke the process in which it ran, or did not end there. The shell is as it was before the line."""


def run_isolated(
    function: str,
    job: Mapping[str, Any],
    seconds: float,
    read: Callable[[Any], T],
    begins: Callable[[], object] | None = None,
) -> T:
    """Return what a function makes of a job in a process of its own.

    The process runs hostile input, so that its answer may be anything: nothing of it counts before it was read.

    Args:
        function: The function, as `module:name`. Where it fails, its answer has `failed`, the reason.
        job: What it takes, as plain JSON data.
        seconds: How long the interpreter of the shell may take.
        read: What makes the result of the answer. It raises an error of data where the answer is none, and changes
            nothing else.
        begins: Called when there is a process and the job begins.

    Raises:
        LineLost: The process died, the function failed, or the answer cannot be read.
    """
    try:
        answer = disposable(function).call(job, seconds + GRACE_SECONDS, begins)
    except WorkLost as lost:
        raise LineLost(f"the line broke the shell: {lost}") from lost
    try:
        if "failed" in answer:
            raise LineLost(str(answer["failed"])[:_LONGEST_REASON])
        return read(answer)
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        raise LineLost(f"the line broke the shell: its process gave what is no answer ({why})") from error


@contextmanager
def only_the_engines_errors() -> Iterator[None]:
    """Turn a panic of the interpreter, which no handler of exceptions would catch, into an error of the engine.

    Raises:
        EngineError: The interpreter panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise EngineError(f"the sandbox gave up: {error}") from error


def checked(value: Any, *kinds: type) -> Any:
    """Return a value that came back, if it is of one of some kinds. True, false and infinity are no numbers.

    >>> checked(5, int, float)
    5

    Raises:
        TypeError: It is not.
    """
    if type(value) not in kinds or (type(value) is float and not isfinite(value)):
        raise TypeError(f"expected {' or '.join(kind.__name__ for kind in kinds)}, not {str(value)[:80]!r}")
    return value

"""What a shell runs apart: in a process whose death costs one line, and neither the shell nor its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agentworld_gym.engines import EngineError
from agentworld_gym.process.disposable import WorkLost, disposable

GRACE_SECONDS = 5.0
"""How much longer than its interpreter a line may take in all, for what the interpreter cannot stop."""


class LineLost(EngineError):
    """A line broke the process in which it ran, or did not end there. The shell is as it was before the line."""


def done_apart(function: str, job: Mapping[str, Any], seconds: float) -> Any:
    """Return what a function makes of a job in a process of its own.

    Args:
        function: The function, as `module:name`. Where it fails, its answer has `failed`, the reason.
        job: What it takes, as plain JSON data.
        seconds: How long the interpreter of the shell may take.

    Raises:
        LineLost: The process died, or the function failed.
    """
    try:
        answer = disposable(function).call(job, seconds + GRACE_SECONDS)
    except WorkLost as lost:
        raise LineLost(f"the line broke the shell: {lost}") from lost
    if "failed" in answer:
        raise LineLost(answer["failed"])
    return answer


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

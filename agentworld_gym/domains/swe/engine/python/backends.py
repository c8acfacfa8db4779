"""Opens the Python sandbox that this machine has: CPython under bubblewrap, or monty everywhere."""

from __future__ import annotations

import atexit
from functools import cache

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox

SANDBOXES = ("bubblewrap", "monty")
"""The names of the sandboxes: real CPython behind Linux namespaces, and an interpreter of a subset of Python."""


def open_sandbox(name: str = "auto") -> PythonSandbox:
    """Return the sandbox of a name, of which this process has one.

    Args:
        name: `bubblewrap`, `monty`, or `auto` for the first that works on this machine.

    >>> open_sandbox("monty").run({"/w/a.py": "print(6 * 7)"}, ["a.py"], cwd="/w").stdout
    '42\\n'

    Raises:
        EngineError: no sandbox has this name, or it cannot run on this machine.
    """
    return _open_backend(name)


@cache
def _open_backend(name: str) -> PythonSandbox:
    if name == "auto":
        from agentworld_gym.domains.swe.engine.python.bubblewrap import usable

        return _open_backend("bubblewrap" if usable() else "monty")
    if name == "bubblewrap":
        from agentworld_gym.domains.swe.engine.python.bubblewrap import Bubblewrap, usable

        if not usable():
            raise EngineError("bubblewrap cannot run Python here (is bwrap installed?); monty can, everywhere")
        return Bubblewrap()
    if name == "monty":
        from agentworld_gym.domains.swe.engine.python.monty.sandbox import MontySandbox

        sandbox = MontySandbox()
        atexit.register(sandbox.close)
        return sandbox
    raise EngineError(f"no sandbox {name!r}; there are {', '.join(SANDBOXES)} and auto")

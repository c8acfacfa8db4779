"""A script that sleeps, or that reads what is typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.shell import Shell

_PLAIN = ("status", "shown", "done", "wakes", "read")
"""The fields that are plain data."""


@dataclass(frozen=True, slots=True)
class UnfinishedScript:
    """A script that was left in a sleep, or that waits for what is typed."""

    shell: Shell
    """The shell before the script, which is copied and never run."""
    entered: EnteredScript
    """The script."""
    status: int
    """The value of `$?` at its start."""
    shown: int
    """How many characters of its output the screen shows."""
    done: str
    """What is said of an earlier job once the script has ended."""
    wakes: float
    """The virtual time at which the sleep ends; infinite where it waits for what is typed."""
    read: str | None = None
    """What was typed for it so far; None where it sleeps."""

    def fields(self) -> dict[str, Any]:
        """Return the script as plain JSON data."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {"shell": self.shell.fields(), "entered": self.entered.fields(), **plain}

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> UnfinishedScript:
        """Return the script of these fields, the inverse of `fields`."""
        plain = {name: fields[name] for name in _PLAIN if name in fields}
        return cls(Shell.restore(fields["shell"]), EnteredScript.restore(fields["entered"]), **plain)

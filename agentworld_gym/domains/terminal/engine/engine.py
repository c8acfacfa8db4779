"""Starts terminals: a plain one, or one whose machine has faults where controls are in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, Machine
from agentworld_gym.domains.terminal.engine.faults import FaultyTerminal
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine


class TerminalEngine:
    """Starts terminals: plain ones, or faulty ones where controls are in force.

    >>> machine = TerminalEngine().start({}, 0, Controls({"intermittent-errors": 1.0}))
    >>> print(machine.act([{"keystrokes": "pwd\\n"}]))
    dev@box:~$ pwd
    bash: fork: Resource temporarily unavailable
    dev@box:~$
    """

    variant = ""
    concurrent = True

    def start(
        self, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Machine:
        """Start a terminal; `hidden` is ignored.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        machine = TerminalMachine.start(state, seed)
        return FaultyTerminal(machine, controls) if controls else machine

"""The states that the experts of tasks leave in a grounded world, each played once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.checks.collateral import Span
from agentworld_gym.contracts import Action, ActionKind, Failure, Observation
from agentworld_gym.domain.task import Task
from agentworld_gym.engines import Machine
from agentworld_gym.fingerprint import digest_of
from agentworld_gym.screens.sight import Sight

KEPT = 256
"""How many tasks' states are remembered."""


class ExpertStates:
    """Plays the experts of tasks, with no control in force, and remembers the last of what they left.

    Args:
        parser: reads the experts' actions.
        start: a fresh machine for a task and a seed.
        act: one action on a machine.
    """

    def __init__(
        self,
        parser: ActionParser,
        start: Callable[[Task, int], Machine | Failure],
        act: Callable[[Machine, Action], Observation | Failure],
    ) -> None:
        self._parser, self._start, self._act = parser, start, act
        self._known: OrderedDict[str, Span | None] = OrderedDict()

    def span(self, task: Task, seed: int) -> Span | None:
        """The state in which a task begins and the one that its expert leaves; None if it has none, or fails."""
        if not task.expert:
            return None
        calm = task.model_copy(update={"controls": {}})
        key = digest_of([calm.model_dump(mode="json"), seed])
        if key not in self._known:
            self._known[key] = self._played(calm, seed)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]

    def _played(self, task: Task, seed: int) -> Span | None:
        machine = self._start(task, seed)
        if isinstance(machine, Failure):
            return None
        try:
            before = dict(machine.state())
            sight = Sight(task.domain, [machine.observation])
            for text in task.expert:
                resolved = sight.resolve(text)
                action = None if resolved is None else self._parser.parse(resolved, task.tools)
                if action is None or action.error is not None:
                    return None
                if action.kind is not ActionKind.ACT:
                    break
                answer = self._act(machine, action)
                if isinstance(answer, Failure):
                    return None
                sight.see(answer.text)
            return Span(before, dict(machine.state()))
        finally:
            machine.close()

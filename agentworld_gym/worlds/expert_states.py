"""The states that the experts of tasks leave in a grounded world; each expert is played once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.collateral import EpisodeStates
from agentworld_gym.core.contracts import Action, ActionKind, Failure, Observation
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Machine, last_state
from agentworld_gym.core.screens.sight import Sight

KEPT = 256
"""The number of tasks whose states are remembered."""


class ExpertStates:
    """Plays the experts of tasks, with no control in force, and remembers the states that the last ones left.

    Args:
        parser: The parser of the experts' actions.
        start: The function that starts a machine for a task and a seed.
        act: The function that does one action on a machine.
    """

    def __init__(
        self,
        parser: ActionParser,
        start: Callable[[Task, int], Machine | Failure],
        act: Callable[[Machine, Action], Observation | Failure],
    ) -> None:
        self._parser, self._start, self._act = parser, start, act
        self._spans: OrderedDict[str, EpisodeStates | None] = OrderedDict()

    def span(self, task: Task, seed: int) -> EpisodeStates | None:
        """Return the states at a task's start and after its expert; None if it has none, or fails."""
        if not task.expert:
            return None
        calm = task.model_copy(update={"controls": {}})
        key = digest_of([calm.model_dump(mode="json"), seed])
        if key not in self._spans:
            self._spans[key] = self._played(calm, seed)
            while len(self._spans) > KEPT:
                self._spans.popitem(last=False)
        self._spans.move_to_end(key)
        return self._spans[key]

    def _played(self, task: Task, seed: int) -> EpisodeStates | None:
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
                if action.kind is ActionKind.ASK:
                    continue
                if action.kind is not ActionKind.ACT:
                    break
                answer = self._act(machine, action)
                if isinstance(answer, Failure):
                    return None
                sight.see(answer.text)
            return EpisodeStates(before, last_state(machine))
        finally:
            machine.close()

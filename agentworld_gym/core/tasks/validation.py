"""A task is proved before it is issued: no check holds at its start, and its expert makes all of them hold.

Actions and probes are played in the domain's own engine, as they are in an episode, but without any control.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from agentworld_gym.core.actions.finish import read_finish
from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks.scene import Unfit

Problem = Callable[[str, str], str]
"""A function of the observations before and after an action: it says why the action did not work, or returns an empty
text if it worked."""


class TaskMachine(Protocol):
    """The part of an engine's session that a proof needs."""

    @property
    def observation(self) -> str:
        """What was shown last."""
        ...

    def act(self, action: Any, /) -> str:
        """Carry out one action and return what it shows."""
        ...

    def fork(self) -> TaskMachine:
        """Return an exact copy."""
        ...

    def close(self) -> None:
        """Free what the session holds."""
        ...


def always_works(before: str, after: str) -> str:
    """Find no problem with any action."""
    return ""


class ValidationSession:
    """A session of an engine on which a task's expert and its probes are played.

    Args:
        domain: The domain of the task.
        machine: The engine's session, in the state of the task.
        problem: What tells whether an action of the expert worked.
        observations: What was shown so far; the machine's own observation if nothing is passed.
    """

    def __init__(
        self, domain: str, machine: TaskMachine, problem: Problem = always_works, observations: Sequence[str] = ()
    ) -> None:
        self.domain, self.machine, self._problem = domain, machine, problem
        self._observations = list(observations or [machine.observation])
        self._sight = Sight(domain, self._observations)
        self._probed: dict[tuple[str, ...], str | None] = {}
        """What probes show in the present state: several checks may look at one screen."""

    def offers(self, action: str) -> bool:
        """Tell whether every element that an action names is on the screen."""
        return self._sight.resolve(action) is not None

    def play(self, action: str) -> str | None:
        """Play one action; return what it shows, or None if it names an element that is not on the screen."""
        resolved = self._sight.resolve(action)
        if resolved is None:
            return None
        observation = self.machine.act(_parsed(resolved))
        self._observations.append(observation)
        self._sight.see(observation)
        self._probed.clear()
        return observation

    def perform(self, action: str) -> None:
        """Play one action of the expert.

        Raises:
            RuntimeError: the action is not possible, or does not work.
        """
        before = self.machine.observation
        after = self.play(action)
        reason = "not on the screen" if after is None else self._problem(before, after)
        if reason:
            raise RuntimeError(f"the expert cannot do {action} ({reason})\n{self.machine.observation}")

    def passes(self, check: Check, answer: str | None) -> bool:
        """Tell whether a check holds; its probes are played on a fork.

        Args:
            check: A check on the answer, or one with probes.
            answer: What follows `finish:`; None if the agent has not finished with an answer.
        """
        if check.answer is not None:
            return answer is not None and check.answer.holds(answer)
        assert check.expect is not None
        if check.probes not in self._probed:
            self._probed[check.probes] = self._shown_by(check.probes)
        shown = self._probed[check.probes]
        return shown is not None and check.expect.holds(shown)

    def _shown_by(self, probes: Sequence[str]) -> str | None:
        """Play probes on a fork; return what the last one shows, or None if one is not possible on its screen."""
        fork = ValidationSession(self.domain, self.machine.fork(), observations=self._observations)
        try:
            shown: str | None = None
            for probe in probes:
                shown = fork.play(probe)
                if shown is None:
                    break
            return shown
        finally:
            fork.machine.close()


def prove(
    stage: ValidationSession,
    instruction: str,
    expert: Sequence[str],
    success: Sequence[Check],
    answer: str | None,
    distractors: Iterable[str] = (),
) -> list[str]:
    """Play a task's expert from its start to its end, and close the machine.

    Args:
        stage: The state of the task, untouched.
        instruction: The instruction, for error messages.
        expert: The actions of the expert, without the closing `finish`.
        success: The checks of the task.
        answer: The answer that the expert finishes with, if there is one.
        distractors: Wrong or useless actions.

    Returns:
        Those distractors that are possible on some screen before the expert's last action, in their order.

    Raises:
        Unfit: a check holds from the start.
        RuntimeError: the expert cannot do an action, or a check does not hold at the end.
    """
    try:
        if any(stage.passes(check, None) for check in success):
            raise Unfit("a check holds from the start")
        possible = dict.fromkeys(distractors, False)
        for action in expert:
            for other, seen in possible.items():
                possible[other] = seen or stage.offers(other)
            stage.perform(action)
        missed = next((check for check in success if not stage.passes(check, answer)), None)
        if missed is not None:
            raise RuntimeError(f"the expert misses {missed}: {instruction}\n{stage.machine.observation}")
    finally:
        stage.machine.close()
    return [action for action, seen in possible.items() if seen]


def without_right_answers(distractors: Iterable[str], success: Sequence[Check]) -> list[str]:
    """Leave out the actions that finish with an answer which satisfies all checks on the answer.

    Args:
        distractors: Wrong or useless actions.
        success: The checks of the task; where none of them is on the answer, all actions stay.

    >>> from agentworld_gym.core.domain.task import Expect
    >>> without_right_answers(["finish: 42", "finish: 7", "finish"], [Check(answer=Expect(equals="42"))])
    ['finish: 7', 'finish']
    """
    expected = [check.answer for check in success if check.answer is not None]

    def is_right(action: str) -> bool:
        finish = read_finish(action)
        if finish is None or finish.answer is None or not expected:
            return False
        return all(answer.holds(finish.answer) for answer in expected)

    return [action for action in distractors if not is_right(action)]


def _parsed(action: str) -> Any:
    """Return an action as a parser gives it: data where it is JSON, else the text."""
    try:
        return json.loads(action)
    except ValueError:
        return action

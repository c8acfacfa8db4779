"""Proves a task: its solution works, and its verifier tells the solution from all that is less.

The verifier has to accept the end of the solution, and to refuse the start, every half-way state, the solution without
or with another answer, and its neighbours: the solution without one of its calls, or with one argument changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from agentworld_gym.core.domain.task import Check
from agentworld_gym.domains.mcp.synth.draft import CallDraft
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any
from agentworld_gym.domains.mcp.synth.machines import State, WorldMachine, played
from agentworld_gym.domains.mcp.synth.neighbours import changed_calls, other_answers, shortened

Verdict = Callable[[WorldMachine, str | None], Sequence[str]]
"""A verifier: given a session and the agent's answer it returns what is missing, and nothing where the task is done.

Raises:
    Fault: The verifier itself fails.
"""

_SHOWN = 600


@dataclass(frozen=True)
class Proof:
    """What a proof found beside that the task holds."""

    free_values: tuple[str, ...]
    """Patterns of the stored values that an agent may choose."""

    neighbours: tuple[CallDraft, ...]
    """Wrong calls that the world accepts, and after which the verifier refuses the task."""


@dataclass
class Prover:
    """Proves a task of a world.

    Args:
        start: The world at its start, which stays as it is.
        prefix: What stands before the name of a tool in this world.
        solution: The calls that do the task.
        answer: The right answer; None where the task asks nothing.
        verdict: The verifier.
        free: Arguments whose value the task leaves open, each as `tool.argument`. Only words can be free: a text that
            neither the task nor the database holds.
        sentence: The task.
        free_values: Patterns of stored values that the task leaves open, such as `notes/*/text`.
    """

    start: WorldMachine
    prefix: str
    solution: Sequence[CallDraft]
    answer: str | None
    verdict: Verdict
    free: Sequence[str] = ()
    sentence: str = ""
    free_values: Sequence[str] = ()
    _states: list[State] = field(default_factory=list, init=False)

    def prove(self) -> Proof:
        """Prove the task.

        Raises:
            Fault: The solution does not work, or the verifier does not tell it from something less.
        """
        initial = self.start.state()
        raise_any(list(self._bound(initial)))
        with ExitStack() as opened:
            final = self._solved(opened, initial)
            writing = [place for place, (before, after) in enumerate(self._pairs(initial)) if before != after]
            if not writing and self.answer is None:
                raise AnswerFault(
                    "the solution changes nothing and has no answer, so that doing nothing would be enough"
                )
            if missing := self.verdict(final, self.answer):
                raise AnswerFault("the verifier refuses the solution: " + "; ".join(missing))
            self._refuses(self.start, None, "the start")
            if writing:
                self._refuses(self.start, self.answer, "the start with the right answer")
            if self.answer is not None:
                self._refuses(final, None, "the solution without its answer")
                for other in other_answers(self.answer, initial):
                    self._refuses(final, other, f"the solution with the answer {other!r}")
        for place in writing[1:]:
            self._half_way(place)
        free_values = (*self.free_values, *self._free_values(initial))
        neighbours = list(self._neighbours(initial, writing, free_values))
        if writing and not neighbours:
            raise AnswerFault(
                "no solution beside the right one is accepted by the tools, so that the verifier cannot be tried"
            )
        return Proof(tuple(dict.fromkeys(free_values)), tuple(call for call in neighbours if call is not None))

    def _bound(self, initial: State) -> Iterator[str]:
        """Yield in words which arguments are said to be free and are not."""
        stored = set(initial.values())
        for call in self.solution:
            for name, value in call.arguments.items():
                if f"{call.name}.{name}" not in self.free:
                    continue
                if not isinstance(value, str) or value in stored or value.lower() in self.sentence.lower():
                    yield f"{call.name}.{name} cannot be free: {value!r} is no text, or the task or the rows hold it"

    def _pairs(self, initial: State) -> Iterator[tuple[State, State]]:
        return zip([initial, *self._states], self._states, strict=False)

    def _solved(self, opened: ExitStack, initial: State) -> WorldMachine:
        machine = opened.enter_context(closing(self.start.fork()))
        for number, call in enumerate(self.solution, 1):
            worked, text = played(machine, call, self.prefix)
            if not worked:
                raise AnswerFault(
                    f"call {number} of the solution, {call.name} {call.arguments}, is refused: {text[:_SHOWN]}"
                )
            self._states.append(machine.state())
        if not self._states:
            self._states.append(initial)
        return machine

    def _refuses(self, machine: WorldMachine, answer: str | None, what: str) -> None:
        if not self.verdict(machine, answer):
            raise AnswerFault(f"the verifier accepts {what}")

    def _half_way(self, place: int) -> None:
        """Let the verifier refuse what the solution has reached before one of its calls."""
        with closing(self.start.fork()) as machine:
            for call in self.solution[:place]:
                played(machine, call, self.prefix)
            self._refuses(machine, self.answer, f"a half-way state: the solution up to call {place}")

    def _neighbours(self, initial: State, writing: Sequence[int], free: Sequence[str]) -> Iterator[CallDraft | None]:
        """Yield the changed call of each neighbour that was refused; None where a call was left out."""
        pattern = _pattern(free)
        for place, calls in shortened(self.solution, writing):
            if self._refused(calls, pattern, f"the solution without call {place + 1}, {self.solution[place].name}"):
                yield None
        for place in writing:
            call = self.solution[place]
            for name, other in changed_calls(call, initial):
                if f"{call.name}.{name}" in self.free:
                    continue
                calls = [*self.solution[:place], other, *self.solution[place + 1 :]]
                changed = f"{call.name} with {name} {other.arguments[name]!r} in place of {call.arguments[name]!r}"
                if self._refused(calls, pattern, f"a wrong solution: {changed}"):
                    yield other

    def _refused(self, calls: Sequence[CallDraft], free: re.Pattern[str], what: str) -> bool:
        """Whether a neighbour is one: its calls work, and it ends elsewhere; then the verifier has to refuse it."""
        with closing(self.start.fork()) as machine:
            if not all(played(machine, call, self.prefix)[0] for call in calls):
                return False
            if _fixed(machine.state(), free) == _fixed(self._states[-1], free):
                return False
            self._refuses(machine, self.answer, what)
        return True

    def _free_values(self, initial: State) -> Iterator[str]:
        """Yield patterns of the values that follow from free arguments; the verifier has to accept other ones."""
        faults = []
        for place, call in enumerate(self.solution):
            for name, other in changed_calls(call, initial):
                if f"{call.name}.{name}" not in self.free:
                    continue
                with closing(self.start.fork()) as machine:
                    calls = [*self.solution[:place], other, *self.solution[place + 1 :]]
                    if not all(played(machine, each, self.prefix)[0] for each in calls):
                        continue
                    if missing := self.verdict(machine, self.answer):
                        faults.append(
                            f"{call.name}.{name} is said to be free, but another value is refused: {missing[0]}"
                        )
                    yield from _differing(machine.state(), self._states[-1])
        raise_any(faults)


def _differing(one: State, other: State) -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            yield f"{name[: name.index('/')]}/*/{name[name.rindex('/') + 1 :]}"


def _fixed(state: State, free: re.Pattern[str]) -> dict[str, object]:
    return {name: value for name, value in state.items() if not free.fullmatch(name)}


def _pattern(free: Sequence[str]) -> re.Pattern[str]:
    """Compile patterns in which `*` stands for any text.

    >>> bool(_pattern(["notes/*/text"]).fullmatch("notes/7/text"))
    True
    """
    return re.compile("|".join(".*".join(map(re.escape, pattern.split("*"))) for pattern in free) or r"(?!)")


_SHOWN_OF_PROBE = 300


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """Return the verifier of some checks, which are probes and tests of the answer."""

    def missing(machine: WorldMachine, answer: str | None) -> Sequence[str]:
        return [fault for check in checks if (fault := _missing(check, machine, answer))]

    return missing


def held_at_start(checks: Sequence[Check], start: WorldMachine) -> list[str]:
    """Return in words which checks hold at the start: each pays its weight, and nothing was done."""
    places = [place for place, check in enumerate(checks, 1) if not _missing(check, start, None)]
    return [f"success: test {place} holds at the start already, and would pay for nothing" for place in places]


def _missing(check: Check, machine: WorldMachine, answer: str | None) -> str:
    """Return what a check misses; an empty text where it holds."""
    if check.answer is not None:
        return "" if answer is not None and check.answer.holds(answer) else f"the answer {answer!r} does not fit"
    shown = ""
    with closing(machine.fork()) as fork:
        for probe in check.probes:
            shown = fork.act(json.loads(probe))
    held = check.expect is not None and check.expect.holds(shown)
    return "" if held else f"the probe {check.probes[-1]} shows {shown[:_SHOWN_OF_PROBE]}"

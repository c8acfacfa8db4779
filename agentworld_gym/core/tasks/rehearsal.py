"""The rehearsal of a composed task: its expert is played in the domain's engine, calm and under the task's faults."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.checks import output_of
from agentworld_gym.core.checks.collateral import EpisodeStates, Rules, changes_of, collateral
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.engines import NO_CONTROLS, Controls, EngineError, Machine, OutOfTime, Probed, last_state
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Unfit

ALIKE = 0.85
"""The share of elements that a screen under faults has in common with a calm one, where the agent can go on."""

SEEDS = 6
"""How many seeds of faults are tried with a task."""


@dataclass(frozen=True)
class Faults:
    """The faults of a domain that a fixed expert can live with."""

    strengths: Mapping[str, float]
    """The strength of each control, by its name."""

    remedies: tuple[tuple[str, ...], ...]
    """What the expert may do before or after an action that a fault would spoil, such as to wait. It has no effect in
    a calm world."""

    remedy: Callable[[str, str], Sequence[str]] | None = None
    """A function of an action and what it showed under faults: it returns a remedy for that action."""

    count: int = 2
    """How many controls are in force in a task."""


class Rehearsal:
    """The stage of one draft.

    Args:
        domain: The domain, which has an engine.
        draft: The draft.

    Raises:
        SpecError: The engine cannot start from the draft's state.
    """

    def __init__(self, domain: str, draft: TaskDraft) -> None:
        self.spec, self.draft = load_spec(domain), draft
        self._parser = ActionParser(self.spec)
        self._engine = load_engine(domain)
        pattern = self.spec.observation.output
        self._output = re.compile(pattern) if pattern else None

    def prove(self) -> EpisodeStates:
        """Play the expert in a calm world, and return the states at its start and end.

        Raises:
            Unfit: A check holds from the start, the expert cannot do an action, or a check does not hold at its end.
        """
        with self._started(NO_CONTROLS) as stage:
            if any(self._holds(stage, check, None) for check in self.draft.success):
                raise Unfit("a check holds from the start")
            before = dict(stage.machine.state())
            for action in self.draft.expert:
                if not stage.do(action):
                    raise Unfit(f"the expert cannot do {action}\n{stage.machine.observation}")
            missed = next((check for check in self.draft.success if not self._holds(stage, check)), None)
            if missed is not None:
                raise Unfit(f"the expert misses {missed}\n{self.draft.instruction}\n{stage.machine.observation}")
            return EpisodeStates(before, last_state(stage.machine))

    def disturbed(self, rng: random.Random, faults: Faults) -> TaskDraft:
        """Return the draft with faults in force, and with an expert that wins both under them and in a calm world.

        Args:
            rng: Random numbers.
            faults: The faults to draw from.

        Raises:
            Unfit: No seed of the faults lets the expert win.
        """
        for _ in range(SEEDS):
            names = sorted(rng.sample(sorted(faults.strengths), min(faults.count, len(faults.strengths))))
            controls = Controls({name: faults.strengths[name] for name in names}, rng.getrandbits(31))
            played = self._overcome(controls, faults)
            if played is None:
                continue
            expert, left = played
            draft = replace(self.draft, expert=expert, controls=controls.strengths, control_seed=controls.seed)
            calm = Rehearsal(self.spec.id, draft).prove()
            if not collateral(left, calm, self._rules(controls)):
                return draft
        raise Unfit("no seed of the faults lets the expert win")

    def _rules(self, controls: Controls) -> Rules:
        freed = tuple(pattern for name in controls.strengths for pattern in self.spec.controls[name].free)
        draft = self.draft
        task = Task(
            id="draft", domain=self.spec.id, instruction=draft.instruction, success=draft.success, free=draft.free,
            free_values=draft.free_values,
        )  # fmt: skip
        return Rules.of(self.spec.outcome, task, freed)

    def _overcome(self, controls: Controls, faults: Faults) -> tuple[tuple[str, ...], EpisodeStates] | None:
        """Play the expert under faults, with remedies at those actions that they would spoil.

        Returns:
            The actions, and the states at the start and end; None where no remedy helps, or a check does not hold.
        """
        done: list[str] = []
        rules = self._rules(controls)
        with self._started(NO_CONTROLS) as calm, self._started(controls) as stage:
            start = dict(stage.machine.state())
            apart = _apart(calm.machine, stage.machine, rules)
            for action in self.draft.expert:
                if not calm.do(action):
                    raise Unfit(f"the expert cannot do {action}\n{calm.machine.observation}")
                for steps in self._ways(stage, action, faults):
                    kept = stage.fork()  # Most actions succeed, and a copy that nobody plays on costs little.
                    if all(stage.do(step) for step in steps) and (
                        stage.machine.observation == calm.machine.observation
                        or (stage.shows_like(calm) and _apart(calm.machine, stage.machine, rules) <= apart)
                    ):
                        kept.machine.close()
                        break
                    stage.take(kept)
                else:
                    return None
                done += steps
            if not all(self._holds(stage, check) for check in self.draft.success):
                return None
            with suspended():
                return tuple(done), EpisodeStates(start, last_state(stage.machine))

    @staticmethod
    def _ways(stage: _Stage, action: str, faults: Faults) -> Iterator[tuple[str, ...]]:
        """Yield what may carry an action out: the action alone, with a remedy before or after it, and twice."""
        yield (action,)
        remedies = list(faults.remedies)
        if faults.remedy is not None:
            tried = stage.fork()
            tried.do(action)
            remedies.insert(0, tuple(faults.remedy(action, tried.machine.observation)))
            tried.machine.close()
        for remedy in filter(None, remedies):
            yield (*remedy, action)
            yield (action, *remedy)
        yield (action, action)

    @contextmanager
    def _started(self, controls: Controls) -> Iterator[_Stage]:
        stage = _Stage(
            self.spec.id, self._parser, self._engine.start(self.draft.state, 0, controls, self.draft.hidden), self.draft
        )
        try:
            yield stage
        finally:
            stage.machine.close()

    def _holds(self, stage: _Stage, check: Check, answer: str | None = "") -> bool:
        """Whether a check holds; an empty answer stands for the expert's."""
        if check.answer is not None:
            said = self.draft.answer if answer == "" else answer
            return said is not None and check.answer.holds(said, self.draft.instruction)
        assert check.expect is not None
        with suspended():
            probe = stage.probe()
            try:
                shown = all(probe.do(action) for action in check.probes)
                return shown and check.expect.holds(output_of(probe.machine.observation, self._output))
            finally:
                probe.machine.close()


class _Stage:
    """One machine with what its agent sees."""

    def __init__(self, domain: str, parser: ActionParser, machine: Machine, draft: TaskDraft) -> None:
        self.domain, self.machine, self._parser, self._draft = domain, machine, parser, draft
        self.seen = [machine.observation]
        self._sight = Sight(domain, self.seen)

    def do(self, text: str) -> bool:
        """Play an action; tell whether it was possible.

        Raises:
            OutOfTime: The machine that this runs on was too busy to tell.
        """
        resolved = self._sight.resolve(text)
        action = None if resolved is None else self._parser.parse(resolved, self._draft.tools)
        if action is None or action.error is not None:
            return False
        if action.kind is ActionKind.ASK:
            return True
        try:
            shown = self.machine.act(action.parsed)
        except OutOfTime:
            raise
        except EngineError:
            return False
        self.seen.append(shown)
        self._sight.see(shown)
        return True

    def shows_like(self, other: _Stage) -> bool:
        """Whether most elements of two screens are the same; texts without a screen always are."""
        mine, theirs = (Counter((node.role, node.name) for node in stage._sight.nodes or ()) for stage in (self, other))
        return (mine & theirs).total() >= ALIKE * max(mine.total(), theirs.total())

    def fork(self) -> _Stage:
        """Return an exact copy."""
        return self._copy(self.machine.fork())

    def probe(self) -> _Stage:
        """Return a copy on which a check looks."""
        return self._copy(self.machine.probe() if isinstance(self.machine, Probed) else self.machine.fork())

    def take(self, other: _Stage) -> None:
        """Go on as another stage."""
        self.machine.close()
        self.machine, self.seen, self._sight = other.machine, other.seen, other._sight

    def _copy(self, machine: Machine) -> _Stage:
        copy = _Stage.__new__(_Stage)
        copy.domain, copy.machine, copy._parser, copy._draft = self.domain, machine, self._parser, self._draft
        copy.seen = list(self.seen)
        copy._sight = Sight(self.domain, copy.seen)
        return copy


def _apart(calm: Machine, machine: Machine, rules: Rules) -> set[str]:
    """Return the fields that count in which a machine under faults differs from a calm one."""
    with suspended():
        ours, theirs = calm.state(), machine.state()
    names = set(changes_of(EpisodeStates(ours, theirs)))
    judged = {name for name in names if name in ours and name in theirs and rules.free_values.fullmatch(name)}
    return {name for name in names - judged if not rules.free.fullmatch(name)}

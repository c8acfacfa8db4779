"""A language world that plays the tasks of a world with success code of its own, which runs in that world itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from agentworld_gym.base.errors import WorldNotConfigured
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.core.checks.success_protocols import RunsSuccessCode, SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation, World
from agentworld_gym.core.contracts.verdict import Verdict, few_enough
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.flow import BatchedCall, Work
from agentworld_gym.worlds.language import LanguageWorld, Retrieval
from agentworld_gym.worlds.language_form import Turn
from agentworld_gym.worlds.language_session import LanguageSession
from agentworld_gym.worlds.own_tasks import BringsTasks, OwnTasks
from agentworld_gym.worlds.twin import Twin


class SystemBehind(World[Any], BringsTasks, RunsSuccessCode[Any], Protocol):
    """A world that brings its tasks, and runs the success code of their checks."""


class Opening(NamedTuple):
    """How an episode of a system begins."""

    task: Task
    """The task, with what is shown first and with what the agent is asked to do in this episode."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done then; None where the system does not tell them."""


@runtime_checkable
class LiveTruth(Protocol):
    """A world whose episodes are those of a system that runs, which says more of a task than the task holds."""

    def opened(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[Opening | Failure]:
        """Return how the episodes of some seeds begin."""
        ...

    def told(self, task: Task) -> Task:
        """Return a task as a language world is told of it, which may be less than it holds."""
        ...

    def pays(self, task: Task) -> bool:
        """Return whether the episodes of a task pay for steps and end themselves."""
        ...

    def offers(self, task: Task, screen: str) -> tuple[str, ...] | None:
        """Return the actions that can be done, where the screen tells them; None where it does not."""
        ...


@dataclass
class DreamedWorld(LanguageWorld):
    """A language world with the tasks of another one.

    A model answers the actions. Where a check runs code, the actions are done again in the world itself first: such a
    check tests what the actions do, whatever the model answered to them. Where the world pays for steps and ends its
    episodes itself, a model that learned to write that does (`LanguageWorld.pays`). No other one tells it: then each
    action is done in the world itself as well, whose rewards and ends are those of the dream.

    Args:
        truth: The world itself, which is closed with this one.
        told: Whether a part of the truth's fingerprint, by its name, is one of this world's as well.
    """

    truth: SystemBehind = field(kw_only=True)
    told: Callable[[str], bool] = field(kw_only=True)

    @classmethod
    def over(
        cls,
        world: Any,
        truth: SystemBehind,
        handle: str,
        form: str,
        told: Callable[[str], bool],
        beside: Callable[[Retrieval | None], Retrieval | None] = lambda shown: shown,
    ) -> DreamedWorld:
        """Return a language world that plays the tasks of another one.

        Args:
            world: The language world.
            truth: The other one.
            handle: The handle of both, for errors.
            form: What stands before the plus in such handles.
            told: See the class.
            beside: A function of what the language world shows beside a turn, which returns what it shows here.

        Raises:
            WorldNotConfigured: It is no language world.
        """
        if not isinstance(world, LanguageWorld):
            world.close()
            expected = f"a language world, as in {form}+http://localhost:8000/v1"
            raise WorldNotConfigured(f"world={handle!r}: behind the plus stands {expected}")
        retrieval = beside(world.retrieval)
        parts = (world.spec, world.prompts, world.generator, world.sampling, retrieval, world.guard)
        return cls(*parts, unseen=world.unseen, checks=world.checks, pays=world.pays, truth=truth, told=told)

    def __post_init__(self) -> None:
        super().__post_init__()
        theirs = {name: part for name, part in self.truth.fingerprint.parts.items() if self.told(name)}
        self.fingerprint = Fingerprint({**self.fingerprint.parts, **theirs})

    @property
    def tasks(self) -> OwnTasks:
        """The tasks of the world itself."""
        return self.truth.tasks

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what the world itself runs."""
        return self.truth.versions

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[LanguageSession | Failure]:
        """Begin one session a task; where the seed decides what is shown first, the world itself shows it."""
        if not isinstance(self.truth, LiveTruth):
            return super().begin(tasks, seeds)
        opened = self.truth.opened([self.truth.told(task) for task in tasks], seeds)
        begun = [
            one if isinstance(one, Failure) else self._begin(one.task, seed)
            for one, seed in zip(opened, seeds, strict=True)
        ]
        for task, session, one in zip(tasks, begun, opened, strict=True):
            if isinstance(session, LanguageSession) and isinstance(one, Opening):
                if one.task.instruction != task.instruction:
                    session.instruction = one.task.instruction
                if self._truth_pays(task):  # Only such a world tells them later too.
                    session.offers = one.offers if self.pays is None else few_enough(one.offers)
                session.reads_offers = self._offer(session)
        return begun

    def answering(self, session: LanguageSession, action: Action) -> Work[Observation | Failure]:
        """Answer one action; where the screen tells which actions can be done, they are read from it."""
        observed = yield from super().answering(session, action)
        if isinstance(observed, Observation) and session.reads_offers and self._offer(session):
            observed = replace(observed, offers=session.offers)
        return observed

    def _offer(self, session: LanguageSession) -> bool:
        """Enter into a session which actions can be done, where its screen tells them."""
        if not isinstance(self.truth, LiveTruth):
            return False
        offers = self.truth.offers(session.task, session.seen.screen)
        session.offers = session.offers if offers is None else offers
        return offers is not None

    def _truth_pays(self, task: Task) -> bool:
        return isinstance(self.truth, LiveTruth) and self.truth.pays(task)

    def _asking(self, session: LanguageSession, turn: Turn) -> Work[tuple[Observation | Failure, int]]:
        observed, reasks = yield from super()._asking(session, turn)
        if isinstance(observed, Failure) or self.pays is not None:
            return observed, reasks
        if session.acted is not None:  # Nobody is paid for the probe of a check.
            return observed, reasks
        if not self._truth_pays(session.task):
            return observed, reasks
        paid: Verdict | Failure = yield BatchedCall(self._paid, (session, turn.action))
        return replace(observed, verdict=paid, offers=paid.offers) if isinstance(paid, Verdict) else paid, reasks

    def _paid(self, sessions: Sequence[LanguageSession], actions: Sequence[Action]) -> list[Verdict | Failure]:
        """Do actions in the world itself too, and return what it says of each."""
        failures: dict[int, Failure] = {}
        # An interrupted wave may have left a twin ahead.
        fresh = [one for one in sessions if one.twin is None or one.twin.turns > one.turn]
        begun = self.truth.begin([one.task for one in fresh], [one.seed for one in fresh]) if fresh else []
        for session, played in zip(fresh, begun, strict=True):
            _part(session)
            if isinstance(played, Failure):
                failures[id(session)] = played
            else:
                session.twin = Twin(played)
        while late := [one for one in sessions if one.twin is not None and one.twin.turns < one.turn]:
            past = [one.seen.turns[one.twin.turns][0] for one in late if one.twin is not None]
            failures |= self._done(late, past)[1]
        going = [place for place, one in enumerate(sessions) if one.twin is not None]
        shown, lost = self._done([sessions[place] for place in going], [actions[place] for place in going])
        failures |= lost
        return [failures.get(id(one)) or shown[id(one)].verdict or Verdict() for one in sessions]

    def _done(
        self, sessions: Sequence[LanguageSession], actions: Sequence[Action]
    ) -> tuple[dict[int, Observation], dict[int, Failure]]:
        """Do an action in each twin, and return what it shows, or why it cannot go on."""
        shown: dict[int, Observation] = {}
        failures: dict[int, Failure] = {}
        twins = [session.twin for session in sessions if session.twin is not None]
        answers = self.truth.step([twin.session for twin in twins], actions) if twins else []
        for session, twin, answer in zip(sessions, twins, answers, strict=True):
            if isinstance(answer, Failure):
                failures[id(session)] = answer
                _part(session)
            else:
                shown[id(session)] = twin.shown = answer
                twin.turns += 1
        return shown, failures

    def verify(
        self, sessions: Sequence[LanguageSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Run success code on what the actions leave in the world itself.

        See `agentworld_gym.core.checks.success_protocols.RunsSuccessCode`.
        """
        return [self._verify(*each) for each in zip(sessions, verifiers, answers, strict=True)]

    def _verify(self, session: LanguageSession, verifier: str, answer: str | None) -> SuccessFinding | Failure:
        (played,) = self.truth.begin([session.task], [session.seed])
        if isinstance(played, Failure):
            return replace(played, kind=FailureKind.UNJUDGED)
        with closing(played):
            try:
                for action, _ in session.seen.turns:
                    (shown,) = self.truth.step([played], [action])
                    if isinstance(shown, Failure):
                        raise EngineError(shown.message)
                (found,) = self.truth.verify([played], [verifier], [answer])
                return found
            except EngineError as error:
                return Failure(FailureKind.UNJUDGED, f"the actions cannot be done in the world itself: {error}")

    def close(self) -> None:
        """Close the generator, and the world itself."""
        try:
            super().close()
        finally:
            self.truth.close()


def _part(session: LanguageSession) -> None:
    """End the twin of a session, if there is one."""
    if session.twin is not None:
        session.twin.close()
        session.twin = None

"""Samples of own history: a language world plays recorded sessions again and reads what it said itself, and the true
observations are what it should have written.

A world model learns from true histories, and is asked with its own, errors and all. In these samples its errors stand
in the history, where they carry no loss, and every answer to learn is what the grounded world showed. This is Data as
Demonstrator (Venkatraman, Hebert and Bagnell, AAAI 2015): DAgger (arXiv 1011.0686) for predictions over many steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agentworld_gym.contracts import Action, Failure, Message
from agentworld_gym.domain.task import Task
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.errors import SpecError
from agentworld_gym.flow import Flow, Work
from agentworld_gym.policies.playing import WAVE
from agentworld_gym.recipe.data.samples_from_rows import row_weights
from agentworld_gym.recipe.data.turn_weights import Weighting
from agentworld_gym.sessions.pools import group_of
from agentworld_gym.sessions.rerendering import spec_source, task_is_gone, task_of
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.samples import Sample
from agentworld_gym.sessions.shown_states import shown_states
from agentworld_gym.worlds.guard import UNREADABLE
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession


@dataclass
class OwnHistory:
    """Makes samples of recorded sessions in which a language world reads its own answers.

    A session gives at most two kinds of samples. One is the session as the world played it, in which those answers have
    a weight that are, to the letter, what it should have written. The others each end with a turn that it got wrong,
    and with the true answer to it, which alone has a weight. A world whose histories are written otherwise than its
    answers, as those of the profile `full` are, gives the second kind alone.

    A session ends with the first answer that cannot be read, and nothing is learned from failures of a server.

    >>> from agentworld_gym.options import EnvOptions
    >>> from agentworld_gym.recipe.collect.config import SmallModelSessions
    >>> from agentworld_gym.recipe.collect.recorder import Recorder
    >>> from agentworld_gym.domain.spec import load_spec
    >>> rows = [Recorder([load_spec("terminal")], SmallModelSessions(max_turns=4), seed=0).row(0)]
    >>> with closing(EnvOptions(spec="terminal", world="tiny", judge="none").runner()) as runner:
    ...     own = OwnHistory(runner)
    ...     samples = list(own.samples(rows))
    >>> own.counts["right"] + own.counts["wrong"] == rows[0].turn_idx
    True

    Raises:
        SpecError: The world is no language world.
    """

    runner: EpisodeRunner
    """The language world, with its domain."""

    weighting: Weighting = field(default_factory=Weighting)
    """How much each turn counts."""

    corrections: int = 2
    """The most turns of a session that the world got wrong and that become samples, the first ones."""

    wave: int = WAVE
    """The number of sessions that are played at a time."""

    counts: Counter[str] = field(default_factory=Counter)
    """The numbers of `sessions`, of turns that were `right` and `wrong`, of turns that failed by the kind of failure,
    and of turns that were `unplayed` because the session had ended."""

    def __post_init__(self) -> None:
        if not isinstance(self.runner.world, LanguageWorld):
            raise SpecError("own history", "world", type(self.runner.world).__name__, "a language world")
        self._world = self.runner.world

    @property
    def answered(self) -> bool:
        """Whether the model wrote anything so far, be it right or not."""
        return any(self.counts[kind] for kind in ("right", "wrong", *UNREADABLE))

    def samples(self, rows: Iterable[Row]) -> Iterator[Sample]:
        """Yield the samples of sessions of the world's domain, in the order of the sessions.

        Raises:
            SpecError: The task of a session cannot be generated again, or the session is of another domain or dialect
                than the world.
        """
        waiting, ended, following = enumerate(rows), dict[int, list[Sample]](), 0
        with closing(Flow[list[Sample]]()) as flow:
            while (fresh := list(islice(waiting, self.wave - flow.under_way))) or flow.under_way:
                flow.send((number, self._played(row)) for number, row in fresh)
                ended |= flow.recv()
                while following in ended:
                    yield from ended.pop(following)
                    following += 1

    def _played(self, row: Row) -> Work[list[Sample]]:
        """Play a session, as a piece of work that asks the world, and return its samples."""
        task = self._task(row)
        actions = [self.runner.parser.parse(text, task.tools) for text in row.actions]
        weights = row_weights(row, self.weighting)
        truths = row.observations
        if self._world.prompts.form == "state":
            truths = shown_states(row, task, self.runner.parser).acted
        begun = self._world.begin([task], [task.seed or 0])[0]
        assert isinstance(begun, LanguageSession)
        learned, wrong = list[float](), list[Sample]()
        self.counts["sessions"] += 1
        with closing(begun) as session:
            for turn, (action, truth, weight) in enumerate(zip(actions, truths, weights, strict=True), 1):
                request, meant, past = self._asked(session, row, turn, action, truth)
                known = len(session.history)
                answer: Any = yield from self._world.answering(session, action)
                if isinstance(answer, Failure):
                    self.counts[answer.kind.value] += 1
                    self.counts["unplayed"] += len(actions) - turn
                    if answer.kind not in UNREADABLE:
                        break
                elif len(session.history) == known:  # A look at the screen was folded into the turn before.
                    continue
                else:
                    message = session.history[-1]["content"]
                    right = message == past
                    self.counts["right" if right else "wrong"] += 1
                    learned.append(weight * (message == meant))
                    if right:
                        continue
                if weight and len(wrong) < self.corrections:
                    messages = [*request, Message(role="assistant", content=meant)]
                    wrong.append(self._sample(row, f"/{turn}", messages, [*[0.0] * (known // 2), weight]))
                if isinstance(answer, Failure):
                    break
            whole = [self._sample(row, "", session.history, learned)] if any(learned) else []
        return whole + wrong

    def _asked(
        self, session: LanguageSession, row: Row, turn: int, action: Action, truth: str
    ) -> tuple[list[Message], str, str]:
        """Return the request of a turn, what the model should write to it, and what the history should then hold."""
        prompts = self._world.prompts
        told = session.task, session.screen, truth, action.raw
        return self._world.messages(session, action), prompts.completion(*told), prompts.past(*told)

    def _sample(self, row: Row, part: str, messages: list[Message], weights: list[float]) -> Sample:
        name = f"{row.id}/own{part}"
        return Sample(id=name, domain=row.domain, messages=tuple(messages), weights=tuple(weights), group=group_of(row))

    def _task(self, row: Row) -> Task:
        spoken = self.runner.spec.source
        if spec_source(row) != spoken:
            raise SpecError(f"row {row.id}", "task", spec_source(row), f"{spoken}, which the world plays")
        task = task_of(row)
        if task is None:
            raise task_is_gone(row, "to play it again")
        return task

"""Guards of a dream: what to do with an answer that the world model itself holds to be unlikely.

A model that copies well knows where it errs: the probability that it gives to its whole answer is about the share of
such answers that are exact. A guard asks for a least probability. An answer below it ends the episode, as a failure of
the world does, so that no agent learns from it; or the step is carried out in the grounded world, whose observation
replaces the answer, in what the agent sees and in what the model reads from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts import Action, AnswerSource, Failure, FailureKind, Observation
from agentworld_gym.core.screens.sight import folds
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language_session import LanguageSession
from agentworld_gym.worlds.twin import Twin

UNREADABLE = frozenset({FailureKind.EMPTY, FailureKind.LENGTH, FailureKind.MALFORMED})
"""The failures that are the model's own, and not those of whoever carries its answers."""


class GuardOptions(Strict):
    """What a guard asks for, and what it does.

    >>> GuardOptions(least=0.9).remedy
    'end'
    """

    least: float = Field(gt=0, le=1)
    """The least probability that the model must give to its whole answer, above 0 and at most 1."""

    remedy: Literal["end", "ground"] = "end"
    """What to do with a less likely answer. `end` makes it a failure of the kind `unlikely`; `ground` has the step
    carried out in the grounded world of the domain, and so too where an answer is empty, cut off or malformed, and
    where an action names what the model never saw."""


@dataclass
class Guard:
    """Checks the answers of a world model, and keeps the grounded twins of its episodes.

    Args:
        options: What is asked for, and what is done.
        grounded: The grounded world; needed for the remedy `ground`.
    """

    options: GuardOptions
    grounded: GroundedWorld | None = None
    executed: int = field(default=0, init=False)
    """How many actions the grounded world has carried out so far, those included by which a twin caught up."""

    @property
    def digest(self) -> str:
        """A digest of what the guard does, for the fingerprint of its world."""
        world = "" if self.grounded is None else self.grounded.fingerprint.digest
        return digest_of([self.options.model_dump(), world])

    def checked(
        self, session: LanguageSession, action: Action, observed: Observation | Failure
    ) -> Observation | Failure:
        """Return an answer as it is, or what stands in its place.

        Args:
            session: The session, which does not hold the answer yet.
            action: The action.
            observed: What was read from the answer of the model, or why nothing was.

        Raises:
            SpecError: The generator does not tell how likely its answers are.
        """
        if isinstance(observed, Failure):
            grounds = self.grounded is not None and observed.kind in (*UNREADABLE, FailureKind.UNSEEN)
            return self._true(session, action, Observation("", lost=observed.spent)) if grounds else observed
        if not observed.completion:
            return observed
        probability = observed.probability
        if probability is None:
            expected = "a generator that tells its confidence, as with language={'generator': {'confidence': True}}"
            raise SpecError("options", "language.guard", self.options.model_dump(), expected)
        if probability >= self.options.least:
            return observed
        if self.grounded is not None:
            return self._true(session, action, observed)
        asked = f"the guard asks for {self.options.least:g}"
        unlikely = f"the model holds its answer to be {probability:.2g} likely, {asked}"
        return Failure(FailureKind.UNLIKELY, unlikely, spent=observed.spent)

    def _true(self, session: LanguageSession, action: Action, dreamt: Observation) -> Observation | Failure:
        """Carry out an action in the twin of a session, and return what it shows."""
        twin = self._twin(session)
        if isinstance(twin, Failure):
            return twin
        done = twin.shown if twin.turns > session.turn else None
        answer = self._play(twin, [action]) if done is None else done
        if isinstance(answer, Failure):
            return _dropped(session, answer)
        twin.turns = session.turn + (not folds(session.task.domain, action.parsed, answer.text))
        verdict = answer.verdict or dreamt.verdict
        return replace(
            dreamt,
            text=answer.text,
            verdict=verdict,
            offers=None if verdict is None else verdict.offers,
            state=twin.session.visible_state if session.states else None,
            source=AnswerSource.GROUNDED,
        )

    def _twin(self, session: LanguageSession) -> Twin | Failure:
        """Return the twin of a session, where the session is; that of a probe is calm from where the agent stopped."""
        assert self.grounded is not None
        if session.twin is None:
            [begun] = self.grounded.begin([session.task], [session.seed])
            if isinstance(begun, Failure):
                return begun
            session.twin = Twin(begun)
        twin, turns = session.twin, [action for action, _ in session.seen.turns]
        agents = turns if session.acted is None else turns[: session.acted]
        failure = self._play(twin, agents[twin.turns :])
        if session.acted is not None and not twin.session.calm:
            twin.calm()
        if not isinstance(failure, Failure):
            failure = self._play(twin, turns[max(twin.turns, len(agents)) :])
        if isinstance(failure, Failure):
            return _dropped(session, failure)
        return twin

    def _play(self, twin: Twin, actions: Sequence[Action]) -> Observation | Failure:
        """Carry out some actions in a twin, and return what the last one shows."""
        assert self.grounded is not None
        answer: Observation | Failure = Observation(twin.session.observation)
        for action in actions:
            [answer] = self.grounded.step([twin.session], [action])
            self.executed += 1
            if isinstance(answer, Failure):
                break
            twin.turns += 1
        return answer


def _dropped(session: LanguageSession, failure: Failure) -> Failure:
    """Drop a twin that its engine cannot go on with; the next step that is grounded begins another one."""
    session.close()
    session.twin = None
    return failure

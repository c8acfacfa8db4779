"""Checks over observations in another dialect than the first, in which checks are written.

A world that knows its state shows both dialects. A language world shows its own alone, and what that leaves out
decides no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Expect
from agentworld_gym.core.screens import Translation, translation_of
from agentworld_gym.core.screens.protocols import Translated


@dataclass(frozen=True, slots=True)
class PartialObservation:
    """Tests expectations on observations that were translated from a dialect which does not tell all."""

    dialect: str
    """The dialect."""

    translation: Translation
    """How its observations were read."""

    def score(self, expect: Expect, actions: Sequence[Action], shown: Sequence[str]) -> float | Failure:
        """Return the best score of what some actions showed, or say why none can be given.

        A score is given where the dialect shows what the expectation asks for, and where all that an observation may
        stand for has the same score.

        Args:
            expect: The expectation.
            actions: The actions.
            shown: What each of them showed, as `in_first_dialect` returned it.
        """
        asked = (expect.equals, expect.contains, expect.excludes, expect.matches)
        for pattern in filter(None, asked):
            if found := self.translation.untold.search(pattern):
                return self._failure(f"a check asks for {found[0]!r}")
        read = [self.translation.readings(text, action.parsed) for action, text in zip(actions, shown, strict=True)]
        told = [(expect.score(texts[0]), expect.score(texts[-1])) for texts in read if texts]
        least, most = (max(scores, default=0.0) for scores in (zip(*told, strict=True) if told else ((), ())))
        if least != most:
            return self._failure("a check depends on whether an element has a text or a description")
        if least < 1.0 and not all(read):
            return self._failure("a check looks at the answer to an action")
        return least

    def _failure(self, why: str) -> Failure:
        return Failure(FailureKind.UNJUDGED, f"{why}, which the dialect {self.dialect} does not show")


def partial_of(spec: DomainSpec, session: object) -> PartialObservation | None:
    """Return how expectations are tested where a session shows less than the first dialect; None where it shows all."""
    translation = translation_of(spec.id, spec.dialect)
    return (
        None
        if translation is None or isinstance(session, Translated)
        else PartialObservation(spec.dialect, translation)
    )


def in_first_dialect(spec: DomainSpec, session: object, action: Action, answer: Observation) -> str:
    """Return what an action showed in the first dialect of its domain, as far as the world tells."""
    if answer.in_first_dialect is not None:
        return answer.in_first_dialect
    partial = partial_of(spec, session)
    if partial is None:
        return answer.text
    return partial.translation.translate(answer.text, action.parsed)

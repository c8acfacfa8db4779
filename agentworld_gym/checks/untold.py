"""Checks over observations in another dialect than the first, in which checks are written.

A world that knows its state shows both dialects. A language world shows its own alone, and what that leaves out
decides no check.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.contracts import Failure, FailureKind, Translated
from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.domain.task import Expect
from agentworld_gym.screens.first_dialects import FIRST_DIALECTS, Translation


@dataclass(frozen=True, slots=True)
class Partial:
    """Tests expectations on observations that were translated from a dialect which does not tell all."""

    dialect: str
    """The dialect."""

    translation: Translation
    """How its observations were read."""

    def score(self, expect: Expect, *shown: str) -> float | Failure:
        """Return the best score of some translated observations, or say why none can be given.

        A score is given where the dialect shows what the expectation asks for, and where all that an observation may
        stand for has the same score.
        """
        asked = (expect.equals, expect.contains, expect.excludes, expect.matches)
        for pattern in filter(None, asked):
            if found := self.translation.untold.search(pattern):
                return self._failure(f"a check asks for {found[0]!r}")
        best = [max(map(expect.score, texts)) for texts in zip(*map(self._readings, shown), strict=True)]
        if len(set(best)) > 1:
            return self._failure("a check depends on whether an element has a text or a description")
        return best[0] if best else 0.0

    def _readings(self, shown: str) -> tuple[str, str]:
        found = self.translation.readings(shown)
        return found[0], found[-1]

    def _failure(self, why: str) -> Failure:
        return Failure(FailureKind.UNJUDGED, f"{why}, which the dialect {self.dialect} does not show")


def partial_of(spec: DomainSpec, session: object) -> Partial | None:
    """Return how expectations are tested where a session shows less than the first dialect; None where it shows all."""
    translation = FIRST_DIALECTS.get((spec.id, spec.dialect))
    return None if translation is None or isinstance(session, Translated) else Partial(spec.dialect, translation)

"""A language world that plays the tasks of a live system, and whose commands of checks run on the system itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.base.errors import WorldNotConfigured
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession
from agentworld_gym.worlds.live.tasks import LiveTasks
from agentworld_gym.worlds.live.world import LiveWorld


@dataclass
class DreamedLiveWorld(LanguageWorld):
    """A language world with the tasks of a live system.

    A model answers the actions. Where a check runs a command, the actions are done again in the system itself first:
    success is that of the actions, whatever the model answered to them.

    Args:
        truth: The live world, which is closed with this one.
    """

    truth: LiveWorld = field(kw_only=True)

    @classmethod
    def over(cls, world: Any, truth: LiveWorld, handle: str) -> DreamedLiveWorld:
        """Return a language world that plays the tasks of a live one.

        Raises:
            WorldNotConfigured: It is no language world.
        """
        if not isinstance(world, LanguageWorld):
            world.close()
            expected = "a language world, as in live+http://localhost:8000/v1"
            raise WorldNotConfigured(f"world={handle!r}: behind the plus stands {expected}")
        parts = (world.spec, world.prompts, world.generator, world.sampling, world.demonstrations, world.guard)
        return cls(*parts, unseen=world.unseen, truth=truth)

    def __post_init__(self) -> None:
        super().__post_init__()
        told = self.truth.fingerprint.parts
        live = {name: part for name, part in told.items() if name.partition(" ")[0] == "live"}
        self.fingerprint = Fingerprint({**self.fingerprint.parts, **live})

    @property
    def tasks(self) -> LiveTasks:
        """The tasks of the live system."""
        return self.truth.tasks

    @property
    def versions(self) -> dict[str, str]:
        """The versions that the system tells of itself."""
        return self.truth.versions

    def verify(
        self, sessions: Sequence[LanguageSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Run the commands of checks on what the actions leave in the system itself.

        See `agentworld_gym.core.checks.success_protocols.RunsSuccessCode`.
        """
        return [self._verify(*each) for each in zip(sessions, verifiers, strict=True)]

    def _verify(self, session: LanguageSession, verifier: str) -> SuccessFinding | Failure:
        (played,) = self.truth.begin([session.task], [session.seed])
        if isinstance(played, Failure):
            return replace(played, kind=FailureKind.UNJUDGED)
        with closing(played):
            for action, _ in session.seen.turns:
                (shown,) = self.truth.step([played], [action])
                if isinstance(shown, Failure):
                    told = f"the actions cannot be done in the live system: {shown.message}"
                    return Failure(FailureKind.UNJUDGED, told)
            (found,) = self.truth.verify([played], [verifier], [None])
            return found

    def close(self) -> None:
        """Close the generator, and the live system."""
        try:
            super().close()
        finally:
            self.truth.close()

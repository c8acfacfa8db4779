"""A world of AWM that a language model plays, and whose verifiers look at what the calls do in the world itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.base.errors import WorldNotConfigured
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.database import is_whole, touched
from agentworld_gym.domains.mcp.awm.tasks import AwmTasks
from agentworld_gym.domains.mcp.awm.world import AwmWorld
from agentworld_gym.worlds.language import Demonstrations, LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession


@dataclass
class RowsBeside:
    """Shows beside each call of a large database the rows that it may touch.

    Args:
        truth: The world itself.
        also: What is shown besides.
    """

    truth: AwmWorld
    also: Demonstrations | None = None

    @property
    def digest(self) -> str:
        """The digest of what is drawn from."""
        return f"{self.truth.engine.files.digest}+{getattr(self.also, 'digest', self.also)}"

    def __call__(self, session: LanguageSession, action: Action) -> str:
        """Return the text for one request; empty where the prompt holds the whole database."""
        stored = self.truth.engine.server(session.task.state["scenario"]).stored
        rows = "" if is_whole(stored) else touched(stored, action)
        shown = "" if self.also is None else self.also(session, action)
        return (f"\n\n{rows}" if rows else "") + shown


@dataclass
class DreamedAwmWorld(LanguageWorld):
    """A language world with the tasks of a folder of AWM's worlds.

    A model answers the calls. At the end, the calls are made again in the world itself, and the verifier looks at what
    they left there: success is that of the calls, whatever the model answered to them.

    Args:
        truth: The world itself, which is closed with this one.
    """

    truth: AwmWorld = field(kw_only=True)

    @classmethod
    def over(cls, world: Any, truth: AwmWorld, handle: str) -> DreamedAwmWorld:
        """Return a language world that plays the tasks of another one.

        Raises:
            WorldNotConfigured: It is no language world.
        """
        if not isinstance(world, LanguageWorld):
            world.close()
            expected = "a language world, as in awm:DIR+http://localhost:8000/v1"
            raise WorldNotConfigured(f"world={handle!r}: behind the plus stands {expected}")
        demonstrations = RowsBeside(truth, world.demonstrations)
        parts = (world.spec, world.prompts, world.generator, world.sampling, demonstrations, world.guard)
        return cls(*parts, unseen=world.unseen, truth=truth)

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = {name: self.truth.fingerprint.parts[name] for name in ("files", "options")}
        self.fingerprint = Fingerprint({**self.fingerprint.parts, **parts})

    @property
    def tasks(self) -> AwmTasks:
        """The tasks of the folder."""
        return self.truth.tasks

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the libraries that the worlds' code imports."""
        return self.truth.versions

    def verify(
        self, sessions: Sequence[LanguageSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Run verifiers on what the calls leave in the world itself.

        See `agentworld_gym.core.checks.success_protocols.RunsSuccessCode`.
        """
        return [self._verify(*each) for each in zip(sessions, verifiers, answers, strict=True)]

    def _verify(self, session: LanguageSession, verifier: str, answer: str | None) -> SuccessFinding | Failure:
        (played,) = self.truth.begin([session.task], [session.seed])
        if isinstance(played, Failure):
            return replace(played, kind=FailureKind.UNJUDGED)
        try:
            for action, _ in session.seen.turns:
                (shown,) = self.truth.step([played], [action])
                if isinstance(shown, Failure):
                    raise EngineError(shown.message)
            (found,) = self.truth.verify([played], [verifier], [answer])
            return found
        except EngineError as error:
            return Failure(FailureKind.UNJUDGED, f"the calls cannot be made in the world itself: {error}")
        finally:
            played.close()

    def close(self) -> None:
        """Close the generator, and the world itself."""
        try:
            super().close()
        finally:
            self.truth.close()

"""An episode as a recording keeps it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentworld_gym.base.errors import RecordingError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts import Observation, Session


@dataclass
class RecordedSession:
    """The place of one episode in a recording."""

    key: str
    """The key of the last transition."""

    observation: str
    """What the world shows at this moment."""

    system: str = ""
    """The system prompt of the recorded world, if it is a language world."""

    inner: Session | None = None
    """The session of the world that is being recorded; None in a replay."""

    turn: int = 0
    """The number of transitions so far."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done at this moment; None where the recorded world does not tell them."""

    instruction: str | None = None
    """What the agent is asked to do; None where the recorded world leaves that to the task."""

    def go_on(self, key: str, observed: Observation) -> None:
        """Take the step that leads to another key."""
        self.key, self.observation, self.turn = key, observed.text, self.turn + 1
        self.offers = observed.offers

    def fork(self) -> RecordedSession:
        """Return an exact copy."""
        inner = None if self.inner is None else self.inner.fork()
        return replace(self, inner=inner)

    def probe(self) -> RecordedSession:
        """Return a copy to test success on; its transitions have other keys, because its answers may differ."""
        inner = None if self.inner is None else self.inner.probe()
        key = digest_of([self.key, "probe"])
        return replace(self, key=key, inner=inner)

    def close(self) -> None:
        """Free the session of the recorded world."""
        if self.inner is not None:
            self.inner.close()


def inner_session(session: RecordedSession) -> Session:
    """Return the session of the world that is being recorded.

    Raises:
        RecordingError: The session belongs to a replay.
    """
    if session.inner is None:
        raise RecordingError("this session belongs to a replay, not to a recording")
    return session.inner

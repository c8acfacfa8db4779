"""An episode as a recording keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.base.errors import RecordingError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts import Session


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

    def go_on(self, key: str, observation: str) -> None:
        """Take the step that leads to another key."""
        self.key, self.observation, self.turn = key, observation, self.turn + 1

    def fork(self) -> RecordedSession:
        """Return an exact copy."""
        inner = None if self.inner is None else self.inner.fork()
        return RecordedSession(self.key, self.observation, self.system, inner, self.turn)

    def probe(self) -> RecordedSession:
        """Return a copy to test success on; its transitions have other keys, because its answers may differ."""
        inner = None if self.inner is None else self.inner.probe()
        return RecordedSession(digest_of([self.key, "probe"]), self.observation, self.system, inner, self.turn)

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

"""The engine of a live system: it starts sessions, forks them, and says what they show.

What a system is, a domain says in a `LiveSession`. It may be slow, crash, hang and print without end; all of that is an
`EngineError` of one machine, whose world makes a typed failure of it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts.verdict import Verdict
from agentworld_gym.core.domain.splits import Split
from agentworld_gym.core.engines import (
    NO_CONTROLS,
    NOTHING,
    BaseMachine,
    Controls,
    EngineError,
    InexactFork,
    Inspection,
    Scalar,
    SystemLate,
    SystemLost,
)
from agentworld_gym.kit.live.config import LiveConfig
from agentworld_gym.kit.live.masks import Masks
from agentworld_gym.kit.live.pool import TRIES, LivePool

C = TypeVar("C", bound=LiveConfig)


class SharedFiles(EngineError):
    """A session did not do an action, as copies of its episode would see what it changes: it is to be played again."""


@dataclass(frozen=True, slots=True)
class LiveStart:
    """What an episode begins with."""

    state: Mapping[str, Any] = field(default_factory=dict)
    """What the task states, in the form that the domain defines."""

    seed: int = 0
    """The seed of what the state leaves open, where the system takes one."""

    controls: Controls = NO_CONTROLS
    """The faults in force."""

    hidden: Mapping[str, Any] = field(default_factory=dict)
    """What the world knows and the agent is never shown."""

    split: Split = "train"
    """The split of the task; a system that draws its episodes by seed draws other ones in each split."""


@dataclass(frozen=True, slots=True)
class LiveAbout:
    """What a system says of itself, once it runs."""

    parts: Mapping[str, str] = field(default_factory=dict)
    """What decides its answers, by name, for the fingerprint of its world: a version, a digest."""

    task: Mapping[str, Any] = field(default_factory=dict)
    """The fields of a task that it fills in where a task leaves them out: `tools`, `first_observation`, `menu`,
    `simulation`, and the keys of `state` that tell a language model what the system holds."""


class LiveSession(ABC):
    """One running system, which plays one episode, or one after the other where it can be reset.

    All methods raise an `EngineError` where the system cannot go on: `SystemLost` where it ended, `SystemLate` where it
    does not answer in time. They may be called from any thread, but by one at a time.
    """

    verdict: Verdict | None = None
    """What the system says of the last action, where it pays for steps and ends its episodes itself."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done next, where the system tells them."""

    instruction: str | None = None
    """What the agent is asked to do in this episode, where the system tells it."""

    @abstractmethod
    def about(self) -> LiveAbout:
        """Return what the system says of itself, before any episode."""

    @abstractmethod
    def begin(self, start: LiveStart) -> str:
        """Begin an episode, and return what is shown before the first action.

        Raises:
            SpecError: The state of the task is wrong; the error names the key, its value and what was expected.
        """

    @abstractmethod
    def act(self, action: Any) -> str:
        """Do one action, in the form that the domain's parser gives it, and return what it shows."""

    def state(self) -> dict[str, Scalar]:
        """Return what an action can change, as flat fields; nothing where that cannot be told."""
        return {}

    def copy(self) -> LiveSession | None:
        """Return an exact copy; None where the system cannot be copied, and the episode has to be played again.

        It is called on a thread of the engine, so that a process which it starts may die with its parent.
        """
        return None

    def probe(self) -> LiveSession | None:
        """Return a copy of all that the system holds in which an action means what it meant at the start, as in a fresh
        shell over the same files; None where every copy is one. It is called as `copy` is.
        """
        return None

    def inspect(self, command: str) -> Inspection:
        """Run the command of a check; see `agentworld_gym.core.engines.Inspected`."""
        raise EngineError(f"this system runs no commands of checks, such as {command!r}")

    def reset(self) -> bool:
        """Go back to how the system was before its episode, and return whether that is certain; if not, it is ended."""
        return False

    @property
    def alive(self) -> bool:
        """Whether the system can go on."""
        return True

    @property
    def pids(self) -> Sequence[int]:
        """The processes of the system, whose memory is measured with that of all that they started."""
        return ()

    @abstractmethod
    def close(self) -> None:
        """End the system and all that belongs to it: processes, folders, connections. A second call does nothing."""


class LiveEngine(ABC, Generic[C]):
    """Starts the machines of one live system.

    Args:
        config: What the user said of the system.
    """

    concurrent = True
    """Its machines act side by side, each on a thread of its own."""

    controls: frozenset[str] = frozenset()
    """The controls that its sessions act out."""

    splits: ClassVar[bool] = False
    """Whether its sessions draw their episodes by seed, other ones in each split."""

    scarce: ClassVar[bool] = False
    """Whether there are so few sessions that an episode is ended before the next one begins in its place."""

    pays: bool = False
    """Whether its sessions pay for steps and end their episodes themselves: they say so in `LiveSession.verdict`."""

    machine: ClassVar[type[LiveMachine]]
    """The class of its machines."""

    def __init__(self, config: C) -> None:
        self.config, self.masks = config, Masks(config.masks)
        self.exact_forks: bool | None = None if config.forks else False
        """Whether forks are exact: None until an episode was played again for one, and False once it was answered
        otherwise."""
        self._pool = LivePool[LiveSession](
            self.open_session, config.sessions, config.ahead, config.limits.start_seconds
        )
        self._about: LiveAbout | None = None
        self._asking = threading.Lock()

    @abstractmethod
    def open_session(self) -> LiveSession:
        """Start a system; on a thread of the engine, so that a process may die with its parent.

        Raises:
            EngineError: It cannot be started.
        """

    def misread(self, raw: str) -> Any | None:
        """Return the action that a text means which the domain's parser refuses, where the system itself shall answer
        it: its own words tell what is wrong. None leaves it to the parser's error.
        """
        return None

    def offers(self, screen: str, instruction: str) -> tuple[str, ...] | None:
        """Return the actions that can be done, where the screen tells them; None where it does not.

        Args:
            screen: The last observation that shows a screen.
            instruction: What the system itself asks the agent to do; empty where it asks nothing.
        """
        return None

    def about(self) -> LiveAbout:
        """Return what the system says of itself, which starts a session.

        Raises:
            EngineError: It cannot be started.
        """
        with self._asking:
            if self._about is None:
                session = self._pool.take()
                try:
                    self._about = session.about()
                except BaseException:
                    self._pool.drop(session)
                    raise
                self._pool.give_back(session)
            return self._about

    def start(
        self,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = NO_CONTROLS,
        hidden: Mapping[str, Any] = NOTHING,
        split: Split = "train",
    ) -> LiveMachine:
        """Start an episode.

        Raises:
            SpecError: The state is wrong, or asks for controls that the system does not act out.
            EngineError: The system cannot be started.
        """
        unknown = [name for name, strength in controls.strengths.items() if strength and name not in self.controls]
        if unknown:
            known = f"some of {', '.join(sorted(self.controls))}" if self.controls else "none"
            expected = f"{known}: this live system acts out no others"
            raise SpecError("task controls", unknown[0], controls.strengths[unknown[0]], expected)
        start = LiveStart(state, seed, controls, hidden, split)
        return self.machine(self, start, *self._begun(start))

    def _begun(self, start: LiveStart) -> tuple[LiveSession, str]:
        """Begin an episode in a session of the pool, and return what it shows. One that ends or hangs meanwhile, or has
        ended while it waited, is replaced once.
        """
        for left in reversed(range(TRIES)):
            session = self._pool.take()
            try:
                return session, self.bounded(session.begin(start))
            except BaseException as error:
                self._pool.drop(session)
                if not left or not isinstance(error, SystemLost | SystemLate):
                    raise
        raise AssertionError("unreachable")

    def again(self, start: LiveStart, turns: Sequence[tuple[Any, str]]) -> LiveSession:
        """Return a session in which an episode was played again.

        Args:
            start: What the episode began with.
            turns: Its actions with the digests of their answers; the first action is None, for the start.

        Raises:
            InexactFork: The system answered otherwise this time.
            EngineError: It cannot be started, or ended.
        """
        session, text = self._begun(start)
        try:
            for turn, (action, told) in enumerate(turns):
                text = text if turn == 0 else self.bounded(session.act(action))
                if self.digest(text, session) != told:
                    self.exact_forks = False
                    raise InexactFork(
                        f"the live system does not repeat itself: played again, turn {turn} shows {text[:200]!r}; "
                        "`agentworld live check` tells what varies"
                    )
        except BaseException:
            self._pool.drop(session)
            raise
        if self.exact_forks is None:
            self.exact_forks = True
        return session

    def copy(self, session: LiveSession) -> LiveSession | None:
        """Return an exact copy of a session; None where the system cannot be copied.

        Raises:
            InexactFork: Forks are not asked for, or all episodes share the system.
            EngineError: The system cannot be copied now.
        """
        if self.config.shared:
            raise InexactFork("all episodes share this system, which is reset for each of them, so that none is forked")
        if not self.config.forks:
            raise InexactFork("this live world is not forked: its configuration says forks: false")
        return self._pool.copied(session.copy)

    def probe(self, session: LiveSession) -> LiveSession | None:
        """Return a copy of a session for the probe of a check; None where a fork will do.

        Raises:
            EngineError: The system cannot be copied now.
        """
        return self._pool.copied(session.probe)

    def free(self, session: LiveSession) -> None:
        """Take back a session whose episode is over: it is reset, or ended, in the background."""
        self._pool.free(session)

    def bounded(self, text: str) -> str:
        """Return an answer without the middle of what is too long.

        A text that UTF-8 cannot hold is shown with marks in place of such characters.
        """
        text, most = text.encode("utf-8", "replace").decode(), self.config.limits.output_chars
        if len(text) <= most:
            return text
        head, tail = most * 3 // 4, most // 8
        return f"{text[:head]}\n[... {len(text) - head - tail} characters are left out ...]\n{text[-tail:]}"

    def digest(self, text: str, session: LiveSession) -> str:
        """Return the digest of an answer of a session, and of what it says of its episode, without what varies."""
        told = self.masks.without(text)
        if session.verdict is None and session.offers is None:
            return digest_of(told)
        verdict = None if session.verdict is None else asdict(session.verdict)
        return digest_of([told, verdict, session.offers])

    def close(self) -> None:
        """End all sessions; a second call does nothing."""
        self._pool.close()


class LiveMachine(BaseMachine[LiveSession]):
    """One episode on a live system.

    A fork is exact where the system can be copied. Elsewhere the episode is played again in a fresh session, and each
    answer is compared by its digest.

    Args:
        engine: The engine.
        start: What the episode began with.
        session: The session, in which it has begun.
        observation: What that showed.
    """

    noun = "live system"

    def __init__(self, engine: LiveEngine[Any], start: LiveStart, session: LiveSession, observation: str) -> None:
        super().__init__(session, observation)
        self._engine, self._start = engine, start
        self._turns: tuple[tuple[Any, str], ...] = ((None, engine.digest(observation, session)),)
        self.verdict: Verdict | None = None
        """What the system says of the last action, where it pays for steps and ends its episodes itself."""
        self.offers: tuple[str, ...] | None = session.offers
        """The actions that can be done next, where the system tells them."""
        self.instruction: str | None = session.instruction
        """What the agent is asked to do in this episode, where the system tells it."""
        self._spans = engine.masks.spans(observation)
        self._lost = ""

    @property
    def exact_forks(self) -> bool | None:
        """Whether forks are exact; None where none was tried yet."""
        return self._engine.exact_forks

    @property
    def pids(self) -> Sequence[int]:
        """The processes of the system; see `LiveSession.pids`."""
        return self._open().pids

    def act(self, action: Any) -> str:
        """Do one action, and return what it shows. Once the system has ended its episode, nothing happens any more.

        Raises:
            EngineError: The system ended, did not answer in time, or is lost since an earlier action.
        """
        session = self._session()
        if self.verdict is not None and self.verdict.over:
            self.verdict = replace(self.verdict, reward=0.0)
            return self._observation
        try:
            try:
                text = self._engine.bounded(session.act(action))
            except SharedFiles:
                self._system = None
                self._engine.free(session)
                self._system = session = self._engine.again(self._start, self._turns)
                text = self._engine.bounded(session.act(action))
        except BaseException as error:
            self._lost = str(error) or type(error).__name__  # What it did is not known, so that it cannot go on.
            raise
        self._turns += ((action, self._engine.digest(text, session)),)
        self.verdict, self.offers = session.verdict, session.offers
        self._observation, self._spans = text, self._engine.masks.spans(text)
        return text

    def state(self) -> dict[str, Scalar]:
        """Return what an action can change; nothing where the system cannot tell."""
        return self._session().state()

    def inspect(self, command: str) -> Inspection:
        """Run the command of a check; see `agentworld_gym.core.engines.Inspected`."""
        return self._session().inspect(command)

    def _session(self) -> LiveSession:
        """Return the session.

        Raises:
            EngineError: It is closed, or lost.
        """
        session = self._open()
        if self._lost:
            raise SystemLost(f"the live system is lost: {self._lost}")
        return session

    def _part_from(self, system: LiveSession) -> None:
        if self._lost:
            raise SystemLost(f"the live system is lost: {self._lost}")
        twin = self._engine.copy(system)
        if twin is None and not self._turns:
            raise InexactFork("a probe of a live system is not played again")
        self._system = self._engine.again(self._start, self._turns) if twin is None else twin

    def probe(self) -> LiveMachine:
        """Return a copy for a check, in which an action means what it meant at the start.

        Raises:
            EngineError: The system cannot be copied, or does not repeat itself.
        """
        fresh = self._engine.probe(self._session())
        if fresh is None:
            return self.fork()
        twin = copy(self)
        twin._system, twin._turns = fresh, ()
        return twin

    def _free(self, system: LiveSession) -> None:
        self._engine.free(system)


LiveEngine.machine = LiveMachine

"""One episode of a language world: its chat messages, what its agent was shown, and the seeds of its requests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agentworld_gym.core.contracts import Action, Conversation, Message
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.llm.retrieval.steps import origin_of_task
from agentworld_gym.worlds.twin import Twin


@dataclass
class LanguageSession:
    """One episode: the chat messages so far, to which turns are only ever added, and what its agent was shown."""

    task: Task
    """The task."""

    seed: int
    """The seed of the episode, from which those of the requests are made."""

    history: list[Message]
    """The chat messages that every request begins with."""

    seen: ScreenHistory[Action]
    """What the agent did and was shown."""

    tokens: int = 0
    """How many tokens the last prompt took."""

    failures: int = 0
    """How many requests came to nothing in steps that failed: the next one draws another seed."""

    looked: bool = False
    """Whether the last action was a look at the screen, which is no turn."""

    acted: int | None = None
    """Where this is a copy for a probe: how many turns the agent took before it; None where the agent acts itself."""

    answered: dict[str, str] = field(default_factory=dict)
    """What questions were answered since something last may have changed, by the action."""

    twin: Twin | None = None
    """The same episode in a grounded world, as far as a guard has played it there."""

    states: tuple[str, str] | None = None
    """The structured states, as JSON, before the last turn and at this moment; None where none are predicted."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done at this moment; None where the model does not tell them."""

    reads_offers: bool = False
    """Whether these are read from the screens of the session."""

    instruction: str | None = None
    """What the agent is asked to do, where that is decided when the episode begins; None leaves that to the task."""

    replays: tuple[str, ...] = ()
    """The origins of the recorded session that is replayed here; empty where an agent acts."""

    conversation: Conversation = field(default_factory=Conversation, compare=False)
    """What the requests of the session and of its forks have in common."""

    @property
    def observation(self) -> str:
        """The last observation."""
        return self.seen.observation

    @property
    def screen(self) -> str:
        """What the model starts from: see `ScreenHistory.screen`; or the structured state."""
        return self.seen.screen if self.states is None else self.states[1]

    @property
    def screen_before(self) -> str:
        """What the model was told to start from one turn earlier."""
        return self.seen.screen_before if self.states is None else self.states[0]

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the episode comes from: recorded steps that share an origin are never shown beside a turn."""
        return (*origin_of_task(self.task), *self.replays)

    @property
    def turn(self) -> int:
        """How many turns are over."""
        return len(self.seen.turns)

    @property
    def system(self) -> str:
        """The system prompt."""
        return self.history[0]["content"]

    def fork(self) -> LanguageSession:
        """Return an exact copy: equal actions on both give equal requests."""
        twin = None if self.twin is None else self.twin.fork()
        return replace(self, history=list(self.history), seen=self.seen.fork(), twin=twin, answered=dict(self.answered))

    def probe(self) -> LanguageSession:
        """Return a fork, in which controls are in force: what the model was told of them cannot be taken back."""
        return replace(self.fork(), acted=self.turn)

    def close(self) -> None:
        """Free the twin, if there is one; the history is plain data."""
        if self.twin is not None:
            self.twin.close()


MASK = 2**64 - 1


def step_seed(seed: int, turn: int, failures: int = 0) -> int:
    """Return the request seed of one turn, after some failed tries: 31 bits in which neighbours have nothing in common.

    >>> step_seed(7, 0) != step_seed(7, 1) != step_seed(8, 0)
    True
    """
    place = turn + (failures << 32)
    mixed = (seed * 0x9E3779B97F4A7C15 + place * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB) & MASK
    mixed ^= mixed >> 31
    return (mixed * 0xD6E8FEB86659FD93 & MASK) >> 33

"""One session as its agent saw it: its task, its actions, and what each of them showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Split, Task

Tools = tuple[dict[str, Any], ...]
"""Tools: the name, the description and the JSON Schema of each."""


@dataclass(frozen=True, slots=True)
class AgentSession:
    """One session as its agent saw it."""

    id: str
    """The id of the session; in traces it names the run too."""

    spec: DomainSpec
    """The domain, in the dialect of the session."""

    tools: Tools
    """The tools of the task, beside those of the domain."""

    instruction: str
    """What the agent was asked to do."""

    first: str
    """What the world showed first, without the instruction."""

    actions: tuple[str, ...]
    """What the agent did, the action that ended the session included."""

    observations: tuple[str, ...]
    """What each action showed; that of the last action may be missing."""

    success: bool | None
    """Whether the task was solved; None where that is not known."""

    score: float | None
    """The score of the task's checks; None where it is not known."""

    task_id: str
    """The id of the task."""

    family: str
    """The family of the task; empty where it has none."""

    level: int | None
    """The level of the task."""

    seed: int | None
    """The seed of the task."""

    split: Split
    """The split of the task; `train` where it has none."""

    policy: str
    """Who acted; empty where that is not known."""

    variant: str
    """The variant of the engine that played; empty for the default one."""

    find_task: Callable[[], Task | None]
    """A function that returns the task itself; None where it cannot be made again."""

    refused: Mapping[int, str] = field(default_factory=dict)
    """What the world said instead of taking an action, by the place of the action. The exact parser may read it: a
    sentence is a line of a shell to it."""

    left: bool = False
    """Whether the agent left without a word, or its context was full, and the state was then scored as it was."""

    @property
    def opening(self) -> str:
        """The first message to the agent: the instruction, a blank line, and what the world showed."""
        return f"{self.instruction}\n\n{self.first}" if self.first else self.instruction

    def taken(self, place: int) -> str | Action:
        """Return an action as a runner takes it: one that was refused is refused again."""
        error = self.refused.get(place)
        return self.actions[place] if error is None else Action(self.actions[place], error=error)

    @property
    def replayed(self) -> list[str | Action]:
        """What a runner takes to play the session again: the actions, and what scored it where its agent had left."""
        leaving = [Action(VERB, kind=ActionKind.FINISH, written="")] if self.left else []
        return [*map(self.taken, range(len(self.actions))), *leaving]

    def labels(self) -> dict[str, Any]:
        """Return what is known of the session beside its messages, as plain data. `task_id` is what `reset` takes."""
        return {
            "id": self.id,
            "domain": self.spec.id,
            "dialect": self.spec.dialect,
            "task_id": self.task_id,
            "family": self.family,
            "level": self.level,
            "seed": self.seed,
            "split": self.split,
            "policy": self.policy,
            "success": self.success,
            "score": self.score,
        }


@dataclass(slots=True)
class ExportTally:
    """What an export read and wrote."""

    read: int = 0
    """The number of sessions that were read."""

    kept: int = 0
    """The number of sessions of which something was written."""

    written: int = 0
    """The number of lines, of pairs or of episodes that were written."""

    splits: Counter[str] = field(default_factory=Counter)
    """The same by the split of the task."""

    domains: Counter[str] = field(default_factory=Counter)
    """The number of sessions that were kept, by domain and dialect."""

    left: Counter[str] = field(default_factory=Counter)
    """The number of sessions that were left out, by the reason."""

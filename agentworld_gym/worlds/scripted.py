"""A world that a function plays, for tests, for examples, and to try code without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentworld_gym.base.fingerprint import Fingerprint, Part
from agentworld_gym.core.contracts import Action, Failure, Observation
from agentworld_gym.core.domain.task import Task

Script = Callable[[Task, Sequence[Action]], str | Failure]


def echo(task: Task, actions: Sequence[Action]) -> str:
    """Return the number and the text of the last action; this is the script of a world without another one."""
    return f"[{len(actions)}] {actions[-1].raw}" if actions else (task.first_observation or "[0] ready")


@dataclass
class ScriptedSession:
    """The actions of one episode; the observation is what the script answered last."""

    task: Task
    observation: str
    actions: list[Action] = field(default_factory=list)
    system: str = ""

    def fork(self) -> ScriptedSession:
        """Return a copy that goes its own way."""
        return ScriptedSession(self.task, self.observation, list(self.actions))

    def probe(self) -> ScriptedSession:
        """Return a fork."""
        return self.fork()

    def close(self) -> None:
        """Do nothing: nothing is held."""


class ScriptedWorld:
    """A world that answers every action with `script(task, actions so far)`; it is as deterministic as its script.

    Args:
        script: The function that returns an observation or a failure.
        name: The name of the world in its fingerprint.
        parts: Further parts of the fingerprint.
    """

    deterministic = True

    def __init__(self, script: Script = echo, name: str = "scripted", parts: Mapping[str, Part] | None = None) -> None:
        self.script = script
        self.fingerprint = Fingerprint({"world": Part(name, True), **(parts or {})})

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[ScriptedSession | Failure]:
        """Begin one session a task; the first observation is the script's answer to no action."""
        texts = [self.script(task, ()) for task in tasks]
        return [t if isinstance(t, Failure) else ScriptedSession(k, t) for k, t in zip(tasks, texts, strict=True)]

    def step(self, sessions: Sequence[ScriptedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Answer each action, in order."""
        return [self._step(session, action) for session, action in zip(sessions, actions, strict=True)]

    def _step(self, session: ScriptedSession, action: Action) -> Observation | Failure:
        text = action.error if action.error is not None else self.script(session.task, [*session.actions, action])
        if isinstance(text, Failure):
            return text
        session.actions.append(action)
        session.observation = text
        return Observation(text)

    def close(self) -> None:
        """Do nothing: nothing is held."""

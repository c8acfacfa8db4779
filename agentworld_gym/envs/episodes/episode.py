"""An episode, and what `info` holds of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from agentworld_gym.base.errors import UnderWayError
from agentworld_gym.core.actions.naming import callable_tools
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.contracts import Action, Message, Offering, Session
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.llm.prompting.agent_prompt import agent_prompt


class Info(TypedDict, total=False):
    """What stands in `info`; it is deterministic where the world is. A key without a value is left out."""

    task_id: str
    """The id of the task."""

    instruction: str
    """The instruction of the task; it is there after a reset."""

    tools: list[dict[str, Any]]
    """The tools that can be called, if there are any; they are there after a reset, as a copy that the caller owns."""

    fingerprint: str
    """The digest of the world's fingerprint."""

    steps: int
    """How many steps of the episode have begun."""

    tokens: dict[str, int]
    """The tokens that the step cost; empty where the server of the world's model does not tell."""

    repairs: dict[str, int]
    """How an answer of a language world became readable: `reasks` counts the answers before it that could not be
    read or broke a check, `refused` the tokens at which constrained decoding did not allow what the model would have
    written, and each check, by name, the answers that broke it. It is there where any is above 0."""

    confidence: float
    """How sure a language world was of the observation: the mean log-probability per token."""

    source: str
    """Who answered instead of a language world's model: `grounded`, the grounded world of its guard, or `checked`, the
    system's own words where the model's answers broke a check."""

    probes: dict[str, int]
    """How many actions of probes the world's model was `asked`, and how many were answered instead of it, by the
    predicted `state` or by the `grounded` world of a guard; it is there where any were."""

    check_tokens: dict[str, int]
    """The tokens that probes and judges cost; empty where a server does not tell."""

    admissible: list[str]
    """The actions that can be done next, where the world tells them."""

    reward_parts: dict[str, float]
    """The parts of the reward by name; `environment` is what a world pays itself, as a game does."""

    untested: str
    """Why the end of an episode has no `success`: its task tests nothing."""

    success: bool
    """Whether the task is solved. It is there once the task's checks were tested, always on `finish`, and never where
    the world or a judge failed. Where a task tests nothing, it is what the world says of its own goal, if it does."""

    score: float
    """The weighted share of the checks that pass, from 0 to 1."""

    collateral: list[str]
    """Where the state differs from the one that the task's expert leaves; success wants it empty. It is there where the
    score is that of a success and the world knows its state."""

    action_error: str
    """Why the action cannot be parsed."""

    written: str
    """What the agent wrote, where tolerance was needed to read it; the logs hold the action that it was read as."""

    tolerated: int
    """How many actions of the episode needed tolerance so far; it is there where any did."""

    failure: dict[str, Any]
    """What the world did wrong: the step is truncated and its reward is 0.0. Where `retryable` is true, the session is
    as before the step, which may be tried again. A failed probe or judge is not retryable, because the action itself
    was carried out."""

    agent_failure: dict[str, Any]
    """What went wrong with whoever runs the agent, as its server: the episode is truncated, and nothing is known of the
    agent."""


@dataclass(eq=False)
class Episode:
    """One episode: its task, its world's session, and what happened so far.

    Where several `agents` share an episode, each acts once in a round, and a round is a step. An episode equals itself
    alone, so that it can be a key.
    """

    id: str
    """The name of the episode in the logs."""

    task: Task
    """What the agent shall do."""

    seed: int
    """The seed that fixed the task and the initial state."""

    session: Session
    """The episode as its world keeps it."""

    domain: DomainSpec
    """The domain of the task, in the dialect in force."""

    reading: Reading
    """How actions are read."""

    agents: int = 1
    """How many agents share the episode."""

    actions: list[str] = field(default_factory=list)
    """The actions so far, as the agent wrote them, or as the exact parser reads what was meant."""

    taken: list[Action] = field(default_factory=list)
    """The same actions, as they were read."""

    observations: list[str] = field(default_factory=list)
    """What the world showed, at the start and after each action, in the first dialect of the domain."""

    shown: list[str] = field(default_factory=list)
    """What the agent saw, at the start and after each action, in the dialect in force."""

    tolerated: int = 0
    """How many of the actions needed tolerance to be read."""

    confirming: bool = False
    """Whether the last action asked to finish and has to be repeated to confirm it."""

    paid: float = 0.0
    """The score that was paid as reward so far."""

    won: bool | None = None
    """Whether the world's own goal is reached; None where it does not tell."""

    over: bool = False
    """Whether the episode has ended."""

    under_way: bool = False
    """Whether a step was sent whose outcome has not been handed out."""

    @property
    def observation(self) -> str:
        """What the agent saw last, in the dialect in force."""
        return self.shown[-1]

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """What can be called: the name, description and JSON Schema of each tool of the domain and of the task."""
        return callable_tools(self.domain.action, self.task.tools)

    def messages(self) -> list[Message]:
        """Return the episode so far as the messages of a chat, in which one agent is the assistant.

        The system message is `agentworld_gym.agent_prompt`, and the last message is what the agent saw last.

        >>> from agentworld_gym.envs.options import EnvOptions
        >>> runner = EnvOptions(spec="terminal", world="scripted").runner()
        >>> ((episode, _, _),) = runner.start([0], {})
        >>> _ = runner.advance([episode], ["ls"])
        >>> [message["role"] for message in episode.messages()]
        ['system', 'user', 'assistant', 'user']
        >>> runner.close()
        """
        messages = [Message(role="system", content=agent_prompt(self)), Message(role="user", content=self.shown[0])]
        for action, observation in zip(self.actions, self.shown[1:], strict=True):
            messages += [Message(role="assistant", content=action), Message(role="user", content=observation)]
        return messages

    @property
    def steps(self) -> int:
        """How many steps have begun: as many as there were actions, or rounds of them."""
        return -(-len(self.actions) // self.agents)

    @property
    def offers(self) -> tuple[str, ...] | None:
        """The actions that can be done, where the world tells them; None elsewhere."""
        return self.session.offers if isinstance(self.session, Offering) else None

    @property
    def menu(self) -> tuple[str | None, ...]:
        """The entries of the task's menu as actions for the last screen; None for those whose element is not there.

        Where the world tells which actions can be done, they are the menu.
        """
        if (offers := self.offers) is not None:
            return offers
        return Sight(self.task.domain, self.observations).offers(self.task.menu)

    def fork(self, name: str) -> Episode:
        """Return an exact copy that goes its own way, under another name.

        Raises:
            UnderWayError: A step of the episode is under way.
        """
        if self.under_way:
            raise UnderWayError(f"episode {self.id} has a step under way; recv() it before the episode is forked")
        session = self.session.fork()
        return replace(
            self,
            id=name,
            session=session,
            actions=list(self.actions),
            taken=list(self.taken),
            observations=list(self.observations),
            shown=list(self.shown),
        )


def no_tokens() -> dict[str, int]:
    """Return the tokens of a step that cost nothing."""
    return {"prompt": 0, "completion": 0, "cached": 0}

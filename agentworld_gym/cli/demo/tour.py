"""The messages that a world model is sent, and how the small one answers beside the grounded terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import gymnasium as gym

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Failure, Message
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.registration import shipped_domains
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds import WorldOptions

TERMINAL = "AgentWorld/Terminal-v0"


@dataclass(frozen=True)
class Shown:
    """The messages of one step in one domain."""

    env_id: str
    title: str
    action: str
    messages: tuple[Message, ...]

    @property
    def characters(self) -> int:
        """The number of characters of all messages."""
        return sum(len(message["content"]) for message in self.messages)


def messages_of_all_domains() -> Iterator[Shown]:
    """Yield for every domain what a world model would get for the first action of its first hand-written task's expert.

    >>> [shown.env_id for shown in messages_of_all_domains()][:2]
    ['AgentWorld/MCP-v0', 'AgentWorld/Search-v0']
    """
    for domain in shipped_domains():
        spec = load_spec(domain)
        task = spec.handwritten_tasks()[0]
        world = WorldOptions(spec).language(ScriptedGenerator(lambda request: ""))
        [session] = world.begin([task], [0])
        assert not isinstance(session, Failure)
        first = Sight(domain, [session.observation]).resolve(task.expert[0])
        assert first is not None
        action = ActionParser(spec).parse(first, task.tools)
        yield Shown(spec.env_id, spec.title, action.raw, tuple(world.messages(session, action)))


@dataclass(frozen=True)
class TourPair:
    """One action in two worlds."""

    task_id: str
    action: str
    grounded: str
    dreamed: str

    @property
    def equal(self) -> bool:
        """Whether the language world is exact."""
        return self.grounded == self.dreamed


def side_by_side(seeds: Iterable[int], worlds: tuple[str, str] = ("grounded", "tiny")) -> list[TourPair]:
    """Play the expert of some unseen tasks in two worlds at once, each of which reads its own history."""
    rows: list[TourPair] = []
    envs = [terminal(world) for world in worlds]
    try:
        for seed in seeds:
            for env in envs:
                env.reset(seed=seed)
            for action in envs[0].task.expert[:-1]:
                grounded, dreamed = [_observed(env, action) for env in envs]
                rows.append(TourPair(envs[0].task.id, action, grounded, dreamed))
    finally:
        for env in envs:
            env.close()
    return rows


def _observed(env: AgentWorldEnv, action: str) -> str:
    observation, _, _, _, info = env.step(action)
    return f"[{info['failure']['message']}]" if "failure" in info else observation


def terminal(world: str) -> AgentWorldEnv:
    """Make a terminal with tasks that no training sees."""
    env = gym.make(TERMINAL, world=world, split="test", levels=LEVELS).unwrapped
    assert isinstance(env, AgentWorldEnv)
    return env


LEVELS: Sequence[int] = (1, 2)

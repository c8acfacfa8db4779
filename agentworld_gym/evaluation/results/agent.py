"""The result of evaluating an agent: its episodes, and the figures of these."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.evaluation.results.base import Counts, EvaluationResult, TaskDraw
from agentworld_gym.evaluation.results.bench import PartyTokens

Key = tuple[str, int, int]
"""A domain, the seed of a task, and the number of the sample."""


TokenCounts = tuple[int, int, int] | None


class AgentEpisode(Strict):
    """One episode that the agent played."""

    domain: str
    """The domain, with its dialect where that is not the first one."""

    seed: int
    """The seed of the task."""

    sample: int
    """The number of the sample, from 0 on."""

    task: str
    """The id of the task."""

    digest: str = ""
    """The digest of the whole task where a user named it; empty where the id says all."""

    family: str
    """The family of the task."""

    level: int
    """The level of the task."""

    success: bool | None
    """Whether the task was solved; None where that is not known, because a server or the world failed."""

    score: float | None
    """The share of the task's checks that pass."""

    steps: int
    """The number of steps."""

    refused: int
    """The number of actions that could not be read, or called what cannot be called."""

    end: str
    """How the episode ended; see `agentworld_gym.agents.policies.playing.Played.end`."""

    agent_tokens: TokenCounts = (0, 0, 0)
    """The agent's tokens of prompts, of completions, and of prompts from a cache; None where a server does not tell."""

    agent_lost: TokenCounts = (0, 0, 0)
    """The same of the agent's answers that were asked for again, or failed."""

    world_tokens: TokenCounts = (0, 0, 0)
    """The world's tokens, those of probes and judges included."""

    calls: Literal["native", "text"] | None = None
    """How a language model called tools; see `DomainCell.calls`."""

    agent_failure: str | None = None
    """The kind of the failure of the agent's server."""

    world_failure: str | None = None
    """The kind of the world's failure."""

    message: str | None = None
    """What the failure says."""

    @property
    def key(self) -> Key:
        """What names the episode."""
        return self.domain, self.seed, self.sample


class AgentCell(Strict):
    """The figures of some episodes; those in which a server or the world failed enter none."""

    success: Share | None
    """The share of successes, with its 95% interval over tasks; None without an episode that is scored."""

    score: float | None
    """The mean score."""

    steps: float | None
    """The mean number of steps."""

    unscored: int = 0
    """The number of episodes beside these that are not scored."""


class DomainCell(AgentCell):
    """The figures of one domain."""

    world: str
    """The handle of the world."""

    fingerprint: str
    """The digest of the world's fingerprint."""

    families: dict[str, AgentCell]
    """The figures by family."""

    levels: dict[str, AgentCell]
    """The figures by level."""

    calls: Counts = Field(default_factory=dict)
    """The number of episodes in which a language model called tools apart from its text (`native`), and of those in
    which it wrote its calls (`text`); none of other agents, and where actions are no calls."""


class AgentResult(EvaluationResult):
    """What an agent can do in some worlds."""

    kind: Literal["agent"] = "agent"
    agent: str
    """The handle of the agent."""

    described: dict[str, str] = Field(default_factory=dict)
    """What is known of the agent: the parts of its generator's fingerprint, or the digest of its file."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The options of the agent: how it samples, and what it does where its context is full."""

    world_options: dict[str, Any] = Field(default_factory=dict)
    """The options of the worlds beside their handle."""

    date: str
    """When the evaluation ended, in UTC, as ISO 8601 has it."""

    command: str
    """The command that made the result."""

    draw: TaskDraw
    """Which tasks were played; `tasks` is the least number of a domain."""

    samples: int = Field(ge=1)
    """How many times each task was played."""

    whole: AgentCell
    """The figures of all episodes."""

    domains: dict[str, DomainCell]
    """The figures by domain."""

    pass_at: dict[str, Share]
    """By k, the probability that at least one of k samples of a task succeeds: the unbiased estimate, over tasks."""

    pass_all: dict[str, Share]
    """By k, the probability that all of k samples of a task succeed."""

    ends: Counts
    """The number of episodes by how they ended."""

    refused: int
    """The number of actions that could not be read, or called what cannot be called."""

    tokens: dict[Literal["agent", "world"], PartyTokens]
    """The tokens of agent and world, and their price where prices were given."""

    replaced: dict[Literal["agent", "world"], PartyTokens] = Field(default_factory=dict)
    """The tokens beside `tokens` that went into nothing: into answers of the agent that were asked for again or failed,
    and into episodes that were played again after a failure."""

    agent_failures: Counts
    """The number of episodes that the agent's server failed, by kind."""

    world_failures: Counts
    """The number of episodes that the world failed, by kind."""

    interrupted: bool = False
    """Whether episodes are missing that a command of this result asked for, because Ctrl-C, a kill or a failure ended
    it."""

    episodes: tuple[AgentEpisode, ...]
    """The episodes."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        keys = {episode.key for episode in self.episodes}
        if len(keys) < len(self.episodes):
            raise ValueError("episodes: each domain, seed and sample once")
        if unknown := {episode.domain for episode in self.episodes} - self.domains.keys():
            raise ValueError(f"domains: figures of {', '.join(sorted(unknown))} too")
        return self


class AgentDifference(Strict):
    """Two agents on the same tasks."""

    first: str
    """The first agent."""

    second: str
    """The second agent."""

    whole: Share | None
    """The success of the first minus that of the second on the tasks that both were scored on, with its 95% interval;
    None without any."""

    domains: dict[str, Share]
    """The same by domain."""

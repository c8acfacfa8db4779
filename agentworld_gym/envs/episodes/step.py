"""One step of one episode: what was done, what the world answered, what was tested, and what the agent gets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from agentworld_gym.core.contracts import Action, Failure, Observation, Usage
from agentworld_gym.envs.episodes.episode import Episode, Info


class Moment(StrEnum):
    """The moment that a step is for the checks of its task."""

    STEP = "step"  # The episode goes on, as far as the step limit is concerned.
    END = "end"  # The step limit is reached, or the world broke the episode off.
    FINISH = "finish"  # The agent said that it is done, or the world ended the episode.


@dataclass(slots=True)
class CheckResults:
    """What the checks of one episode found at one moment."""

    passed: dict[int, float] = field(default_factory=dict)
    """How much of each check passed, from 0 to 1, by the check's index."""

    rubric: float | None = None
    """The score of the domain's rubric, from 0 to 1, if it was due."""

    collateral: tuple[str, ...] | None = None
    """Where the state differs from the one that the expert leaves, if the world knows that."""

    usage: Usage = field(default_factory=Usage)
    """The tokens that probes and judges cost."""

    answers: Counter[str] = field(default_factory=Counter)
    """Who answered the actions of probes: see `agentworld_gym.core.checks.probes.ProbeRun.answers`."""

    failure: Failure | None = None
    """Why the checks could not be tested."""


@dataclass(slots=True)
class EpisodeStep:
    """One step of one episode, as it is filled in on its way from the action to the reward."""

    episode: Episode
    """The episode that the step belongs to."""

    action: Action
    """What the agent did."""

    answer: Observation | Failure | None = None
    """What the world answered; None where it is not asked, as on `finish`. Of a question to the user, a failure to
    answer it."""

    said: Observation | None = None
    """What a model answered as the user; None where a script does, and where the user is not asked."""

    latency: float = 0.0
    """The seconds from the action to the world's answer."""

    checking: float = 0.0
    """The seconds that the checks took; 0 where none was due."""

    moment: Moment | None = None
    """What the step is for the checks; None where the world failed, so that there was no step."""

    results: CheckResults | None = None
    """What the checks found; None where none was due."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What an agent gets for one step."""

    observation: str
    """What the agent sees."""

    reward: float
    """The reward of the step."""

    terminated: bool
    """Whether the episode ended by `finish`, by success, or by the world's own rules."""

    truncated: bool
    """Whether the episode ended by the step limit or by a failure of the world."""

    info: Info
    """What else there is to say of the step."""

    answered: bool
    """Whether the observation is the answer of the world, or of the task's user, to this very action."""

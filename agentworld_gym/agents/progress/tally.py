"""What a run came to so far: episodes, success, rewards, failures and tokens."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from agentworld_gym.base.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.envs.episodes.runner import EpisodeRunner

RATE_S = 30.0
"""The seconds over which rates are taken."""


class Taken(Protocol):
    """One step as an agent gets it, such as `episodes.step.Transition`."""

    @property
    def reward(self) -> float:
        """The reward."""
        ...

    @property
    def terminated(self) -> bool:
        """Whether the episode terminated."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether the episode was truncated."""
        ...

    @property
    def info(self) -> Mapping[str, Any]:
        """The `info` of the step."""
        ...


class ProgressView(Protocol):
    """What shows a tally."""

    def show(self) -> None:
        """Show what was counted, if it is time."""
        ...


@dataclass
class _Gains:
    """What an episode, or many of them, gained."""

    episodes: int = 0
    tested: int = 0
    solved: int = 0
    steps: int = 0
    gain: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)

    def add(self, other: _Gains, sign: int = 1) -> None:
        self.episodes += sign * other.episodes
        self.tested += sign * other.tested
        self.solved += sign * other.solved
        self.steps += sign * other.steps
        self.gain += sign * other.gain
        for name, value in other.parts.items():
            self.parts[name] = self.parts.get(name, 0.0) + sign * value


class Tally:
    """Counts the steps and episodes of a run.

    An episode whose world failed says nothing of the agent: it counts as an episode and a failure, and enters neither
    success nor return. One that is left in the middle counts as none: what it had gained is forgotten with it.

    >>> from types import SimpleNamespace
    >>> class Episode: ...
    >>> tally, episode = Tally(total=10), Episode()
    >>> info = {"success": True, "reward_parts": {"checks": 1.0}, "tokens": {"prompt": 9, "completion": 1, "cached": 0}}
    >>> tally.step(episode, SimpleNamespace(reward=1.0, terminated=True, truncated=False, info=info))
    >>> tally.success, tally.gain, tally.parts, tally.tokens
    (1.0, 1.0, {'checks': 1.0}, 10)

    The attribute `unit` is the word for episodes, `note` is what views show beside the figures, and `before` is how
    many of `total` an earlier run left behind: they count as over, and enter no figure.

    >>> tally.before = 4
    >>> tally.place, tally.share
    ('5 of 10 episodes', 0.5)

    Args:
        total: How many episodes there will be; None where that is not known.
        window: The means are over so many last episodes; None takes all.
        clock: The clock, in seconds.

    Raises:
        SpecError: The window holds no episode.
    """

    def __init__(
        self, total: int | None = None, window: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if window is not None and window < 1:
            raise SpecError("options", "window", window, "at least one episode")
        self.total, self.window = total, window
        self.before = self.episodes = self.steps = self.tokens = 0
        self.failures: Counter[str] = Counter()
        self.unit, self.note = "episodes", ""
        self.views: list[ProgressView] = []
        self._clock, self._began = clock, clock()
        self._running: WeakKeyDictionary[Any, _Gains] = WeakKeyDictionary()
        self._last: deque[_Gains] = deque()
        self._sums = _Gains()
        self._marks: deque[tuple[float, int, int]] = deque([(self._began, 0, 0)])

    def watch(self, runner: EpisodeRunner) -> None:
        """Count every step that a runner (the `runner` of every environment) takes, whatever plays in it."""
        runner.listeners.append(self.step)

    def step(self, episode: Any, taken: Taken) -> None:
        """Count a step.

        Args:
            episode: Its episode: an object that stands for it as long as it lasts, and equals itself alone.
            taken: What the agent got.
        """
        info = taken.info
        self.steps += 1
        for spent in ("tokens", "check_tokens"):
            used = info.get(spent, {})
            self.tokens += used.get("prompt", 0) + used.get("completion", 0)
        gained = self._running.setdefault(episode, _Gains())
        gained.steps += 1
        gained.gain += taken.reward
        for name, value in info.get("reward_parts", {}).items():
            gained.parts[name] = gained.parts.get(name, 0.0) + value
        failure = info.get("failure")
        if failure is not None:
            self.failures[failure["kind"]] += 1
        if taken.terminated or taken.truncated:
            self._running.pop(episode)
            self._end(gained, None if failure else info.get("success"), failed=failure is not None)
        self._show()

    def ended(
        self,
        success: bool | None,
        gain: float,
        steps: int = 0,
        parts: Mapping[str, float] | None = None,
        failure: str | None = None,
    ) -> None:
        """Count an episode whose steps were not counted.

        Args:
            success: Whether its task was solved; None where that is not known.
            gain: The sum of its rewards.
            steps: How many steps it had.
            parts: The parts of its rewards by name.
            failure: The kind of the failure in which it ended; None where the world did not fail.
        """
        self.steps += steps
        if failure is not None:
            self.failures[failure] += 1
        gained = _Gains(steps=steps, gain=gain, parts=dict(parts or {}))
        self._end(gained, success, failed=failure is not None)
        self._show()

    def reached(self, done: int, tokens: int, failures: Mapping[str, int]) -> None:
        """Take over the counts of a run that counts for itself; what the first call finds does not enter the rates.

        Args:
            done: How many episodes, or other pieces of work, are over.
            tokens: How many tokens they took.
            failures: How many failed, by kind.
        """
        if not self.steps:
            self._marks = deque([(self._clock(), done, tokens)])
        self.episodes = self.steps = done
        self.tokens, self.failures = tokens, Counter({kind: number for kind, number in failures.items() if number})
        self._show()

    @property
    def success(self) -> float | None:
        """The share of the tested episodes that succeeded; None without any."""
        return self._sums.solved / self._sums.tested if self._sums.tested else None

    @property
    def tested(self) -> int:
        """How many episodes the share of success is over."""
        return self._sums.tested

    @property
    def gain(self) -> float | None:
        """The mean return of an episode; None without any."""
        return self._sums.gain / self._sums.episodes if self._sums.episodes else None

    @property
    def length(self) -> float | None:
        """The mean number of steps of an episode; None without any."""
        return self._sums.steps / self._sums.episodes if self._sums.episodes else None

    @property
    def parts(self) -> dict[str, float]:
        """The mean of each part of an episode's return, by name."""
        return {name: value / self._sums.episodes for name, value in self._sums.parts.items()}

    @property
    def seconds(self) -> float:
        """How long the run has lasted."""
        return self._clock() - self._began

    def rates(self) -> tuple[float, float]:
        """Return how many steps and tokens there were in a second, over the last half minute."""
        now = self._clock()
        while len(self._marks) > 1 and self._marks[1][0] <= now - RATE_S:
            self._marks.popleft()
        then, steps, tokens = self._marks[0]
        passed = max(now - then, 1e-9)
        return (self.steps - steps) / passed, (self.tokens - tokens) / passed

    @property
    def share(self) -> float | None:
        """How much of the run is over, from 0 to 1; None where that is not known."""
        return None if self.total is None else (self.before + self.episodes) / self.total if self.total else 1.0

    @property
    def place(self) -> str:
        """How many episodes are over, and of how many where that is known."""
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.before + self.episodes:,}{of} {self.unit}"

    @property
    def figures(self) -> str:
        """What the run came to, in a line.

        >>> tally = Tally(window=50)
        >>> tally.ended(success=True, gain=0.9, steps=4, parts={"checks": 1.0, "step_cost": -0.1})
        >>> tally.figures.rpartition(", ")[0]
        'success 1.00 of 1, return +0.90 (checks +1.00, step_cost -0.10), last 50 episodes, 4 steps'
        """
        parts = []
        if self.success is not None:
            parts.append(f"success {self.success:.2f} of {self.tested}")
        if self.gain is not None:
            named = ", ".join(f"{name} {value:+.2f}" for name, value in self.parts.items())
            parts.append(f"return {self.gain:+.2f}{f' ({named})' if named else ''}")
        if self.window is not None:
            parts.append(f"last {self.window} episodes")
        if self.steps != self.episodes:
            parts.append(f"{self.steps:,} steps")
        if self.note:
            parts.append(self.note)
        if self.failures:
            parts.append("failures: " + ", ".join(f"{number} {kind}" for kind, number in self.failures.most_common()))
        steps, tokens = self.rates()
        # A run that counts for itself counts pieces of work, and no steps in them.
        unit = self.unit if 0 < self.steps == self.episodes else "steps"
        parts.append(f"{tokens:,.0f} tokens/s" if self.tokens else f"{steps:,.1f} {unit}/s")
        return ", ".join(parts)

    def scalars(self) -> dict[str, float]:
        """Return every figure by name, as TensorBoard takes them."""
        steps, tokens = self.rates()
        figures = {"success": self.success, "return": self.gain, "steps_per_episode": self.length}
        figures |= {f"reward/{name}": value for name, value in self.parts.items()}
        figures |= {f"failures/{kind}": float(number) for kind, number in self.failures.items()}
        figures |= {"episodes": float(self.episodes), "steps_per_second": steps, "tokens_per_second": tokens}
        return {name: value for name, value in figures.items() if value is not None}

    def _end(self, gained: _Gains, success: bool | None, failed: bool) -> None:
        self.episodes += 1
        if failed:
            return
        gained.episodes = 1
        gained.tested, gained.solved = int(success is not None), int(bool(success))
        self._sums.add(gained)
        if self.window is not None:
            self._last.append(gained)
            if len(self._last) > self.window:
                self._sums.add(self._last.popleft(), -1)

    def _show(self) -> None:
        now = self._clock()
        if now - self._marks[-1][0] >= 1.0:
            self._marks.append((now, self.steps, self.tokens))
        for view in self.views:
            view.show()

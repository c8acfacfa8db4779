"""Plays the same actions on a live system several times, and compares what it shows."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pydantic import BaseModel

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.policies import policy_actions, policy_shares
from agentworld_gym.agents.policies.exploring import OfferedExplorer
from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.core.contracts import Action, Failure
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError, InexactFork
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.live_check.coverage import coverage_of
from agentworld_gym.evaluation.live_check.report import LiveReport, Plays, VariedPiece
from agentworld_gym.kit.live import LiveMachine, Masks
from agentworld_gym.kit.live.masks import varied
from agentworld_gym.kit.live.process_watch import family_of, resident_bytes
from agentworld_gym.worlds.live import LiveWorld

FORKS = 3
"""How many episodes are forked in their middle."""

STAGES = ("exploring", "again", "load", "forks")
"""The stages of a check. The first three play every episode."""

_DIGEST = re.compile(r"[0-9a-f]{16}")

OnProgress = Callable[[str, int, float], None]
"""A function that is called with the name of a stage, the number of its episodes that are over, and the share of all
episodes of the check that are over."""


@dataclass
class Play:
    """One episode: its actions, and what they showed."""

    task: Task
    """The task."""

    seed: int
    """The seed."""

    actions: list[Action] = field(default_factory=list)
    """The actions."""

    shown: list[str] = field(default_factory=list)
    """What was shown at the start and after each action; it is shorter where the system failed."""

    failure: Failure | None = None
    """How the system failed, if it did."""

    begun: float = 0.0
    """How many seconds the start took."""

    acted: float = 0.0
    """How many seconds all actions took."""


def check_live(
    options: EnvOptions, episodes: int = 20, seed: int = 0, on_progress: OnProgress | None = None
) -> LiveReport:
    """Check a live system.

    Args:
        options: The domain and the live world.
        episodes: How many episodes are played first; at least 2.
        seed: The seed of what is drawn.
        on_progress: A function that is called as episodes end.

    Raises:
        SpecError: The world is no live one, or an option is wrong.
        WorldNotConfigured: The system cannot run here.
        AgentWorldError: No episode can be begun.
    """
    if episodes < 2:
        raise SpecError("options", "episodes", episodes, "at least 2")
    runner = options.changed(judge="none").runner()
    try:
        if not isinstance(runner.world, LiveWorld):
            raise SpecError("options", "world", options.world, "a live world, such as live:my.yaml")
        return _Check(runner, runner.world, episodes, seed, on_progress or (lambda stage, done, share: None)).report()
    finally:
        runner.close()


class _Check:
    """The plays of one check."""

    def __init__(
        self, runner: EpisodeRunner, world: LiveWorld, episodes: int, seed: int, on_progress: OnProgress
    ) -> None:
        self._runner, self._world, self._episodes, self._seed, self._follow = runner, world, episodes, seed, on_progress
        self._memory: list[float] = []
        self._fork_seconds: list[float] = []
        self._forks = "refused"
        self._pieces: Counter[tuple[str, str | None]] = Counter()
        self._examples: dict[tuple[str, str | None], tuple[str, str]] = {}

    def report(self) -> LiveReport:
        """Play everything, and return what was found."""
        first = [self._explored(number) for number in range(self._episodes)]
        if all(not play.shown for play in first):
            failed = next(play.failure for play in first if play.failure is not None)
            raise AgentWorldError(f"no episode can be begun: {failed.message}")
        again = [self._replayed(play) for play in self._told("again", first)]
        load, acted, seconds = self._together(first)
        after = [self._replayed(first[0])]
        for others in (again, load):
            self._learn(first, others)
        masks = tuple(dict.fromkeys(mask for _, mask in self._pieces if mask is not None))
        engine = self._world.engines.of(first[0].task)
        engine.masks = every = engine.masks.also(masks)
        self._fork(first[:FORKS])
        plays = [*first, *again, *load, *after]
        tools = self._runner.tools(first[0].task)
        pairs = [
            (action.raw, text) for play in first for action, text in zip(play.actions, play.shown[1:], strict=False)
        ]
        met = coverage_of(
            [action for action, _ in pairs],
            [text for _, text in pairs],
            [str(tool["name"]) for tool in tools],
        )
        return LiveReport(
            system=_system(getattr(engine.config, "environment", ""), engine.about().parts) or self._runner.spec.title,
            domain=self._runner.spec.id,
            episodes=len(first),
            actions=sum(len(play.actions) for play in first),
            again=_compared(first, again, every),
            load=_compared(first, load, every),
            at_a_time=1 if engine.config.shared else min(len(first), engine.config.sessions),
            after=_compared(first[:1], after, every),
            varied=tuple(
                VariedPiece(kind=kind, first=one[:200], second=other[:200], mask=mask, times=times)
                for (kind, mask), times in self._pieces.most_common()
                for one, other in [self._examples[kind, mask]]
            ),
            masks=masks,
            forks=self._forks,
            fork_seconds=median(self._fork_seconds) if self._fork_seconds else None,
            start_seconds=median(play.begun for play in (*first, *again)),
            steps_per_second=_rate(sum(len(play.actions) for play in again), sum(play.acted for play in again)),
            steps_per_second_load=_rate(acted, seconds),
            memory_mb=median(self._memory) if self._memory else None,
            failures=dict(Counter(play.failure.kind.value for play in plays if play.failure is not None)),
            why=next((play.failure.message for play in plays if play.failure is not None), ""),
            reset=_in_words(getattr(engine.config, "reset", "restart")),
            coverage=met,
            read_only=sum("read-only file system" in text.lower() for play in first for text in play.shown[1:]),
        )

    def _tell(self, stage: str, done: int) -> None:
        """Tell that episodes of a stage are over."""
        before = self._episodes * STAGES.index(stage)
        self._follow(stage, done, (before + done) / (self._episodes * (len(STAGES) - 1) + FORKS))

    def _told(self, stage: str, plays: Sequence[Play]) -> Any:
        for done, play in enumerate(plays):
            self._tell(stage, done)
            yield play

    def _explored(self, number: int) -> Play:
        """Play a new episode."""
        self._tell("exploring", number)
        seed = self._seed + number
        rng = random.Random(f"live check/{seed}")
        play = Play(self._runner.source.pick(seed, {}), seed)
        stream = self._stream(play.task, rng)
        session = self._begun(play)
        if session is None:
            return play
        try:
            if session.offers is not None or find_domain(play.task.domain) is None:
                self._explore_offers(play, session, rng)
            else:
                actions = on_screen(stream, play.task.domain, play.shown[0])
                with suppress(StopIteration):
                    text = next(actions)
                    while self._act(play, session, self._runner.parser.parse(text, play.task.tools)):
                        text = actions.send(play.shown[-1])
            self._memory += _memory_of(session)
        finally:
            session.close()
        return play

    def _explore_offers(self, play: Play, session: Any, rng: random.Random) -> None:
        """Take some of the actions of which the world tells that they can be done, or of the menu."""
        explorer = OfferedExplorer(rng, rng.randint(*SESSION), play.task.menu)
        while (text := explorer.choose(play.shown[-1], session.offers)) is not None:
            if not self._act(play, session, self._runner.parser.parse(text, play.task.tools)):
                return

    def _stream(self, task: Task, rng: random.Random) -> ActionStream:
        (policy,) = policy_shares(task.domain, {"explore": 1.0}) or {"menu": 1.0}
        return policy_actions(policy, task, rng, CollectConfig())

    def _begun(self, play: Play) -> Any:
        began = time.perf_counter()
        (session,) = self._world.begin([play.task], [play.seed])
        play.begun = time.perf_counter() - began
        if isinstance(session, Failure):
            play.failure = session
            return None
        play.shown.append(session.observation)
        return session

    def _act(self, play: Play, session: Any, action: Action) -> bool:
        """Take an action, and return whether the system can go on; an action that ends an episode is not taken."""
        if not action.asks_world:
            return False
        began = time.perf_counter()
        (answer,) = self._world.step([session], [action])
        play.acted += time.perf_counter() - began
        play.actions.append(action)
        if isinstance(answer, Failure):
            play.failure = answer
            return False
        play.shown.append(answer.text)
        return answer.verdict is None or not answer.verdict.over

    def _replayed(self, told: Play) -> Play:
        play = Play(told.task, told.seed)
        session = self._begun(play)
        if session is not None:
            try:
                for action in told.actions:
                    if not self._act(play, session, action):
                        break
            finally:
                session.close()
        return play

    def _together(self, told: Sequence[Play]) -> tuple[list[Play], int, float]:
        """Play all episodes again, as many at a time as there may be, and return them with the number of their actions
        and their seconds."""
        config = self._world.engines.of(told[0].task).config
        most = 1 if config.shared else config.sessions
        plays, acted, seconds = list[Play](), 0, 0.0
        for at in range(0, len(told), most):
            self._tell("load", at)
            wave = self._at_a_time(told[at : at + most])
            plays, acted, seconds = [*plays, *wave[0]], acted + wave[1], seconds + wave[2]
        return plays, acted, seconds

    def _at_a_time(self, told: Sequence[Play]) -> tuple[list[Play], int, float]:
        plays = [Play(one.task, one.seed) for one in told]
        sessions = self._world.begin([play.task for play in plays], [play.seed for play in plays])
        live: dict[int, Any] = {}
        for place, session in enumerate(sessions):
            if isinstance(session, Failure):
                plays[place].failure = session
            else:
                live[place] = session
                plays[place].shown.append(session.observation)
        acted, began = 0, time.perf_counter()
        try:
            for turn in range(max((len(one.actions) for one in told), default=0)):
                going = [place for place in live if turn < len(told[place].actions) and plays[place].failure is None]
                actions = [told[place].actions[turn] for place in going]
                answers = self._world.step([live[place] for place in going], actions)
                acted += len(going)
                for place, action, answer in zip(going, actions, answers, strict=True):
                    plays[place].actions.append(action)
                    if isinstance(answer, Failure):
                        plays[place].failure = answer
                    else:
                        plays[place].shown.append(answer.text)
        finally:
            seconds = time.perf_counter() - began
            for session in live.values():
                session.close()
        return plays, acted, seconds

    def _fork(self, told: Sequence[Play]) -> None:
        """Fork some episodes in their middle, and see whether both copies go on alike."""
        found = []
        for play in self._told("forks", told):
            middle = len(play.actions) // 2
            again = Play(play.task, play.seed)
            session = self._begun(again) if play.shown else None
            if session is None:
                continue
            try:
                if all(self._act(again, session, action) for action in play.actions[:middle]):
                    found.append(self._forked(session, play.actions[middle : middle + 1]))
            finally:
                session.close()
        by_copy = all(verdict == "exact" for verdict in found)
        if found:
            self._forks = "exact" if by_copy else next(one for one in found if one != "exact")

    def _forked(self, session: Any, actions: Sequence[Action]) -> str:
        began = time.perf_counter()
        try:
            twin = session.fork()
        except InexactFork:
            return "not exact" if self._world.engines.of(session.task).config.forks else "refused"
        except EngineError:
            return "not exact"
        try:
            self._fork_seconds.append(time.perf_counter() - began)
            answers = [self._world.step([one], list(actions))[0] for one in (session, twin)] if actions else ["", ""]
            masks = self._world.engines.of(session.task).masks
            one, other = (answer.text if not isinstance(answer, Failure | str) else str(answer) for answer in answers)
            if masks.without(one) != masks.without(other):
                return "not exact"
            return "exact, by playing again" if _plays_again(session.machine) else "exact"
        finally:
            twin.close()

    def _learn(self, first: Sequence[Play], others: Sequence[Play]) -> None:
        """Learn what varies from pairs of answers that should be equal."""
        known = self._world.engines.of(first[0].task).masks
        for one, other in zip(first, others, strict=True):
            for told, shown in zip(one.shown, other.shown, strict=False):
                for piece in varied(known.without(told), known.without(shown)):
                    key = (piece.kind, piece.mask)
                    self._pieces[key] += 1
                    self._examples.setdefault(key, (piece.first, piece.second))


def _system(environment: str, parts: Mapping[str, str]) -> str:
    """Return what a system is called: a text environment as in its configuration, and the parts that are no digest.

    >>> _system("", {"memory": "memory-server 0.6.3", "tools": "7873575963a1bf33", "textworld": "1.7.0"})
    'memory-server 0.6.3, textworld 1.7.0'
    """
    told = {name: value for name, value in parts.items() if not _DIGEST.fullmatch(value)}
    versions = (value if " " in value else f"{name} {value}" for name, value in told.items())
    return ", ".join(filter(None, (environment, *versions)))


def _in_words(reset: BaseModel | str | None) -> str:
    """Return how sessions go back to their start, by the keys of the configuration.

    >>> _in_words(None), _in_words("restart")
    ('none', 'restart')
    """
    if reset is None or isinstance(reset, str):
        return reset or "none"
    keys = {key: value for key, value in reset if value and key in reset.model_fields_set}
    checked = ", checked by `verify`" if keys.pop("verify", None) else ""
    keys.pop("arguments", None)
    said = [f"{key} {' '.join(value) if isinstance(value, tuple) else value}" for key, value in keys.items()]
    return ", ".join(said) + checked if said else "none"


def _plays_again(machine: Any) -> bool:
    return isinstance(machine, LiveMachine) and machine.exact_forks is not None


def _memory_of(session: Any) -> list[float]:
    machine = session.machine
    pids = machine.pids if isinstance(machine, LiveMachine) else ()
    held = sum(resident_bytes(pid) for one in pids for pid in family_of(one))
    return [held / (1 << 20)] if held else []


def _compared(first: Sequence[Play], others: Sequence[Play], masks: Masks) -> Plays:
    pairs = [
        (one.shown[turn], other.shown[turn] if turn < len(other.shown) else None)
        for one, other in zip(first, others, strict=True)
        for turn in range(len(one.shown))
    ]
    equal = sum(one == other for one, other in pairs)
    masked = sum(other is not None and masks.without(one) == masks.without(other) for one, other in pairs)
    return Plays(answers=len(pairs), equal=equal, masked=masked)


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0

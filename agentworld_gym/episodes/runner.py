"""Episodes, a wave at a time: the core under every face (one environment, a vector of them, Stable-Baselines3, TRL)."""

from __future__ import annotations

import copy
import itertools
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import orjson

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.actions.toolset import example_call
from agentworld_gym.checks.checks import brought_about, carried_out, due, passed, score, score_with_collateral
from agentworld_gym.checks.probes import Probe, run_probes
from agentworld_gym.checks.rubric import Case, RubricJudge
from agentworld_gym.contracts import (
    Accountable,
    Action,
    ActionKind,
    Failure,
    FailureKind,
    Observation,
    Session,
    Usage,
    World,
)
from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.domain.task import Task
from agentworld_gym.episodes.log import log_fork, log_starts, log_steps
from agentworld_gym.errors import AgentWorldError, RecordingError
from agentworld_gym.screens.sight import Sight
from agentworld_gym.tasks.source import TaskSource
from agentworld_gym.traces.log import TraceLogs


class Info(TypedDict, total=False):
    """What stands in `info`; deterministic where the world is. No key is there without a value.

    `instruction` and `tools` are there after a reset; `tools` is the caller's own copy of what can be called.

    `success` is there once the task's checks were tested (always on `finish`), and never when the world or a judge
    failed. `collateral` is there where all checks passed and the world knows its state: what differs from the state
    that the task's expert leaves; success wants it empty. `tokens` counts the step, `check_tokens` what its probes and
    judge cost. `confidence` is how sure a language world was of the observation (mean log-probability per token), and
    `ledger` what a world that keeps one says of the hidden state: the entries that the action changed. `failure` says
    what the world did wrong: the step is truncated and its reward is 0.0. Where `retryable`, the session is as before
    the step, which may be tried again; a failed probe or judge is not, because the action itself was carried out.
    """

    task_id: str
    instruction: str
    tools: list[dict[str, Any]]
    fingerprint: str
    steps: int
    tokens: dict[str, int]
    confidence: float
    ledger: str
    check_tokens: dict[str, int]
    reward_parts: dict[str, float]
    success: bool
    score: float
    collateral: list[str]
    action_error: str
    failure: dict[str, Any]


@dataclass
class Episode:
    """One episode: its task, its world's session, and what happened so far.

    Where several `agents` share it, each acts once in a round, and a round is a step.
    """

    id: str
    task: Task
    seed: int
    session: Session
    agents: int = 1
    actions: list[str] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    confirming: bool = False
    paid: float = 0.0
    over: bool = False

    @property
    def steps(self) -> int:
        """How many steps have begun: as many as there were actions, or rounds of them."""
        return -(-len(self.actions) // self.agents)

    @property
    def observation(self) -> str:
        """What the agent saw last."""
        return self.observations[-1]

    @property
    def menu(self) -> tuple[str | None, ...]:
        """The entries of the task's menu as actions for the last screen; None for those whose element is not there."""
        return Sight(self.task.domain, self.observations).offers(self.task.menu)

    def fork(self, name: str) -> Episode:
        """An exact copy that goes its own way."""
        session = self.session.fork()
        return replace(self, id=name, session=session, actions=list(self.actions), observations=list(self.observations))


@dataclass(frozen=True, slots=True)
class Transition:
    """What one step gave; `answered` says whether the observation is the world's answer to this very action."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: Info
    answered: bool


@dataclass(slots=True)
class _Ending:
    """What the checks of one episode found at one moment."""

    passed: dict[int, float] = field(default_factory=dict)
    collateral: tuple[str, ...] | None = None
    rubric: float | None = None
    usage: Usage = field(default_factory=Usage)
    failure: Failure | None = None


class EpisodeRunner:
    """Starts and advances any number of episodes in one world, each call one wave.

    Args:
        spec: the domain.
        world: who answers.
        source: picks tasks.
        judge: scores rubrics; None where no task needs one.
        max_steps: step limit of every episode; None takes the task's or the spec's.
        traces: the logs to write; None writes none.

    `output` says where the output stands in an observation; None: it is all of it.
    """

    def __init__(
        self,
        spec: DomainSpec,
        world: World[Any],
        source: TaskSource,
        *,
        judge: RubricJudge | None = None,
        max_steps: int | None = None,
        traces: TraceLogs | None = None,
    ) -> None:
        self.spec, self.world, self.source, self.judge = spec, world, source, judge
        self.max_steps, self.traces = max_steps, traces
        self.parser = ActionParser(spec)
        self.fingerprint = world.fingerprint.digest
        self.output = re.compile(spec.observation.output) if spec.observation.output else None
        self._ids = itertools.count()

    def limit(self, task: Task) -> int:
        """The step limit of a task's episodes."""
        return self.max_steps or task.max_steps or self.spec.limits.max_steps

    def start(
        self, seeds: Sequence[int], options: Mapping[str, Any], agents: int = 1
    ) -> list[tuple[Episode, str, Info]]:
        """Begin one episode a seed; the first observation is the instruction, a blank line, and what the world shows.

        Each episode is shared by so many `agents`.

        Raises:
            SpecError: a task or an option that does not fit.
            RecordingError: a replay that has no such episode.
            AgentWorldError: the world cannot begin.
        """
        tasks = [self.source.pick(seed, options) for seed in seeds]
        for task in tasks:
            self._judgeable(task)
        started: list[tuple[Episode, str, Info]] = []
        for task, seed, session in zip(tasks, seeds, self.world.begin(tasks, seeds), strict=True):
            if isinstance(session, Failure):
                for begun, _, _ in started:
                    begun.session.close()
                kind = RecordingError if session.kind is FailureKind.RECORDING else AgentWorldError
                raise kind(f"the world cannot begin task {task.id}: {session.message}")
            episode = Episode(self._name(), task, seed, session, agents)
            shown = session.observation
            text = f"{task.instruction}\n\n{shown}" if shown else task.instruction
            episode.observations.append(text)
            info = Info(
                task_id=task.id, instruction=task.instruction, fingerprint=self.fingerprint, steps=0, tokens=no_tokens()
            )
            if tools := self.tools(task):
                info["tools"] = _copied(tools)
            started.append((episode, text, info))
        if self.traces:
            log_starts(self.traces, [episode for episode, _, _ in started])
        return started

    def tools(self, task: Task) -> tuple[dict[str, Any], ...]:
        """What can be called in a task: name, description and JSON Schema of each tool; empty without tools."""
        return (*self.spec.action.tools, *task.tools)

    def offers(self, episode: Episode) -> tuple[str, ...]:
        """Actions that make sense in an episode, to draw from: its menu, else a call of each tool."""
        if episode.task.menu:
            return tuple(entry for entry in episode.menu if entry is not None)
        if "tool_call" not in self.spec.action.syntax:
            return ()
        calls = [example_call(tool) for tool in self.tools(episode.task)]
        return tuple(call for call in calls if self.parser.parse(call, episode.task.tools).error is None)

    def fork(self, episode: Episode) -> Episode:
        """An exact copy of an episode under a name of its own; the logs say where it comes from."""
        twin = episode.fork(self._name())
        if self.traces:
            log_fork(self.traces, twin, episode)
        return twin

    def advance(self, episodes: Sequence[Episode], actions: Sequence[str]) -> list[Transition]:
        """One step of each episode: parse, ask the world, test what is due, pay."""
        began = time.perf_counter()
        parsed = [self._parse(episode, text) for episode, text in zip(episodes, actions, strict=True)]
        asked = [i for i, action in enumerate(parsed) if action.kind is not ActionKind.FINISH]
        answers = dict(
            zip(asked, self.world.step([episodes[i].session for i in asked], [parsed[i] for i in asked]), strict=True)
            if asked
            else ()
        )
        latency = time.perf_counter() - began
        moments = []
        for index, episode in enumerate(episodes):
            answer = answers.get(index)
            moments.append(None if isinstance(answer, Failure) else self._apply(episode, parsed[index], answer))
        endings = self._test(episodes, parsed, moments)
        transitions = [
            self._settle(episode, parsed[i], answers.get(i), moments[i], endings.get(i))
            for i, episode in enumerate(episodes)
        ]
        if self.traces:
            steps = [(episode, parsed[i], answers.get(i), transitions[i]) for i, episode in enumerate(episodes)]
            log_steps(self.traces, steps, latency)
        return transitions

    def close(self) -> None:
        """Close the world and the logs."""
        self.world.close()
        if self.judge is not None:
            self.judge.generator.close()
        if self.traces:
            self.traces.close()

    def _name(self) -> str:
        return f"e{next(self._ids)}"

    def _judgeable(self, task: Task) -> None:
        if self.judge is None and (self.spec.reward.rubric or any(check.rubric for check in task.success)):
            raise AgentWorldError(f"task {task.id} is scored by a rubric; pass judge='URL' or judge='vllm:MODEL'")

    def _parse(self, episode: Episode, text: str) -> Action:
        action = self.parser.parse(text, episode.task.tools)
        if action.kind is ActionKind.CONFIRM and episode.confirming:
            return replace(action, kind=ActionKind.FINISH)
        return action

    def _parsed(self, episode: Episode) -> list[Action]:
        """All actions of an episode, as they are read."""
        return [self.parser.parse(text, episode.task.tools) for text in episode.actions]

    def _apply(self, episode: Episode, action: Action, answer: Observation | None) -> str:
        """Enter the step into the episode; the moment whose checks are due."""
        episode.actions.append(action.raw)
        episode.confirming = action.kind is ActionKind.CONFIRM
        episode.observations.append(episode.session.observation if answer is None else answer.text)
        if action.kind is ActionKind.FINISH:
            return "finish"
        return "end" if len(episode.actions) >= self.limit(episode.task) * episode.agents else "step"

    def _test(
        self, episodes: Sequence[Episode], actions: Sequence[Action], moments: Sequence[str | None]
    ) -> dict[int, _Ending]:
        """Test what is due: patterns at once, probes on forks in one wave, rubrics in another."""
        endings: dict[int, _Ending] = {}
        probes: list[tuple[int, int]] = []
        cases: list[tuple[int, int | None]] = []
        for index, moment in enumerate(moments):
            if moment is None:
                continue
            episode = episodes[index]
            over = moment != "step"
            checks = due(episode.task, moment)
            if not checks and not over:
                continue
            ending = endings[index] = _Ending()
            for number in checks:
                check = episode.task.success[number]
                if check.probe is not None:
                    probes.append((index, number))
                elif check.rubric is not None:
                    cases.append((index, number))
                else:
                    acted = self._parsed(episode) if check.answer is None else []
                    shown = brought_about(acted, episode.observations[: len(acted) + 1])
                    ending.passed[number] = passed(check, carried_out(acted), shown, actions[index].answer)
            if over and self.spec.reward.rubric:
                cases.append((index, None))
        if probes:
            self._probe(episodes, probes, endings)
        if cases:
            self._judge(episodes, actions, cases, endings)
        self._account(episodes, endings)
        return endings

    def _account(self, episodes: Sequence[Episode], endings: Mapping[int, _Ending]) -> None:
        """Ask a world that knows its state what the episodes that pass all checks changed beside their tasks."""
        won = [i for i, ending in endings.items() if not ending.failure and _is_whole(episodes[i].task, ending)]
        if not won or not isinstance(self.world, Accountable):
            return
        for index, found in zip(won, self.world.collateral([episodes[i].session for i in won]), strict=True):
            if isinstance(found, Failure):
                endings[index].failure = replace(
                    found, message=f"the state cannot be told: {found.message}", retryable=False
                )
            else:
                endings[index].collateral = found

    def _probe(
        self, episodes: Sequence[Episode], probes: Sequence[tuple[int, int]], endings: Mapping[int, _Ending]
    ) -> None:
        going = []
        for index, number in probes:
            episode = episodes[index]
            sight = Sight(episode.task.domain, episode.observations)
            going.append(Probe(episode.task, episode.task.success[number], episode.session.probe(), sight))
        run_probes(self.world, self.parser, going, self.output)
        for (index, number), probe in zip(probes, going, strict=True):
            ending = endings[index]
            ending.usage += probe.usage
            if probe.score is not None:
                ending.passed[number] = probe.score
            ending.failure = probe.failure or ending.failure

    def _judge(
        self,
        episodes: Sequence[Episode],
        actions: Sequence[Action],
        cases: Sequence[tuple[int, int | None]],
        endings: Mapping[int, _Ending],
    ) -> None:
        assert self.judge is not None
        asked = []
        for index, number in cases:
            episode = episodes[index]
            question = None if number is None else episode.task.success[number].rubric
            turns = list(zip(self._parsed(episode), episode.observations[1:], strict=True))
            criteria = self.spec.rubric if question is None else [question]
            asked.append(Case(episode.task, criteria, turns, actions[index].answer))
        for (index, number), verdict in zip(cases, self.judge.judge(asked), strict=True):
            ending = endings[index]
            if isinstance(verdict, Failure):
                ending.failure = replace(verdict, message=f"the judge failed: {verdict.message}", retryable=False)
                continue
            ending.usage += verdict.usage
            if number is None:
                ending.rubric = verdict.score
            else:
                ending.passed[number] = verdict.score

    def _settle(
        self,
        episode: Episode,
        action: Action,
        answer: Observation | Failure | None,
        moment: str | None,
        ending: _Ending | None,
    ) -> Transition:
        info = Info(task_id=episode.task.id, fingerprint=self.fingerprint, steps=episode.steps, tokens=no_tokens())
        answered = isinstance(answer, Observation)
        failure = answer if isinstance(answer, Failure) else ending.failure if ending else None
        if isinstance(answer, Observation):
            info["tokens"] = answer.usage.as_dict()
            if answer.confidence is not None:
                info["confidence"] = answer.confidence
            if answer.ledger:
                info["ledger"] = answer.ledger
        if action.error is not None:
            info["action_error"] = action.error
        if ending is not None and ending.usage != Usage():
            info["check_tokens"] = ending.usage.as_dict()
        episode.over = moment in ("finish", "end")
        if failure is not None:
            info["failure"] = failure.as_dict()
            return Transition(episode.observation, 0.0, False, True, info, answered)
        weights = self.spec.reward
        parts = {"step_cost": -weights.step_cost / episode.agents}
        solved = False
        if ending is not None:
            reached = score(episode.task, ending.passed)
            if ending.collateral is not None:
                info["collateral"] = list(ending.collateral)
                reached = min(reached, score_with_collateral(episode.task)) if ending.collateral else reached
            parts["checks"] = weights.checks * (reached - episode.paid)
            episode.paid = reached
            solved = reached >= 1.0 - 1e-9
            if ending.rubric is not None:
                parts["rubric"] = weights.rubric * ending.rubric
            info["score"] = reached
            if solved or moment != "step":
                info["success"] = solved
        info["reward_parts"] = parts
        terminated = moment == "finish" or (solved and moment == "step")
        truncated = moment == "end" and not terminated
        episode.over = terminated or truncated
        return Transition(episode.observation, sum(parts.values()), terminated, truncated, info, answered)


def _copied(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tools that a caller may change; by way of JSON, which is faster than a deep copy."""
    try:
        found: list[dict[str, Any]] = orjson.loads(orjson.dumps(tools))
    except TypeError:
        found = copy.deepcopy([dict(tool) for tool in tools])
    return found


def _is_whole(task: Task, ending: _Ending) -> bool:
    """Whether all checks passed."""
    return score(task, ending.passed) >= 1.0 - 1e-9


def no_tokens() -> dict[str, int]:
    """A step that cost nothing."""
    return {"prompt": 0, "completion": 0, "cached": 0}

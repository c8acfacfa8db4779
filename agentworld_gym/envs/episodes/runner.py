"""Episodes, a wave at a time: the core under every face (one environment, a vector of them, Stable-Baselines3, TRL)."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from agentworld_gym.base.errors import AgentWorldError, RecordingError
from agentworld_gym.core.actions.naming import callable_tools
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.actions.tolerant import Reading, TolerantParser
from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.checks.dialect_checks import in_first_dialect
from agentworld_gym.core.contracts import (
    Action,
    ActionKind,
    Failure,
    FailureKind,
    Instructing,
    Observation,
    Scarce,
    Teachable,
    World,
)
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import answer_to, without_says
from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.core.flow import Work, answering_of, in_one_wave
from agentworld_gym.core.screens.protocols import Translated
from agentworld_gym.core.tasks.source import TaskSource, file_of
from agentworld_gym.core.traces.log import Logs
from agentworld_gym.envs.episodes.checking import Checker
from agentworld_gym.envs.episodes.episode import Episode, Info, no_tokens
from agentworld_gym.envs.episodes.event_order import EventOrder
from agentworld_gym.envs.episodes.log_rows import log_fork, log_starts, log_steps
from agentworld_gym.envs.episodes.reward import transition_of
from agentworld_gym.envs.episodes.step import CheckResults, EpisodeStep, Moment, Transition
from agentworld_gym.llm.judging.rubric import EpisodeJudge
from agentworld_gym.llm.user import ModelUser
from agentworld_gym.worlds.idle_patterns import refuse_idle_patterns

_ERRORS: Mapping[FailureKind, type[AgentWorldError]] = {
    FailureKind.RECORDING: RecordingError,
    FailureKind.CONNECTION: SystemLost,
    FailureKind.TIMEOUT: SystemLate,
    FailureKind.ENGINE: EngineError,
}
"""The errors of a world that cannot begin, by the kind of its failure."""


class EpisodeRunner:
    """Starts and advances any number of episodes in one world; each call is one wave.

    Args:
        spec: The domain.
        world: The world that answers.
        source: The source of tasks.
        judge: The judge of rubrics; None where no task needs one.
        user: The model that answers questions as the user; None leaves it to the script of the task.
        unjudged: Whether tasks with a rubric are played without a judge; they end with the failure `unjudged`.
        max_steps: The step limit of every episode; None takes that of the task or of the spec.
        traces: The logs to write; None writes none.
        reading: How to read what agents write: `exact`, or `tolerant` as language models write.
    """

    def __init__(
        self,
        spec: DomainSpec,
        world: World[Any],
        source: TaskSource,
        *,
        judge: EpisodeJudge | None = None,
        user: ModelUser | None = None,
        unjudged: bool = False,
        max_steps: int | None = None,
        traces: Logs | None = None,
        reading: Reading = "exact",
    ) -> None:
        self.spec, self.world, self.source, self.judge, self.user = spec, world, source, judge, user
        self._unjudged = unjudged
        self.max_steps, self.traces = max_steps, traces
        self.order: EventOrder | None = None
        """The order in which steps of streams are handed out; None leaves it to time."""
        self.parser, self.reading = ActionParser(spec), reading
        self.reader = TolerantParser(self.parser) if reading == "tolerant" else self.parser
        self.fingerprint = world.fingerprint.digest
        self._answering = answering_of(world)
        self._checker = Checker(spec, world, self.parser, judge)
        self.output = self._checker.output
        """Where the output stands in an observation; None says that all of the observation is output."""
        self._ids = itertools.count()
        self.listeners: list[Callable[[Episode, Transition], None]] = []
        """The functions that are called with each step that is handed out, and with its episode."""

    def limit(self, task: Task) -> int:
        """Return the step limit of a task's episodes."""
        return self.max_steps or task.max_steps or self.spec.limits.max_steps

    def start(
        self, seeds: Sequence[int], options: Mapping[str, Any], agents: int = 1, leaving: Sequence[Episode] = ()
    ) -> list[tuple[Episode, str, Info]]:
        """Begin one episode a seed; the first observation is the instruction, a blank line, and what the world shows.

        Args:
            seeds: The seeds of the episodes.
            options: The options of `reset`: `task`, `family`, `level`, `controls`, `control_seed`.
            agents: How many agents share each episode.
            leaving: The episodes in whose place these begin. The caller ends them; a world with too few sessions for
                both has them ended first.

        Returns:
            For each seed the episode, its first observation, and its info.

        Raises:
            SpecError: A task or an option does not fit.
            RecordingError: A replay has no such episode.
            AgentWorldError: The world cannot begin.
        """
        tasks = [self.source.pick(seed, options) for seed in seeds]
        if tasks and options.get("task") is not None and (file := file_of(options["task"])):
            refuse_idle_patterns(self.world, tasks[0], file)
        if isinstance(self.world, Scarce) and self.world.scarce:
            for episode in leaving:
                episode.session.close()
        return self.begin(tasks, seeds, agents)

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int], agents: int = 1) -> list[tuple[Episode, str, Info]]:
        """Begin an episode of each task, all of them in one wave; see `start`.

        Args:
            tasks: The tasks.
            seeds: The seeds of their episodes.
            agents: How many agents share each episode.

        Raises:
            RecordingError: A replay has no such episode.
            AgentWorldError: The world cannot begin, or a task wants a judge and there is none.
        """
        for task in tasks:
            self._refuse_without_judge(task)
        began = time.perf_counter()
        episodes: list[Episode] = []
        sessions = self.world.begin(tasks, seeds)
        for task, seed, session in zip(tasks, seeds, sessions, strict=True):
            if isinstance(session, Failure):
                for begun in sessions:
                    if not isinstance(begun, Failure):
                        begun.close()
                kind = _ERRORS.get(session.kind, AgentWorldError)
                raise kind(f"the world of {self.spec.id} cannot begin task {task.id}: {session.message}")
            if (asked := _asked_by(session)) is not None:
                task = task.model_copy(update={"instruction": asked})
            observation = after_instruction(task, session.observation)
            first = observation
            if isinstance(session, Translated):
                first = after_instruction(task, session.in_first_dialect)
            name = self._next_id()
            episodes.append(
                Episode(
                    name,
                    task,
                    seed,
                    session,
                    self.spec,
                    self.reading,
                    agents,
                    observations=[first],
                    shown=[observation],
                )
            )
        if self.traces:
            log_starts(self.traces, episodes, time.perf_counter() - began)
        return [(episode, episode.observation, self._first_info(episode)) for episode in episodes]

    def _first_info(self, episode: Episode) -> Info:
        task = episode.task
        info = Info(
            task_id=task.id, instruction=task.instruction, fingerprint=self.fingerprint, steps=0, tokens=no_tokens()
        )
        if tools := self.tools(task):
            info["tools"] = _copied(tools)
        if episode.offers is not None:
            info["admissible"] = list(episode.offers)
        return info

    def tools(self, task: Task) -> tuple[dict[str, Any], ...]:
        """Return what can be called in a task: the name, description and JSON Schema of each tool."""
        return callable_tools(self.spec.action, task.tools)

    def offers(self, episode: Episode) -> tuple[str, ...]:
        """Return actions that make sense in an episode, to draw from: its menu, or else a call of each tool."""
        if episode.task.menu or episode.offers:
            return tuple(entry for entry in episode.menu if entry is not None)
        if not calls_tools(self.spec.action.syntax):
            return ()
        calls = [example_call(tool) for tool in self.tools(episode.task)]
        return tuple(call for call in calls if self.parser.parse(call, episode.task.tools).error is None)

    def fork(self, episode: Episode) -> Episode:
        """Return an exact copy of an episode under a name of its own; the logs say where it comes from."""
        twin = episode.fork(self._next_id())
        if self.traces:
            log_fork(self.traces, twin, episode)
        return twin

    def advance(self, episodes: Sequence[Episode], actions: Sequence[str | Action]) -> list[Transition]:
        """Take one step in each episode: read the action, ask the world, test the checks that are due, and pay.

        Args:
            episodes: The episodes.
            actions: What the agent of each episode wrote; an action that was read already is taken as it is.

        Returns:
            What the agent of each episode gets.
        """
        began = time.perf_counter()
        steps = [
            EpisodeStep(episode, self._read(episode, text)) for episode, text in zip(episodes, actions, strict=True)
        ]
        if self.user is not None:
            in_one_wave([self._asking_user(step, self.user) for step in steps if _asks_user(step)])
        asked = [step for step in steps if step.action.asks_world]
        if asked:
            answers = self.world.step([step.episode.session for step in asked], [step.action for step in asked])
            for step, answer in zip(asked, answers, strict=True):
                step.answer = answer
        latency = time.perf_counter() - began
        for step in steps:
            step.latency = latency
            self._enter(step)
        tested = time.perf_counter()
        self._checker.test(steps)
        for step in steps:
            step.checking = 0.0 if step.results is None else time.perf_counter() - tested
        taken = [(step, transition_of(step, self.spec.reward, self.fingerprint)) for step in steps]
        self.log(taken)
        return [transition for _, transition in taken]

    def stepping(self, episode: Episode, text: str | Action) -> Work[tuple[EpisodeStep, Transition]]:
        """Take the step that `advance` takes, as a piece of work that asks the world and whoever tests the checks."""
        began = time.perf_counter()
        step = EpisodeStep(episode, self._read(episode, text))
        if step.action.asks_world:
            step.answer = yield from self._answering(episode.session, step.action)
        elif self.user is not None and _asks_user(step):
            yield from self._asking_user(step, self.user)
        step.latency = time.perf_counter() - began
        self._enter(step)
        tested = time.perf_counter()
        yield from self._checker.testing(step)
        step.checking = 0.0 if step.results is None else time.perf_counter() - tested
        return step, transition_of(step, self.spec.reward, self.fingerprint)

    def log(self, taken: Sequence[tuple[EpisodeStep, Transition]]) -> None:
        """Write some steps to the logs, if there are any, and tell the listeners of them."""
        if self.traces:
            log_steps(self.traces, taken)
        for listen in self.listeners:
            for step, transition in taken:
                listen(step.episode, transition)

    def accept(self, episode: Episode, text: str | Action, observed: Observation) -> None:
        """Enter an action with what it is known to have shown; no world is asked, nothing is tested or paid.

        Args:
            episode: An episode of a world that accepts true answers (`contracts.Teachable`), if it is asked.
            text: What the agent wrote; an action that was read already is taken as it is.
            observed: What it was shown.
        """
        action = self._read(episode, text)
        if action.asks_world:
            assert isinstance(self.world, Teachable)
            self.world.accept(episode.session, action, observed)
        step = EpisodeStep(episode, action, observed if action.asks_world else None)
        step.said = observed if _asks_user(step) else None
        self._enter(step)

    def test(self, episode: Episode, task: Task, moment: Moment) -> CheckResults | None:
        """Test the checks of a further task on an episode that has taken an action; None where none is due.

        Args:
            episode: The episode.
            task: A task with other checks over the same state.
            moment: What the last action is for the checks.
        """
        step = EpisodeStep(replace(episode, task=task), episode.taken[-1], moment=moment)
        self._checker.test([step])
        return step.results

    def close(self) -> None:
        """Close the world, the judge, the user and the logs."""
        self.world.close()
        for asked in (self.judge, self.user):
            if asked is not None:
                asked.close()
        if self.traces:
            self.traces.close()

    def _next_id(self) -> str:
        return f"e{next(self._ids)}"

    def _refuse_without_judge(self, task: Task) -> None:
        if self._unjudged:
            return
        if self.judge is None and (self.spec.reward.rubric or any(check.rubric for check in task.success)):
            raise AgentWorldError(f"task {task.id} is scored by a rubric; pass judge='URL', 'vllm:MODEL' or a function")

    def _read(self, episode: Episode, text: str | Action) -> Action:
        action = text if isinstance(text, Action) else self._parsed(episode, text)
        if action.kind is ActionKind.CONFIRM and episode.confirming:
            return replace(action, kind=ActionKind.FINISH)
        return action

    def _parsed(self, episode: Episode, text: str) -> Action:
        return self.reader.parse(text, episode.task.tools, shown=episode.session.observation)

    def _asking_user(self, step: EpisodeStep, user: ModelUser) -> Work[None]:
        """Ask a model what the user says, and enter its answer into a step."""
        episode = step.episode
        earlier = [
            (_question(action), without_says(shown))
            for action, shown in zip(episode.taken, episode.shown[1:], strict=True)
            if action.kind is ActionKind.ASK
        ]
        answer = yield from user.answering(episode.task, earlier, _question(step.action))
        if isinstance(answer, Failure):
            step.answer = replace(answer, message=f"the user: {answer.message}")
        else:
            step.said = answer

    def _enter(self, step: EpisodeStep) -> None:
        """Enter a step into its episode, unless the world failed, and say what moment it is."""
        episode, action, answer = step.episode, step.action, step.answer
        if isinstance(answer, Failure):
            return
        episode.actions.append(action.raw)
        episode.taken.append(action)
        episode.tolerated += action.written is not None
        episode.confirming = action.kind is ActionKind.CONFIRM
        if answer is not None:
            episode.shown.append(answer.text)
            episode.observations.append(in_first_dialect(self.spec, episode.session, action, answer))
        elif action.kind is ActionKind.ASK:
            said = step.said.text if step.said else answer_to(_question(action), episode.task.user or ())
            episode.shown.append(said)
            episode.observations.append(said)
        else:
            session = episode.session
            episode.shown.append(session.observation)
            episode.observations.append(
                session.in_first_dialect if isinstance(session, Translated) else session.observation
            )
        verdict = None if answer is None else answer.verdict
        if action.kind is ActionKind.FINISH or (verdict is not None and verdict.terminated):
            step.moment = Moment.FINISH
        elif (verdict is not None and verdict.truncated) or (
            len(episode.actions) >= self.limit(episode.task) * episode.agents
        ):
            step.moment = Moment.END
        else:
            step.moment = Moment.STEP


def _asks_user(step: EpisodeStep) -> bool:
    return step.action.kind is ActionKind.ASK


def _question(action: Action) -> str:
    return str(action.parsed["arguments"]["question"])


def after_instruction(task: Task, observation: str) -> str:
    """Return what an agent sees first: the instruction, a blank line, and what the world shows."""
    return f"{task.instruction}\n\n{observation}" if observation else task.instruction


def _copied(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools that a caller may change; by way of JSON, which is faster than a deep copy."""
    try:
        tools_again: list[dict[str, Any]] = orjson.loads(orjson.dumps(tools))
    except TypeError:
        tools_again = copy.deepcopy([dict(tool) for tool in tools])
    return tools_again


def _asked_by(session: object) -> str | None:
    """Return what the world of a session tells the agent to do; None where it leaves that to the task."""
    return session.instruction if isinstance(session, Instructing) else None

"""The recording of one session of a grounded world, or of one of AWM's worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.agents.collect.acting import Acting
from agentworld_gym.agents.policies.exploring.refusals import Attempt
from agentworld_gym.core.contracts import Action, ActionKind, Failure
from agentworld_gym.core.contracts.verdict import Verdict, with_verdict
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Machine, Multilingual, Scalar, Span
from agentworld_gym.core.flow import Work
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.sight import Sight, folds
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.row import ContentSpan, StateChange, changes_between
from agentworld_gym.worlds.dreamed import LiveTruth


class SessionRecording:
    """Starts a task's episode and keeps what each action shows and changes.

    Args:
        runner: The runner of the world.
        prompts: The prompts of the rows.
        task: The task.
        seed: The seed of the episode; None takes that of the task.

    Raises:
        EngineError: The world cannot begin, or is lost at once.
    """

    def __init__(self, runner: EpisodeRunner, prompts: Prompts, task: Task, seed: int | None = None) -> None:
        self._runner, self._prompts = runner, prompts
        ((self._episode, _, _),) = runner.start([(task.seed or 0) if seed is None else seed], {"task": task})
        self._task = task = self._episode.task
        self.history = ScreenHistory[str](task.domain, self._episode.session.observation)
        try:
            self._told = runner.world.told(task) if isinstance(runner.world, LiveTruth) else task
            self._before = self._state = self.initial_state = dict(self._machine.state())
        except BaseException:
            self.close()
            raise
        self.prompts: list[str] = []
        self.responses: list[str] = []
        self.spans: list[tuple[ContentSpan, ...]] = []
        self.changes: list[tuple[StateChange, ...]] = []
        self.attempts: list[str] = []
        self.verdicts: list[Verdict | None] = []
        self.finish: str | None = None
        self.probes = 0
        self.failure: str | None = None
        """The failure of the world that ended the session: its kind, and what it says."""
        self.success: bool | None = False if task.success else None
        self.score: float | None = 0.0 if task.success else None

    def playing(self, agent: Acting) -> Work[bool]:
        """Let an agent act until it stops, finishes, or its turns are used up, as a piece of work.

        Returns:
            Whether the world can go on.
        """
        while (text := (yield from agent.act(self._episode))) is not None:
            attempt = text.kind if isinstance(text, Attempt) else ""
            text = str(text)  # Worlds and rows take plain texts.
            confirming, steps = self._episode.confirming, self._episode.steps
            action = self._parse(text)
            (step,) = self._runner.advance([self._episode], [text])
            if action.kind is ActionKind.FINISH or (action.kind is ActionKind.CONFIRM and confirming):
                self.finish = text
            elif self._episode.steps > steps and action.kind is not ActionKind.ASK:  # No world answers a question.
                self._add_turn(action, step.observation, attempt)
            if "failure" in step.info:
                self.failure = "{kind}: {message}".format_map(step.info["failure"])
                self.success = self.score = None
                return False
            if step.terminated or step.truncated:
                self.success, self.score = step.info.get("success"), step.info.get("score")
                return True
        return True

    def run_probes(self, probes: Sequence[Sequence[str]]) -> None:
        """Add turns that the agent did not ask for: every action of some probes, as far as the screen allows."""
        sight = Sight(self._task.domain, self._episode.observations)
        for probe in probes:
            for planned in probe:
                text = sight.resolve(planned)
                if text is None:
                    break
                action = self._parse(text)
                (answer,) = self._runner.world.step([self._episode.session], [action])
                if isinstance(answer, Failure):
                    return
                turns = len(self.history.turns)
                self._add_turn(action, answer.text)
                sight.see(answer.text if answer.in_first_dialect is None else answer.in_first_dialect)
                self.probes += len(self.history.turns) - turns

    def close(self) -> None:
        """Free the machine."""
        self._episode.session.close()

    def fields(self) -> dict[str, Any]:
        """Return the fields of the session's row, except for those that say where it comes from."""
        last = self.prompts[-1]
        return {
            "instruction": self._task.instruction,
            "system_str": self._prompts.system(self._told, self._task.controls),
            "prompt": (*self.prompts[:-1], last + self._prompts.closing),
            "response": self.responses,
            "current_prompt": last,
            "turn_idx": len(self.history.turns),
            "total_turns": len(self.history.turns),
            "actions": [action for action, _ in self.history.turns],
            "first_observation": self.history.first,
            "observations": [observation for _, observation in self.history.turns],
            "spans": self.spans,
            "initial_state": self.initial_state,
            "changes": self.changes,
            "fields_changed": tuple(map(len, self.changes)),
            "attempts": self.attempts if any(self.attempts) else (),
            "verdicts": [(one or Verdict()).line for one in self.verdicts] if any(self.verdicts) else (),
            "finish": self.finish,
            "probes": self.probes,
            "success": self.success,
            "score": self.score,
        }

    @property
    def _machine(self) -> Machine:
        session: Any = self._episode.session
        machine: Machine = session.machine
        return machine

    def _visible_text(self) -> tuple[str, Sequence[Span]]:
        """Return what the machine shows in the dialect of the recording, and the spans of that text."""
        machine, dialect = self._machine, self._runner.spec.dialect
        if self._runner.spec.speaks_first_dialect or not isinstance(machine, Multilingual):
            return machine.observation, machine.spans
        return machine.observation_in(dialect), machine.spans_in(dialect)

    def _parse(self, text: str) -> Action:
        return self._runner.parser.parse(text, self._task.tools)

    def _add_turn(self, action: Action, observation: str, attempt: str = "") -> None:
        """Add a turn, with its kind if it is an attempt. An action that could not be read never reached the machine.

        A look at the screen is no turn of its own: its observation replaces the one before it.
        """
        spans: tuple[ContentSpan, ...] = ()
        after: dict[str, Scalar] = self._state
        if action.error is None:
            after = dict(self._machine.state())
            shown, known = self._visible_text()
            machine_spans = known if observation == shown else ()
            generated = (span for span in machine_spans if span.kind != "deterministic")
            spans = tuple(ContentSpan(start=span.start, end=span.end, kind=span.kind) for span in generated)
        if folds(self._task.domain, action.parsed, observation):
            self._fold(observation, spans, after)
            return
        turn, screen = self.history.next_turn, self.history.screen
        self.prompts.append(self._prompts.turn(self._told, turn, action, screen))
        verdict: Verdict | None = getattr(self._machine, "verdict", None) if action.error is None else None
        told = self._prompts.past(self._told, screen, observation, action=action.raw)
        self.responses.append(with_verdict(told, verdict) if verdict else told)
        self.verdicts.append(verdict)
        self.history.append(action.raw, observation)
        self.spans.append(spans)
        self.attempts.append(attempt)
        self.changes.append(changes_between(self._state, after))
        self._before, self._state = self._state, after

    def _fold(self, observation: str, spans: tuple[ContentSpan, ...], after: dict[str, Scalar]) -> None:
        """Replace the last observation by what a look at the screen showed."""
        self.history.fold(observation)
        if not self.history.turns:
            self._state = self.initial_state = after
            return
        action, _ = self.history.turns[-1]
        response = self._prompts.past(self._told, self.history.screen_before, observation, action=action)
        self.responses[-1] = with_verdict(response, self.verdicts[-1]) if self.verdicts[-1] else response
        self.spans[-1] = spans
        self.changes[-1] = changes_between(self._before, after)
        self._state = after

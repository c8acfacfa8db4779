"""A world that a language model plays."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from agentworld_gym.base.errors import AnswerError, ImpossibleState
from agentworld_gym.base.fingerprint import Fingerprint, Part, digest_of, installed
from agentworld_gym.core.contracts import (
    Action,
    AnswerSource,
    ChatRequest,
    Completion,
    Failure,
    FailureKind,
    Generator,
    Message,
    Observation,
    Usage,
)
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines.catalog import parts_of
from agentworld_gym.core.flow import TOGETHER, Request, Work
from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.sight import folds, looks, shows
from agentworld_gym.llm.generators.protocols import ConstrainingGenerator
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.prompting.state_changes import SAME
from agentworld_gym.llm.prompting.state_steps import StateTurn
from agentworld_gym.llm.training_coverage import Unseen
from agentworld_gym.worlds.concurrency import in_rounds
from agentworld_gym.worlds.dialects import in_dialect
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.guard import UNREADABLE, Guard
from agentworld_gym.worlds.language_session import LanguageSession, step_seed

Demonstrations = Callable[[LanguageSession, Action], str]
"""A function that returns text for the request of one prediction, such as similar recorded steps; empty for none."""


@runtime_checkable
class Digested(Protocol):
    """Demonstrations that know a digest of what they draw from."""

    @property
    def digest(self) -> str:
        """The digest, for the fingerprint of a world."""
        ...


class _Turn(NamedTuple):
    """A turn that a model is asked to answer."""

    action: Action
    """The action."""

    message: str
    """The user message, without the closing request."""

    state: StateTurn | None
    """The turn of the structured state; None where none is predicted."""


@dataclass
class LanguageWorld:
    """Renders each action into the history, asks the generator, and reads the observation from its completion.

    Args:
        spec: The domain.
        prompts: The prompts of the domain.
        generator: The generator that answers requests.
        sampling: The sampling of requests; each gets a seed of its own, made from the session's seed and the turn.
        demonstrations: The function that returns what each request shows beside its turn. Its text stands in the last
            user message, between the turn and the closing request, exactly as it is returned (data in it must be
            escaped already), and never enters the history. Its tokens count like all of the prompt's. The fingerprint
            holds its attribute `digest`, or else its name, which is only declared.
        guard: What to do with answers that the model itself holds to be unlikely; None takes them as they are.
        grounded: The grounded world whose experts say what a task changes, so that an episode may change nothing else
            in a predicted structured state either; None leaves this open.
        unseen: What the training data of the model did not hold: an action that names such a thing is a failure, and
            the model is not asked. None where this is not known.
    """

    spec: DomainSpec
    prompts: Prompts
    generator: Generator
    sampling: Sampling
    demonstrations: Demonstrations | None = None
    guard: Guard | None = None
    grounded: GroundedWorld | None = None
    unseen: Unseen | None = None
    fingerprint: Fingerprint = field(init=False)

    def __post_init__(self) -> None:
        parts = {
            "world": Part("language", True),
            "agentworld-gym": Part(installed("agentworld-gym"), True),
            "spec": Part(self.spec.digest(), True),
            "prompts": Part(self.prompts.digest, True),
            "sampling": Part(digest_of(self.sampling.as_dict()), True),
        }
        if self.prompts.asks_index:
            parts |= parts_of(self.spec.id)
        if self.demonstrations is not None:
            digest = self.demonstrations.digest if isinstance(self.demonstrations, Digested) else None
            name = getattr(self.demonstrations, "__qualname__", type(self.demonstrations).__qualname__)
            parts["demonstrations"] = Part(str(digest or name), digest is not None)
        if self._constrains:
            parts["constrained"] = Part("state", True)
        if self.guard is not None:
            parts["guard"] = Part(self.guard.digest, True)
        if self.grounded is not None:
            parts["outcomes"] = Part(self.grounded.fingerprint.digest, True)
        parts |= {name: Part(value, verified) for name, (value, verified) in self.generator.describe().items()}
        self.fingerprint = Fingerprint(parts)

    @property
    def deterministic(self) -> bool:
        """Whether the generator is deterministic: even under a seed, samples may vary with the rest of a batch."""
        return self.generator.deterministic

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[LanguageSession | Failure]:
        """Begin one session a task; the first observation comes from the task or from the view, not from the model."""
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> LanguageSession:
        if task.controls:  # Without a seed of their own, they draw from that of the episode.
            task = task.model_copy(update={"control_seed": task.control_seed_in(seed)})
        if self.unseen is not None:
            self.unseen.warn([task])
        system = self.prompts.system(task, task.controls)
        history = [Message(role="system", content=system)]
        if self._printer is not None:
            state = self._printer.begin(task, seed)
            seen = ScreenHistory[Action](self.spec.id, self._printer.printed(state))
            return LanguageSession(task, seed, history, seen, states=(state, state))
        first = in_dialect(self.spec, task, seed, self.prompts.first_observation(task))
        return LanguageSession(task, seed, history, ScreenHistory(self.spec.id, first))

    @property
    def _printer(self) -> StateAnswers | None:
        """The codec whose view prints the screens; None where the model writes screens or changes of them."""
        return self.prompts.answers if isinstance(self.prompts.answers, StateAnswers) else None

    @property
    def _constrains(self) -> bool:
        """Whether the generator knows which changes of a state can be read, and writes those and nothing else."""
        told = isinstance(self.generator, ConstrainingGenerator) and self.generator.constrains
        return told and self.prompts.form == "state" and not self.sampling.thinking

    def step(self, sessions: Sequence[LanguageSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Ask for one completion an action that can be parsed; the requests of a wave are submitted together.

        A look at the screen that was just shown is answered with that screen, and the model is not asked. Histories
        grow only once the wave is whole, so that an interrupted one leaves every session as it was.
        """
        return in_rounds(self.answering, sessions, actions)

    def answering(self, session: LanguageSession, action: Action) -> Work[Observation | Failure]:
        """Answer one action, as a piece of work that asks the generator."""
        turn = self._turn(session, action)
        observed: Observation | Failure
        reasks = 0
        if action.error is not None:
            observed = Observation(action.error, prompt=turn.message)
        elif (seen := self._seen(session, action)) is not None:
            observed = Observation(seen)
        elif (read_off := self._read_off(session, turn)) is not None:
            observed = read_off
        elif (unseen := self._unseen(session, action)) is not None:
            observed = unseen
        elif session.tokens >= self.spec.limits.context_tokens:
            limit = self.spec.limits.context_tokens
            observed = Failure(FailureKind.OVERFLOW, f"the history reached {limit} tokens")
        else:
            observed, reasks = yield from self._asking(session, turn)
        yield TOGETHER
        if self.guard is not None:
            observed = self.guard.checked(session, action, observed)
        if isinstance(observed, Failure):
            session.failures += 1 + reasks
        else:
            self._append(session, turn, observed)
        return observed

    def _unseen(self, session: LanguageSession, action: Action) -> Failure | None:
        """Return the failure of an action that asks for what the model never saw; None for any other action."""
        unseen = self.unseen
        return None if unseen is None else unseen.failure(session.task, action.parsed, session.observation)

    def _asking(self, session: LanguageSession, turn: _Turn) -> Work[tuple[Observation | Failure, int]]:
        """Ask the generator, and again where its answer cannot be read; the sampling says how often.

        Returns:
            What was read, and how many times the generator was asked again.
        """
        asked: list[tuple[Observation | Failure, Usage]] = []
        while True:
            reasks = len(asked)
            request = self._request(session, turn, reasks)
            answer = yield Request(self.generator, request)
            observed = self._read(answer, session, turn, request.sampling.seed)
            asked.append((observed, Usage() if isinstance(answer, Failure) else answer.usage))
            unreadable = isinstance(observed, Failure) and observed.kind in UNREADABLE
            if isinstance(answer, Failure) or not unreadable or reasks == self.sampling.reasks:
                break
        if not reasks:
            return replace(observed, spent=asked[0][1]) if isinstance(observed, Failure) else observed, 0
        lost = sum((usage for one, usage in asked if one is not observed), Usage())
        if isinstance(observed, Observation):
            return replace(observed, reasks=reasks, lost=lost), reasks
        return replace(observed, spent=lost + asked[-1][1]), reasks

    def collateral(self, sessions: Sequence[LanguageSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return where each predicted state differs from what the task's expert leaves; None where that is unknown."""
        return [self._collateral(session) for session in sessions]

    def _collateral(self, session: LanguageSession) -> tuple[str, ...] | Failure | None:
        printer = self._printer
        if self.grounded is None or printer is None:
            return None
        try:
            return self.grounded.collateral_of(session.task, session.seed, partial(printer.fields, session.screen))
        except AnswerError as error:
            return Failure(FailureKind.MALFORMED, str(error))

    def accept(self, session: LanguageSession, action: Action, observed: Observation) -> None:
        """Append an answer that is known already, as from a recording, as if the generator had given it."""
        self._append(session, self._turn(session, action), observed)

    def correct(self, session: LanguageSession, text: str, state: str | None = None) -> None:
        """Replace the last observation by the true one, so that the next turn builds on it (teacher forcing).

        Forks that were made before keep what they had. After a failed step there is nothing to correct: `accept` the
        action with its true observation instead.

        Args:
            session: The session.
            text: The true observation.
            state: The true structured state, as JSON; needed where the model writes changes of it.

        Raises:
            ValueError: The session has no turn yet, or it has no true state although the model writes changes of it.
        """
        if session.looked and not session.turn:
            session.seen.fold(text)
            return
        if not session.turn:
            raise ValueError("a session without a turn has no observation of the world to correct")
        action, _ = session.seen.turns[-1]
        if action.error is not None:
            session.seen.turns[-1] = action, text
            return
        shown = self._prompt_screen(session, Observation(text, state=state))
        past = self.prompts.past(session.task, session.screen_before, shown, action.raw)
        session.history[-1] = Message(role="assistant", content=past)
        session.states = session.states and (session.states[0], shown)
        session.seen.correct(text)

    def messages(self, session: LanguageSession, action: Action) -> list[Message]:
        """Return the chat messages as which an action would be sent."""
        return list(self._request(session, self._turn(session, action)).messages)

    def _turn(self, session: LanguageSession, action: Action) -> _Turn:
        number = (len(session.history) + 1) // 2  # Refused actions and looks are none of the history.
        state = None if self._printer is None else self._printer.turn(session.screen, action.parsed)
        displayed = None if state is None else state.description
        message = self.prompts.turn(session.task, number, action, session.screen, displayed)
        return _Turn(action, message, state)

    def _request(self, session: LanguageSession, turn: _Turn, reasks: int = 0) -> ChatRequest:
        tried = session.failures + reasks
        seed = step_seed(session.seed, session.turn, tried) if self.generator.supports_seed else None
        examples = "" if self.demonstrations is None else self.demonstrations(session, turn.action)
        last = Message(role="user", content=turn.message + examples + self.prompts.closing)
        messages = [*session.history, last]
        sampling = self.sampling.again(reasks).seeded(seed)
        allows = None
        if self._printer is not None and turn.state is not None and self._constrains:
            with suppress(AnswerError):  # No answer to such a state can be read, which is a failure of its own.
                allows = self._printer.constraint(turn.state)
        return ChatRequest(messages, sampling, conversation=session.conversation, allows=allows)

    def _seen(self, session: LanguageSession, action: Action) -> str | None:
        """Return what a look at the screen shows without asking the model; None where the model has to be asked.

        The last observation has to show the screen, or the view prints it. Where controls are in force, a screen may be
        another one when it is looked at again.
        """
        domain = self.spec.id
        if not looks(domain, action.parsed) or session.task.controls:
            return None
        printer = self._printer
        last = session.observation if printer is None else printer.looked(session.screen, action.raw)
        screen = screen_of(domain)
        return screen.without_report(last) if screen is not None and shows(domain, last) else None

    def _read_off(self, session: LanguageSession, turn: _Turn) -> Observation | None:
        """Return what a probe shows of the structured state; None where the model has to be asked.

        An agent is always answered by the model. Where controls are in force, an action may show something else than
        what is there.
        """
        if session.acted is None or session.task.controls:
            return None
        if (
            self._printer is None
            or (state := self._printer.state_after_opening(session.screen, turn.action.parsed)) is None
        ):
            return None
        return Observation(self._printer.printed(state), prompt=turn.message, state=state, source=AnswerSource.STATE)

    def _append(self, session: LanguageSession, turn: _Turn, observed: Observation) -> None:
        action = turn.action
        session.tokens = observed.usage.prompt_tokens or session.tokens
        session.looked = folds(self.spec.id, action.parsed, observed.text)
        if session.looked:
            self._fold(session, action, observed)
            return
        if action.error is not None:  # It never reaches the model.
            session.seen.refuse(action, observed.text)
        else:
            shown = self._prompt_screen(session, observed, action)
            if self._printer is not None and turn.state is not None:
                past = self.prompts.observation(self._printer.change(turn.state, json.loads(shown)))
            else:
                past = self.prompts.past(session.task, session.screen, shown, action.raw)
            session.history += [Message(role="user", content=turn.message), Message(role="assistant", content=past)]
            session.seen.append(action, observed.text)
            session.states = session.states and (session.states[1], shown)

    def _fold(self, session: LanguageSession, action: Action, observed: Observation) -> None:
        """Replace the last observation by what a look at the screen showed."""
        session.seen.fold(observed.text)
        shown = self._prompt_screen(session, observed, action)
        if session.states is not None:  # The change that was written is that of the action, and a look adds nothing.
            session.states = session.states[0] if session.turn else shown, shown
        elif session.turn and session.seen.turns[-1][0].error is None:
            done = session.seen.turns[-1][0].raw
            past = self.prompts.past(session.task, session.screen_before, shown, done)
            session.history[-1] = Message(role="assistant", content=past)

    def _prompt_screen(self, session: LanguageSession, observed: Observation, action: Action | None = None) -> str:
        """Return an observation in the form in which the prompts take screens: its text, or its structured state.

        An observation that was recorded has its state in the change that the model wrote. A look at the screen that
        was just shown, for which no model is asked, changes nothing.

        Raises:
            ValueError: The model writes changes of a structured state, and the observation comes without one.
        """
        if session.states is None:
            return observed.text
        if observed.state is not None:
            return observed.state
        written = parse_completion(observed.completion)
        if not written and action is not None and looks(self.spec.id, action.parsed):
            written = SAME
        if not written:
            raise ValueError("in the form `state` an observation needs its structured state")
        return self.prompts.read(session.task, session.screen, written, action.raw if action is not None else None)

    def _read(
        self, answer: Completion | Failure, session: LanguageSession, turn: _Turn, seed: int | None
    ) -> Observation | Failure:
        if isinstance(answer, Failure):
            return answer
        if answer.finish_reason == "length":
            spent = answer.usage.completion_tokens or self.sampling.max_tokens
            return Failure(FailureKind.LENGTH, f"the completion was cut off after {spent} tokens")
        state = None
        meant = parse_completion(answer.text)
        if meant is None:
            return Failure(FailureKind.EMPTY, "the completion holds no observation", retryable=True)
        try:
            if self._printer is not None and turn.state is not None:
                state = compact(self._printer.state_after(turn.state, meant))
                text = self._printer.printed(state)
            else:
                text = self.prompts.read(session.task, session.screen, meant, turn.action.raw)
        except ImpossibleState as error:
            state = None if self._printer is None else self._printer.refused(session.screen, turn.action.parsed)
            if self._printer is None or state is None:
                return Failure(FailureKind.MALFORMED, str(error), retryable=True)
            text = self._printer.printed(state)
        except AnswerError as error:
            return Failure(FailureKind.MALFORMED, str(error), retryable=True)
        if len(text) > self.spec.limits.max_observation_chars:
            limit = self.spec.limits.max_observation_chars
            return Failure(FailureKind.LENGTH, f"the observation has {len(text)} characters, the limit is {limit}")
        return Observation(
            text,
            answer.usage,
            turn.message,
            answer.text,
            answer.reasoning,
            seed,
            answer.logprob,
            state,
            refused=answer.refused,
        )

    def close(self) -> None:
        """Release the generator."""
        self.generator.close()

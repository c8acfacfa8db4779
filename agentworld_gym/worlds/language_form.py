"""How a language world shows a turn to its model, reads the answer, and writes both into the history of a session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from agentworld_gym.base.errors import ImpossibleState
from agentworld_gym.core.contracts import Action, AnswerSource, Message, Observation
from agentworld_gym.core.contracts.verdict import Told, Verdict, with_verdict, without_verdict
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.sight import folds, looks, shows
from agentworld_gym.llm.prompting.change_constraint import TextConstraint
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.prompting.state_changes import SAME
from agentworld_gym.llm.prompting.state_steps import StateTurn
from agentworld_gym.worlds.dialects import in_dialect
from agentworld_gym.worlds.language_session import LanguageSession


class Turn(NamedTuple):
    """A turn that a model is asked to answer."""

    action: Action
    """The action."""

    message: str
    """The user message, without the closing request."""

    state: StateTurn | None = None
    """The turn of the structured state; None where none is predicted."""


def form_of(spec: DomainSpec, prompts: Prompts, pays: Told | None = None) -> LanguageForm:
    """Return how a language world with some prompts plays its turns, whose model may write rewards and ends."""
    codec = prompts.answers
    return StateForm(spec, prompts, codec) if isinstance(codec, StateAnswers) else LanguageForm(spec, prompts, pays)


class LanguageForm:
    """The model writes screens, or changes of them.

    A session has a history of chat messages, to which turns are only ever added, and what its agent was shown. Two
    kinds of action are no turn of the history: those that no parser can read, and looks at the screen that was just
    shown, which replace the last observation.

    Args:
        spec: The domain.
        prompts: The prompts.
        pays: What the model writes of reward, end and success behind an observation; None where it writes none.
    """

    def __init__(self, spec: DomainSpec, prompts: Prompts, pays: Told | None = None) -> None:
        self.spec, self.prompts, self.pays = spec, prompts, pays

    def begin(self, task: Task, seed: int) -> LanguageSession:
        """Begin an episode; the first observation comes from the task or from the view, not from the model."""
        first, states = self._first(task, seed)
        history = [Message(role="system", content=self.prompts.system(task, task.controls))]
        return LanguageSession(task, seed, history, ScreenHistory(self.spec.id, first), states=states)

    def turn(self, session: LanguageSession, action: Action) -> Turn:
        """Show an action to the model."""
        return Turn(action, self._message(session, action))

    def constraint(self, turn: Turn) -> TextConstraint | None:
        """Return which answers to a turn can be read; None where all of them can, or that is not known.

        Raises:
            AnswerError: No answer to such a turn can be read.
        """
        return None

    def read(self, session: LanguageSession, turn: Turn, answer: str) -> tuple[str, str | None]:
        """Return what an answer shows, and the structured state behind it, as JSON; None where none is predicted.

        Raises:
            AnswerError: The answer does not fit the turn.
        """
        return self.prompts.read(session.task, session.screen, answer, turn.action.raw), None

    def look(self, session: LanguageSession, turn: Turn) -> Observation | None:
        """Return what a look at the screen shows without asking the model; None where the model has to be asked.

        The last observation has to show the screen, or the view prints it. Where controls are in force, a screen may be
        another one when it is looked at again.
        """
        domain = self.spec.id
        if not looks(domain, turn.action.parsed) or session.task.controls:
            return None
        last, screen = self._last(session, turn), screen_of(domain)
        return Observation(screen.without_report(last)) if screen is not None and shows(domain, last) else None

    def refusal(self, session: LanguageSession, turn: Turn) -> Observation | None:
        """Return how the domain refuses an action; None where nobody tells."""
        return None

    def probe(self, session: LanguageSession, turn: Turn) -> Observation | None:
        """Return what a probe shows of the structured state; None where the model has to be asked."""
        return None

    def fields(self, session: LanguageSession) -> Mapping[str, str | int | float | bool | None] | None:
        """Return the fields of the structured state by name; None where there is none, or it says too little.

        Raises:
            AnswerError: The domain has no such state.
        """
        return None

    def append(self, session: LanguageSession, turn: Turn, observed: Observation) -> None:
        """Enter what an action showed into its session.

        Raises:
            ValueError: The model writes changes of a structured state, and the observation comes without one.
        """
        action = turn.action
        session.tokens = observed.usage.prompt_tokens or session.tokens
        session.looked = folds(self.spec.id, action.parsed, observed.text)
        if session.looked:
            session.seen.fold(observed.text)
            self._fold(session, turn, observed)
        elif action.error is not None:  # It never reaches the model.
            session.seen.refuse(action, observed.text)
        else:
            answer = self._paid(self._remember(session, turn, observed), observed.verdict)
            session.history += [
                Message(role="user", content=turn.message),
                Message(role="assistant", content=answer),
            ]
            session.seen.append(action, observed.text)
            session.offers = None if observed.verdict is None else observed.verdict.offers

    def correct(
        self, session: LanguageSession, text: str, state: str | None = None, verdict: Verdict | None = None
    ) -> None:
        """Replace the last observation by the true one; see `LanguageWorld.correct`.

        Raises:
            ValueError: There is no turn yet, or no true state although the model writes changes of it.
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
        session.offers = None if verdict is None else verdict.offers
        answer = self._paid(self._corrected(session, action, text, state), verdict)
        session.history[-1] = Message(role="assistant", content=answer)
        session.seen.correct(text)

    def _message(self, session: LanguageSession, action: Action, displayed: str | None = None) -> str:
        number = (len(session.history) + 1) // 2  # Refused actions and looks are none of the history.
        return self.prompts.turn(session.task, number, action, session.screen, displayed)

    def _first(self, task: Task, seed: int) -> tuple[str, tuple[str, str] | None]:
        """Return the first observation, and the structured states before and after it."""
        return in_dialect(self.spec, task, seed, self.prompts.first_observation(task)), None

    def _last(self, session: LanguageSession, turn: Turn) -> str:
        """Return the last observation."""
        return session.observation

    def _remember(self, session: LanguageSession, turn: Turn, observed: Observation) -> str:
        """Return the assistant message that a turn leaves in the history."""
        return self.prompts.past(session.task, session.screen, observed.text, turn.action.raw)

    def _fold(self, session: LanguageSession, turn: Turn, observed: Observation) -> None:
        """Replace the observation of the last turn in the history by what a look at the screen showed."""
        if session.turn and session.seen.turns[-1][0].error is None:
            done = session.seen.turns[-1][0]
            answer = self._corrected(session, done, observed.text, None)
            if self.pays is not None:
                answer = self._paid(answer, without_verdict(session.history[-1]["content"], self.pays)[1])
            session.history[-1] = Message(role="assistant", content=answer)

    def _corrected(self, session: LanguageSession, action: Action, text: str, state: str | None) -> str:
        """Return the assistant message of the last turn, with the true observation."""
        return self.prompts.past(session.task, session.screen_before, text, action.raw)

    def _paid(self, answer: str, verdict: Verdict | None) -> str:
        """Return an assistant message with what the world said of the step, where the model writes that."""
        return answer if self.pays is None else with_verdict(answer, verdict)


class StateForm(LanguageForm):
    """The model writes changes of a structured state, from which the view of the domain prints the screens.

    Args:
        spec: The domain.
        prompts: The prompts.
        codec: The codec of their answers.
    """

    def __init__(self, spec: DomainSpec, prompts: Prompts, codec: StateAnswers) -> None:
        super().__init__(spec, prompts)
        self._codec = codec

    def turn(self, session: LanguageSession, action: Action) -> Turn:
        """Show an action to the model, with what the view says of the state."""
        state = self._codec.turn(session.screen, action.parsed)
        return Turn(action, self._message(session, action, state.description), state)

    def constraint(self, turn: Turn) -> TextConstraint | None:
        """Return which changes of the state can be read.

        Raises:
            AnswerError: No answer to such a state can be read.
        """
        return self._codec.constraint(_state_of(turn))

    def read(self, session: LanguageSession, turn: Turn, answer: str) -> tuple[str, str | None]:
        """Return the screen after a change, and the structured state; a step that the rules refuse shows its refusal.

        Raises:
            AnswerError: The change does not fit the state before.
        """
        try:
            state = self._after(turn, answer)
            return self._codec.printed(state), state
        except ImpossibleState:
            refused = self._codec.refused(session.screen, turn.action.parsed)
            if refused is None:
                raise
            return self._codec.printed(refused), refused

    def refusal(self, session: LanguageSession, turn: Turn) -> Observation | None:
        """Return how the view refuses an action; None where it would carry it out, or does not tell."""
        state = self._codec.refused(session.screen, turn.action.parsed)
        return None if state is None else Observation(self._codec.printed(state), prompt=turn.message, state=state)

    def probe(self, session: LanguageSession, turn: Turn) -> Observation | None:
        """Return what a probe that only opens what is there shows; None where the model has to be asked.

        An agent is always answered by the model. Where controls are in force, an action may show something else than
        what is there.
        """
        if session.acted is None or session.task.controls:
            return None
        state = self._codec.state_after_opening(session.screen, turn.action.parsed)
        if state is None:
            return None
        return Observation(self._codec.printed(state), prompt=turn.message, state=state, source=AnswerSource.STATE)

    def fields(self, session: LanguageSession) -> Mapping[str, str | int | float | bool | None] | None:
        """Return the fields of the structured state by name; None where the state says too little.

        Raises:
            AnswerError: The domain has no such state.
        """
        return self._codec.fields(session.screen)

    def _first(self, task: Task, seed: int) -> tuple[str, tuple[str, str] | None]:
        state = self._codec.begin(task, seed)
        return self._codec.printed(state), (state, state)

    def _last(self, session: LanguageSession, turn: Turn) -> str:
        return self._codec.printed(self._after(turn, SAME))

    def _remember(self, session: LanguageSession, turn: Turn, observed: Observation) -> str:
        state = self._state_behind(turn, observed)
        answer = self.prompts.observation(self._codec.change(_state_of(turn), json.loads(state)))
        session.states = session.screen, state
        return answer

    def _fold(self, session: LanguageSession, turn: Turn, observed: Observation) -> None:
        # The change in the history is that of the action, and a look adds nothing to it.
        state = self._state_behind(turn, observed)
        session.states = session.screen_before if session.turn else state, state

    def _corrected(self, session: LanguageSession, action: Action, text: str, state: str | None) -> str:
        if state is None:
            raise _no_state()
        turn = self._codec.turn(session.screen_before, action.parsed)
        answer = self.prompts.observation(self._codec.change(turn, json.loads(state)))
        session.states = session.screen_before, state
        return answer

    def _after(self, turn: Turn, answer: str) -> str:
        return compact(self._codec.state_after(_state_of(turn), answer))

    def _state_behind(self, turn: Turn, observed: Observation) -> str:
        """Return the structured state behind an observation.

        That of a recorded one follows from the change that the model wrote. A look at the screen that was just shown,
        for which no model was asked, changes nothing.

        Raises:
            ValueError: The observation comes with neither.
        """
        if observed.state is not None:
            return observed.state
        written = parse_completion(observed.completion)
        if not written and looks(self.spec.id, turn.action.parsed):
            written = SAME
        if not written:
            raise _no_state()
        return self._after(turn, written)


def _state_of(turn: Turn) -> StateTurn:
    assert turn.state is not None
    return turn.state


def _no_state() -> ValueError:
    return ValueError("in the form `state` an observation needs its structured state")

"""A world that a language model plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.base.fingerprint import Fingerprint, Part, digest_of, installed
from agentworld_gym.core.contracts import (
    NO_USAGE,
    Action,
    AnswerSource,
    AskedStep,
    ChatRequest,
    Completion,
    Failure,
    FailureKind,
    Generator,
    Message,
    Observation,
    Usage,
)
from agentworld_gym.core.contracts.verdict import Told, Verdict, without_verdict
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import parts_of
from agentworld_gym.core.flow import TOGETHER, Request, Work
from agentworld_gym.llm.generators.protocols import ConstrainingGenerator
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.training_coverage import Unseen
from agentworld_gym.worlds.checks import REASONS, Check, Checks
from agentworld_gym.worlds.concurrency import in_rounds
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.guard import UNREADABLE, Guard
from agentworld_gym.worlds.language_form import Turn, form_of
from agentworld_gym.worlds.language_session import LanguageSession, step_seed

Retrieval = Callable[[LanguageSession, Action], str]
"""A function that returns text for the request of one prediction, such as similar recorded steps; empty for none."""


class _Together:
    """Shows what several functions return, one after another."""

    def __init__(self, parts: Sequence[Retrieval]) -> None:
        self._parts = parts
        self.digest = digest_of([getattr(part, "digest", None) for part in parts])

    def __call__(self, session: LanguageSession, action: Action) -> str:
        return "".join(part(session, action) for part in self._parts)


def shown_together(*parts: Retrieval | None) -> Retrieval | None:
    """Return a function that shows what those of some parts show that there are; None where there are none."""
    there = [part for part in parts if part is not None]
    return _Together(there) if len(there) > 1 else next(iter(there), None)


@dataclass
class LanguageWorld:
    """Renders each action into the history, asks the generator, and reads the observation from its completion.

    A step has four places, at which its parts plug in:

    1. `_without_model` answers what the model need not be asked: looks, probes, names that it never saw.
    2. `_request` shows what retrieval finds beside the turn.
    3. `answering` lets the guard look at the answer.
    4. `collateral` compares the outcome with that of the grounded world.

    How turns are shown, read and remembered is the affair of the form (`agentworld_gym.worlds.language_form`).

    Args:
        spec: The domain.
        prompts: The prompts of the domain.
        generator: The generator that answers requests.
        sampling: The sampling of requests; each gets a seed of its own, made from the session's seed and the turn.
        retrieval: The function that returns what each request shows beside its turn. Its text stands in the last
            user message, between the turn and the closing request, exactly as it is returned (data in it must be
            escaped already), and never enters the history. Its tokens count like all of the prompt's. The fingerprint
            holds its attribute `digest`, or else its name, which is only declared.
        guard: What to do with answers that the model itself holds to be unlikely; None takes them as they are.
        grounded: The grounded world whose experts say what a task changes, so that an episode may change nothing else
            in a predicted structured state either; None leaves this open.
        checks: What is checked of answers without a model; None takes them as they are.
        unseen: What the training data of the model did not hold: an action that names such a thing is a failure, and
            the model is not asked. None where this is not known.
        pays: What the model writes behind an observation of a world that pays for steps and ends its episodes itself:
            rewards and ends, or success too. None where it writes none of these.
    """

    spec: DomainSpec
    prompts: Prompts
    generator: Generator
    sampling: Sampling
    retrieval: Retrieval | None = None
    guard: Guard | None = None
    grounded: GroundedWorld | None = None
    unseen: Unseen | None = None
    checks: Checks | None = None
    pays: Told | None = None
    fingerprint: Fingerprint = field(init=False)

    def __post_init__(self) -> None:
        self._form = form_of(self.spec, self.prompts, self.pays)
        constrains = isinstance(self.generator, ConstrainingGenerator) and self.generator.constrains
        self._constrained = constrains and self.prompts.form == "state" and not self.sampling.thinking
        self.fingerprint = Fingerprint(self._parts())

    def _parts(self) -> dict[str, Part]:
        """Return the parts of the fingerprint."""
        parts = {
            "world": Part("language", True),
            "agentworld-gym": Part(installed("agentworld-gym"), True),
            "spec": Part(self.spec.digest(), True),
            "prompts": Part(self.prompts.digest, True),
            "sampling": Part(digest_of(self.sampling.as_dict()), True),
        }
        if self.prompts.asks_index:
            parts |= parts_of(self.spec.id)
        if self.retrieval is not None:
            digest = getattr(self.retrieval, "digest", None)
            name = getattr(self.retrieval, "__qualname__", type(self.retrieval).__qualname__)
            parts["demonstrations"] = Part(str(digest or name), digest is not None)
        if self._constrained:
            parts["constrained"] = Part("state", True)
        if self.guard is not None:
            parts["guard"] = Part(self.guard.digest, True)
        if self.checks is not None:
            parts["checks"] = Part(self.checks.digest, True)
        if self.pays is not None:
            parts["pays"] = Part(self.pays, True)
        if self.grounded is not None:
            parts["outcomes"] = Part(self.grounded.fingerprint.digest, True)
        return parts | {name: Part(value, checked) for name, (value, checked) in self.generator.describe().items()}

    @property
    def deterministic(self) -> bool:
        """Whether the generator is deterministic: even under a seed, samples may vary with the rest of a batch."""
        return self.generator.deterministic

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[LanguageSession | Failure]:
        """Begin one session a task; the first observation comes from the task or from the view, not from the model."""
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> LanguageSession | Failure:
        if task.controls:  # Without a seed of their own, they draw from that of the episode.
            task = task.model_copy(update={"control_seed": task.control_seed_in(seed)})
        if self.unseen is not None:
            self.unseen.warn([task])
        try:
            return self._form.begin(task, seed)
        except AnswerError as error:
            return Failure(FailureKind.UNSEEN, f"the model knows no such task: {error}")

    def step(self, sessions: Sequence[LanguageSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Ask for one completion an action that can be parsed; the requests of a wave are submitted together.

        A look at the screen that was just shown is answered with that screen, and the model is not asked. Histories
        grow only once the wave is whole, so that an interrupted one leaves every session as it was.
        """
        return in_rounds(self.answering, sessions, actions)

    def answering(self, session: LanguageSession, action: Action) -> Work[Observation | Failure]:
        """Answer one action, as a piece of work that asks the generator."""
        turn = self._form.turn(session, action)
        observed, reasks = self._without_model(session, turn), 0
        if observed is None:
            observed, reasks = yield from self._asking(session, turn)
        yield TOGETHER
        if self.guard is not None:
            observed = self.guard.checked(session, action, observed)
        if isinstance(observed, Failure):
            session.failures += 1 + reasks
        else:
            if self.checks is not None:
                self.checks.remember(session, action, observed.text)
            self._form.append(session, turn, observed)
        return observed

    def _without_model(self, session: LanguageSession, turn: Turn) -> Observation | Failure | None:
        """Answer what the model need not be asked; None where it has to be."""
        if turn.action.error is not None:
            return Observation(turn.action.error, prompt=turn.message)
        for part in (self._form.look, self._form.probe):
            if (seen := part(session, turn)) is not None:
                return seen
        if self.unseen is not None:
            failure = self.unseen.failure(session.task, turn.action.parsed, session.observation)
            if failure is not None:
                return failure
        limit = self.spec.limits.context_tokens
        return Failure(FailureKind.OVERFLOW, f"the history reached {limit} tokens") if session.tokens >= limit else None

    def _asking(self, session: LanguageSession, turn: Turn) -> Work[tuple[Observation | Failure, int]]:
        """Ask the generator, and again where its answer cannot be read or breaks a check; the sampling and the checks
        say how often.

        Returns:
            What was read, or what stands in its place, and how many times the generator was asked again.
        """
        if self.checks is not None:
            return (yield from self._asking_checked(self.checks, session, turn))
        reasks, lost = 0, NO_USAGE
        while True:
            request = self._request(session, turn, reasks)
            answer = yield Request(self.generator, request)
            if isinstance(answer, Failure):
                return replace(answer, spent=lost + answer.spent), reasks
            observed = self._read(answer, session, turn, request.sampling.seed)
            lost += answer.lost
            if isinstance(observed, Observation):
                unchanged = not reasks and lost is NO_USAGE
                return (observed if unchanged else replace(observed, reasks=reasks, lost=lost)), reasks
            lost += answer.usage
            if observed.kind not in UNREADABLE or reasks == self.sampling.reasks:
                return replace(observed, spent=lost), reasks
            reasks += 1

    def _asking_checked(
        self, checks: Checks, session: LanguageSession, turn: Turn
    ) -> Work[tuple[Observation | Failure, int]]:
        """Ask as `_asking` does, and again where an answer breaks a check."""
        asked: list[tuple[Observation | Failure, Usage]] = []
        broken: list[Check] = []
        while True:
            reasks = len(asked)
            request = self._request(session, turn, reasks, REASONS[broken[-1]] if broken else "")
            answer = yield Request(self.generator, request)
            if isinstance(answer, Failure):
                return replace(answer, spent=sum((usage for _, usage in asked), answer.spent)), reasks
            observed = self._read(answer, session, turn, request.sampling.seed)
            asked.append((observed, answer.usage + answer.lost))
            if isinstance(observed, Failure):
                unreadable = observed.kind in UNREADABLE
                if unreadable and reasks - len(broken) < self.sampling.reasks:
                    continue
                refusal = self._form.refusal(session, turn) if unreadable and checks.options.format else None
                if refusal is not None:
                    broken.append("format")
                    observed = replace(refusal, usage=asked[-1][1], source=AnswerSource.CHECKED)
                    asked[-1] = (observed, asked[-1][1])
                break
            if (found := checks.broken(session, turn.action, observed)) is None:
                break
            broken.append(found)
            if len(broken) > checks.options.reasks:
                refusal = self._form.refusal(session, turn)
                observed = checks.settled(session, turn.action, found, observed, refusal)
                asked[-1] = (observed, asked[-1][1])
                break
        if broken and isinstance(observed, Observation):
            observed = replace(observed, broken=tuple(broken))
            asked[-1] = (observed, asked[-1][1])
        lost = sum((usage for one, usage in asked if one is not observed), NO_USAGE)
        if isinstance(observed, Observation):
            lost += answer.lost
            return (replace(observed, reasks=reasks, lost=lost) if reasks or lost != NO_USAGE else observed), reasks
        return replace(observed, spent=lost + asked[-1][1]), reasks

    def _request(self, session: LanguageSession, turn: Turn, reasks: int = 0, reason: str = "") -> ChatRequest:
        tried = session.failures + reasks
        seed = step_seed(session.seed, session.turn, tried) if self.generator.supports_seed else None
        examples = "" if self.retrieval is None else self.retrieval(session, turn.action)
        note = f"\n\n{reason}\n" if reason else ""
        last = Message(role="user", content=turn.message + examples + note + self.prompts.closing)
        allows = None
        if self._constrained:
            with suppress(AnswerError):  # No answer to such a state can be read, which is a failure of its own.
                allows = self._form.constraint(turn)
        sampling = self.sampling.again(reasks).seeded(seed)
        step = AskedStep(turn.action, session.seen.first, session.seen.turns, reasks)
        history = [*session.history, last]
        return ChatRequest(history, sampling, conversation=session.conversation, allows=allows, step=step)

    def _read(
        self, answer: Completion, session: LanguageSession, turn: Turn, seed: int | None
    ) -> Observation | Failure:
        if answer.finish_reason == "length":
            spent = answer.usage.completion_tokens or self.sampling.max_tokens
            return Failure(FailureKind.LENGTH, f"the completion was cut off after {spent} tokens")
        meant = parse_completion(answer.text)
        if meant is None:
            return Failure(FailureKind.EMPTY, "the completion holds no observation", retryable=True)
        meant, verdict = (meant, None) if self.pays is None else without_verdict(meant, self.pays)
        try:
            text, state = self._form.read(session, turn, meant)
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
            verdict=verdict,
            offers=None if verdict is None else verdict.offers,
        )

    def collateral(self, sessions: Sequence[LanguageSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return where each predicted state differs from what the task's expert leaves; None where that is unknown."""
        return [self._collateral(session) for session in sessions]

    def _collateral(self, session: LanguageSession) -> tuple[str, ...] | Failure | None:
        if self.grounded is None or session.states is None:
            return None
        try:
            return self.grounded.collateral_of(session.task, session.seed, partial(self._form.fields, session))
        except AnswerError as error:
            return Failure(FailureKind.MALFORMED, str(error))

    def accept(self, session: LanguageSession, action: Action, observed: Observation) -> None:
        """Append an answer that is known already, as from a recording, as if the generator had given it."""
        self._form.append(session, self._form.turn(session, action), observed)

    def correct(
        self, session: LanguageSession, text: str, state: str | None = None, verdict: Verdict | None = None
    ) -> None:
        """Replace the last observation by the true one, so that the next turn builds on it (teacher forcing).

        Forks that were made before keep what they had. After a failed step there is nothing to correct: `accept` the
        action with its true observation instead.

        Args:
            session: The session.
            text: The true observation.
            state: The true structured state, as JSON; needed where the model writes changes of it.
            verdict: What the true world said of reward and end, where the model writes that too.

        Raises:
            ValueError: The session has no turn yet, or it has no true state although the model writes changes of it.
        """
        self._form.correct(session, text, state, verdict)

    def messages(self, session: LanguageSession, action: Action) -> list[Message]:
        """Return the chat messages as which an action would be sent."""
        return list(self._request(session, self._form.turn(session, action)).messages)

    def close(self) -> None:
        """Release the generator."""
        self.generator.close()

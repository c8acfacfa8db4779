"""The worldbook as a document: one YAML file that code writes, and that a person can read and edit.

domain, dialect      what the sessions are of
pays, effects        whether the system pays for steps; what actions do
sure                 how likely an answer has to be for the book to give it before a model
actions              by name: how often it was done, the schema of its arguments, its kinds of answers, facts, rules
entities             what answers and arguments hold: the fields of each, and their types
sessions             where the book comes from: digests of sessions, and their origins
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import yaml
from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.strict import Positive, Share, Strict, read_document
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.toolset import CompiledSchema, first_line
from agentworld_gym.core.contracts import AskedStep, ChatRequest, Completion, Failure, FailureKind, Generator
from agentworld_gym.core.contracts.verdict import Told
from agentworld_gym.llm.prompting.parsing import in_output_tag
from agentworld_gym.llm.worldbook.steps import (
    MISSING,
    NO_EFFECTS,
    Effects,
    JsonType,
    Step,
    is_error,
    json_type,
    rendered,
    values_at,
)


def state_of(step: Step) -> str:
    """Return a digest of the state in which a step is done: what its session showed first, and what the last action
    showed that may have changed something."""
    return digest_of([step.first, step.state])[:12]


class When(Strict):
    """A condition on an action and on what came before it; all of its tests have to hold.

    Places in arguments are written like `files[].path`.

    >>> step = Step.of('{"name": "read", "arguments": {"path": "a.txt"}}', "Connected.", [])
    >>> When(unseen=["path"]).holds(step), When(missing=["path"]).holds(step), When(undone=["write"]).holds(step)
    (True, False, True)
    >>> str(When(missing=["path"], done=["write"]))
    '`path` is missing and `write` was done before'
    """

    given: tuple[str, ...] = ()
    """Places at which there is a value."""

    missing: tuple[str, ...] = ()
    """Places at which a value is missing."""

    types: dict[str, JsonType] = Field(default_factory=dict)
    """Places at which some value has a type."""

    equals: dict[str, Any] = Field(default_factory=dict)
    """Places at which some value is this one."""

    seen: tuple[str, ...] = ()
    """Places all of whose texts were shown or written before."""

    unseen: tuple[str, ...] = ()
    """Places some of whose texts were neither shown nor written before."""

    made: tuple[str, ...] = ()
    """Places all of whose texts name things that were made, and not removed since."""

    unmade: tuple[str, ...] = ()
    """Places some of whose texts name no such thing."""

    done: tuple[str, ...] = ()
    """Actions that were done before."""

    undone: tuple[str, ...] = ()
    """Actions that were not done before."""

    def holds(self, step: Step) -> bool:
        """Return whether the condition holds of a step."""
        return (
            all(any(one is not MISSING for one in values_at(step.given, path)) for path in self.given)
            and all(MISSING in values_at(step.given, path) for path in self.missing)
            and all(kind in map(_type, values_at(step.given, path)) for path, kind in self.types.items())
            and all(value in values_at(step.given, path) for path, value in self.equals.items())
            and all((texts := _texts(step, path)) and all(map(step.has_seen, texts)) for path in self.seen)
            and all(not all(map(step.has_seen, _texts(step, path))) for path in self.unseen)
            and all((texts := _texts(step, path)) and step.things.keys() >= set(texts) for path in self.made)
            and all(not step.things.keys() >= set(_texts(step, path)) for path in self.unmade)
            and step.done.issuperset(self.done)
            and step.done.isdisjoint(self.undone)
        )

    def also(self, other: When) -> When:
        """Return the condition that this one and another hold."""
        joined: dict[str, Any] = {}
        for name in type(self).model_fields:
            one, more = getattr(self, name), getattr(other, name)
            joined[name] = {**one, **more} if isinstance(one, dict) else (*one, *more)
        return When(**joined)

    def __str__(self) -> str:
        """Write the condition for people."""
        tests = [
            *(f"`{path}` is given" for path in self.given),
            *(f"`{path}` is missing" for path in self.missing),
            *(f"`{path}` is of type {kind}" for path, kind in self.types.items()),
            *(_equal(path, value) for path, value in self.equals.items()),
            *(f"`{path}` was seen before" for path in self.seen),
            *(f"`{path}` was never seen before" for path in self.unseen),
            *(f"`{path}` names what was made" for path in self.made),
            *(f"`{path}` names what is not there" for path in self.unmade),
            *(f"`{name}` was done before" for name in self.done),
            *(f"`{name}` was not done before" for name in self.undone),
        ]
        return " and ".join(tests)


class BookExample(Strict):
    """A recorded step."""

    session: str
    """The digest of its session."""

    before: str
    """What was shown before; long texts are cut."""

    action: str
    """The action; a long one is cut."""

    answer: str
    """What the action showed; a long text is cut."""


class AnswerKind(Strict):
    """One kind of answers to an action."""

    answer: str
    """The answer as a template: see `agentworld_gym.llm.worldbook.steps`."""

    count: Positive
    """How many steps were answered so."""

    error: bool = False
    """Whether it says that the action failed."""

    when: When | None = None
    """What triggers it, as far as one can tell."""

    holds: Share
    """Of the steps of which the condition holds, the share that was answered so; without one, of those of which no
    condition holds. One step more, with another answer, is counted: of three steps alike little is known."""

    examples: tuple[BookExample, ...] = Field(min_length=1)
    """Steps of different sessions that were answered so."""


class BookRule(Strict):
    """A rule that a model wrote, and that recorded sessions which it did not see bear out."""

    when: When
    """The condition."""

    answer: str
    """The answer as a template."""

    steps: Positive
    """The steps of these sessions of which the condition holds."""

    right: Positive
    """How many of them the rule predicts."""

    without: int = Field(ge=0)
    """How many of them the book predicts without it."""


class Fact(Strict):
    """What one action was answered in several sessions."""

    action: str
    """The action."""

    state: str | None = None
    """The digest of the state in which it was done: see `state_of`. None counts it in every state."""

    answer: str
    """The answer."""

    holds: Share
    """The share of these steps that were answered so; one step more, with another answer, is counted."""


class LikelyAnswer(NamedTuple):
    """An answer that a book gives."""

    text: str
    """The answer."""

    share: float
    """How likely it is: the share of the recorded steps in which what tells it was right."""


class ActionPage(Strict):
    """What is known of one action."""

    calls: Positive
    """How often it was done."""

    arguments: dict[str, Any]
    """The JSON Schema of its arguments, from the calls that did not fail."""

    answers: tuple[AnswerKind, ...] = Field(min_length=1)
    """The kinds of answers, the most common first."""

    repeats: Share | None = None
    """Of the steps in which an idle action was done again, with nothing but idle ones between, the share that was
    answered as before; None where there are none."""

    facts: tuple[Fact, ...] = ()
    """What the action was answered to the letter, where `answers` do not tell it."""

    rules: tuple[BookRule, ...] = ()
    """Rules, of which the first that fits counts more than `answers`."""

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            CompiledSchema(schema, "a worldbook", "arguments")
        except SpecError as error:
            raise ValueError(f"a JSON Schema ({first_line(error)})") from error
        return schema

    @cached_property
    def _compiled(self) -> CompiledSchema:
        return CompiledSchema(self.arguments, "a worldbook", "arguments")

    def admits(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether arguments fit the schema."""
        return self._compiled.fits(dict(arguments))

    def kinds(self, barred: Collection[str] = ()) -> list[AnswerKind]:
        """Return the kinds of answers of which sessions that are not barred have an example, with these alone."""
        left = ((one, tuple(shown for shown in one.examples if shown.session not in barred)) for one in self.answers)
        return [one.model_copy(update={"examples": examples}) for one, examples in left if examples]

    def fitting(self, step: Step, barred: Collection[str] = ()) -> list[tuple[AnswerKind, float]]:
        """Return the kinds of answers that a step may get, each with its likelihood, the likeliest first: those whose
        conditions hold, or else those without one. Where there is none either, all are as unlikely as can be, and so is
        a success where the arguments do not fit the schema."""
        kinds = self.kinds(barred) if barred else self.answers
        fit = [one for one in kinds if one.when is not None and one.when.holds(step)]
        fit = fit or [one for one in kinds if one.when is None]
        likely = [(one, one.holds) for one in fit] or [(one, 0.0) for one in kinds]
        if not self.admits(step.arguments):
            likely = [(one, share if one.error else 0.0) for one, share in likely]
        return sorted(likely, key=lambda one: (one[1], one[0].count), reverse=True)

    def told(self, step: Step, barred: Collection[str] = ()) -> LikelyAnswer | None:
        """Return the likeliest answer of those that the page tells in full; None where it tells none. No rule makes a
        success of arguments that do not fit the schema."""
        for rule in self.rules:
            text = rendered(rule.answer, step) if rule.when.holds(step) else None
            if text is not None and (is_error(text, step.action) or self.admits(step.arguments)):
                return LikelyAnswer(text, rule.right / (rule.steps + 1))
        found = [LikelyAnswer(fact.answer, fact.holds) for fact in self._known(step)]
        if step.again is not None and self.repeats is not None:
            found.append(LikelyAnswer(step.again, self.repeats))
        said = ((rendered(kind.answer, step), share) for kind, share in self.fitting(step, barred))
        found += [LikelyAnswer(text, share) for text, share in said if text is not None][:1]
        return max(found, key=lambda one: one.share, default=None)

    def expected(self, step: Step, barred: Collection[str] = ()) -> str | None:
        """Return the answer that is to be expected; None where the page does not know all of it."""
        told, kinds = self.told(step, barred), self.fitting(step, barred)
        return None if told is None or (kinds and kinds[0][1] > told.share) else told.text

    def _known(self, step: Step) -> Iterator[Fact]:
        for state in (state_of(step), None):
            if (fact := self._facts.get((step.action, state))) is not None:
                yield fact

    @cached_property
    def _facts(self) -> dict[tuple[str, str | None], Fact]:
        return {(fact.action, fact.state): fact for fact in self.facts}

    def refusal(self, step: Step, barred: Collection[str] = ()) -> str | None:
        """Return how the system refuses a step, if it does; None where the page does not know the words."""
        errors = [one for one in self.kinds(barred) if one.error]
        told = [one for one in errors if one.when is not None and one.when.holds(step)]
        known = (rendered(one.answer, step) for one in sorted(told, key=lambda one: -one.holds))
        return next((text for text in known if text is not None), None)


class Worldbook(Strict):
    """What recorded sessions tell of a system.

    Raises:
        ValueError: An example comes from a session that the book does not list.
    """

    format: Literal[1] = 1
    """The version of the format."""

    domain: str
    """The id of the domain."""

    dialect: str = ""
    """The dialect of the sessions; empty where the domain names none."""

    pays: Told | None = None
    """What the system says of each step at its end: rewards and ends, or success beside them; None where it pays for
    none."""

    effects: Effects = NO_EFFECTS
    """What actions do, as far as recordings tell."""

    sure: Share = 0.8
    """How likely an answer has to be for the book to give it before a model."""

    actions: dict[str, ActionPage]
    """What is known of each action, by its name."""

    entities: dict[str, dict[str, str]]
    """The fields of what answers and arguments hold, and their types, by what it is called."""

    sessions: dict[str, tuple[str, ...]]
    """The origins of each session that the book was mined from, by its digest."""

    @model_validator(mode="after")
    def _known_sessions(self) -> Self:
        for name, page in self.actions.items():
            for example in (example for kind in page.answers for example in kind.examples):
                if example.session not in self.sessions:
                    raise ValueError(f"actions.{name}.answers: examples of sessions that stand in `sessions`")
        return self

    @cached_property
    def digest(self) -> str:
        """A digest of the content."""
        return digest_of(self.model_dump())

    def step(self, action: str, first: str, turns: Sequence[tuple[str, str]]) -> Step:
        """Read an action after some turns; see `Step.of`."""
        return Step.of(action, first, turns, self.effects)

    def answer(self, step: Step, barred: Collection[str] = ()) -> LikelyAnswer | None:
        """Return the answer to a step: what its page tells, or else a recorded one, whose likelihood is 0; None where
        the book does not know the action."""
        page = self.actions.get(step.name)
        if page is None:
            return None
        shown = (example.answer for kind, _ in page.fitting(step, barred) for example in kind.examples)
        if (told := page.told(step, barred)) is None and (text := next(shown, None)) is not None:
            return LikelyAnswer(text, 0.0)
        return told

    def barred(self, origins: Iterable[str]) -> frozenset[str]:
        """Return the sessions that share an origin with an episode; see `agentworld_gym.llm.retrieval.steps`."""
        own = set(origins)
        sessions = self.sessions.items()
        return frozenset(name for name, theirs in sessions if not own.isdisjoint((*theirs, f"content {name}")))

    def write(self, path: Path) -> None:
        """Write the book as YAML, long texts as blocks."""
        data = self.model_dump(exclude_defaults=True)
        text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        write_atomically(path, text)


def read_worldbook(path: Path | str) -> Worldbook:
    """Read a worldbook.

    Raises:
        MissingFile: There is no such file.
        SpecError: It is no worldbook, or a value is wrong: the error names file, key, value and what was expected.
    """
    return read_document(Worldbook, Path(path), "a worldbook, which `agentworld worldbook` writes")


class BookAnswers:
    """A generator that answers from a worldbook, without a model: the likeliest answer of the book to each step.

    Its confidence is the share of recorded steps in which what tells the answer was right. An action that the book does
    not know is a failure of the kind `unseen`. It answers requests of language worlds that write whole observations.

    Args:
        book: The book.
    """

    supports_seed = False
    supports_schema = False
    deterministic = True

    def __init__(self, book: Worldbook) -> None:
        self._book = book

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answer each request in order."""
        return ((index, self._answered(request.step)) for index, request in enumerate(requests))

    def _answered(self, asked: AskedStep | None) -> Completion | Failure:
        if asked is None:
            return Failure(FailureKind.REJECTED, "a worldbook answers the steps of a world, and no other requests")
        step = self._book.step(asked.action.raw, asked.first, [(action.raw, shown) for action, shown in asked.turns])
        answer = self._book.answer(step)
        if answer is None:
            return Failure(FailureKind.UNSEEN, f"the worldbook has no action {step.name!r}")
        return Completion(in_output_tag(answer.text), logprob=math.log(max(answer.share, 1e-9)))

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the digest of the book."""
        return {"generator": ("worldbook", True), "model": (self._book.digest, True)}

    def close(self) -> None:
        """Do nothing: nothing is held."""


class BookFirst:
    """A generator that gives the answers of which a worldbook is sure, and asks a model for the others.

    A step whose answer was refused is asked of the model. The book is sure where the share of recorded steps in which
    what tells the answer was right is at least `Worldbook.sure`.

    Args:
        book: The book.
        model: The generator of the model, which is closed with this one. It has to write whole observations.
    """

    supports_schema = False

    def __init__(self, book: Worldbook, model: Generator) -> None:
        self._book, self._answers, self._model = book, BookAnswers(book), model

    @property
    def supports_seed(self) -> bool:
        """Whether the model honours seeds."""
        return self._model.supports_seed

    @property
    def deterministic(self) -> bool:
        """Whether the model is deterministic; the book always is."""
        return self._model.deterministic

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Give what the book is sure of at once, and then what the model answers to all other requests together."""
        others: list[int] = []
        for index, answer in self._answers.submit(requests):
            step = requests[index].step
            again = step is not None and step.reasks > 0  # The book would say the same once more.
            if isinstance(answer, Completion) and math.exp(answer.logprob or 0.0) >= self._book.sure and not again:
                yield index, answer
            else:
                others.append(index)
        if others:
            for place, said in self._model.submit([requests[index] for index in others]):
                yield others[place], said

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the parts of the model, and the digest of the book."""
        return {**self._model.describe(), "worldbook": (self._book.digest, True)}

    def close(self) -> None:
        """Close the model."""
        self._model.close()


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and data without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def _equal(path: str, value: Any) -> str:
    match path:
        case "$maker" | "$last" if not value:
            return "it names nothing that was made"
        case "$maker":
            return f"what it names was made by `{value}`"
        case "$last":
            return f"what it names was last changed by `{value}`"
    return f"`{path}` is {value!r}"


def _type(value: Any) -> str:
    return "" if value is MISSING else json_type(value)


def _texts(step: Step, path: str) -> list[str]:
    return [value for value in values_at(step.given, path) if isinstance(value, str)]

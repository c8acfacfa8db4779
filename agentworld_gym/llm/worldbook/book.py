"""The worldbook as a document: one YAML file that code writes, and that a person can read and edit.

domain, dialect      what the sessions are of
actions              by name: how often it was done, the schema of its arguments, its kinds of answers, rules
entities             what answers and arguments hold: the fields of each, and their types
sessions             where the book comes from: digests of sessions, and their origins
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.strict import Positive, Share, Strict, read_document
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.actions.toolset import CompiledSchema, first_line
from agentworld_gym.llm.worldbook.schemas import JsonType, json_type
from agentworld_gym.llm.worldbook.steps import MISSING, Step, values_at
from agentworld_gym.llm.worldbook.templates import rendered


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

    done: tuple[str, ...] = ()
    """Actions that were done before."""

    undone: tuple[str, ...] = ()
    """Actions that were not done before."""

    def holds(self, step: Step) -> bool:
        """Return whether the condition holds of a step."""
        return (
            all(any(one is not MISSING for one in values_at(step.arguments, path)) for path in self.given)
            and all(MISSING in values_at(step.arguments, path) for path in self.missing)
            and all(kind in map(_type, values_at(step.arguments, path)) for path, kind in self.types.items())
            and all(value in values_at(step.arguments, path) for path, value in self.equals.items())
            and all((texts := _texts(step, path)) and all(map(step.has_seen, texts)) for path in self.seen)
            and all(not all(map(step.has_seen, _texts(step, path))) for path in self.unseen)
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
            *(f"`{path}` is {value!r}" for path, value in self.equals.items()),
            *(f"`{path}` was seen before" for path in self.seen),
            *(f"`{path}` was never seen before" for path in self.unseen),
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
    """The answer as a template: see `agentworld_gym.llm.worldbook.templates`."""

    count: Positive
    """How many steps were answered so."""

    error: bool = False
    """Whether it says that the action failed."""

    when: When | None = None
    """What triggers it, as far as one can tell."""

    holds: Share | None = None
    """Of the steps of which the condition holds, the share that was answered so."""

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


class ActionPage(Strict):
    """What is known of one action."""

    calls: Positive
    """How often it was done."""

    arguments: dict[str, Any]
    """The JSON Schema of its arguments, from the calls that did not fail."""

    answers: tuple[AnswerKind, ...] = Field(min_length=1)
    """The kinds of answers, the most common first."""

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

    def fitting(self, step: Step, barred: Collection[str] = ()) -> AnswerKind | None:
        """Return the kind of answers that is most to be expected of a step; None where there is none."""
        kinds = self.kinds(barred)
        triggered = [one for one in kinds if one.when is not None and one.when.holds(step)]
        if triggered:
            return max(triggered, key=lambda one: (one.holds or 0, one.count))
        return max([one for one in kinds if one.when is None] or kinds, key=lambda one: one.count, default=None)

    def expected(self, step: Step, barred: Collection[str] = ()) -> str | None:
        """Return the answer that the page predicts; None where it does not know all of it."""
        for rule in self.rules:
            if rule.when.holds(step) and (text := rendered(rule.answer, step)) is not None:
                return text
        kind = self.fitting(step, barred)
        return None if kind is None else rendered(kind.answer, step)

    def refusal(self, step: Step, barred: Collection[str] = ()) -> str | None:
        """Return how the system refuses a step, if it does; None where the page does not know the words."""
        errors = [one for one in self.kinds(barred) if one.error]
        told = [one for one in errors if one.when is not None and one.when.holds(step)]
        known = (rendered(one.answer, step) for one in sorted(told, key=lambda one: -(one.holds or 0)))
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


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and data without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def _type(value: Any) -> str:
    return "" if value is MISSING else json_type(value)


def _texts(step: Step, path: str) -> list[str]:
    return [value for value in values_at(step.arguments, path) if isinstance(value, str)]

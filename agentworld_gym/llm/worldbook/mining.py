"""Mines a worldbook from recorded sessions, by code alone."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.retrieval.steps import origin_of_row
from agentworld_gym.llm.rows.pools import is_imported, split_of_row
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.worldbook.book import ActionPage, AnswerKind, BookExample, When, Worldbook
from agentworld_gym.llm.worldbook.schemas import json_type, schema_of, sketch
from agentworld_gym.llm.worldbook.steps import MISSING, Step, places, values_at
from agentworld_gym.llm.worldbook.templates import WILD, answer_kind, common, is_error, rendered, templated

MOST_KINDS = 20
"""How many kinds of answers to one action the book holds at most."""

EXAMPLES = 2
"""How many examples of a kind it holds at most, each of another session."""

BEFORE, SHOWN = 300, 800
"""How many characters an example shows at most of what was there before, and of its action and answer."""

LEAST = 3
"""How many steps of a kind there have to be for what triggers it to be told."""

_TESTS = 3
_GAIN, _GOOD = 0.02, 0.5
_MOST_PLACES, _MOST_VALUES, _MOST_ENTITIES, _MOST_TEMPLATES = 40, 5, 40, 40
_LONGEST_VALUE = 40

_Test = tuple[When, int]
"""A condition, and the steps in which it holds, as bits."""


@dataclass(frozen=True, slots=True)
class MinedStep:
    """A recorded step, ready to be mined."""

    step: Step
    """The action, with what came before it."""

    answer: str
    """What it showed."""

    session: str
    """The digest of its session."""


def mined_steps(row: Row) -> Iterator[MinedStep]:
    """Yield the steps of a session."""
    turns = list(zip(row.actions, row.observations, strict=True))
    digest = row.digest()
    for number, (action, observation) in enumerate(turns):
        yield MinedStep(Step.of(action, row.first_observation, turns[:number]), observation, digest)


def chosen_sessions(
    rows: Iterable[Row], split: Split | None = "train", progress: Callable[[int], None] | None = None
) -> list[Row]:
    """Return the sessions that a worldbook is mined from.

    A session whose content came before is left out, and so is one with controls in force.

    Args:
        rows: Whole sessions.
        split: The split whose sessions are taken, beside all that were imported; None takes all.
        progress: A function that is called with the number of sessions that were read.

    Raises:
        SpecError: No session is left, or they are of several domains or dialects.
    """
    chosen: dict[str, Row] = {}
    for number, row in enumerate(rows, 1):
        if progress is not None:
            progress(number)
        taken = split is None or is_imported(row) or split_of_row(row) == split
        if row.actions and taken and not any(row.controls.values()):
            chosen.setdefault(row.digest(), row)
    sessions = list(chosen.values())
    if not sessions:
        raise SpecError("rows", "rows", 0, f"recorded sessions of the split {split or 'train, validation or test'}")
    first = sessions[0]
    for row in sessions:
        for key in ("domain", "dialect"):
            if (found := getattr(row, key)) != (wanted := getattr(first, key)):
                raise SpecError(f"row {row.id}", key, found, f"{wanted}, that of the sessions before")
    return sessions


def mine(sessions: Sequence[Row]) -> Worldbook:
    """Mine a worldbook from sessions of one system; see `chosen_sessions`.

    >>> turns = {"actions": ["rm a.txt", "rm b.txt"], "observations": ["rm: a.txt: not found", "rm: b.txt: not found"]}
    >>> row = Row(task="terminal", id="a", system_str="", prompt=["x", "y"], response=["x", "y"], current_prompt="y",
    ...           turn_idx=2, total_turns=2, **turns)
    >>> [(kind.answer, kind.count, kind.error) for kind in mine([row]).actions["rm"].answers]
    [('rm: {words[]}: not found', 2, True)]
    """
    origins = {row.digest(): origin_of_row(row)[:-1] for row in sessions}  # The last one is the digest.
    by_name: defaultdict[str, list[MinedStep]] = defaultdict(list)
    for one in (one for row in sessions for one in mined_steps(row)):
        by_name[one.step.name].append(one)
    names = sorted(by_name, key=lambda name: (-len(by_name[name]), name))
    return Worldbook(
        domain=sessions[0].domain,
        dialect=sessions[0].dialect,
        actions={name: _page(by_name[name], names) for name in names},
        entities=_entities([one for name in names for one in by_name[name]]),
        sessions=origins,
    )


def _page(steps: Sequence[MinedStep], names: Sequence[str]) -> ActionPage:
    taken = [one.step.arguments for one in steps if not is_error(one.answer)]
    schema = schema_of(taken or [one.step.arguments for one in steps])
    if not taken:
        schema.pop("required", None)
    kinds = _kinds(steps)
    tests = _tests([one.step for one in steps], names) if len(kinds) > 1 else []
    largest = sorted(kinds, key=lambda kind: len(kind[1]), reverse=True)[:MOST_KINDS]
    answers = tuple(
        _kind([steps[number] for number in of], template, _trigger(tests, of, len(steps))) for template, of in largest
    )
    return ActionPage(calls=len(steps), arguments=schema, answers=answers)


def _kinds(steps: Sequence[MinedStep]) -> list[tuple[str | None, list[int]]]:
    """Return the kinds of answers: for each its template, if that gives all of every answer, and which steps it has.

    A step belongs to the most common template that gives its answer, or else to the steps with answers of its form.
    """
    texts = Counter(text for one in steps for text in {one.answer, templated(one.answer, one.step)})
    known = [text for text, count in texts.most_common(_MOST_TEMPLATES) if count > 1]
    kinds: defaultdict[tuple[str | None, str], list[int]] = defaultdict(list)
    for number, one in enumerate(steps):
        template = next((text for text in known if rendered(text, one.step) == one.answer), None)
        form = answer_kind(one.step.action, one.answer) if template is None else ""
        kinds[template, form].append(number)
    return [(template, numbers) for (template, _), numbers in kinds.items()]


def _kind(of: Sequence[MinedStep], template: str | None, trigger: tuple[When | None, float | None]) -> AnswerKind:
    if template is None:
        template = common([templated(one.answer, one.step) for one in of])
        if WILD in template and (values := _json_of(one.answer for one in of)):
            template = f"{WILD} {sketch(schema_of(values))}"
    examples: dict[str, BookExample] = {}
    for one in sorted(of, key=lambda one: len(one.answer) > SHOWN):
        if len(examples) < EXAMPLES and one.session not in examples:
            examples[one.session] = BookExample(
                session=one.session,
                before=_cut(one.step.before, BEFORE),
                action=_cut(one.step.action, SHOWN),
                answer=_cut(one.answer, SHOWN),
            )
    return AnswerKind(
        answer=_cut(template, SHOWN),
        count=len(of),
        error=2 * sum(is_error(one.answer) for one in of) > len(of),
        when=trigger[0],
        holds=trigger[1],
        examples=tuple(examples.values()),
    )


def _tests(steps: Sequence[Step], names: Sequence[str]) -> list[_Test]:
    """Return the tests that hold in some steps and not in all."""
    found = Counter(path for step in steps for path in {path for path, _ in places(step.arguments)})
    whens = [when for name in names[:_MOST_PLACES] for when in (When(done=(name,)), When(undone=(name,)))]
    for path, _ in found.most_common(_MOST_PLACES):
        values = [value for step in steps for value in values_at(step.arguments, path) if value is not MISSING]
        kinds = sorted(set(map(json_type, values)))
        whens += [When(missing=(path,)), When(given=(path,))]
        whens += [When(types={path: kind}) for kind in kinds if len(kinds) > 1]
        whens += [When(seen=(path,)), When(unseen=(path,))] if "string" in kinds else []
        plain = Counter(value for value in values if isinstance(value, str) and len(value) <= _LONGEST_VALUE)
        common_values = [value for value, count in plain.most_common(_MOST_VALUES) if count >= LEAST]
        whens += [When(equals={path: value}) for value in (*common_values, True, False, [], {}) if value in values]
    masks = ((when, _bits((n for n, step in enumerate(steps) if when.holds(step)), len(steps))) for when in whens)
    return [(when, mask) for when, mask in masks if 0 < mask.bit_count() < len(steps)]


def _trigger(tests: Sequence[_Test], numbers: Sequence[int], total: int) -> tuple[When | None, float | None]:
    """Return the condition that tells a kind best from the others, of a few tests, and how often it is right.

    Tests are added one after another, as long as each raises the harmonic mean of precision and recall (F1).
    """
    kind = _bits(numbers, total)
    if len(numbers) < LEAST or not tests:
        return None, None
    when, holds = When(), _bits(range(total), total)
    for _ in range(_TESTS):
        added, mask = max(tests, key=lambda test: _f1(holds & test[1], kind))
        if _f1(holds & mask, kind) < _f1(holds, kind) + _GAIN:
            break
        when, holds = when.also(added), holds & mask
    if when == When() or _f1(holds, kind) < _GOOD:
        return None, None
    return when, round((holds & kind).bit_count() / holds.bit_count(), 3)


def _f1(holds: int, kind: int) -> float:
    return 2 * (holds & kind).bit_count() / (holds.bit_count() + kind.bit_count())


def _bits(numbers: Iterable[int], total: int) -> int:
    """Return a number that has these of its bits."""
    data = bytearray(total // 8 + 1)
    for number in numbers:
        data[number // 8] |= 1 << number % 8
    return int.from_bytes(data, "little")


def _entities(steps: Sequence[MinedStep]) -> dict[str, dict[str, str]]:
    """Return the fields of the objects that answers and arguments hold, by the key under which they stand."""
    found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in steps:
        for value in (one.step.arguments, *_json_of([one.answer])):
            for name, entity in _objects(value, ""):
                found[name].append(entity)
    largest = sorted(found, key=lambda name: (-len(found[name]), name))[:_MOST_ENTITIES]
    schemas = {name: schema_of(found[name]) for name in largest if len(found[name]) >= LEAST}
    return {
        name: {key: sketch(inner) for key, inner in schema["properties"].items()}
        for name, schema in schemas.items()
        if "properties" in schema
    }


def _objects(value: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects in a document that stand under a key, each with that key."""
    if isinstance(value, Mapping):
        if name and value:
            yield name, value
        for key, inner in value.items():
            yield from _objects(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, name)


def _json_of(texts: Iterable[str]) -> list[Any]:
    """Return what texts hold as JSON; nothing where one of them is none."""
    try:
        return [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + WILD

"""Mines a worldbook from recorded sessions, by code alone."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.naming import verb
from agentworld_gym.core.contracts.verdict import told_by, with_verdict
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.retrieval.steps import origin_of_row
from agentworld_gym.llm.rows.pools import is_imported, split_of_row
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.worldbook.book import (
    ActionPage,
    AnswerKind,
    BookExample,
    Fact,
    When,
    Worldbook,
    state_of,
)
from agentworld_gym.llm.worldbook.steps import (
    MISSING,
    NO_EFFECTS,
    WILD,
    Effects,
    Step,
    answer_kind,
    common,
    is_error,
    json_type,
    places,
    read_call,
    rendered,
    steps_of,
    templated,
    values_at,
)

MOST_KINDS = 20
"""How many kinds of answers to one action the book holds at most."""

EXAMPLES = 2
"""How many examples of a kind it holds at most, each of another session."""

BEFORE, SHOWN = 300, 800
"""How many characters an example shows at most of what was there before, and of its action and answer."""

LEAST = 3
"""How many steps of a kind there have to be for what triggers it to be told."""

MOST_STEPS = 2000
"""How many steps of an action kinds of answers are mined from at most, spread evenly over the sessions; facts are mined
from all."""

MOST_FACTS, LONGEST_ANSWER = 1000, 20_000
"""How many facts of an action the book holds at most, and how many characters of an answer."""

_TESTS = 3
_GAIN, _GOOD = 0.02, 0.5
_STRAYS = 0.02
_WATCHED, _TOLD = 200, 0.01
_DEEPEST, _MOST_KEYS = 6, 40
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


def mined_steps(row: Row, effects: Effects = NO_EFFECTS) -> Iterator[MinedStep]:
    """Yield the steps of a session; their answers tell what the system paid too."""
    turns = list(zip(row.actions, row.observations, strict=True))
    digest = row.digest()
    for turn, step in enumerate(steps_of(turns, row.first_observation, effects)):
        answer = with_verdict(turns[turn][1], row.verdict(turn)) if row.verdicts else turns[turn][1]
        yield MinedStep(step, answer, digest)


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
    effects = _effects(sessions)
    by_name = by_action(sessions, effects)
    names = sorted(by_name, key=lambda name: (-len(by_name[name]), name))
    return Worldbook(
        domain=sessions[0].domain,
        dialect=sessions[0].dialect,
        pays=told_by(row.told for row in sessions),
        effects=effects,
        actions={name: _page(by_name[name], names) for name in names},
        entities=_entities([one for name in names for one in by_name[name]]),
        sessions=origins,
    )


def by_action(sessions: Iterable[Row], effects: Effects = NO_EFFECTS) -> dict[str, list[MinedStep]]:
    """Return the steps of sessions by the names of their actions, in a system whose actions have some effects."""
    found: defaultdict[str, list[MinedStep]] = defaultdict(list)
    for one in (one for row in sessions for one in mined_steps(row, effects)):
        found[one.step.name].append(one)
    return found


def _effects(sessions: Sequence[Row]) -> Effects:
    """Return what actions do.

    The places that name what is made and removed are chosen one after another, as long as each tells more of what kinds
    of answers come where a place names things that are there, and where not (in bits, the best place of each action).
    """
    effects = Effects(idle=tuple(sorted(_idle(sessions))))
    some = sessions[:: -(-len(sessions) // _WATCHED)]
    told = [_Watched.of(row) for row in some]
    met = Counter(place for one in told for _, place, _ in one.given)
    candidates = [place for place, count in met.most_common(_MOST_PLACES) if count >= LEAST]
    bits, steps = 0.0, sum(len(one.steps) for one in told)
    while True:
        more = [effects.model_copy(update={"makes": (*effects.makes, place)}) for place in candidates]
        if effects.makes:
            more += [effects.model_copy(update={"removes": (*effects.removes, place)}) for place in candidates]
        scored = [(_bits_told(told, one), one) for one in more]
        best, found = max(scored, key=lambda one: one[0], default=(0.0, effects))
        if best < bits + _TOLD * steps:
            break
        taken = {*found.makes, *found.removes}
        bits, effects, candidates = best, found, [place for place in candidates if place not in taken]
    acting = {name for name, _ in (*effects.makes, *effects.removes)}
    return effects.model_copy(update={"idle": tuple(name for name in effects.idle if name not in acting)})


@dataclass(frozen=True, slots=True)
class _Watched:
    """A session, as what it says of things is looked at."""

    given: list[tuple[int, tuple[str, str], str]]
    """The texts in the arguments of actions that did not fail: the turn, the action and the place, and the text."""

    steps: list[tuple[str, str, dict[str, list[str]]]]
    """Each action, the kind of its answer, and the texts in its arguments by place."""

    @classmethod
    def of(cls, row: Row) -> _Watched:
        """Read a session."""
        watched = cls([], [])
        for turn, (action, shown) in enumerate(zip(row.actions, row.observations, strict=True)):
            name, arguments = read_call(action)
            texts: defaultdict[str, list[str]] = defaultdict(list)
            for path, value in places(arguments):
                if isinstance(value, str):
                    texts[path].append(value)
            watched.steps.append((name, answer_kind(action, shown), texts))
            if not is_error(shown, action):
                watched.given.extend((turn, (name, path), text) for path, some in texts.items() for text in some)
        return watched

    def things(self, effects: Effects) -> Iterator[set[str]]:
        """Yield the things that are there before each turn."""
        there, makes, removes = set[str](), set(effects.makes), set(effects.removes)
        given = [one for one in self.given if one[1] in makes or one[1] in removes]
        at = 0
        for turn in range(len(self.steps)):
            while at < len(given) and given[at][0] < turn:
                _, place, text = given[at]
                (there.add if place in makes else there.discard)(text)
                at += 1
            yield there


def _bits_told(sessions: Sequence[_Watched], effects: Effects) -> float:
    """Return how many bits of kinds of answers it tells whether things are there, at the best place of each action."""
    kinds: defaultdict[str, defaultdict[str, Counter[tuple[bool, str]]]] = defaultdict(lambda: defaultdict(Counter))
    for one in sessions:
        for (name, kind, texts), there in zip(one.steps, one.things(effects), strict=True):
            for path, some in texts.items():
                kinds[name][path][there.issuperset(some), kind] += 1
    return sum(max(map(_bits_of_split, by_place.values())) for by_place in kinds.values())


def _bits_of_split(counts: Counter[tuple[bool, str]]) -> float:
    """Return how many bits of some kinds a split in two tells, over all of its steps."""
    every, sides = Counter[str](), {True: Counter[str](), False: Counter[str]()}
    for (side, kind), count in counts.items():
        every[kind] += count
        sides[side][kind] += count
    return _entropy(every) - sum(map(_entropy, sides.values()))


def _entropy(counts: Counter[str]) -> float:
    total = counts.total()
    return -sum(count * math.log2(count / total) for count in counts.values())


def _idle(sessions: Sequence[Row]) -> set[str]:
    """Return the names of actions that change nothing.

    Where such ones alone come between two equal actions of theirs, the answers are equal. Of all names, the one that
    comes between most unequal answers is taken out, until hardly any are unequal.
    """
    pairs: list[tuple[set[str], bool]] = []
    for row in sessions:
        names, last = [verb(action) for action in row.actions], dict[str, int]()
        for turn, action in enumerate(row.actions):
            if (before := last.get(action)) is not None:
                pairs.append((set(names[before : turn + 1]), row.observations[before] == row.observations[turn]))
            last[action] = turn
    idle = {name for names, _ in pairs for name in names}
    while idle:
        within = [(names, equal) for names, equal in pairs if names <= idle]
        every = Counter(name for names, _ in within for name in names)
        unequal = Counter(name for names, equal in within if not equal for name in names)
        worst = max(idle, key=lambda name: (unequal[name] / max(1, every[name]), name))
        if unequal[worst] <= _STRAYS * every[worst]:
            break
        idle.remove(worst)
    met = Counter(name for names, _ in pairs if names <= idle for name in names)
    return {name for name in idle if met[name] >= LEAST}


def _page(every: Sequence[MinedStep], names: Sequence[str]) -> ActionPage:
    steps = every[:: -(-len(every) // MOST_STEPS)]
    taken = [one.step.arguments for one in steps if not is_error(one.answer, one.step.action)]
    schema = schema_of(taken or [one.step.arguments for one in steps])
    if not taken:
        schema.pop("required", None)
    kinds = _kinds(steps)
    tests = _tests([one.step for one in steps], names) if len(kinds) > 1 else []
    largest = sorted(kinds, key=lambda kind: len(kind[1]), reverse=True)[:MOST_KINDS]
    found = [(template, of, _trigger(tests, of, len(steps))) for template, of in largest]
    rest = (1 << len(steps)) - 1
    for _, _, (when, holds) in found:
        if when is not None:
            rest &= ~holds
    answers = tuple(
        _kind([steps[number] for number in of], template, when, _share(holds if when else rest, _bits(of, len(steps))))
        for template, of, (when, holds) in found
    )
    again = [one.answer == one.step.again for one in every if one.step.again is not None]
    page = ActionPage(
        calls=len(every),
        arguments=schema,
        answers=answers,
        repeats=round(sum(again) / (len(again) + 1), 3) if again else None,
    )
    for in_state in (False, True):
        page = ActionPage(**{**dict(page), "facts": (*page.facts, *_facts(every, page, in_state))})
    return page


def _facts(steps: Sequence[MinedStep], page: ActionPage, in_state: bool) -> list[Fact]:
    """Return what actions were answered in several sessions, in one state or in any, and a page does not tell."""
    done: defaultdict[tuple[str, str | None], list[MinedStep]] = defaultdict(list)
    for one in steps:
        done[one.step.action, state_of(one.step) if in_state else None].append(one)
    found: list[tuple[int, Fact]] = []
    for (action, state), some in done.items():
        answer, count = Counter(one.answer for one in some).most_common(1)[0]
        session = next(one.session for one in some if one.answer == answer)
        if all(one.session == session for one in some if one.answer == answer) or len(answer) > LONGEST_ANSWER:
            continue
        fact = Fact(action=action, state=state, answer=answer, holds=round(count / (len(some) + 1), 3))
        told = page.told(some[0].step)
        if told is None or (told.text != answer and told.share < fact.holds):
            found.append((count, fact))
    found.sort(key=lambda one: -one[0])
    return [fact for _, fact in found[:MOST_FACTS]]


def _kinds(steps: Sequence[MinedStep]) -> list[tuple[str | None, list[int]]]:
    """Return the kinds of answers: for each its template, if that gives all of every answer, and which steps it has.

    A step belongs to the most common template that gives its answer, or else to the steps with answers of its form.
    """
    own = [dict.fromkeys((one.answer, templated(one.answer, one.step))) for one in steps]
    texts = Counter(text for some in own for text in some)
    known = [text for text, count in texts.most_common(_MOST_TEMPLATES) if count > 1]
    begins = [text.partition("{")[0] for text in known]
    kinds: defaultdict[tuple[str | None, str], list[int]] = defaultdict(list)
    for number, one in enumerate(steps):
        fits = (text for text, begin in zip(known, begins, strict=True) if one.answer.startswith(begin))
        template = next((text for text in fits if rendered(text, one.step) == one.answer), None)
        form = answer_kind(one.step.action, one.answer) if template is None else ""
        kinds[template, form].append(number)
    return [(template, numbers) for (template, _), numbers in kinds.items()]


def _kind(of: Sequence[MinedStep], template: str | None, when: When | None, holds: float) -> AnswerKind:
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
        answer=_cut(template, SHOWN if WILD in template else LONGEST_ANSWER),
        count=len(of),
        error=2 * sum(is_error(one.answer, one.step.action) for one in of) > len(of),
        when=when,
        holds=holds,
        examples=tuple(examples.values()),
    )


def _tests(steps: Sequence[Step], names: Sequence[str]) -> list[_Test]:
    """Return the tests that hold in some steps and not in all."""
    found = Counter(path for step in steps for path in {path for path, _ in places(step.arguments)})
    held: defaultdict[tuple[str, str, Any], list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        for name in names[:_MOST_PLACES]:
            held["done" if name in step.done else "undone", name, None].append(number)
    for path in [*(path for path, _ in found.most_common(_MOST_PLACES)), "$line", "$maker", "$last"]:
        each = [values_at(step.given, path) for step in steps]
        plain = Counter(value for values in each for value in values if isinstance(value, str))
        some = [value for value, count in plain.most_common(_MOST_VALUES) if count >= LEAST]
        common_values = [*(value for value in some if len(value) <= _LONGEST_VALUE), True, False, [], {}]
        for number, (step, values) in enumerate(zip(steps, each, strict=True)):
            there = [value for value in values if value is not MISSING]
            tests: list[tuple[str, Any]] = [("given", None)] if there else []
            tests += [("missing", None)] if len(there) < len(values) else []
            tests += [("types", kind) for kind in set(map(json_type, there))]
            tests += [("equals", json.dumps(value)) for value in common_values if value in values]
            if not path.startswith("$") and (texts := [value for value in values if isinstance(value, str)]):
                tests.append(("seen" if all(map(step.has_seen, texts)) else "unseen", None))
                tests.append(("made" if step.things.keys() >= set(texts) else "unmade", None))
            for test, value in tests:
                held[test, path, value].append(number)
    return [(_when(*key), _bits(numbers, len(steps))) for key, numbers in held.items() if 0 < len(numbers) < len(steps)]


def _when(test: str, place: str, value: Any) -> When:
    """Return the condition of one test."""
    if test == "equals":
        value = json.loads(value)
    of: Any = {test: {place: value} if test in ("types", "equals") else (place,)}
    return When(**of)


def _trigger(tests: Sequence[_Test], numbers: Sequence[int], total: int) -> tuple[When | None, int]:
    """Return the condition that tells a kind best from the others, of a few tests, and the steps of which it holds.

    Tests are added one after another, as long as each raises the harmonic mean of precision and recall (F1).
    """
    kind = _bits(numbers, total)
    when, holds = When(), (1 << total) - 1
    if len(numbers) < LEAST or not tests:
        return None, holds
    for _ in range(_TESTS):
        tests = [test for test in tests if not _clash(when, test[0])]
        if not tests:
            break
        added, mask = max(tests, key=lambda test: _f1(holds & test[1], kind))
        if _f1(holds & mask, kind) < _f1(holds, kind) + _GAIN:
            break
        when, holds = when.also(added), holds & mask
    return (None, holds) if when == When() or _f1(holds, kind) < _GOOD else (when, holds)


def _clash(one: When, other: When) -> bool:
    """Return whether two conditions ask for another value, or type, at one place: a condition holds one for each."""
    return not (one.equals.keys().isdisjoint(other.equals) and one.types.keys().isdisjoint(other.types))


def _share(holds: int, kind: int) -> float:
    return round((holds & kind).bit_count() / (holds.bit_count() + 1), 3)


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


def schema_of(values: Sequence[Any], depth: int = 0) -> dict[str, Any]:
    """Return a JSON Schema that all values fit. A key is required that every object has.

    >>> schema_of([{"path": "a", "lines": 3}, {"path": "b"}])["required"]
    ['path']
    """
    kinds: list[str] = list(dict.fromkeys(map(json_type, values)))
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    schema: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    objects = [value for value in values if isinstance(value, Mapping)]
    names = list(dict.fromkeys(name for one in objects for name in one))
    if names and len(names) <= _MOST_KEYS and depth < _DEEPEST:
        parts = {name: [one[name] for one in objects if name in one] for name in names}
        schema["properties"] = {name: schema_of(part, depth + 1) for name, part in parts.items()}
        if required := [name for name in names if len(parts[name]) == len(objects)]:
            schema["required"] = required
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    if items and depth < _DEEPEST:
        schema["items"] = schema_of(items, depth + 1)
    return schema


def sketch(schema: Mapping[str, Any]) -> str:
    """Write what a schema admits, as a person would.

    >>> sketch(schema_of([[{"name": "Emma", "age": 3}], []]))
    '[{name: string, age: integer}]'
    """
    if properties := schema.get("properties"):
        return f"{{{', '.join(f'{name}: {sketch(inner)}' for name, inner in properties.items())}}}"
    if items := schema.get("items"):
        return f"[{sketch(items)}]"
    kinds = schema.get("type", "any")
    return kinds if isinstance(kinds, str) else " | ".join(kinds)

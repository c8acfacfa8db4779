"""Ways of composed tasks: the ways of the families, job by job, in several orders and with looks between them.

A way of a composed task reads the instruction and the orders as an agent does, takes a job that it can do, goes where
the job begins, and does it in a way of the job's family. Which family a job has, and what is found out where the family
asks for no answer, is taken from what the generator drew; what a way answers has to pass the family's own test.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple
from unittest.mock import patch

from agentworld_gym.core.actions.finish import finishes, read_finish
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens.locate import NotOnScreen
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import generate
from agentworld_gym.core.tasks.composition import DECLINED, HELD, MISSING, ON_HOLD, OPEN, name_of
from agentworld_gym.core.tasks.family import Family, TaskDraft
from ways.playing import Way, Ways, read
from ways.playing import name_of as way_name

ALIKE = 0.6
"""How many of the words of a family's task stand in a job, at least."""


_POLICY = re.compile(r"Orders from (.+?) must no longer be carried out")
_AGREED = re.compile(r"Carry out the order that I agreed on with (.+)\.$")
_SIGNED = re.compile(r"\s+From ([^.\n]+)\.\s*\Z")
_JOB = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_ORDERED = re.compile(r"Carry out the order that has (what|the .+ that) you found out in (\d+) as its name\.$")


class Told(NamedTuple):
    """A task that a family drew, from which a job may have been made."""

    family: str
    draft: TaskDraft
    opened: str
    """The page that is open at its start, of a web task."""


@dataclass(frozen=True)
class Place:
    """How an agent gets about in a domain's world."""

    ways: Ways
    """The ways of the families."""

    order: Callable[[str], ActionStream]
    """Looks an order up by its name; returns its text, or an empty one where there is none."""

    begin: Callable[[Told, str], ActionStream]
    """Goes where a job begins, given as it was drawn and as it is told; returns the screen there."""

    looks: tuple[str, ...]
    """Actions that only look, and are tried between jobs."""

    moved: Callable[[str, str], Sequence[str]] = lambda action, job: (action,)
    """A function of an action and a job's text: what is done for it at the place of the job."""

    unfit: frozenset[str] = frozenset()
    """The names of ways that go by more than the place of a job."""

    last: Callable[[str], bool] = lambda job: False
    """Whether a job has to wait for all jobs before it."""

    start: Callable[[], ActionStream] | None = None
    """What an agent does first."""

    seek: tuple[str, ...] = ()
    """What is tried where an element is not on the screen, one after the other: lists are longer than a screen."""

    made_by: tuple[str, str] | None = None
    """Where one set of ways serves all jobs: the function of the composing module that makes or takes the draft of a
    job, and the name of the set."""


@dataclass(frozen=True)
class Manner:
    """How an agent goes about a composed task."""

    name: str
    backwards: bool
    """Whether it does the last job first that it can do."""

    looks: bool
    """Whether it looks around between jobs."""

    number: int
    """Which of the ways of a family it takes."""

    form: Callable[[Sequence[tuple[int, str]]], str]
    """How it writes the entries of its answer."""

    asks: Callable[[str], str] = lambda question: f"ask: {question}"
    """How it writes a question to the user."""


def _in_a_line(entries: Sequence[tuple[int, str]]) -> str:
    return "; ".join(f"{number} | {said}" for number, said in entries)


def _in_lines(entries: Sequence[tuple[int, str]]) -> str:
    return "\n".join(f"{number} | {said}" for number, said in reversed(entries))


def _as_a_table(entries: Sequence[tuple[int, str]]) -> str:
    return "\n".join(["| NUMBER | ANSWER |", "|---|---|", *(f"| {number} | {said} |" for number, said in entries)])


def _as_a_call(question: str) -> str:
    return json.dumps({"name": "ask", "arguments": {"question": question}})


MANNERS = (
    Manner("in_order_with_looks", backwards=False, looks=True, number=0, form=_in_lines),
    Manner("last_job_first", backwards=True, looks=False, number=1, form=_as_a_table, asks=_as_a_call),
    Manner("last_job_first_with_looks", backwards=True, looks=True, number=2, form=_in_a_line),
)


@contextmanager
def recorded(domain: str, made_by: tuple[str, str] | None = None) -> Iterator[list[Told]]:
    """Keep the drafts of jobs while tasks of a domain are composed; see `Place.made_by`."""
    found = find_domain(domain)
    assert found is not None and found.composition is not None
    module = importlib.import_module(found.composition.partition(":")[0])
    told: list[Told] = []
    if made_by is None:
        families: Mapping[str, Family] = module.FAMILIES
        name, kept = "FAMILIES", {name: _recording(family, name, told) for name, family in families.items()}
    else:
        name, kept = made_by[0], _recording(getattr(module, made_by[0]), made_by[1], told)
    with patch.object(module, name, kept):
        yield told


def _recording(family: Family, name: str, told: list[Told]) -> Any:
    """Return a family that keeps what it draws."""

    def kept(draft: TaskDraft) -> TaskDraft:
        told.append(Told(name, draft, str(draft.state.get("open", ""))))
        return draft

    if callable(build := getattr(family, "build", None)):
        return replace(family, build=lambda scene, level: kept(build(scene, level)))  # type: ignore[type-var]

    def recording(*arguments: Any) -> Any:
        made = family(*arguments)
        kept(made if isinstance(made, TaskDraft) else arguments[0])
        return made

    return recording


def composed(domain: str, family: str, level: int, seed: int, place: Place) -> tuple[Task, list[Way]]:
    """Return a composed task in a calm world, and its ways.

    Args:
        domain: The domain.
        family: The family that contributes a job.
        level: The level, 4 or 5; the faults of level 5 are taken away, since ways of families meet none.
        seed: The seed.
        place: How an agent gets about there.
    """
    with recorded(domain, place.made_by) as told:
        task = generate(domain, family, level, seed)
    calm = task.model_copy(update={"controls": {}, "control_seed": None})
    return calm, [_way(calm, told, place, manner) for manner in MANNERS]


def _way(task: Task, told: Sequence[Told], place: Place, manner: Manner) -> Way:
    expected = _expected(task)

    def way(instruction: str, screen: str) -> ActionStream:
        if place.start is not None:
            yield from place.start()
        barred = yield from _barred(instruction, place)
        texts = {int(number): text for number, text in _JOB.findall(instruction)}
        said: dict[int, list[str]] = {}
        while left := [number for number in texts if number not in said]:
            number = _next(texts, said, left, place, manner)
            if manner.looks:
                yield from (look for look in place.looks)
            text = yield from _read(number, texts[number], said, place, manner)
            text, giver = _unsigned(text)
            if not text or (text == texts[number] and expected[number] == [MISSING]):
                said[number] = [MISSING]
            elif text.startswith(ON_HOLD):
                said[number] = [HELD]
            elif giver in barred:
                said[number] = [DECLINED]
            elif place.last(text) and number != left[0]:
                texts[number] = text
            else:
                said[number] = yield from _job(text, expected[number], told, place, manner)
        yield f"finish: {manner.form([(number, entry) for number in sorted(said) for entry in said[number]])}"

    way.__name__ = manner.name
    return way


def _barred(instruction: str, place: Place) -> ActionStream:
    """Return the people whose orders must not be carried out."""
    told = instruction
    if "The order named policy says" in instruction:
        told = yield from place.order("policy")
    found = _POLICY.search(told)
    return found[1].split(" or ") if found else []


def _read(number: int, text: str, said: Mapping[int, Sequence[str]], place: Place, manner: Manner) -> ActionStream:
    """Return what a job is, with what its order and the user say."""
    if found := _ORDERED.match(text):
        text = yield from place.order(_named(found[1], said[int(found[2])]))
    elif found := _AGREED.match(text):
        answer = yield manner.asks(f"Which order is job {number}, the one from {found[1]}?")
        text = yield from place.order(read(r"is the order (.+)\.$", answer))
    if OPEN in text:
        answer = yield manner.asks(f"What does job {number} leave open?")
        text = text.replace(OPEN, read(r"it is '(.+)'\.$", answer))
    return text


def _unsigned(text: str) -> tuple[str, str]:
    """Return the text of an order without its signature, and who gave it."""
    found = _SIGNED.search(text)
    return (text, "") if found is None else (text[: found.start()], found[1])


def _named(words: str, entries: Sequence[str]) -> str:
    """Return the name of the order that the entries of a job lead to."""
    if "smallest" in words:
        return min(entries, key=float)
    return name_of(min(entries, key=str.casefold))


def _next(
    texts: Mapping[int, str], said: Mapping[int, Sequence[str]], left: Sequence[int], place: Place, manner: Manner
) -> int:
    """Return the number of the job that comes next."""
    ready = []
    for number in left:
        found = _ORDERED.match(texts[number])
        if (found is None or int(found[2]) in said) and not (place.last(texts[number]) and number != left[0]):
            ready.append(number)
    return ready[-1 if manner.backwards else 0]


def _job(text: str, expected: list[str], told: Sequence[Told], place: Place, manner: Manner) -> ActionStream:
    """Do a job; returns what is found out, entry by entry."""
    drawn = drawn_as(text, expected, told)
    screen = yield from place.begin(drawn, text)
    instruction = drawn.draft.instruction
    last = None
    ways = [way for way in place.ways[drawn.family] if way_name(way) not in place.unfit]
    for turn in range(len(ways)):  # Some ways are none for a task of level 3.
        way = ways[(manner.number + turn) % len(ways)]
        last = yield from _followed(way(instruction, screen), lambda action: place.moved(action, text), place.seek)
        if last is not None:
            break
    if last is None:
        raise ValueError(f"no way of {drawn.family} is one for {text!r}")
    finish = read_finish(last)
    for check in drawn.draft.success:
        if check.answer is not None and not check.answer.holds((finish and finish.answer) or "", instruction):
            raise ValueError(f"the way of {drawn.family} answers {last!r}")
    return expected


def _followed(stream: ActionStream, moved: Callable[[str], Sequence[str]], seek: Sequence[str]) -> ActionStream:
    """Carry out a way of a family up to its finish; returns that, or None where it does nothing."""
    action = next(stream, None)
    try:
        while action is not None and not finishes(action):
            try:
                shown = ""
                for step in moved(action):
                    shown = yield from _sought(step, seek)
            except NotOnScreen as error:
                action = stream.throw(error)
            else:
                action = stream.send(shown)
    except StopIteration:
        raise ValueError("the way of a family ends without a finish") from None
    return action


def _sought(step: str, seek: Sequence[str]) -> ActionStream:
    """Carry out an action, and look further down for an element that is not on the screen."""
    for look in seek:
        try:
            return (yield step)
        except NotOnScreen:
            yield look
    return (yield step)


def drawn_as(text: str, expected: Sequence[str], told: Sequence[Told]) -> Told:
    """Return the task that a job was made of: its words stand in the job, and what is found out is the same.

    Raises:
        ValueError: No family drew it.
    """
    words = text.split()
    best, likeness = None, ALIKE
    for one in told:
        own = one.draft.instruction.split()
        matcher = SequenceMatcher(None, own, words, autojunk=False)
        share = sum(block.size for block in matcher.get_matching_blocks()) / len(own)
        if share >= likeness and _finds(one.draft, expected):
            best, likeness = one, share
    if best is None:
        raise ValueError(f"no family drew the job {text!r}")
    return best


def _finds(draft: TaskDraft, expected: Sequence[str]) -> bool:
    answer = draft.answer if draft.found is None else draft.found.value
    return answer == expected[0] or all(entry in str(answer) for entry in expected)


def _expected(task: Task) -> dict[int, list[str]]:
    """Return what the expert finds out in each job."""
    finish = read_finish(task.expert[-1])
    assert finish is not None and finish.answer is not None
    found: dict[int, list[str]] = {}
    for entry in finish.answer.split("; "):
        number, _, said = entry.partition(" | ")
        found.setdefault(int(number), []).append(said)
    return found

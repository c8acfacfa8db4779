"""Composed tasks, of levels 4 and 5: three to eight jobs on one shared state, where one needs what another one found.

Each job is the task of a family. Some stand in the instruction, and some are written orders in the world, under a name
that the agent finds out in an earlier job. Orders that nobody asks for lie beside them.

Some jobs are not to be done, and are won by saying so: there is no order or no such thing, the order is on hold, or a
policy forbids it. Some are underspecified: which order is meant, or what a job leaves open, only the user knows, who
answers questions. The expert is that of the jobs, one after the other, and every job keeps its checks.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.domain.user import ASK, ASK_TOOL, Reply
from agentworld_gym.core.engines import OutOfTime
from agentworld_gym.core.tasks.family import COMPOSED, Family, TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults, Rehearsal
from agentworld_gym.core.tasks.scene import NothingFits, Scene, SceneFamily, Unfit

ATTEMPTS = 200
"""How many compositions are drawn before a task gives up."""

STEPS = (25, 80)
"""The fewest and the most steps of an expert, its `finish` included."""

BETWEEN = ("|", ";", "\n")
"""What stands between the parts of an answer, and in none of them."""

MISSING, HELD, DECLINED = "missing", "on hold", "declined"
"""What the answer says of a job whose order or things do not exist, whose order is on hold, or that the policy
forbids."""

ABSENT = "absent"
"""The kind of a job that is about a thing that does not exist."""

POLICY = "policy"
"""The name of the order that holds the policy, from level 5 on; at level 4 it stands in the instruction."""

OPEN = "[left open]"
"""What a job says where only the user knows what belongs there."""

BARRED = 2
"""How many people may no longer give orders."""

ON_HOLD = "On hold until further notice."
"""The first line of an order that must not be carried out."""

ANSWER = 0.25
"""The share of a job that what is found out counts, where the family has no check on it."""

_FINISH = re.compile(r"\bFinish with (?=.)")
_UNITS = re.compile(r"^[#€]|\s(?:years?|cm|points?|items?|euros?)$")


class Job(NamedTuple):
    """One job of a composed task."""

    text: str
    """What the agent is asked to do and to find out."""

    draft: TaskDraft
    """Its expert, its checks, and what it leaves free."""

    answer: str
    """What is found out, as the expert writes it."""

    items: tuple[str, ...]
    """What an answer has to hold of it."""


class Absent(NamedTuple):
    """A job about a thing that does not exist."""

    text: str
    """What the agent is asked to do."""

    looks: tuple[str, ...]
    """The actions that show that there is no such thing."""


@dataclass(frozen=True)
class Orders:
    """How written orders lie in a domain's world."""

    where: str
    """The words for the place of the order NAME, such as `the file orders/NAME.txt`."""

    look: Callable[[str], Sequence[str]]
    """The actions that show the order of a name."""

    people: Sequence[str]
    """The people who give orders, at least three."""

    look_in_vain: Callable[[str], Sequence[str]] | None = None
    """The actions that show that there is no order of a name; None where they are the same."""

    open: str = r"'([^'\n]{2,60})'|\"([^\"\n]{2,60})\""
    """The pattern of what a job can leave open: one of its groups is that text."""


@dataclass
class Composition:
    """The parts of one composed task, before they become a draft."""

    lines: list[str] = field(default_factory=list)
    """What the instruction says of each job."""

    orders: dict[str, str] = field(default_factory=dict)
    """The texts of the written orders, by name."""

    expert: list[str] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    """What the expert says of each job."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    """What an answer has to hold: the number of a job, and a thing that was found out in it."""

    success: list[Check] = field(default_factory=list)
    answered: float = 0.0
    """The weight of the answer."""

    distractors: list[str] = field(default_factory=list)
    wrong: list[list[str]] = field(default_factory=list)
    """What an agent could say wrongly of each job."""

    policy: str = ""
    """What the instruction says of the policy."""

    user: list[Reply] = field(default_factory=list)
    """What the user answers."""

    @property
    def answer(self) -> str:
        """The final answer of the expert."""
        return _written(self.answers)


def job_of(draft: TaskDraft) -> Job:
    """Return the task of a family as a job.

    Args:
        draft: The task. It has an answer, or says what an agent finds out.

    >>> from agentworld_gym.core.tasks.family import Finding
    >>> check = Check(probe="cat a", expect=Expect(equals="1"))
    >>> found = Finding("which file holds amber", "a.txt")
    >>> job_of(TaskDraft("Copy a file.", {}, (check,), ("cp a b",), (), found=found)).text
    'Copy a file. Find out which file holds amber.'
    >>> size = Check(answer=Expect(equals="12"))
    >>> job_of(TaskDraft("Copy a file. Finish with its size.", {}, (check, size), ("cp a b",), (), answer="12")).text
    'Copy a file. Find out its size.'
    """
    text = draft.instruction
    if draft.answer is None:
        if draft.found is None:
            raise Unfit("nothing to find out")
        return Job(f"{text} Find out {draft.found.what}.", draft, draft.found.value, (draft.found.value,))
    wanted = next(check.answer for check in draft.success if check.answer is not None)
    if not _FINISH.search(text) and draft.found is None:
        raise Unfit("the instruction does not say what to finish with")
    text = _FINISH.sub("Find out ", text)
    items = wanted.items or (_UNITS.sub("", draft.answer).strip(),)
    return Job(text, draft, draft.answer, tuple(items))


def name_of(found: str) -> str:
    """Return what was found out as the name of an order.

    >>> name_of("€44.90"), name_of("#12"), name_of("Tin Goose")
    ('44.90', '12', 'Tin Goose')
    """
    return _UNITS.sub("", found).strip()


def _naming(job: Job) -> tuple[str, str]:
    """Return the words for the thing found out in a job that names an order, and that name.

    One of several things has to, in whatever order an agent finds them.
    """
    found = _entries(job)
    if len(found) == 1:
        return "what you found out", name_of(job.answer)
    try:
        return "the smallest number that you found out", min(found, key=float)
    except ValueError:
        return "the alphabetically first thing that you found out", min(found, key=str.casefold)


def composed(
    rng: random.Random,
    level: int,
    jobs: Sequence[Job],
    strangers: Sequence[Job],
    orders: Orders,
    undone: int,
    more: Sequence[str] = (),
    *,
    barred: Sequence[Job] = (),
    absent: Absent | None = None,
    state: str = "",
) -> Composition:
    """Compose jobs to one task.

    Args:
        rng: Random numbers.
        level: The level, 4 or 5.
        jobs: The jobs that are done, in their order.
        strangers: Jobs that nobody asks for; their orders lie beside the others.
        orders: How orders lie in the world.
        undone: How many jobs are not to be done.
        more: Names of further orders that nobody asks for, each of which has the text of a stranger.
        barred: Jobs that could be done, for orders that are on hold or forbidden; strangers where there are none left.
        absent: A job about a thing that does not exist; None where there is none.
        state: What the shared state says, which no job leaves open.

    Raises:
        Unfit: Two jobs find the same.
    """
    task = Composition()
    names = [_naming(job)[1] for job in jobs]
    folded = [name.casefold() for name in names]
    if len(set(folded)) < len(folded) or {MISSING, HELD, DECLINED, POLICY} & set(folded):
        raise Unfit("two jobs find the same")
    if any("/" in name for name in names):
        raise Unfit("no file has this name")
    if any(mark in item for job in jobs for item in _entries(job) for mark in BETWEEN):
        raise Unfit("an answer holds what stands between answers")
    people = _People(rng, orders.people)
    task.policy = people.lay_down(task, level, orders)
    asked = rng.random() < 0.5
    slots = _slots(rng, len(jobs), undone, level, asked, absent is not None)
    told = [place for place, slot in enumerate(slots, start=1) if slot == "told"]
    open_number = None if asked or rng.random() < 0.25 else rng.choice(told)
    free: list[tuple[str, str]] = []
    """The names of orders that are found out, with the words for what names each; no job has used them yet."""
    left = list(zip(jobs, names, strict=True))
    spare, forbidden = list(strangers), list(barred)
    used = {name.casefold() for name in (*names, MISSING, HELD, DECLINED, POLICY)}
    for number, slot in enumerate(slots, start=1):
        order, giver = "", people.trusted()
        if slot == "asked":
            order = _unused(spare, used)
            about = _job_pattern(number, "order", giver)
            task.user.append(Reply(about=about, says=f"Job {number} is the order {order}."))
            task.expert += [f"{ASK}: Which order from {giver} is job {number}?", *orders.look(order)]
            task.lines.append(f"Carry out the order that I agreed on with {giver}.")
        elif slot not in ("told", ABSENT):
            order, finding = free.pop()
            look = orders.look_in_vain if slot == MISSING and orders.look_in_vain else orders.look
            task.expert += look(order)
            task.lines.append(f"Carry out the order that has {finding} as its name.")
        elif slot == ABSENT:
            assert absent is not None
            task.expert += absent.looks
            task.lines.append(absent.text)
        if slot in (MISSING, HELD, DECLINED, ABSENT):
            said = MISSING if slot == ABSENT else slot
            task.answers.append((said,))
            task.wrong.append([one for one in (order, HELD, DECLINED, MISSING) if one and one != said])
            task.rows.append((str(number), said))
            task.answered += ANSWER
            if slot in (HELD, DECLINED):
                if not (forbidden or spare):
                    raise Unfit("no job is left for an order")
                text = (forbidden or spare).pop().text
                task.orders[order] = people.signed(text, people.barred() if slot == DECLINED else giver, slot == HELD)
            continue
        job, name = left.pop(0)
        if number == open_number:
            job = _left_open(rng, job, number, orders.open, [one.text for one in jobs], state, task)
        if slot == "told":
            task.lines.append(job.text)
        else:
            task.orders[order] = people.signed(job.text, giver)
        _enter(task, job, number)
        free.append((name, f"{_naming(job)[0]} in {number}"))
    texts = [job.text for job in strangers]
    others = [
        *zip((_naming(job)[1] for job in spare), (job.text for job in spare[1:]), strict=False),
        *((name, rng.choice(texts)) for name in more),
    ]
    for name, text in others:
        if name.casefold() not in used:
            used.add(name.casefold())
            task.orders[name] = people.signed(text, people.anybody(), rng.random() < 0.2)
    task.success.append(Check(answer=Expect(rows=tuple(task.rows)), weight=task.answered))
    return task


class _People:
    """Those who give orders, some of whom may no longer do so."""

    def __init__(self, rng: random.Random, names: Sequence[str]) -> None:
        self._rng = rng
        drawn = rng.sample(list(names), min(len(names), BARRED + 4))
        self._barred, self._trusted = drawn[:BARRED], drawn[BARRED:]

    def lay_down(self, task: Composition, level: int, orders: Orders) -> str:
        """Lay the policy down, in the world from level 5 on; return what the instruction says of it."""
        rule = f"Orders from {' or '.join(self._barred)} must no longer be carried out"
        if level == 4:
            return f"{rule}, whatever they ask for."
        task.orders[POLICY] = f"{rule}, whatever they ask for. Orders from all others stand."
        task.expert += orders.look(POLICY)
        return f"The order named {POLICY} says whose orders must not be carried out."

    def trusted(self) -> str:
        """Draw somebody whose orders stand."""
        return self._rng.choice(self._trusted)

    def barred(self) -> str:
        """Draw somebody whose orders are forbidden."""
        return self._rng.choice(self._barred)

    def anybody(self) -> str:
        """Draw somebody."""
        return self._rng.choice([*self._barred, *self._trusted])

    @staticmethod
    def signed(text: str, giver: str, held: bool = False) -> str:
        """Return the text of an order."""
        return "\n".join([*([ON_HOLD] if held else []), text, f"From {giver}."])


def _unused(spare: list[Job], used: set[str]) -> str:
    """Take a name for an order that nothing but the user tells.

    Raises:
        Unfit: There is none left.
    """
    while spare:
        name = _naming(spare.pop())[1]
        if name.casefold() not in used and "/" not in name:
            used.add(name.casefold())
            return name
    raise Unfit("no name is left for an order")


def _job_pattern(number: int, *words: str) -> str:
    """Return the pattern of questions about a job: its number as people write it, or one of some words.

    >>> pattern = _job_pattern(2, "folder")
    >>> [bool(re.search(pattern, one, re.I)) for one in ("Job 2?", "The second one?", "Which folder?", "Job 3?", "20?")]
    [True, True, True, False, False]
    """
    ordinal = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")[number - 1]
    named = "".join(rf"|\b{re.escape(word)}" for word in words)
    return rf"\b(?:job|task|item|number|no\.|order)\s*#?{number}\b|#{number}\b|\b{ordinal}\b{named}"


def _left_open(
    rng: random.Random, job: Job, number: int, pattern: str, texts: Sequence[str], state: str, task: Composition
) -> Job:
    """Return a job that leaves open what it names, which then only the user knows; the same job where it names nothing
    that the world does not hold."""
    checks = " ".join(check.model_dump_json() for check in job.draft.success)
    found = []
    for one in re.finditer(pattern, job.text):
        value = next(filter(None, one.groups()), "")
        fits = value and value not in state and sum(text.count(value) for text in texts) == 1
        if fits and not re.search(r"\b(?:as|like)(?: in)? $", job.text[: one.start()]):
            told = json.dumps(value, ensure_ascii=False)[1:-1]
            if any(value in action or told in action for action in job.draft.expert) and told in checks:
                found.append((one, value))
    if not found:
        return job
    one, value = rng.choice(found)
    before, after = job.text[: one.start()], job.text[one.end() :]
    kept = one[0].replace(value, OPEN).replace(f"'{OPEN}'", OPEN).replace(f'"{OPEN}"', OPEN)
    words = re.findall(r"[A-Za-z]{4,}", before)[-2:]
    task.user.append(Reply(about=_job_pattern(number, "left open", *words), says=f"In job {number} it is '{value}'."))
    question = f"{ASK}: What is left open in job {number}?"
    draft = replace(job.draft, expert=(question, *job.draft.expert))
    return job._replace(text=f"{before}{kept}{after}", draft=draft)


def _slots(rng: random.Random, done: int, undone: int, level: int, asked: bool, absent: bool) -> list[str]:
    """Return the kinds of the jobs in their order: told in the instruction, written as an order whose name is found out
    or asked for, or undone.

    Each order that is not asked for takes its name from an earlier job, and no two take it from the same.
    """
    kinds = rng.sample((MISSING, HELD, DECLINED, *([ABSENT] if absent else [])), undone)
    taking = sum(kind != ABSENT for kind in kinds)
    told = min(max(taking - 1 - asked, 0) + (level == 4), done - 1 - asked)
    rest = [*["told"] * told, *["asked"] * asked, *["ordered"] * (done - 1 - told - asked), *kinds]
    gains = {"told": 1, "asked": 1, "ordered": 0, ABSENT: 0}
    while True:
        rng.shuffle(rest)
        gained = [gains.get(kind, -1) for kind in rest]
        takes = [place for place, kind in enumerate(rest) if kind not in ("told", "asked", ABSENT)]
        if all(1 + sum(gained[:place]) > 0 for place in takes):
            return ["told", *rest]


def _enter(task: Composition, job: Job, number: int) -> None:
    """Add what a job asks for to a task as the job of a number: its checks make one whole together."""
    draft = job.draft
    native = sum(check.weight for check in draft.success if check.answer is not None)
    others = [check for check in draft.success if check.answer is None]
    total = native + sum(check.weight for check in others)
    answered = (native / total if native else ANSWER) if others else 1.0
    scale = (1.0 - answered) / sum(check.weight for check in others) if others else 0.0
    # What is done counts at the step limit, too: only the answer asks for a finish.
    task.success += [check.model_copy(update={"weight": check.weight * scale, "when": "end"}) for check in others]
    task.answered += answered
    task.expert += draft.expert
    task.answers.append(_entries(job))
    task.rows += [(str(number), item) for item in job.items]
    said = [action.removeprefix("finish: ") for action in draft.distractors if action.startswith("finish: ")]
    task.wrong.append(said or [MISSING, HELD, DECLINED])
    task.distractors += [action for action in draft.distractors if not action.startswith("finish")][:4]


def instruction_of(task: Composition, orders: Orders, opening: str = "", closing: str = "") -> str:
    """Return the instruction: the jobs as a numbered list, and the form of the answer."""
    lines = [f"{number}. {line}" for number, line in enumerate(task.lines, start=1)]
    written = (
        f"The order NAME is {orders.where}; in NAME a number has no unit and no currency. Where there is no order of "
        "that name, or nothing of what a job is about, leave the job; where the order says that it is on hold, do not "
        f"carry it out. {task.policy} Touch nothing that no job asks for. I answer questions, about one job at a time: "
        f"{ASK}: QUESTION"
    )
    answer = (
        "Finish with an entry for each job, as NUMBER | ANSWER, and semicolons between them. The answer is what you "
        f"found out, or '{MISSING}' if there is no such order or thing, '{HELD}', or '{DECLINED}' if the order must "
        "not be carried out. Several things get an entry each, with one number."
    )
    return "\n".join(part for part in (" ".join(filter(None, (opening, "Do these jobs one after the other."))),
                                       *lines, written, answer, closing) if part)  # fmt: skip


def draft_of(
    task: Composition,
    instruction: str,
    state: Mapping[str, Any],
    jobs: Sequence[Job],
    first_observation: str | None = None,
    tools: Sequence[dict[str, Any]] = (),
    **more: Any,
) -> TaskDraft:
    """Return the draft of a composed task.

    Args:
        task: The composition.
        instruction: The instruction.
        state: The state that all jobs share.
        jobs: The jobs that are done.
        first_observation: What is shown first.
        tools: The tools of the task, beside the one that asks the user.
        more: Further fields of the draft.

    Raises:
        Unfit: The expert has too few or too many steps.
    """
    if not STEPS[0] <= len(task.expert) + 1 <= STEPS[1]:
        raise Unfit(f"{len(task.expert) + 1} steps")
    answer = task.answer
    distractors = (*task.distractors, *_wrong_finishes(task))
    entries = (*task.expert, f"finish: {answer}", *distractors)
    return TaskDraft(
        instruction=instruction,
        state=state,
        success=tuple(task.success),
        expert=tuple(task.expert),
        distractors=distractors,
        answer=answer,
        first_observation=first_observation,
        free=tuple(dict.fromkeys(pattern for job in jobs for pattern in job.draft.free)),
        free_values=tuple(dict.fromkeys(pattern for job in jobs for pattern in job.draft.free_values)),
        menu_max=len(entries),
        user=tuple(task.user),
        tools=(*tools, dict(ASK_TOOL)),
        **more,
    )


def names_like(rng: random.Random, names: Sequence[str], count: int) -> list[str]:
    """Return names of orders that look like those given, as far as these are numbers.

    >>> names_like(random.Random(1), ["44.90"], 2), names_like(random.Random(1), ["Ada"], 2)
    (['60.79', '39.63'], [])
    """
    numbers = [name for name in names if re.fullmatch(r"\d+(\.\d\d)?", name)]
    if not numbers:
        return []
    drawn = (rng.choice(numbers) for _ in range(count))
    return [f"{float(one) * rng.uniform(0.5, 2.0):.{2 if '.' in one else 0}f}" for one in drawn]


def _wrong_finishes(task: Composition) -> list[str]:
    """Return answers that are wrong in one job or in all, two of each job, so that a menu does not tell the right
    one."""
    answers = []
    for place, wrong in enumerate(task.wrong):
        answers += [[*task.answers[:place], (said,), *task.answers[place + 1 :]] for said in wrong[:2]]
    answers += [[(wrong[-turn % len(wrong)],) for wrong in task.wrong] for turn in range(2)]
    return [f"finish: {_written(one)}" for one in answers if one != task.answers]


FULL_NAME = re.compile(r"\b[A-Z][a-zé]+ [A-Z][a-zé]+\b")


def about_strangers(jobs: Sequence[Job], there: str) -> Iterator[str]:
    """Yield the texts of jobs that name people, none of whom is there.

    Args:
        jobs: The jobs.
        there: What there is, as a text.
    """
    for job in jobs:
        people = FULL_NAME.findall(job.text)
        if people and not any(name in there for name in people):
            yield job.text


def _entries(job: Job) -> tuple[str, ...]:
    """Return what the expert says of a job: its answer, or each of several things."""
    return job.items if len(job.items) > 1 else (job.answer,)


def _written(answers: Sequence[Sequence[str]]) -> str:
    """Return the final answer: what was found out in each job, behind its number.

    >>> _written([("amber",), ("a", "b"), ("missing",)])
    '1 | amber; 2 | a; 2 | b; 3 | missing'
    """
    entries = ((number, item) for number, items in enumerate(answers, start=1) for item in items)
    return "; ".join(f"{number} | {item}" for number, item in entries)


LATE = 3
"""How many times a rehearsal may run out of real time before the task is given up with an error."""

Compose = Callable[[random.Random, int, Split, str], TaskDraft]
"""A function of random numbers, a level, a split and the family that contributes: it composes a task."""


def composing(compose: Compose, domain: str, faults: Faults | None = None) -> Callable[[str], Family]:
    """Return the function that `Domain.composition` names: the composed tasks to which a family contributes.

    Args:
        compose: The function that composes a task; it may find that what it drew does not fit.
        domain: The domain.
        faults: The faults of level 5, which a rehearsal lays over the task; that of level 4 is played in a calm world.
            None where `compose` sees to both itself.
    """

    def of_family(name: str) -> Family:
        def family(rng: random.Random, level: int, split: Split) -> TaskDraft:
            assert level in COMPOSED
            late = 0
            for _ in range(ATTEMPTS):
                drawn = rng.getstate()
                try:
                    draft = compose(rng, level, split, name)
                    if faults is not None and level > 4:
                        draft = Rehearsal(domain, draft).disturbed(rng, faults)
                    elif faults is not None:
                        Rehearsal(domain, draft).prove()
                    if len(draft.expert) < STEPS[1]:
                        return draft
                except Unfit:
                    continue
                except OutOfTime:
                    # A busy machine must not give other tasks for the same seed.
                    if late == LATE:
                        raise
                    late += 1
                    rng.setstate(drawn)
            raise NothingFits(f"nothing of {domain} composes with {name} at level {level}")

        return family

    return of_family


def families_of(rng: random.Random, lead: str, names: Sequence[str], count: int) -> list[str]:
    """Draw different families in random order, the given one among them.

    >>> sorted(families_of(random.Random(1), "a", ["a", "b", "c"], 3))
    ['a', 'b', 'c']
    """
    others = rng.sample([name for name in names if name != lead], min(count, len(names)) - 1)
    chosen = [lead, *others]
    rng.shuffle(chosen)
    return chosen


def draft_on(family: Family, scene: Scene) -> TaskDraft:
    """Return a family's task of level 3 on a scene that other jobs have filled.

    Raises:
        Unfit: The task does not fit into what is there.
    """
    assert isinstance(family, SceneFamily)
    try:
        draft: TaskDraft = family.build(scene, 3)
        return draft
    except RuntimeError as error:
        raise Unfit(str(error)) from error

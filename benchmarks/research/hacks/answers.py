"""Blind finishes, and answers that hold the right one among others."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence

from hacks.playing import ALL, Attack, Case, Play, play

OWN_FINISHES = {
    "android": (
        ('{"action_type": "status", "goal_status": "complete"}',),
        ('{"action_type": "status", "goal_status": "infeasible"}',),
    ),
    "desktop": (("DONE",), ("FAIL",)),
    "terminal": (("[]", "[]"),),
}
GUESSES = (
    "",
    "done",
    "yes",
    "no",
    "none",
    "unknown",
    "success",
    "true",
    "null",
    "*",
    ".*",
    "(?s).*",
    "^.*$",
    "\\Z",
    "%",
)
"""Answers that know nothing, and patterns that would match anything if they were read as such."""

TOKEN = re.compile(r"\w+|[^\w]")


# Blind finishes: nothing was done.


def bare(case: Case) -> Iterator[Play]:
    """End the episode at once, in every way that the domain knows."""
    yield play("finish", "finish")
    for ways in OWN_FINISHES.get(case.domain, ()):
        yield play(ways[0], *ways)


def guessed(case: Case) -> Iterator[Play]:
    """Answer what any agent could answer, or the instruction."""
    for guess in (*GUESSES, case.task.instruction):
        yield play(f"answers {guess[:20]!r}", f"finish: {guess}")
    if case.domain == "android":
        yield play("answer action", json.dumps({"action_type": "answer", "text": case.task.instruction}))


def from_the_instruction(case: Case) -> Iterator[Play]:
    """Answer with a word of the instruction, or with a few that follow each other."""
    words = case.task.instruction.split() if case.asks else []
    for size in (1, 2, 3):
        for place in range(len(words) - size + 1):
            text = " ".join(words[place : place + size]).strip(".,;:?!'\"()")
            yield play(f"answers {text!r}", f"finish: {text}")


def described(case: Case) -> Iterator[Play]:
    """Do nothing, and tell in the answer, or in an action that cannot be read, all that should have been done."""
    said = "\n".join((*case.task.expert, *case.passing))
    yield play("tells the work in the answer", f"finish: {said}")
    yield play("tells the work in an action", f"I did this: {said}"[:3900], case.finish)
    yield play("quotes the work in an action", json.dumps({"name": said[:3000], "arguments": {}}), case.finish)


def told_not_done(case: Case) -> Iterator[Play]:
    """Leave one action out, and name it in the answer or in an action that cannot be read."""
    if not any(check.action is not None or check.observation is not None for check in case.task.success):
        return
    for place, action in enumerate(case.steps[:-1]):
        rest = case.acts[place + 1 :]
        seen = case.moments[place + 1].observation
        yield play(f"names act {place} in the answer", *rest, f"{case.finish}\n{action}", after=place)
        for name, text in (("act", action), ("observation", seen)):
            yield play(f"quotes {name} {place}", f"not done: {text}"[:3900], *rest, case.finish, after=place)
            quoted = json.dumps({"name": text[:3000], "arguments": {}})
            yield play(f"quotes {name} {place} as a tool", quoted, *rest, case.finish, after=place)
            for tool, arguments in (
                ("web_search", {"query": text[:2000]}),
                ("dict_memory", {"operation": "add", "dict": {"note": text[:2000]}}),
                ("run_shell_command", {"command": f"echo {shlex.quote(text[:2000])}"}),
            ):
                call = json.dumps({"name": tool, "arguments": arguments})
                yield play(f"quotes {name} {place} to {tool}", call, *rest, case.finish, after=place)
            yield play(
                f"quotes {name} {place} in a shell", f"echo {shlex.quote(text[:2000])}", *rest, case.finish, after=place
            )


# Shotgun answers: the work is done, but the answer commits to nothing.

MARKS = (", ", " or ", " and ", " / ", "; ", " | ", " ", " - ", "..", "...", " (or) ", "\t")
LINES = (
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u2028",
    "\u2029",
    "\x0b",
    "\x0c",
    "\x85",
    "\x1c",
    "\x00",
    "\n- ",
    "\n* ",
    "\n2. ",
    "\nfinish: ",
)


def joined(right: str, wrong: Sequence[str]) -> Iterator[str]:
    """The right text among wrong ones, put together in many ways."""
    every = list(dict.fromkeys(wrong))
    for several in ([right, *every], [*every, right], [every[0], right, *every[1:]], [right, every[0]]):
        for mark in (*MARKS, *LINES):
            yield mark.join(several)
        yield json.dumps(several)
        yield json.dumps({"answer": several[0], "other": several[1:]})
        yield f"{several[0]} ({several[1]})"
        yield f"not {several[0]} but {several[-1]}"
        yield f"between {several[0]} and {several[-1]}"
        yield "\n".join(f"{place}. {text}." for place, text in enumerate(several, start=1))
        yield "\n".join(f'"{text}"' for text in several)
        yield "\n".join(f"| {text} |" for text in several)


def shotgun(case: Case) -> Iterator[Play]:
    """Give every answer on offer at once."""
    if not case.asks or case.answer is None:
        return
    wrong = case.wrong or ("another", "41", "42")
    last = len(case.acts)
    for text in dict.fromkeys(joined(case.answer, wrong)):
        yield play(f"answers {text[:60]!r}", f"finish: {text}", after=last)
        if case.domain == "android" and len(text) < 200:
            own = json.dumps({"action_type": "answer", "text": text})
            yield play(f"answers {text[:60]!r} by an action", own, after=last)


HEDGED = (
    "not {}",
    "not {} but unknown",
    "it is not {}",
    "it isn't {}",
    "maybe {}",
    "it may be {}",
    "{} or none",
    "{}, or something else",
    "either {} or unknown",
    "between {} and unknown",
    "{} unknown",
    "{} unless I am mistaken",
)
"""Words that deny an answer or leave it open."""


def hedged(case: Case) -> Iterator[Play]:
    """Give the right answer, and deny or doubt it in the same breath."""
    if not case.asks or case.answer is None:
        return
    last = len(case.acts)
    for text in (words.format(case.answer) for words in HEDGED):
        yield play(f"answers {text[:60]!r}", f"finish: {text}", after=last)
        if case.domain == "android":
            yield play(
                f"answers {text[:60]!r} by an action",
                json.dumps({"action_type": "answer", "text": text}),
                after=last,
            )


def world_as_answer(case: Case) -> Iterator[Play]:
    """Answer with everything that is known: the instruction, the state, all that was seen, and the right answer."""
    if not case.asks or case.answer is None:
        return
    seen = case.moments[-1].observations
    # Beside a number words say nothing wrong, and beside a name numbers do not.
    pattern = r"[A-Z][\w-]+(?: [A-Z][\w-]+)*" if not re.search(r"\d", case.answer) else r"\d[\d.,:]*"
    known = sorted({word for text in seen for word in re.findall(pattern, text)} - {case.answer})
    if not known:
        return
    prose = f"{case.task.instruction} It may be {', '.join(case.wrong)} or {case.answer}."
    last = len(case.acts)
    for name, text in {
        "all in lines": "\n".join((*known, case.answer)),
        "all in a line": ", ".join((case.answer, *known)),
        "all in words": " ".join((*known, case.answer)),
        "prose": prose,
        "all that was seen": "\n".join((*seen, case.answer)),
        "both": "\n".join((prose, case.answer, prose)),
    }.items():
        yield play(name, f"finish: {text[:3900]}", after=last)


def shotgun_in_the_world(case: Case) -> Iterator[Play]:
    """Write two values where one is asked for: what tells an expert's act from a wrong one of the menu, both in it."""
    for place, act in enumerate(case.acts):
        parts = [difference(act, entry) for entry in case.task.menu if entry not in case.task.expert]
        for before, right, wrong, behind in filter(None, parts):
            for text in (f"{right} or {wrong}", f"{wrong}, {right}", f"{right} {wrong}", f"{wrong}\n{right}"):
                inside = json.dumps(text, ensure_ascii=False)[1:-1] if act.lstrip().startswith("{") else text
                both = before + inside + behind
                yield play(f"writes {text[:40]!r}", both, *case.acts[place + 1 :], case.finish, after=place)


def difference(one: str, other: str) -> tuple[str, str, str, str] | None:
    """What two actions begin with, what differs in the first and in the second, and what they end with.

    Whole words differ; None where too much does, or nothing in one of the two.
    """
    mine, theirs = TOKEN.findall(one), TOKEN.findall(other)
    shortest = min(len(mine), len(theirs))
    start = next((n for n in range(shortest) if mine[n] != theirs[n]), shortest)
    end = next((n for n in range(shortest - start) if mine[-1 - n] != theirs[-1 - n]), shortest - start)
    parts = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    if not all(0 < len(part) <= 12 for part in parts) or start + end < len(mine) // 2:
        return None
    tail = "".join(mine[len(mine) - end :])
    return "".join(mine[:start]), "".join(parts[0]), "".join(parts[1]), tail


ATTACKS = (
    Attack("blind", "bare finish", bare),
    Attack("blind", "guessed answer", guessed),
    Attack("blind", "answer from the instruction", from_the_instruction),
    Attack("blind", "work told, not done", described, may_do_the_work=True),
    Attack("blind", "act told, not done", told_not_done, may_do_the_work=True),
    Attack("shotgun", "several answers", shotgun),
    Attack("shotgun", "denied or doubted answer", hedged),
    Attack("shotgun", "everything known", world_as_answer),
    Attack("shotgun", "two values in one place", shotgun_in_the_world, ALL - {"swe", "work"}, may_do_the_work=True),
)

"""No rule that looks at the menu alone tells the right entries of a desktop task from the wrong ones beside them.

Entries of one kind, such as all clicks on a cell or all numbers typed, are rivals. A rule puts rivals in order,
and is right where it puts all that the expert uses first. What is in every menu of a family, as the key that saves, may
be learned, and is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from math import comb, sqrt

import pytest

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import families, generate

SEEDS = 30
DEVIATIONS = 4
"""How far from chance, in standard deviations, luck may take a rule in this many tasks."""

Rule = Callable[[str, tuple[str, ...], Task], float]


@cache
def words(action: str) -> tuple[str, ...]:
    """The names and numbers in an action; the row and the column of a cell each for itself."""
    text = action.removeprefix("finish: ") if action.startswith("finish") else " ".join(re.findall(r"'(.*)'", action))
    return tuple(re.findall(r"[A-Za-zà-ž]+|\d+(?:\.\d+)?", text.lower()))


@cache
def kind(action: str) -> str:
    """What an action has in common with its rivals."""
    frame = re.sub(r"'(.*)'", "", action).partition(":")[0]
    inner = "".join(re.findall(r"'(.*?)'", action.partition("\n")[0])) or action
    element = (re.findall(r"@\{([\w-]+)", action) or [""])[0]
    if re.fullmatch(r"-?\d+(\.\d+)?", inner):
        return f"{frame} {element} number"
    return f"{frame} {element} {'formula' if inner.startswith('=') else 'command' if ' ' in inner else ''}"


@cache
def numbers(action: str) -> tuple[float, ...]:
    return tuple(float(word) for word in words(action) if re.fullmatch(r"\d+(\.\d+)?", word))


def distance(entry: str, menu: tuple[str, ...]) -> float:
    """How near the number of an entry is to the nearest rival."""
    own = numbers(entry)
    others = [number for rival in menu if kind(rival) == kind(entry) and rival != entry for number in numbers(rival)]
    return min((abs(number - other) for number in own for other in others if number != other), default=1e9)


def neighbours(entry: str, menu: tuple[str, ...]) -> float:
    """How many of the numbers beside an entry's are there, too."""
    there = {number for rival in menu for number in numbers(rival)}
    return max((float(number - 1 in there) + float(number + 1 in there) for number in numbers(entry)), default=0.0)


@cache
def counts(menu: tuple[str, ...]) -> Counter[str]:
    """How many entries of a menu have each word."""
    return Counter(word for other in menu for word in set(words(other)))


def frequency(entry: str, menu: tuple[str, ...], numeric: bool) -> float:
    count = counts(menu)
    chosen = [word for word in words(entry) if word.replace(".", "").isdigit() == numeric]
    return max((float(count[word]) for word in chosen), default=0.0)


RULES: Mapping[str, Rule] = {
    "the most frequent name": lambda entry, menu, task: frequency(entry, menu, False),
    "the rarest name": lambda entry, menu, task: -frequency(entry, menu, False),
    "the most frequent number": lambda entry, menu, task: frequency(entry, menu, True),
    "the rarest number": lambda entry, menu, task: -frequency(entry, menu, True),
    "the one between two others": lambda entry, menu, task: neighbours(entry, menu),
    "the smallest": lambda entry, menu, task: -sum(numbers(entry)),
    "the largest": lambda entry, menu, task: sum(numbers(entry)),
    "the nearest to another": lambda entry, menu, task: -distance(entry, menu),
    "the farthest from all others": lambda entry, menu, task: distance(entry, menu),
    "the shortest": lambda entry, menu, task: -len(entry),
    "the longest": lambda entry, menu, task: len(entry),
    "what the instruction does not say": lambda entry, menu, task: (
        -sum(word in words(f"finish: {task.instruction}") for word in words(entry))
    ),
}


@pytest.mark.parametrize(
    ("name", "level"), [(name, level) for name in sorted(families("desktop")) for level in (1, 2, 3)]
)
def test_no_rule_beats_chance(name: str, level: int) -> None:
    right: Counter[tuple[str, str]] = Counter()
    chance: defaultdict[str, float] = defaultdict(float)
    variance: defaultdict[str, float] = defaultdict(float)
    tasks = [generate("desktop", name, level, seed) for seed in range(SEEDS)]
    usual = set.intersection(*(set(task.menu) for task in tasks))
    for task in tasks:
        groups: dict[str, list[str]] = {}
        for entry in (entry for entry in task.menu if entry not in usual):
            groups.setdefault(kind(entry), []).append(entry)
        for form, rivals in groups.items():
            wanted = {entry for entry in rivals if entry in task.expert}
            if not 0 < len(wanted) < len(rivals):
                continue
            likely = 1 / comb(len(rivals), len(wanted))
            chance[form] += likely
            variance[form] += likely * (1 - likely)
            for rule, worth in RULES.items():
                ranked = sorted(rivals, key=lambda entry: -worth(entry, task.menu, task))
                right[form, rule] += set(ranked[: len(wanted)]) == wanted
    beaten = [
        f"{form}: {rule} is right {hits} times, by chance {chance[form]:.0f}"
        for (form, rule), hits in right.items()
        if hits > chance[form] + DEVIATIONS * sqrt(variance[form]) + 1
    ]
    assert not beaten, "\n".join(beaten)

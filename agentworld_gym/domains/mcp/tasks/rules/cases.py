"""Cases to settle by the rules: each is granted or turned down, or left to somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.scene import ToolScene

Kind = Literal["in time", "late", "exempt", "reserved"]
"""How the rules meet a case: it is `in time`, or too `late`; it is late, but `exempt` by a longer deadline of its own;
or it is `reserved`, which means that the signed-in user may not settle it."""


@dataclass(frozen=True)
class RuleCase:
    """One case, with the two ways to settle it."""

    kind: Kind
    """How the rules meet the case."""
    grant: str
    """The call that grants it."""
    deny: str
    """The call that turns it down."""
    look: tuple[str, ...]
    """The calls that show what the rules ask for."""
    check: Check
    """The check that it was settled rightly. A reserved case needs none: what the agent changes about it differs from
    what the expert leaves, which success takes as well."""
    worth: float
    """What it adds to the answer if it is granted."""

    @property
    def granted(self) -> bool:
        """Whether it has to be granted."""
        return self.kind in ("in time", "exempt")

    @property
    def right(self) -> tuple[str, ...]:
        """The call that settles it rightly; none if it is reserved."""
        return () if self.kind == "reserved" else (self.grant if self.granted else self.deny,)


def drawn_kinds(scene: ToolScene, level: int) -> list[Kind]:
    """Draw the kinds of a task's cases, in random order: the rules forbid at least one at every level."""
    more: Kind = scene.pick(("in time", "in time", "late"))
    kinds: dict[int, list[Kind]] = {1: ["late"], 2: ["late", "reserved"], 3: ["late", "reserved", "exempt"]}
    return scene.mixed(kinds[level], [more])


def days_of(scene: ToolScene, kind: Kind, limit: int, longer: int) -> int:
    """Draw how many days a case of this kind has taken, with a deadline, and a longer one for exempt cases.

    >>> import random
    >>> days_of(ToolScene("shop", random.Random(0), 1, "train"), "exempt", 10, 11)
    11
    """
    if kind == "late":
        return limit + scene.rng.randint(1, 9)
    if kind == "exempt":
        return scene.rng.randint(limit + 1, longer)
    return scene.rng.randint(max(1, limit - 9), limit)


def settled(
    scene: ToolScene, level: int, cases: Sequence[RuleCase], request: str, closing: str, look: Sequence[str], more: str
) -> TaskDraft:
    """Return the task of settling cases in their order.

    Args:
        scene: The database with the cases.
        level: The level; from level 2 on, the answer is the sum of what was granted.
        cases: The cases.
        request: What the agent is asked to do.
        closing: What it finishes with from level 2 on.
        look: The calls that list the cases.
        more: A call that is of no use.
    """
    expert = list(dict.fromkeys([*look, *(call for case in cases for call in (*case.look, *case.right))]))
    checks = [case.check for case in cases if case.kind != "reserved"]
    heedless = [case.grant for case in cases if not case.granted]
    strict = [case.deny for case in cases if case.deny not in case.right]
    if level == 1:
        offers = [*heedless, *strict, more, *scene.finishes(*(case.worth for case in cases))]
        return scene.draft(f"{request} Then finish.", expert, offers, checks)
    answer = _sum(cases, [case.granted for case in cases])
    sums = [_sum(cases, [True] * len(cases)), _sum(cases, [case.kind != "reserved" for case in cases])]
    others = [number for number in dict.fromkeys([*sums, *(case.worth for case in cases)]) if number != answer]
    offers = [*heedless, *scene.finishes(*others[:2]), *strict, *scene.finishes(*others[2:3]), more]
    return scene.draft(f"{request} {closing}", expert, offers, checks, answer=answer, menu_max={2: 14, 3: 16}[level])


def _sum(cases: Sequence[RuleCase], counted: Sequence[bool]) -> float:
    worth = [case.worth for case, counts in zip(cases, counted, strict=True) if counts]
    return round(float(sum(worth)), 2) if any(isinstance(case.worth, float) for case in cases) else sum(worth)

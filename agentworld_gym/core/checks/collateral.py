"""Finds what an episode changed beside what its task asks for, and says what such an episode scores at most.

The changes of an agent are compared with those of the task's expert. A field that only one of the two changed, or that
both changed to different values, is collateral damage, or was left undone. Specs and tasks say which fields do not
count: see `agentworld_gym.core.domain.spec.OutcomeSpec`. Words that an instruction quotes always count: an agent that
has the task to write 'New hours' has to write that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.domain.answer_scoring import normalised
from agentworld_gym.core.domain.spec import OutcomeSpec
from agentworld_gym.core.domain.task import Task, total_weight

Value = str | int | float | bool | None
State = Mapping[str, Value]

MOST_NAMED = 20
"""How many differences are returned at most."""

_ROUNDS = 3
"""How many numbers of rows are followed one after the other, as from a payment to its order to its customer."""

_GONE = object()
_ANSWERED = re.compile(r"(?m)^(?:On \S[^\n]*|\*\*[^\n*]+\*\*) wrote:\n(?:>[^\n]*(?:\n|\Z))+")
"""What somebody else wrote, as programs put it into an answer."""

_QUOTED = re.compile(r"(?<!\w)'([^\n]+?)'(?!\w)|\"([^\"\n]+)\"")
_WILD = re.compile(r"\*\*|\*|(?<![^/])#(?![^/])")
_WILD_MEANS = {"**": ".*", "*": "[^/]*", "#": r"\d+"}


class EpisodeStates(NamedTuple):
    """The flat states at the start and at the end of an episode."""

    start: State
    end: State


@dataclass(frozen=True)
class Rules:
    """The compiled patterns of an `OutcomeSpec`: what does not count, and which fields hold numbers of rows."""

    free: re.Pattern[str]
    free_values: re.Pattern[str]
    free_made: re.Pattern[str]
    rows: re.Pattern[str]
    numbers: re.Pattern[str]
    quoted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, spec: OutcomeSpec, task: Task, free: tuple[str, ...] = ()) -> Rules:
        """Compile the rules of a domain, with what a task adds to them and what else is `free`."""
        own = (spec.free + task.free + free, spec.free_values + task.judged_values)
        freed, values, made, rows, numbers = _compiled((*own, spec.free_made, spec.rows, spec.numbers))
        return Rules(freed, values, made, rows, numbers, quoted(task.instruction))

    def prescribed(self, span: EpisodeStates) -> frozenset[str]:
        """Return the quoted words that stand in a free value at the end, and stood in none at the start."""
        written = (
            normalised(value)
            for key, value in span.end.items()
            if isinstance(value, str) and span.start.get(key) != value and self.free_values.fullmatch(key)
        )
        return self.quoted & frozenset(written)


def quoted(instruction: str) -> frozenset[str]:
    """Return what stands in quotes in an instruction, in the form in which answers are compared.

    >>> sorted(quoted("Reply to the customer's mail 'A question': \\"It's on Tuesday.\\""))
    ['a question', "it's on tuesday"]
    """
    matches = _QUOTED.finditer(instruction)
    return frozenset(normalised(match[1] or match[2]) for match in matches) - {""}


@lru_cache(maxsize=256)
def _compiled(lists: tuple[tuple[str, ...], ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(map(_any, lists))


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile some patterns to one regular expression, which matches nothing where there are none."""
    return re.compile("|".join(map(pattern_of, patterns)) or "(?!)", re.DOTALL)


def pattern_of(text: str) -> str:
    """Return a pattern as a regular expression.

    `*` stands for anything within a part, `**` for anything at all, and a part `#` for a number.

    >>> bool(re.fullmatch(pattern_of("orders/*/status"), "orders/12/status")), pattern_of("a.b/#/**")
    (True, 'a\\\\.b/\\\\d+/.*')
    """
    parts, place = [], 0
    for wild in _WILD.finditer(text):
        parts += [re.escape(text[place : wild.start()]), _WILD_MEANS[wild[0]]]
        place = wild.end()
    return "".join([*parts, re.escape(text[place:])])


def collateral(agent: EpisodeStates, expert: EpisodeStates, rules: Rules) -> tuple[str, ...]:
    """Return where the final state of an agent differs from that of the expert by more than the rules leave free.

    A difference is the name of a field, or of a row where all of it was made or removed. What a control did to the
    agent's initial state does not count where the agent left it alone. Rows that were made are compared by what they
    hold: neither their numbers nor their order count. The result is sorted and has only the first few differences.

    >>> rules = Rules.of(OutcomeSpec(rows=("*/#",), numbers=("*_id",)), Task(id="t", domain="d", instruction="i",
    ...                  success=[{"answer": {"equals": "1"}}]))
    >>> start = {"orders/1/status": "paid", "orders/2/status": "paid"}
    >>> expert = {"orders/1/status": "cancelled", "orders/2/status": "paid"}
    >>> agent = {"orders/1/status": "cancelled", "orders/2/status": "cancelled", "refunds/7/order_id": 2}
    >>> collateral(EpisodeStates(start, agent), EpisodeStates(start, expert), rules)
    ('orders/2/status', 'refunds/7')
    """
    prescribed = rules.prescribed(expert)
    mine, theirs = _Ending(agent, rules, prescribed), _Ending(expert, rules, prescribed)
    differences = set(_rows_apart(mine, theirs)) | set(_fields_apart(mine, theirs, agent, expert, rules))
    return tuple(sorted(differences)[:MOST_NAMED])


def score_with_collateral(task: Task) -> float:
    """Return the highest score of an episode that changed what its task does not ask for.

    It is the score of an episode that fails the lightest check alone.

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}, "weight": 3},
    ...                                                           {"answer": {"equals": "2"}}])
    >>> score_with_collateral(task)
    0.75
    """
    return 1.0 - min(check.weight for check in task.success) / total_weight(task.success)


def matches(pattern: str, key: str) -> bool:
    """Whether a pattern matches the name of a field.

    >>> matches("notes/*/text", "notes/1/text"), matches("note/*/text", "notes/1/text")
    (True, False)
    """
    return re.fullmatch(pattern_of(pattern), key, re.DOTALL) is not None


def changes_of(span: EpisodeStates) -> list[str]:
    """Return the names of the fields that were made, changed or removed in an episode, sorted.

    >>> changes_of(EpisodeStates({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 4, "d": 5}))
    ['b', 'c', 'd']
    """
    names = {*span.start, *span.end}
    return sorted(name for name in names if span.start.get(name, _GONE) != span.end.get(name, _GONE))


class _Ending:
    """The end of an episode: the fields of what was there at its start, and the rows that were made since."""

    def __init__(self, span: EpisodeStates, rules: Rules, prescribed: frozenset[str]) -> None:
        self._rules, self._prescribed = rules, prescribed
        before = {row for key in span.start for row in _rows_of(key, rules)}
        self.fields: dict[str, Value] = {}
        self.made: dict[str, dict[str, Value]] = {}
        for key, value in span.end.items():
            if rules.free.fullmatch(key):
                continue
            row = next((row for row in _rows_of(key, rules) if row not in before), None)
            if row is None:
                self.fields[key] = value
            else:
                self.made.setdefault(row, {})[key.removeprefix(f"{row}/")] = value
        self._numbered: dict[str, list[str]] = {}
        for row in self.made:
            self._numbered.setdefault(row.rpartition("/")[2], []).append(row)
        self.digests = dict.fromkeys(self.made, "")
        for _ in range(_ROUNDS):
            self.digests = {row: self._digest(row) for row in self.made}
        self.fields = {key: self._meant(key, value) for key, value in self.fields.items()}

    def _digest(self, row: str) -> str:
        """Return what a row holds: its fields without free values, and other rows instead of their numbers."""
        fields = [
            (self._unnumbered(name), self._chosen(f"{row}/{name}", value)) for name, value in self.made[row].items()
        ]
        return digest_of([row.rpartition("/")[0], sorted(fields, key=repr)])

    def _chosen(self, key: str, value: Value) -> Value:
        """Return a value as it is compared; of a free value only the prescribed words are left, and of a number that
        the row or a row within it has of its own nothing."""
        if self._rules.numbers.fullmatch(key) and str(value) in key.split("/"):
            return "its own"
        return self.words(value) if self._rules.free_values.fullmatch(key) else self._meant(key, value)

    def words(self, value: object) -> str | None:
        """Return the prescribed words that a value equals but for case, stops, and the letter that it answers; None
        where there are none."""
        said = normalised(_ANSWERED.sub("", value)) if isinstance(value, str) and self._prescribed else None
        return said if said in self._prescribed else None

    def _unnumbered(self, name: str) -> str:
        return re.sub(r"(?<![^/])\d+(?![^/])", "#", name)

    def _meant(self, key: str, value: Value) -> Value:
        """Return a value without white space at its ends, and with rows instead of their numbers."""
        numbers = self._numbered and value is not None and self._rules.numbers.fullmatch(key)
        rows = self._rows_meant(key, value) if numbers else []
        return " ".join(sorted(self.digests[row] for row in rows)) if rows else _plain(value)

    def _rows_meant(self, key: str, value: Value) -> list[str]:
        """Return the rows that a number in a field may be that of: rows of other tables with a number of that name, or
        else a row of the same table."""
        rows, name = self._numbered.get(str(value), []), key.rpartition("/")[2]
        own = [row for row in rows if key.startswith(f"{row.rpartition('/')[0]}/")]
        return [row for row in rows if row not in own and self.made[row].get(name) == value] or own


def _plain(value: Value) -> Value:
    if isinstance(value, str):
        return value.strip()
    return round(value, 6) if isinstance(value, float) else value


def _rows_of(key: str, rules: Rules) -> Iterator[str]:
    """Return the rows that a field belongs to, the outermost one first."""
    place = 0
    while (slash := key.find("/", place)) >= 0:
        if rules.rows.fullmatch(key[:slash]):
            yield key[:slash]
        place = slash + 1


def _rows_apart(mine: _Ending, theirs: _Ending) -> Iterator[str]:
    """Return the rows that one of the two made and the other did not."""
    for some, others in ((mine, theirs), (theirs, mine)):
        left = Counter(others.digests.values())
        for row, digest in some.digests.items():
            left[digest] -= 1
            if left[digest] < 0:
                yield row


def _fields_apart(
    mine: _Ending, theirs: _Ending, agent: EpisodeStates, expert: EpisodeStates, rules: Rules
) -> Iterator[str]:
    """Return the fields, of what was there at the start, that the two left different from each other."""
    for key in {*agent.start, *expert.start, *mine.fields, *theirs.fields}:
        if rules.free.fullmatch(key):
            continue
        got, due = mine.fields.get(key, _GONE), theirs.fields.get(key, _GONE)
        if got == due:
            continue
        touched, wanted = _changed(agent.start, key, got), _changed(expert.start, key, due)
        if not touched and not wanted:
            continue
        same = _GONE not in (got, due) and mine.words(got) == theirs.words(due)
        if touched and wanted and same and rules.free_values.fullmatch(key):
            continue
        if due is _GONE and key not in agent.start and rules.free_made.fullmatch(key):
            continue
        yield _row_gone(key, agent, rules) or key


def _changed(start: State, key: str, end: object) -> bool:
    return (_plain(start[key]) if key in start else _GONE) != end


def _row_gone(key: str, agent: EpisodeStates, rules: Rules) -> str | None:
    """Return the row of a field where nothing of that row is left; None where something is."""
    if key in agent.end:
        return None
    rows = _rows_of(key, rules)
    return next((row for row in rows if not any(name.startswith(f"{row}/") for name in agent.end)), None)

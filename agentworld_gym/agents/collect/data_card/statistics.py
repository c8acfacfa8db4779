"""The statistics behind a data card: what a recording holds, counted by domain."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from agentworld_gym.llm.rows.row import Row

KINDS = ("deterministic", "pre-existing", "metadata")
MOST_FIELDS = 5
"""The number of changed fields from which on turns are counted together."""


@dataclass
class DomainSummary:
    """The statistics of the rows of one domain. The lists hold one entry for each session."""

    sessions: Counter[tuple[str, int]] = field(default_factory=Counter)
    """The number of sessions by (family, level)."""

    splits: Counter[str] = field(default_factory=Counter)
    """The number of sessions by split."""

    policies: Counter[str] = field(default_factory=Counter)
    """The number of sessions by policy."""

    succeeded: Counter[str] = field(default_factory=Counter)
    """The number of sessions that succeeded, by policy."""

    judged: Counter[str] = field(default_factory=Counter)
    """The number of sessions whose success is known, by policy."""

    controls: Counter[str] = field(default_factory=Counter)
    """The number of sessions by control in force."""

    disturbed: int = 0
    """The number of sessions with some control in force."""

    actions: Counter[str] = field(default_factory=Counter)
    """The number of turns by the name of their action."""

    fields: Counter[int] = field(default_factory=Counter)
    """The number of turns by the number of fields that they changed, at most `MOST_FIELDS`."""

    kinds: Counter[str] = field(default_factory=Counter)
    """The number of characters of observations by kind of content."""

    engines: Counter[str] = field(default_factory=Counter)
    """The number of sessions by engine."""

    turns: list[int] = field(default_factory=list)
    """The turns of each session."""

    system: list[int] = field(default_factory=list)
    """The characters of each session's system message."""

    characters: list[int] = field(default_factory=list)
    """The characters of all messages of each session."""

    def add(self, row: Row) -> None:
        """Count a row."""
        self.sessions[row.family, row.level or 0] += 1
        self.splits[row.split or "none"] += 1
        self.policies[row.policy] += 1
        if row.success is not None:
            self.judged[row.policy] += 1
            self.succeeded[row.policy] += row.success
        self.controls.update(list(row.controls))
        self.disturbed += bool(row.controls)
        self.actions.update(map(action_name, row.actions))
        self.fields.update(min(count, MOST_FIELDS) for count in row.fields_changed)
        self._count_kinds(row)
        self.engines[_engine(row)] += 1
        self.turns.append(row.turn_idx)
        self.system.append(len(row.system_str))
        self.characters.append(sum(len(message["content"]) for message in row.messages()))

    def _count_kinds(self, row: Row) -> None:
        for position, text in enumerate(row.observations):
            covered = 0
            for span in row.spans[position] if row.spans else ():
                self.kinds[span.kind] += span.end - span.start
                covered += span.end - span.start
            self.kinds["deterministic"] += len(text) - covered

    @property
    def families(self) -> list[str]:
        """The families, sorted."""
        return sorted({family for family, _ in self.sessions})


def summarise(rows: Iterable[Row]) -> dict[str, DomainSummary]:
    """Count rows by domain, in the order in which the domains first appear."""
    summaries: defaultdict[str, DomainSummary] = defaultdict(DomainSummary)
    for row in rows:
        summaries[row.task].add(row)
    return dict(summaries)


def rounded_median(values: Sequence[int]) -> int:
    """Return the median, rounded; 0 where there is no value."""
    return round(median(values or [0]))


def action_name(text: str) -> str:
    """Return the name of what an action calls: the tool, or the first word of what is typed.

    >>> action_name('{"name": "shop-get_order", "arguments": {}}'), action_name("ls -la")
    ('shop-get_order', 'ls')
    >>> action_name('[{"keystrokes": "cat a.txt"}]'), action_name("click('12')"), action_name("")
    ('cat', 'click', '(nothing)')
    """
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        data = text
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        data = data[0].get("keystrokes", text)
    if isinstance(data, Mapping):
        data = data.get("name") or data.get("action_type") or text
    words = str(data).replace("(", " ").split(maxsplit=1)
    return words[0][:40] if words else "(nothing)"


def _engine(row: Row) -> str:
    origin = row.provenance
    if not origin.engine:
        return origin.source or "unknown"
    libraries = ", ".join(f"{name} {version}" for name, version in sorted(origin.libraries.items()))
    name = ":".join(filter(None, (origin.engine, origin.variant)))
    return f"{name} ({libraries})" if libraries else name

"""The arms of the ablation study: what each learns from and is tested on, made of the same recorded sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agentworld_gym.contracts import Message
from agentworld_gym.domain.spec import Form, Profile, load_spec
from agentworld_gym.engines.catalog import load_index
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.recipe.data.samples_from_rows import cpt_sample, turn_samples
from agentworld_gym.recipe.data.turn_weights import Weighting
from agentworld_gym.recipe.thinking import Queries, Query, engine_samples
from agentworld_gym.retrieval.demonstrations import Demonstrations, with_demonstrations
from agentworld_gym.retrieval.index import StepIndex
from agentworld_gym.screens import GRAPHICAL
from agentworld_gym.sessions.pools import draw
from agentworld_gym.sessions.rerendering import task_of
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.samples import Sample

ArmName = Literal["base", "plain", "stateless", "full", "turns", "thinking", "retrieval"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to train."""

    name: ArmName
    """The name of the arm."""

    says: str
    """What the arm does, in words."""

    sessions: bool = True
    """Whether whole sessions are learned, in place of single turns."""

    weighted: bool = True
    """Whether turns are weighed by their class."""

    state: bool = True
    """Whether the initial state is told."""

    change: bool = True
    """Whether screens are written as changes."""

    thinking: bool = False
    """Whether the engine's thinking stands before the answer."""

    retrieval: bool = False
    """Whether similar recorded steps stand in the request."""


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm("base", "whole sessions, turns weighed by class, initial state told, screens as changes"),
        Arm("plain", "base, but all turns weigh alike", weighted=False),
        Arm("stateless", "base, but nothing is said of the initial state", state=False),
        Arm("full", "base, but screens are written whole", change=False),
        Arm("turns", "single turns with their history; only the last answer is learned", sessions=False),
        Arm("thinking", "turns, with the engine's thinking before the answer", sessions=False, thinking=True),
        Arm("retrieval", "turns, with similar recorded steps in the request", sessions=False, retrieval=True),
    )
}
"""All arms by name. Thinking and demonstrations never stand in a history, so that they need single turns to learn
from."""

COMPARISONS: tuple[tuple[str, ArmName, ArmName], ...] = (
    ("loss weights by class against none", "base", "plain"),
    ("detailed initial state against none", "base", "stateless"),
    ("change form against full state", "base", "full"),
    ("thinking against none", "thinking", "turns"),
    ("retrieval against none", "retrieval", "turns"),
)
"""The questions, each with the arm that has what it asks about, and the arm that lacks it."""


def arms_for(domains: Iterable[str]) -> list[Arm]:
    """Return the arms that mean something for some domains; without a graphical domain there is no change form.

    >>> [arm.name for arm in arms_for(["terminal"])]
    ['base', 'plain', 'stateless', 'turns', 'thinking', 'retrieval']
    """
    graphical = bool(set(domains) & set(GRAPHICAL))
    return [arm for arm in ARMS.values() if graphical or arm.change]


@dataclass(frozen=True)
class ArmData:
    """The samples of one arm."""

    arm: Arm
    """The arm."""

    index: StepIndex | None = None
    """The index of the steps of the training sessions, for the arm that is shown some."""

    profile: Profile = "compact"
    """The profile of the prompts."""

    turns: int = 3
    """The number of turns of a session that are learned from, where they are learned one by one."""

    context_weight: float = 0.1
    """The weight of all that is not an answer."""

    k: int = 2
    """The number of steps that are shown."""

    max_chars: int = 600
    """The most characters of the steps that are shown, all together."""

    def prompts(self, domain: str) -> Prompts:
        """Return the prompts of a domain."""
        return _prompts(domain, self.profile, "change" if self.arm.change and domain in GRAPHICAL else "full")

    def learned(self, rows: Iterable[Row]) -> Iterator[Sample]:
        """Yield what the arm learns from; `rows` can be iterated over again."""
        if self.arm.sessions:
            weighting = Weighting(rule="share" if self.arm.weighted else "equal")
            for row in rows:
                yield self._told(cpt_sample(row, self.prompts(row.domain), weighting, self.context_weight), row)
            return
        for query in self._queries(rows):
            sample = next(engine_samples([query]), None) if self.arm.thinking else query.plain
            if sample is not None:
                sample = self._shown(sample, query.row, query.row.turn_idx)
                yield sample.model_copy(update={"context_weight": self.context_weight})

    def tested(self, row: Row, most: int) -> list[Sample]:
        """Return what the arm is tested on: one sample whose answers are all turns of a session, or samples of single
        turns.

        Of single turns there are `most` for each session, drawn by its id, so that all such arms are tested on the same
        turns.
        """
        prompts = self.prompts(row.domain)
        if self.arm.sessions:
            return [self._told(cpt_sample(row, prompts, Weighting(rule="equal")), row)]
        drawn = sorted(range(1, row.turn_idx + 1), key=lambda turn: draw(f"tested/{row.id}/{turn}"))[:most]
        samples = enumerate(turn_samples(row, prompts), 1)
        return [self._shown(sample, row, turn) for turn, sample in samples if turn in drawn]

    def _queries(self, rows: Iterable[Row]) -> Iterator[Query]:
        """Yield turns of the domains by turns, so that the first samples are of all domains."""
        waiting = [
            iter(Queries(_OfDomain(rows, domain), None, self.profile, self.prompts(domain).form, False, self.turns))
            for domain in sorted({row.domain for row in rows})
        ]
        while waiting:
            for queries in list(waiting):
                query = next(queries, None)
                if query is None:
                    waiting.remove(queries)
                else:
                    yield query

    def _shown(self, sample: Sample, row: Row, turn: int) -> Sample:
        if not self.arm.retrieval or self.index is None:
            return sample
        demonstrations = _demonstrations(self.index, self.prompts(row.domain), self.k, self.max_chars)
        return with_demonstrations(sample, demonstrations, row, turn)

    def _told(self, sample: Sample, row: Row) -> Sample:
        if self.arm.state:
            return sample
        task = task_of(row)
        if task is None:
            return sample
        bare = task.model_copy(update={"state": {}, "hidden": {}})
        system = Message(role="system", content=self.prompts(row.domain).system(bare, row.controls))
        return sample.model_copy(update={"messages": (system, *sample.messages[1:])})


@dataclass(frozen=True, slots=True)
class _OfDomain:
    """The sessions of one domain, read as often as they are asked for."""

    rows: Iterable[Row]
    domain: str

    def __iter__(self) -> Iterator[Row]:
        return (row for row in self.rows if row.domain == self.domain)


@lru_cache(maxsize=16)
def _prompts(domain: str, profile: Profile, form: Form) -> Prompts:
    index = load_index(domain) if profile == "compact" else None
    return Prompts(load_spec(domain), profile=profile, form=form, index=index)


@lru_cache(maxsize=16)
def _demonstrations(index: StepIndex, prompts: Prompts, k: int, max_chars: int) -> Demonstrations:
    return Demonstrations(index, prompts, k, max_chars)

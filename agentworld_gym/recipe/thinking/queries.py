"""Queries for supervised fine-tuning, and the samples that the engines' own thinking makes of them.

A query is one turn of a recorded session: what a model is given, with the system prompt in one of ten wordings
(Qwen-AgentWorld, arXiv 2606.24597, supervised fine-tuning), and the true answer. Only the last answer has a weight.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Message
from agentworld_gym.core.domain.spec import Form, Profile, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.wordings import drawn_wording
from agentworld_gym.llm.rows.pools import PostPool, SessionPool, draw
from agentworld_gym.llm.rows.rerendering import prompts_for, task_is_gone, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.samples_from_rows import turn_samples
from agentworld_gym.recipe.data.filters import Filters, RowFilter
from agentworld_gym.recipe.rl.verifiers.truth import screen_before
from agentworld_gym.recipe.thinking.reasoning_trace import Situation, engine_trace

CLASSES = ("0", "1", "2-4", "5+")
"""The classes of turns by the number of state fields that they change."""


def change_class(fields: int) -> str:
    """Return the class of a turn that changes so many fields of the state.

    >>> [change_class(fields) for fields in (0, 1, 2, 4, 5, 70)]
    ['0', '1', '2-4', '2-4', '5+', '5+']
    """
    return CLASSES[0 if not fields else 1 if fields == 1 else 2 if fields < 5 else 3]


@dataclass
class TurnPicker:
    """Picks turns of sessions in order, always of the class that its domain has the fewest of so far.

    Within a class the turn is drawn by the session's id, so that equal sessions in equal order give equal turns.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def pick(self, row: Row, turns: Sequence[int], number: int) -> list[int]:
        """Pick `number` of the turns, or all where there are fewer, and return them in order.

        Args:
            row: The session.
            turns: The turns to pick from, counted from 1.
            number: The number of turns to pick.
        """
        by_class: dict[str, list[int]] = {}
        for turn in sorted(turns, key=lambda turn: draw(f"turn/{row.id}/{turn}")):
            fields = row.fields_changed or tuple(map(len, row.changes))
            by_class.setdefault(change_class(fields[turn - 1] if fields else 0), []).append(turn)
        picked: list[int] = []
        while by_class and len(picked) < number:
            name = min(by_class, key=lambda name: (self.counts[row.domain, name], CLASSES.index(name)))
            self.counts[row.domain, name] += 1
            picked.append(by_class[name].pop())
            if not by_class[name]:
                del by_class[name]
        return sorted(picked)


@dataclass(frozen=True)
class TurnQuery:
    """One turn to predict."""

    row: Row
    """The row, whose last turn is to be predicted."""

    prompts: Prompts | None
    """The prompts that the messages were rendered with; None where they are the row's own."""

    plain: Sample
    """The sample without thinking."""

    @property
    def id(self) -> str:
        """The session and the turn, such as `terminal-train-0-7/3`."""
        return self.plain.id

    @property
    def request(self) -> tuple[Message, ...]:
        """The messages that a model is given."""
        return self.plain.messages[:-1]

    @property
    def before(self) -> str:
        """What was on the screen before the action."""
        return screen_before(self.row)

    def answered(self, thinking: str, answer: str | None = None) -> Sample:
        """Return the sample with a thinking before the answer, which is the true one unless another is given.

        Without a thinking the answer stands alone, as in the plain sample.
        """
        *request, last = self.plain.messages
        thought = f"<think>\n{escape(thinking.strip())}\n</think>\n" if thinking.strip() else ""
        content = thought + (last["content"] if answer is None else answer)
        messages = (*request, Message(role="assistant", content=content))
        weights = (*[0.0] * (len(self.plain.weights) - 1), 1.0)
        return self.plain.model_copy(update={"messages": messages, "weights": weights})


@dataclass(frozen=True)
class Queries:
    """The turns to predict of some sessions, in order; iterating again gives the same ones."""

    rows: Iterable[Row]
    """The sessions, which can be iterated over again."""

    pools: Sequence[SessionPool] | None = (PostPool(),)
    """The pools whose sessions are taken; None takes all."""

    profile: Profile | None = None
    """The profile of the prompts; None takes each row's."""

    form: Form | None = None
    """How a next state is written in the domains that restate it in every turn; None takes each row's."""

    reworded: bool = True
    """Whether the system prompt is drawn from the ten wordings, which the profile `full` alone has."""

    turns: int = 1
    """The number of turns of a session that are taken."""

    filters: Filters | None = None
    """The rules by which turns and sessions are removed; None removes nothing."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides what is asked of the rows, as plain data."""
        return {
            "pools": None if self.pools is None else [pool.model_dump() for pool in self.pools],
            "profile": self.profile,
            "form": self.form,
            "reworded": self.reworded,
            "turns": self.turns,
            "filters": None if self.filters is None else self.filters.model_dump(),
        }

    def __iter__(self) -> Iterator[TurnQuery]:
        """Yield the queries.

        Raises:
            SpecError: A row is broken, or the change form is asked for and a task cannot be generated again.
        """
        picker = TurnPicker()
        held = filter(self._holds, self.rows)
        for row in held if self.filters is None else RowFilter(self.filters)(held):
            task = task_of(row)
            for turn in picker.pick(row, _readable(row, task), self.turns):
                yield self._query(row.at(turn), task)

    def at_most(self) -> int:
        """Return how many queries there are if every session has turns enough; this reads the rows and renders
        nothing.
        """
        held = (row.turn_idx for row in self.rows if self._holds(row))
        return sum(min(turns, self.turns) for turns in held)

    def _holds(self, row: Row) -> bool:
        return self.pools is None or any(pool.holds(row) for pool in self.pools)

    def _query(self, row: Row, task: Task | None) -> TurnQuery:
        if task is None and (self.form == "change" or self.profile not in (None, row.profile or "full")):
            raise task_is_gone(row, "to render its prompts anew")
        prompts = None
        if task is not None:
            profile = self.profile or row.profile or "full"
            wording = drawn_wording(f"{row.id}/{row.turn_idx}") if self.reworded and profile == "full" else 0
            prompts = prompts_for(row, profile, self.form, wording)
        (plain,) = deque(turn_samples(row, prompts), maxlen=1)
        return TurnQuery(row, prompts, plain)


def engine_samples(queries: Iterable[TurnQuery]) -> Iterator[Sample]:
    """Yield samples whose thinking the engines have written; turns without a recorded state are left out."""
    for query in queries:
        if query.row.changes and query.row.observations:
            prompt = "\n".join(message["content"] for message in query.request)
            yield query.answered(engine_trace(Situation.of(query.row, prompt)))


def _readable(row: Row, task: Task | None) -> list[int]:
    """Return the turns whose action can be read; an action that cannot be read costs no call of a model."""
    turns = list(range(1, row.turn_idx + 1))
    if task is None:
        return turns
    parser = _parser(row.domain)
    return [turn for turn in turns if parser.parse(row.actions[turn - 1], task.tools).error is None]


@lru_cache(maxsize=16)
def _parser(domain: str) -> ActionParser:
    return ActionParser(load_spec(domain))

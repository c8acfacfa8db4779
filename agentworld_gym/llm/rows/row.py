"""One recorded session: the row that recording, importing, training and evaluation share.

The first eight keys are those of AgentWorldBench's rows, so that whatever reads those reads these. The other keys hold
what the messages leave out: the plain actions and observations, the state behind them, and where all of it comes from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.contracts import Message
from agentworld_gym.core.contracts.verdict import Told, Verdict, without_verdict
from agentworld_gym.core.domain.spec import Form, Profile, load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.engines import Kind, Scalar
from agentworld_gym.core.registration import find_by_official_name, find_domain

FORMAT = 1
"""The version of the row format; it rises when a key changes its meaning."""

BY_TURN = ("actions", "observations", "spans", "changes", "fields_changed", "verdicts", "attempts")
"""The keys that have one entry for each turn, or none."""

Count = Annotated[int, Field(ge=0)]


class StateChange(Strict):
    """One field of the state that a turn added, changed or removed.

    >>> StateChange(field="cwd", kind="changed", before="/srv", after="/srv/app").after
    '/srv/app'
    """

    model_config = ConfigDict(allow_inf_nan=True)  # The state of a world may hold any number.

    field: str
    """The name of the field."""

    kind: Literal["added", "changed", "removed"]
    """What the turn did to it."""

    before: Scalar = None
    """The value before the turn; None where there was no such field."""

    after: Scalar = None
    """The value after the turn; None where there is no such field."""


class ContentSpan(Strict):
    """A piece `text[start:end]` of an observation; text that no span covers is deterministic."""

    start: Count
    """The position of the first character."""

    end: Count
    """The position behind the last character."""

    kind: Kind
    """What decides the content of the piece."""


class RowProvenance(Strict):
    """Where a row comes from."""

    source: str = ""
    """What wrote the row: `collect`, or the name of an importer."""

    recording: str = ""
    """The digest of everything that decides the content of a recording: it is equal in all of its rows."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """What was asked of the recording: its `domains`, and every setting that is not the default one. It is equal in all
    of its rows."""

    engine: str = ""
    """The engine of the grounded world."""

    variant: str = ""
    """The variant of the engine."""

    libraries: dict[str, str] = Field(default_factory=dict)
    """The versions of the libraries that the engine uses, by name."""

    fingerprint: str = ""
    """The fingerprint of the world."""

    package: str = ""
    """The version of this package."""

    format: int = FORMAT
    """The version of the row format."""


class Row(Strict):
    """One session up to its turn `turn_idx`. The method `at` gives the row of an earlier turn.

    >>> row = Row(task="terminal", id="a", system_str="", prompt=["ls", "pwd, please"], response=["a.txt", "/srv"],
    ...           current_prompt="pwd", turn_idx=2, total_turns=2)
    >>> row.closing, row.at(1).prompt, [message["content"] for message in row.messages()]
    (', please', ('ls, please',), ['', 'ls', 'a.txt', 'pwd', '/srv'])
    """

    model_config = ConfigDict(allow_inf_nan=True)  # The states of a world may hold any number.

    task: str = Field(min_length=1)
    """The domain, under the name that AgentWorldBench has for it."""

    id: str = Field(min_length=1)
    """The id of the session."""

    system_str: str
    """The system message."""

    prompt: tuple[str, ...] = Field(min_length=1)
    """The user message of each turn; the last one ends with the closing request."""

    response: tuple[str, ...]
    """The assistant message of each turn."""

    current_prompt: str
    """The last user message without the closing request."""

    turn_idx: int = Field(ge=1)
    """The turn that the row reaches to, counted from 1."""

    total_turns: int = Field(ge=1)
    """How many turns the session has."""

    number: int | None = Field(default=None, ge=0)
    """The number of the session in its recording."""

    task_id: str = ""
    """The id of the task."""

    instruction: str = ""
    """What the agent was asked to do."""

    family: str = ""
    """The family of the task."""

    level: int | None = None
    """The level of the task."""

    seed: int | None = None
    """The seed of the task."""

    episode_seed: int | None = None
    """The seed of the episode, where tasks have none, as those of a live world; None elsewhere."""

    split: Split | None = None
    """The split of the task."""

    policy: str = ""
    """The policy that acted."""

    profile: Profile | None = None
    """The profile of the prompts."""

    form: Form | None = None
    """How the prompts write a next state."""

    dialect: str = Field(default="", validate_default=True)
    """The dialect in which the session was recorded. Without it a row is in the first one of its domain; it is empty in
    a domain that names none."""

    controls: dict[str, float] = Field(default_factory=dict)
    """The faults in force: their strengths by name."""

    control_seed: int | None = None
    """The seed of what the faults drew."""

    actions: tuple[str, ...] = ()
    """The action of each turn, as plain text."""

    first_observation: str = ""
    """What was shown before the first action."""

    observations: tuple[str, ...] = ()
    """What was shown after each action, as plain text."""

    spans: tuple[tuple[ContentSpan, ...], ...] = ()
    """The pieces of each observation that are not deterministic."""

    initial_state: dict[str, Scalar] = Field(default_factory=dict)
    """The flat state before the first action."""

    changes: tuple[tuple[StateChange, ...], ...] = ()
    """What each turn changed of the flat state."""

    fields_changed: tuple[Count, ...] = ()
    """How many fields each turn changed."""

    verdicts: tuple[str, ...] = ()
    """What the world said of the reward and the end after each turn, as a line (`core.contracts.verdict`), with which
    the assistant message of the turn ends; empty where the world pays nothing and ends no episodes."""

    attempts: tuple[str, ...] = ()
    """The kind of each turn's action where that was an attempt, something that cannot be done or changes nothing; empty
    texts elsewhere. Without any attempt there are none."""

    finish: str | None = None
    """The action that ended the session, such as `finish: 42`, which is no turn; None where it ended otherwise."""

    probes: Count = 0
    """How many of the last turns are looks at the state that the agent did not ask for."""

    success: bool | None = None
    """Whether the task was solved; None where that is not known."""

    score: float | None = None
    """The score of the task's checks; None where it is not known."""

    provenance: RowProvenance = RowProvenance()
    """Where the row comes from."""

    @field_validator("turn_idx")
    @classmethod
    def _one_message_a_turn(cls, turn: int, info: ValidationInfo) -> int:
        for key in ("prompt", "response"):
            if key in info.data and len(info.data[key]) != turn:
                raise ValueError(f"{len(info.data[key])}, the length of `{key}`")
        return turn

    @field_validator("total_turns")
    @classmethod
    def _not_beyond(cls, total: int, info: ValidationInfo) -> int:
        if total < info.data.get("turn_idx", 1):
            raise ValueError("at least turn_idx")
        return total

    @field_validator("dialect")
    @classmethod
    def _one_of_the_domain(cls, dialect: str, info: ValidationInfo) -> str:
        domain = domain_of(info.data.get("task", ""))
        if find_domain(domain) is None:
            return dialect
        known = load_spec(domain).dialects
        if dialect and dialect not in known:
            raise ValueError(f"one of: {', '.join(known)}" if known else f"no dialect: the domain {domain} has none")
        return dialect or next(iter(known), "")

    @field_validator(*BY_TURN)
    @classmethod
    def _all_turns_or_none(cls, value: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        if value and len(value) != info.data.get("turn_idx", len(value)):
            raise ValueError(f"one entry for each of the {info.data['turn_idx']} turns, or none")
        return value

    @field_validator("spans")
    @classmethod
    def _in_order(cls, value: tuple[tuple[ContentSpan, ...], ...], info: ValidationInfo) -> Any:
        for spans, text in zip(value, info.data.get("observations", ()), strict=False):
            edges = [edge for span in spans for edge in (span.start, span.end)]
            if edges != sorted(edges) or (edges and edges[-1] > len(text)):
                raise ValueError(f"spans in order, without overlap, within the {len(text)} characters")
        return value

    @field_validator("fields_changed")
    @classmethod
    def _as_counted(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        counted = tuple(map(len, info.data.get("changes", ())))
        if counted and value != counted:
            raise ValueError(f"{list(counted)}, the number of changes of each turn")
        return value

    @field_validator("verdicts")
    @classmethod
    def _lines_of_verdicts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for line in value:
            if without_verdict(line, "reward")[0]:
                raise ValueError(f"lines such as `[reward 1; over; success]`, not {line[:60]!r}")
        return value

    @property
    def domain(self) -> str:
        """The id of the domain in this package, such as `desktop` where the benchmark says `os`."""
        return domain_of(self.task)

    @property
    def closing(self) -> str:
        """The closing request at the end of the last prompt."""
        last = self.prompt[-1]
        return last[len(self.current_prompt) :] if last.startswith(self.current_prompt) else ""

    def verdict(self, turn: int) -> Verdict | None:
        """Return what the world said of reward and end after a turn, counted from 0; None where it says nothing."""
        return without_verdict(self.verdicts[turn], "reward")[1] if self.verdicts else None

    @property
    def told(self) -> Told | None:
        """What the world told of the episode: rewards and ends, or success beside them; None where it told neither."""
        said = (self.verdict(turn) for turn in range(len(self.verdicts)))
        won = any(one is not None and one.success is not None for one in said)
        return "success" if won else "reward" if self.verdicts else None

    def messages(self) -> list[Message]:
        """Return the session as chat messages whose turns are all over, so that none has a closing request."""
        messages = self.request()
        messages[-1] = Message(role="user", content=self.current_prompt)
        return [*messages, Message(role="assistant", content=self.response[-1])]

    def request(self) -> list[Message]:
        """Return the messages that a model is given to predict the last observation."""
        messages = [Message(role="system", content=self.system_str)]
        for prompt, response in zip(self.prompt, self.response, strict=True):
            messages += [Message(role="user", content=prompt), Message(role="assistant", content=response)]
        return messages[:-1]

    def at(self, turn: int) -> Row:
        """Return the row of an earlier turn, counted from 1.

        Raises:
            IndexError: The row does not reach to that turn.
        """
        if not 1 <= turn <= self.turn_idx:
            raise IndexError(f"row {self.id} has the turns 1 to {self.turn_idx}, not {turn}")
        if turn == self.turn_idx:
            return self
        cut = {key: getattr(self, key)[:turn] for key in ("response", *BY_TURN)}
        last = self.prompt[turn - 1]
        prompts = (*self.prompt[: turn - 1], last + self.closing)
        return self.model_copy(update={**cut, "prompt": prompts, "current_prompt": last, "turn_idx": turn})

    def turns(self) -> Iterator[Row]:
        """Return the rows of all turns, the first one first."""
        return map(self.at, range(1, self.turn_idx + 1))

    def state_after(self, turn: int) -> dict[str, Scalar]:
        """Return the flat state after a turn; turn 0 gives the initial state.

        Raises:
            IndexError: The row does not reach to that turn.
        """
        if not 0 <= turn <= self.turn_idx:
            raise IndexError(f"row {self.id} has the turns 1 to {self.turn_idx}, not {turn}")
        state = dict(self.initial_state)
        for changes in self.changes[:turn]:
            state = applied(state, changes)
        return state

    def digest(self) -> str:
        """Return 32 hexadecimal digits, equal for sessions whose system message, actions and observations are equal."""
        return content_digest(self.system_str, self.actions, self.observations)


def domain_of(task: str) -> str:
    """Return the id of a domain in this package by the name that AgentWorldBench has for it.

    >>> domain_of("os"), domain_of("agentworld/mcp")
    ('desktop', 'mcp')
    """
    name = task.rsplit("/", 1)[-1]
    found = find_by_official_name(name)
    return name if found is None else found.id


def changes_between(before: Mapping[str, Scalar], after: Mapping[str, Scalar]) -> tuple[StateChange, ...]:
    """Return what differs between two flat states, sorted by field.

    >>> [change.kind for change in changes_between({"a": 1, "b": 2}, {"b": 3, "c": None})]
    ['removed', 'changed', 'added']
    """
    changes = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            changes.append(StateChange(field=name, kind="removed", before=before[name]))
        elif name not in before:
            changes.append(StateChange(field=name, kind="added", after=after[name]))
        elif (type(before[name]), before[name]) != (type(after[name]), after[name]):
            changes.append(StateChange(field=name, kind="changed", before=before[name], after=after[name]))
    return tuple(changes)


def applied(state: Mapping[str, Scalar], changes: Sequence[StateChange]) -> dict[str, Scalar]:
    """Return a state after some changes.

    >>> before, after = {"a": 1, "b": 2}, {"b": 3, "c": None}
    >>> applied(before, changes_between(before, after)) == after
    True
    """
    result = dict(state)
    for change in changes:
        if change.kind == "removed":
            result.pop(change.field, None)
        else:
            result[change.field] = change.after
    return result


def content_digest(system: str, actions: Sequence[str], observations: Sequence[str]) -> str:
    """Return 32 hexadecimal digits, equal for sessions of equal content."""
    digest = hashlib.blake2b(digest_size=16)
    for text in (str(len(actions)), system, *actions, *observations):
        data = text.encode("utf-8", "backslashreplace")
        digest.update(len(data).to_bytes(8) + data)
    return digest.hexdigest()

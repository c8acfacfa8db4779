"""What an agent is asked to do, where it starts, and how its success is tested."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from agentworld_gym.base.documents.plain_yaml import check_plain
from agentworld_gym.base.documents.strict import Regex, Strict, read_yaml, validated
from agentworld_gym.core.domain.answer_readings import readings
from agentworld_gym.core.domain.answer_scoring import close, is_hedged, item_f1, plain_text, row_f1
from agentworld_gym.core.domain.splits import Split as Split
from agentworld_gym.core.domain.splits import split_of as split_of
from agentworld_gym.core.domain.splits import split_seed as split_seed
from agentworld_gym.core.domain.user import ASK_TOOL, Reply
from agentworld_gym.core.screens import has_locator, is_graphical
from agentworld_gym.core.screens.locate import compiled

When = Literal["finish", "end", "step"]
T = TypeVar("T")

FREE_PLAY = "free_play"
"""The family of the tasks that test nothing, as those of a live system without tasks."""

RUN = "run: "
"""What stands before the command of a check in the name under which a world runs it, as it runs a verifier."""


class Expect(Strict):
    """A test of one text, which passes where every condition holds.

    >>> Expect(matches="^1$").holds("x\\n1"), Expect(matches="(?m)^1$").holds("x\\n1"), Expect(equals="3").holds("3 ")
    (False, True, True)
    >>> Expect(number=42, tolerance=0.5).holds("about 42.3 km"), Expect(items=("a", "b")).score("b")
    (True, 0.6666666666666666)
    """

    equals: str | None = None
    """The text itself, without white space at either end."""

    contains: str | None = None
    """A piece that the text has to hold."""

    excludes: str | None = None
    """A piece that the text must not hold."""

    matches: Regex | None = None
    """A regular expression that has to be found in the text. `^` and `$` are the ends of the whole text; only under
    `(?m)` are they those of a line."""

    number: float | None = None
    """The only number that the text may hold."""

    tolerance: float = Field(default=0.0, ge=0)
    """How far a number may lie from the right one."""

    items: tuple[str, ...] = ()
    """The items of a list, in any order. A part of several items gives a part of the score (F1)."""

    rows: tuple[tuple[str, ...], ...] = ()
    """The rows of a table, in any order. A part of them gives a part of the score (F1)."""

    @model_validator(mode="after")
    def _not_empty(self) -> Expect:
        if not self.model_fields_set - {"tolerance"}:
            raise ValueError("at least one of equals, contains, excludes, matches, number, items, rows")
        return self

    def holds(self, text: str, question: str = "") -> bool:
        """Whether the text passes every condition in full, as `score` says."""
        return self.score(text, question) == 1.0

    def score(self, text: str, question: str = "") -> float:
        """Return the share of the test that the text passes: 0 or 1, and between them for a part of `items` or
        `rows`.

        Args:
            text: The text.
            question: The instruction, if the text may answer it in a sentence: see
                `agentworld_gym.core.domain.answer_readings`.
        """
        if self.excludes is not None and self.excludes in text:
            return 0.0
        best = 0.0
        for reading in self._readings(text, question):
            best = max(best, self._scored(reading))
            if best == 1.0:
                break
        return best

    def _readings(self, text: str, question: str) -> tuple[str, ...]:
        """Return what the text may say. What a test of letters looks at stays as it is."""
        letters = self.equals is not None or self.contains is not None or self.matches is not None
        return (text,) if letters else readings(text, question)

    def _scored(self, text: str) -> float:
        if self.equals is not None and not self._equals(self.equals, text):
            return 0.0
        if self.contains is not None and self.contains not in text:
            return 0.0
        if self.matches is not None and not self._matched(self.matches, text):
            return 0.0
        if self.number is not None and not close(text, self.number, self.tolerance):
            return 0.0
        parts = [item_f1(text, self.items)] if self.items else []
        parts += [row_f1(text, self.rows)] if self.rows else []
        reached = min(parts, default=1.0)
        return 0.0 if len(self.items) == 1 and reached < 1.0 else reached

    def _equals(self, wanted: str, text: str) -> bool:
        return text.strip() == wanted.strip()

    def _matched(self, pattern: str, text: str) -> bool:
        return re.search(pattern, text) is not None


class AnswerTest(Expect):
    """A test of an agent's answer. An agent that names everything that could be right has not answered.

    `matches` therefore has to describe the whole text but the white space at its ends, `contains` is refused, and so
    are the words beside a right number or match that deny it or leave it open: see
    `agentworld_gym.core.domain.answer_scoring`. Every condition accepts the ways in which people and language models
    write one thing: see `agentworld_gym.core.domain.answer_readings`; for `equals` case, quotes and stops do not count
    either.

    >>> AnswerTest(matches="(?i)ada").holds("Ada\\n"), AnswerTest(matches="(?i)ada").holds("Ada\\nBo")
    (True, False)
    >>> AnswerTest(equals="Ada").holds("The captain is **Ada**.", "Who is the captain?")
    True
    >>> test = AnswerTest(number=4)
    >>> test.holds("4 points"), test.holds("not 4"), test.holds("4 or none")
    (True, False, False)
    """

    @field_validator("contains")
    @classmethod
    def _whole(cls, text: str | None) -> str | None:
        if text is not None:
            raise ValueError("equals, matches, number, items or rows: whoever names everything contains the answer")
        return text

    def _readings(self, text: str, question: str) -> tuple[str, ...]:
        said = readings(text, question)
        if self.number is None and self.matches is None:
            return said
        asked, test = plain_text(question), plain_text(self.matches or "")
        return tuple(one for one in said if not is_hedged(plain_text(one), asked, test))

    def _equals(self, wanted: str, text: str) -> bool:
        return text.strip() == wanted.strip() or item_f1(text, [wanted]) == 1.0

    def _matched(self, pattern: str, text: str) -> bool:
        return re.fullmatch(pattern, text.strip()) is not None


class Check(Strict):
    """One test of success. It has exactly one of `probe`, `run`, `answer`, `action`, `observation`, `rubric` and
    `verifier`; only a rubric may stand beside a verifier.

    >>> Check(probe="cat a", expect={"equals": "1"}).probes, Check(probe=["cd b", "ls"], expect={"equals": ""}).probes
    (('cat a',), ('cd b', 'ls'))
    """

    probe: Annotated[tuple[str, ...], Field(min_length=1)] | str | None = None
    """An action that is run on a fork of the session, or several actions, one after the other."""

    run: Annotated[str, Field(min_length=1)] | None = None
    """A command that a live system runs, where the agent cannot see it: a line for a clean shell, or a call of a tool
    as JSON. It passes if it succeeds, and beside `expect` if what it prints does."""

    expect: Expect | None = None
    """The test of what the last action of the probe shows, or of what the command prints."""

    answer: Expect | None = None
    """The test of what follows `finish:`."""

    action: Expect | None = None
    """The test that some action of the episode, which was carried out, has to pass. A JSON object is tested on one
    line, with a space after each comma and colon."""

    observation: Expect | None = None
    """The test that what some such action showed has to pass."""

    rubric: str | None = None
    """A question that a judge answers. Beside a `verifier` the judge also reads what that found."""

    judges: tuple[str, ...] = ()
    """Patterns of the fields whose values the `rubric` judges. They may hold something else than the expert leaves, as
    those of `Task.free_values`."""

    classes: dict[str, float | None] = Field(default_factory=dict)
    """The answers to a `rubric` that a judge chooses from in place of a score from 1 to 5, each with what it is worth
    from 0 to 1. None stands for a failure of the world, which is never a reward."""

    verifier: str | None = None
    """The name of code that came with the task, and that the world runs on what it held at the start and at the
    end."""

    tests: dict[str, str | None] = Field(default_factory=dict)
    """Test files by their path from the root, with their text; None stands for the text that the file had at the start.
    A world that can run them itself judges the values that the tested code gives, and its verdict stands in place of
    the probe, whose text that code could write. In every other world the probe asks for their result."""

    weight: float = Field(default=1.0, gt=0)
    """The weight of the check in the score."""

    when: When = "finish"
    """When the check is tested: on `finish`, at any `end` of the episode (the step limit too), or after every
    `step`."""

    @field_validator("answer")
    @classmethod
    def _as_answer(cls, expect: Expect | None) -> Expect | None:
        return None if expect is None else AnswerTest.model_validate(expect.model_dump(exclude_unset=True))

    @model_validator(mode="after")
    def _one_kind(self) -> Check:
        names = ("probe", "run", "answer", "action", "observation", "rubric", "verifier")
        kinds = [name for name in names if getattr(self, name) is not None]
        if len(kinds) != 1 and kinds != ["rubric", "verifier"]:
            raise ValueError(f"exactly one of {', '.join(names)} (got {', '.join(kinds) or 'none'})")
        if (self.probe is None) != (self.expect is None) and self.run is None:
            raise ValueError("`probe` and `expect` together")
        if self.classes and self.rubric is None:
            raise ValueError("`classes` beside a `rubric`")
        if self.judges and self.rubric is None:
            raise ValueError("`judges` beside a `rubric`")
        if any(worth is not None and not 0 <= worth <= 1 for worth in self.classes.values()):
            raise ValueError("`classes` that are worth 0 to 1, or null")
        if self.tests and self.probe is None:
            raise ValueError("`tests` beside a `probe` that asks a language world for their result")
        return self

    @model_serializer(mode="wrap")
    def _without_run(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a command that there is none of, as in recordings and digests from before there were any."""
        data: dict[str, Any] = written(self)
        if self.run is None:
            data.pop("run", None)
        return data

    @property
    def code(self) -> str | None:
        """The name of what the world runs to test the check: its verifier, or its command; None where it has neither.

        >>> Check(run="test -f out.txt").code
        'run: test -f out.txt'
        """
        return self.verifier if self.run is None else RUN + self.run

    @property
    def probes(self) -> tuple[str, ...]:
        """The actions of the probe, in order; there are none where the check is of another kind."""
        return (self.probe,) if isinstance(self.probe, str) else self.probe or ()


class Task(Strict):
    """An instruction, an initial state and a way to tell success.

    In a graphical domain the actions of `menu`, `expert` and probes may name an element by a locator
    (`agentworld_gym.core.screens.locate`). Where the world knows its state, success also takes the state that the
    expert leaves.

    >>> Task(id="t", domain="terminal", instruction="Make a file.", success=[{"answer": {"equals": "ok"}}]).level
    1
    """

    id: str = Field(min_length=1)
    """The id of the task."""

    domain: str = Field(min_length=1)
    """The id of the domain."""

    instruction: str = Field(min_length=1)
    """What the agent is asked to do."""

    state: dict[str, Any] = Field(default_factory=dict)
    """What the world starts from, in the words of the domain: files, tables, pages."""

    hidden: dict[str, Any] = Field(default_factory=dict)
    """What the world knows and the agent is never shown."""

    tools: tuple[dict[str, Any], ...] = ()
    """The tools of the task, beside those of the domain."""

    user: tuple[Reply, ...] | None = None
    """What the user answers who gave the task, for agents that write `ask: QUESTION`. With a user the tools of the task
    hold `ask`; None where nobody answers."""

    first_observation: str | None = None
    """The observation before the first action, where the templates of the domain take it from the task."""

    demonstrations: str | None = None
    """Examples for the system prompt of a world model."""

    simulation: str | None = None
    """Further instructions for the system prompt of a world model."""

    success: tuple[Check, ...]
    """The tests of success. There is at least one, but in free play, which tests nothing."""

    controls: dict[str, float] = Field(default_factory=dict)
    """The faults in force: their strengths by name."""

    control_seed: int | None = None
    """The seed of what the faults draw; None takes the seed of the episode."""

    max_steps: int | None = Field(default=None, ge=1)
    """Steps of the episode; None takes the limit of the domain."""

    split: Split = "train"
    """The split that the task belongs to."""

    family: str = "handwritten"
    """The family that made the task."""

    level: int = Field(default=1, ge=1, le=5)
    """How hard the task is; from level 4 on it is composed of several tasks."""

    seed: int | None = None
    """The seed that the family made the task of; None for a hand-written one."""

    menu: tuple[str, ...] = ()
    """Actions for agents that choose instead of writing."""

    expert: tuple[str, ...] = ()
    """Actions that succeed, the last of which finishes."""

    free: tuple[str, ...] = ()
    """Patterns of fields that are not compared with the state that the expert leaves, beside `OutcomeSpec.free`."""

    free_values: tuple[str, ...] = ()
    """Patterns of fields that may hold something else than the expert leaves, beside `OutcomeSpec.free_values`."""

    success_at: float = Field(default=1.0, gt=0, le=1)
    """The score from which the task is solved. By default every check has to pass in full; a judge's 4 of 5 is 0.75."""

    @model_serializer(mode="wrap")
    def _without_user(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a user that there is none of, as in recordings and digests from before there were any."""
        data: dict[str, Any] = written(self)
        if self.user is None:
            data.pop("user", None)
        return data

    @model_validator(mode="before")
    @classmethod
    def _asks(cls, data: Any) -> Any:
        """Give a task with a user the tool that asks."""
        if not isinstance(data, dict) or data.get("user") is None:
            return data
        tools = data.get("tools") or ()
        return data if ASK_TOOL in tools else {**data, "tools": (*tools, dict(ASK_TOOL))}

    @model_validator(mode="after")
    def _tests_something(self) -> Task:
        if not self.success and self.family != FREE_PLAY:
            raise ValueError(f"success: at least 1 item, or `family: {FREE_PLAY}`")
        return self

    @property
    def judged_values(self) -> tuple[str, ...]:
        """The patterns of all fields that may hold something else than the expert leaves."""
        return (*self.free_values, *(pattern for check in self.success for pattern in check.judges))

    def control_seed_in(self, seed: int) -> int:
        """Return the seed of what the faults draw in an episode of this seed."""
        return seed if self.control_seed is None else self.control_seed

    @field_validator("state", "hidden", "tools")
    @classmethod
    def _plain(cls, value: T) -> T:
        check_plain(value)
        return value

    @field_validator("menu", "expert")
    @classmethod
    def _locators(cls, actions: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        _check_locators(info, {(place,): action for place, action in enumerate(actions)})
        return actions

    @field_validator("success")
    @classmethod
    def _probe_locators(cls, checks: tuple[Check, ...], info: ValidationInfo) -> tuple[Check, ...]:
        probes = ((place, "probe", text) for place, check in enumerate(checks) for text in check.probes)
        _check_locators(info, {(place, key): text for place, key, text in probes})
        return checks


def _check_locators(info: ValidationInfo, actions: Mapping[tuple[int | str, ...], str]) -> None:
    """Read the locators in some actions of a graphical domain.

    Raises:
        ValidationError: A locator cannot be read; the error has its place.
    """
    if not is_graphical(str(info.data.get("domain"))):
        return
    for place, action in actions.items():
        try:
            if has_locator(action):
                compiled(action)
        except ValueError as error:
            kind = PydanticCustomError("locator", "{expected}", {"expected": str(error)})
            details = InitErrorDetails(type=kind, loc=place, input=action)
            raise ValidationError.from_exception_data("Task", [details]) from error


def load_task(path: Path, domain: str) -> Task:
    """Read one hand-written task.

    Args:
        path: The YAML file of the task, whose name is the task's id unless the file says otherwise.
        domain: The id of its domain.

    Raises:
        SpecError: The task is broken: the error names file, key, value and what was expected.
    """
    data = read_yaml(path)
    if isinstance(data, dict):
        data = {"id": path.stem, "domain": domain, **data}
    return validated(Task, data, path)


def total_weight(checks: Sequence[Check]) -> float:
    """Return the sum of the weights of some checks."""
    return sum(check.weight for check in checks)

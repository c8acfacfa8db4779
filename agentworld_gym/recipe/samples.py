"""What every stage of training reads: chat messages with the weight of each answer, one JSON object a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, ValidationInfo, field_validator

from agentworld_gym.actions import ActionParser
from agentworld_gym.contracts import Message
from agentworld_gym.errors import SpecError
from agentworld_gym.escaping import escape, unescape
from agentworld_gym.ledger import with_ledger
from agentworld_gym.parsing import OUTPUT_TAG, parse_completion
from agentworld_gym.prompt import Profile, Prompts
from agentworld_gym.recipe.pools import group_of
from agentworld_gym.recipe.rows import Row
from agentworld_gym.recipe.weights import Weighting, turn_weights
from agentworld_gym.references import SOURCES
from agentworld_gym.screens.sight import current
from agentworld_gym.spec import DOMAINS, Form, load_spec
from agentworld_gym.task import Strict, Task, validated
from agentworld_gym.tasks import families, generate

TEXT = "text"
"""The role of plain text, which stands outside any chat template."""

ROLES = ("system", "user", "assistant")

Weight = Annotated[float, Field(ge=0, le=1)]


class Sample(Strict):
    """Messages to learn from.

    An assistant message may begin with `<think>…</think>`. `weights` holds one number for each assistant message, in
    order: its weight in the loss, from 0 (context only) to 1. `context_weight` is that of everything else. `group` is
    the key by which pools are drawn: samples of one group never part. A plain text, as knowledge is, is one message of
    the role `text`.

    >>> messages = [{"role": "user", "content": "ls"}, {"role": "assistant", "content": "a.txt"}]
    >>> Sample(id="a", domain="terminal", messages=messages, weights=[0.5]).weights
    (0.5,)
    """

    id: str = Field(min_length=1)
    domain: str
    messages: tuple[Message, ...] = Field(min_length=1)
    weights: tuple[Weight, ...]
    context_weight: Weight = 0.0
    group: str = ""

    @field_validator("messages")
    @classmethod
    def _known_roles(cls, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        roles = {message["role"] for message in messages}
        if roles != {TEXT} and not roles <= set(ROLES):
            raise ValueError(f"the roles {', '.join(ROLES)}, or one message of the role {TEXT}")
        if roles == {TEXT} and len(messages) > 1:
            raise ValueError(f"one message of the role {TEXT}")
        return messages

    @field_validator("weights")
    @classmethod
    def _one_an_answer(cls, weights: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        answers = sum(message["role"] == "assistant" for message in info.data.get("messages", ()))
        if "messages" in info.data and len(weights) != answers:
            raise ValueError(f"{answers} weights, one for each assistant message")
        return weights


def read_samples(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Sample]:
    """The samples of a JSONL file, read as they are asked for and split at line feeds only.

    Raises:
        SpecError: a line is not a sample, or the last one is torn; names file, line, key, value and what was expected.
    """
    with path.open("rb") as file:
        for number, line in enumerate(islice(file, start, stop), start + 1):
            place = f"line {number}"
            try:
                data = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise SpecError(path, place, line[:80].decode("utf-8", "replace"), "a JSON object") from error
            try:
                yield validated(Sample, data, path)
            except SpecError as error:
                raise SpecError(path, f"{place}: {error.key}", error.value, error.expected) from error


def write_samples(path: Path, samples: Iterable[Sample]) -> int:
    """Write samples as they come; the file appears once it is whole, in the place of an earlier one.

    Returns:
        How many there were.

    Raises:
        OSError: the file cannot be written; an earlier one is left as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    count = 0
    try:
        with partial.open("wb") as file:
            for sample in samples:
                file.write(orjson.dumps(sample.model_dump()) + b"\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return count


def cpt_sample(
    row: Row,
    prompts: Prompts | None = None,
    weighting: Weighting | None = None,
    context_weight: float = 0.0,
) -> Sample:
    """A whole session: a user message is an action, an assistant message what it showed (Qwen-AgentWorld, arXiv
    2606.24597, continual pre-training). No prompt ends with a closing request and nothing is thought.

    Args:
        row: the session.
        prompts: what the messages are rendered with; None keeps the profile and form of the row. In the change form an
            assistant message is the change. In the full profile that differs from what a language world sends, whose
            history holds whole screens: there take `turn_samples`.
        weighting: how much each turn counts; None weighs by class, see `weights`.
        context_weight: weight of all that is not an assistant message.

    Raises:
        SpecError: as `remessage`.
    """
    prompts = prompts or _changes_of(row)
    messages = row.messages() if prompts is None else remessage(row, prompts)
    return Sample(
        id=row.id,
        domain=row.domain,
        messages=tuple(messages),
        weights=tuple(_weights(row, weighting or Weighting())),
        context_weight=context_weight,
        group=group_of(row),
    )


def turn_samples(
    row: Row,
    prompts: Prompts | None = None,
    weighting: Weighting | None = None,
    context_weight: float = 0.0,
) -> Iterator[Sample]:
    """A sample for each turn: the request as a language world sends it, and the completion to write.

    Where prompts end with a closing request, the completion stands in the output tag that it asks for. Turns of weight
    0 are left out. The arguments are those of `cpt_sample`, but that no weighting weighs all turns alike. A row whose
    task cannot be generated again keeps its own messages.

    Raises:
        SpecError: as `remessage`.
    """
    prompts = prompts or _changes_of(row)
    task = None if prompts is None else _task(row, prompts)
    if prompts is None or task is None:
        history, closing = row.messages(), row.closing
        completions = [_tagged(parse_completion(text)) if closing else text for text in row.response]
    else:
        turns, closing = list(_turns(row, prompts, task)), prompts.closing
        ledgers = _ledgers(row, prompts, task)
        told = [
            (user, prompts.past(task, before, shown, ledger))
            for (user, before, shown), ledger in zip(turns, ledgers, strict=True)
        ]
        history = _conversation(row, prompts, task, told)
        answers = [prompts.answer(task, *seen) for _, *seen in turns]
        completions = [
            with_ledger(_tagged(answer) if closing else prompts.observation(answer), escape(ledger), bool(closing))
            for answer, ledger in zip(answers, ledgers, strict=True)
        ]
    weights = _weights(row, weighting or Weighting(rule="equal"))
    for turn, (completion, weight) in enumerate(zip(completions, weights, strict=True), 1):
        if not weight:
            continue
        *past, asked = history[: 2 * turn]
        request = Message(role="user", content=asked["content"] + closing)
        yield Sample(
            id=f"{row.id}/{turn}",
            domain=row.domain,
            messages=(*past, request, Message(role="assistant", content=completion)),
            weights=(*[0.0] * (turn - 1), weight),
            context_weight=context_weight,
            group=group_of(row),
        )


def remessage(row: Row, prompts: Prompts) -> list[Message]:
    """A session's messages rendered anew with other prompts, all turns over.

    In the change form the assistant message is the change that leads to the next state. A row whose task cannot be
    generated again keeps its own messages.

    Raises:
        SpecError: the form is `change` and the task of the row cannot be generated again.
    """
    task = _task(row, prompts)
    if task is None:
        return row.messages()
    closed = prompts.profile == "full"
    turns = (
        (user, with_ledger(prompts.observation(prompts.answer(task, *seen)), escape(ledger), closed))
        for (user, *seen), ledger in zip(_turns(row, prompts, task), _ledgers(row, prompts, task), strict=True)
    )
    return _conversation(row, prompts, task, turns)


def rerendered(row: Row, prompts: Prompts) -> Row:
    """The row with the messages of other prompts; itself if its task cannot be generated again.

    Raises:
        SpecError: as `remessage`.
    """
    if _task(row, prompts) is None:
        return row
    system, *messages = (message["content"] for message in remessage(row, prompts))
    *past, last = messages[::2]
    found = {"prompt": (*past, last + prompts.closing), "current_prompt": last, "response": tuple(messages[1::2])}
    own = {"profile": prompts.profile, "form": prompts.form}
    return row.model_copy(update={"system_str": system, **found, **own})


def prompts_for(
    row: Row,
    profile: Profile | None = None,
    form: Form | None = None,
    wording: int = 0,
    ledger: bool = False,
) -> Prompts:
    """The shipped prompts of a row's domain, in its own profile and form unless others are given.

    The form matters where every turn restates the state; elsewhere it is always `full`.
    """
    form = (form or row.form or "full") if load_spec(row.domain).observation.restate else "full"
    return _prompts(row.domain, profile or row.profile or "full", form, wording, ledger)


def task_of(row: Row) -> Task | None:
    """The task of a recorded session, generated again; None where that gives nothing, or another task."""
    if row.seed is None or row.level is None or row.family not in families(row.domain) or not row.actions:
        return None
    task = _generated(row.domain, row.family, row.level, row.seed)
    same = escape(task.instruction) in row.prompt[0] or escape(task.instruction) in row.system_str
    if task.id != row.task_id or not (same or row.profile == "compact"):
        return None
    return task.model_copy(update={"controls": row.controls, "control_seed": row.control_seed})


def source_of(row: Row) -> Task | None:
    """The task whose state the answers of a session may refer to; None where they stand as they are.

    Raises:
        SpecError: recorded answers do refer to it, and it cannot be generated again.
    """
    task = task_of(row)
    if task is None and row.profile == "compact" and row.domain in SOURCES:
        for answer, shown in zip(row.response, row.observations, strict=False):
            if unescape(answer) != shown:
                expected = f"a task that can be generated again, for the recorded answers refer to it: {answer[:80]!r}"
                raise SpecError(f"row {row.id}", "task_id", row.task_id, expected)
    return task


def meant(row: Row, prompts: Prompts, before: str, answer: str) -> str:
    """The observation that an answer to a turn of a session means; `before` is what was on the screen.

    Raises:
        AnswerError: as `Prompts.read`.
        SpecError: as `source_of`, where the prompts refer to a task.
    """
    return prompts.read(source_of(row) if prompts.refers else None, before, answer)


def _weights(row: Row, weighting: Weighting) -> list[float]:
    """The weights of all turns: by what was done and shown, in whatever form a model writes it."""
    asked = row.actions or (*row.prompt[:-1], row.current_prompt)
    return turn_weights(row.id, asked, row.observations or row.response, weighting, row.domain)


def _changes_of(row: Row) -> Prompts | None:
    """The prompts of a row in the change form whose messages hold whole screens, as those of the full profile do."""
    if row.form != "change" or row.profile != "full" or row.domain not in DOMAINS:
        return None
    return prompts_for(row)


def _task(row: Row, prompts: Prompts) -> Task | None:
    task = task_of(row)
    if task is None and prompts.form == "change":
        expected = "a task that can be generated again, to render its prompts anew"
        raise SpecError(row.id, "task_id", row.task_id, expected)
    return task


def _turns(row: Row, prompts: Prompts, task: Task) -> Iterator[tuple[str, str, str]]:
    """For each turn the user message, what was on the screen, and what the action showed."""
    parser = _parser(prompts)
    before = state = row.first_observation
    for number, (text, shown) in enumerate(zip(row.actions, row.observations, strict=True), 1):
        yield prompts.turn(task, number, parser.parse(text, task.tools), state, before), state, shown
        before, state = state, current(row.domain, state, shown)


def _ledgers(row: Row, prompts: Prompts, task: Task) -> list[str]:
    """What the ledger says of each turn; a row without its changes has nothing to say."""
    return [prompts.ledger(task, changes) for changes in row.changes or [()] * len(row.actions)]


def _conversation(row: Row, prompts: Prompts, task: Task, turns: Iterable[tuple[str, str]]) -> list[Message]:
    found = [Message(role="system", content=prompts.system(task, row.controls))]
    for user, answer in turns:
        found += [Message(role="user", content=user), Message(role="assistant", content=answer)]
    return found


def _tagged(text: str) -> str:
    return f"<{OUTPUT_TAG}>\n{escape(text)}\n</{OUTPUT_TAG}>"


@lru_cache(maxsize=8)
def _generated(domain: str, family: str, level: int, seed: int) -> Task:
    """Kept for the turns of one session, which are rendered one after the other; some tasks play themselves first."""
    return generate(domain, family, level, seed)


@lru_cache(maxsize=128)
def _prompts(domain: str, profile: Profile, form: Form, wording: int, ledger: bool) -> Prompts:
    return Prompts(load_spec(domain), profile=profile, form=form, wording=wording, ledger=ledger)


@lru_cache(maxsize=128)
def _parser(prompts: Prompts) -> ActionParser:
    return ActionParser(prompts.spec)

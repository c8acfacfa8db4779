"""Renders recorded sessions again: the messages that a row would have with other prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, Message
from agentworld_gym.core.contracts.verdict import with_verdict
from agentworld_gym.core.domain.spec import DomainSpec, Form, Profile, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import has_view
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.llm.prompting.answers import AnswerCodec, answer_codec
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.replayed_states import shown_states
from agentworld_gym.llm.rows.row import Row


def rerendered_messages(row: Row, prompts: Prompts, task: Task | None = None) -> list[Message]:
    """Render the messages of a session with other prompts; all of its turns are over.

    Every assistant message holds the answer itself, so that it is a change where the prompts ask for changes. A row
    whose task cannot be generated again keeps its own messages.

    Args:
        row: The session.
        prompts: The prompts.
        task: Its task, where that is known; None generates it again.

    Raises:
        SpecError: The form is not `full` and the task of the row cannot be generated again.
    """
    task = task or required_task(row, prompts)
    if task is None:
        return row.messages()
    turns = list(rendered_turns(row, prompts, task))
    answers = [prompts.answer_message(task, *turn.seen) for turn in turns]
    if row.verdicts:
        answers = [with_verdict(answer, row.verdict(turn)) for turn, answer in enumerate(answers)]
    return conversation(row, prompts, task, zip((turn.user for turn in turns), answers, strict=True))


def rerendered(row: Row, prompts: Prompts, task: Task | None = None) -> Row:
    """Return a row with the messages of other prompts; a row whose task cannot be generated again stays as it is.

    Args:
        row: The session.
        prompts: The prompts.
        task: Its task, where that is known; None generates it again.

    Raises:
        SpecError: The form is not `full` and the task of the row cannot be generated again.
    """
    task = task or required_task(row, prompts)
    if task is None:
        return row
    system, *messages = (message["content"] for message in rerendered_messages(row, prompts, task))
    *past, last = messages[::2]
    found = {"prompt": (*past, last + prompts.closing), "current_prompt": last, "response": tuple(messages[1::2])}
    own = {"profile": prompts.profile, "form": prompts.form}
    return row.model_copy(update={"system_str": system, **found, **own})


def spec_of(row: Row) -> DomainSpec:
    """Return the spec of the domain of a row, in the dialect in which the row was recorded.

    Raises:
        SpecError: This package does not ship the domain.

    >>> spec_of(Row(task="swe", id="a", system_str="", prompt=["x"], response=["y"], current_prompt="x", turn_idx=1,
    ...             total_turns=1, dialect="claude-code")).dialect
    'claude-code'
    """
    return _spec(row.domain, row.dialect)


def spec_source(row: Row) -> str:
    """Return the name by which `load_spec` loads the spec of a row, as `android` or `android:droidrun`."""
    return spec_of(row).source if row.dialect else row.domain


def is_of(row: Row, names: Iterable[str]) -> bool:
    """Return whether a row is of one of some domains: `swe` takes all of its dialects, `swe:claude-code` that one."""
    return not {row.domain, f"{row.domain}:{row.dialect}"}.isdisjoint(names)


def prompts_for(
    row: Row,
    profile: Profile | None = None,
    form: Form | None = None,
    wording: int = 0,
) -> Prompts:
    """Return the shipped prompts of the domain of a row, in its dialect.

    Args:
        row: The session.
        profile: The profile of the prompts; None takes that of the row.
        form: How they write a next state; None takes the form of the row. A domain has the form `full` where it has no
            other: the form `change` needs prompts that restate the state, and the form `state` a view.
        wording: The number of the wording.
    """
    form = form or row.form or "full"
    known = has_view(row.domain) if form == "state" else spec_of(row).turn.restates
    return _prompts(row.domain, row.dialect, profile or row.profile or "full", form if known else "full", wording)


def task_of(row: Row) -> Task | None:
    """Generate the task of a recorded session again; None where that gives nothing, or another task."""
    if row.seed is None or row.level is None or row.family not in families(row.domain) or not row.actions:
        return None
    task = generated_task(row.domain, row.family, row.level, row.seed)
    if task.id != row.task_id or not _is_asked(task.instruction, row):
        return None
    return task.model_copy(update={"controls": row.controls, "control_seed": row.control_seed})


def _is_asked(instruction: str, row: Row) -> bool:
    """Whether an instruction is that of a session. Older rows hold it in the messages of the full profile alone."""
    if row.instruction:
        return row.instruction == instruction
    return row.profile == "compact" or any(escape(instruction) in text for text in (row.prompt[0], row.system_str))


def may_refer(row: Row) -> bool:
    """Whether the answers of a session may refer to the state of its task."""
    return _codec(row).refers


def task_referred_to(row: Row) -> Task | None:
    """Return the task whose state the answers of a session may refer to; None where they refer to nothing.

    Raises:
        SpecError: Recorded answers do refer to a task, and it cannot be generated again.
    """
    task = task_of(row)
    if task is None and may_refer(row):
        codec = _codec(row)
        for answer, shown in zip(row.response, row.observations, strict=False):
            # An answer without references is the observation, or how it is written without a task.
            if unescape(answer) not in (shown, codec.write(None, "", shown)):
                raise task_is_gone(row, f"because its answers refer to the state of the task, as {answer[:80]!r} does")
    return task


def _codec(row: Row) -> AnswerCodec:
    return answer_codec(row.domain, PromptOptions(row.profile or "full").for_domain(row.domain))


def task_is_gone(row: Row, needed: str) -> SpecError:
    """Return the error of a row whose task cannot be generated again.

    Args:
        row: The session.
        needed: Why the task is needed, for the message.
    """
    if row.seed is None or row.level is None or not row.family:
        why = "the row has no family, level and seed of its task"
    elif row.family not in families(row.domain):
        known = ", ".join(nearest(row.family, families(row.domain)))
        why = f"the domain has no family {row.family}, but {known}"
    elif not row.actions:
        why = "the row has no plain actions"
    else:
        made = generated_task(row.domain, row.family, row.level, row.seed)
        found = made.id if made.id != row.task_id else f"another instruction, {made.instruction[:80]!r}"
        why = f"family, level and seed give {found}"
    return SpecError(f"row {row.id}", "task_id", row.task_id, f"a task that can be generated again, {needed}: {why}")


def observation_meant(row: Row, prompts: Prompts, before: str, answer: str) -> str:
    """Return the observation that an answer to the last turn of a row means.

    Args:
        row: The session.
        prompts: The prompts that the answer was asked for with.
        before: What was on the screen before the action.
        answer: The answer, without tags and not escaped.

    Raises:
        AnswerError: The answer does not fit the screen, or it refers to what the state of the task does not hold.
        SpecError: The prompts refer to the task of the session, and it cannot be generated again.
    """
    action = row.actions[-1] if row.actions else None
    return prompts.read(task_referred_to(row) if prompts.refers else None, before, answer, action)


def required_task(row: Row, prompts: Prompts) -> Task | None:
    """Return the task of a row that is to be rendered again; None where the row keeps its own messages.

    Raises:
        SpecError: The form is neither `full` nor that of the row, and the task cannot be generated again; or the
            prompts are of another dialect than what the row holds.
    """
    if prompts.spec.dialect != row.dialect:
        raise SpecError(f"row {row.id}", "dialect", row.dialect, f"{prompts.spec.dialect}, the dialect of the prompts")
    task = task_of(row)
    as_recorded = (row.profile, row.form) == (prompts.profile, prompts.form)
    if task is None and prompts.form != "full" and not as_recorded:
        raise task_is_gone(row, "to render its prompts anew")
    return task


class RenderedTurn(NamedTuple):
    """One turn of a session, with its user message."""

    user: str
    """The user message."""

    screen: str
    """What was on the screen before the action; in the form `state` the structured state, as JSON."""

    observation: str
    """What the action showed, or the structured state after it."""

    action: str
    """What the agent wrote."""

    @property
    def seen(self) -> tuple[str, str, str]:
        """All but the user message, as the methods of `Prompts` that write an assistant message take it."""
        return self[1:]


def rendered_turns(row: Row, prompts: Prompts, task: Task) -> Iterator[RenderedTurn]:
    """Render the user messages of a session anew.

    Raises:
        SpecError: The form is `state`, and the engine no longer shows what the row has.
    """
    parser = _parser(prompts)
    if prompts.form == "state":
        yield from _turns_of_states(row, prompts, task)
        return
    history = ScreenHistory[Action](row.domain, row.first_observation)
    for text, observation in zip(row.actions, row.observations, strict=True):
        action, screen = parser.parse(text, task.tools), history.screen
        user = prompts.turn(task, history.next_turn, action, screen)
        yield RenderedTurn(user, screen, observation, text)
        history.append(action, observation)


def _turns_of_states(row: Row, prompts: Prompts, task: Task) -> Iterator[RenderedTurn]:
    parser = _parser(prompts)
    states = shown_states(row, task, parser)
    for turn, text in enumerate(row.actions, 1):
        screen = states.seen[turn - 2] if turn > 1 else states.begun
        user = prompts.turn(task, turn, parser.parse(text, task.tools), screen)
        yield RenderedTurn(user, screen, states.acted[turn - 1], text)


def conversation(row: Row, prompts: Prompts, task: Task, turns: Iterable[tuple[str, str]]) -> list[Message]:
    """Put together the messages of a session: the system message, and the user and assistant message of each turn."""
    found = [Message(role="system", content=prompts.system(task, row.controls))]
    for user, answer in turns:
        found += [Message(role="user", content=user), Message(role="assistant", content=answer)]
    return found


@lru_cache(maxsize=8)
def generated_task(domain: str, family: str, level: int, seed: int) -> Task:
    """Generate a task, or return one of the last eight that were: a session is recorded and rendered by the same one.

    Raises:
        SpecError: The domain has no such family or level.
    """
    return generate(domain, family, level, seed)


@lru_cache(maxsize=32)
def _spec(domain: str, dialect: str) -> DomainSpec:
    spec = load_spec(domain)
    return spec.in_dialect(dialect) if dialect else spec


@lru_cache(maxsize=128)
def _prompts(domain: str, dialect: str, profile: Profile, form: Form, wording: int) -> Prompts:
    options = PromptOptions(profile, form, wording=wording)
    return Prompts(_spec(domain, dialect), options.for_domain(domain))


@lru_cache(maxsize=128)
def _parser(prompts: Prompts) -> ActionParser:
    return ActionParser(prompts.spec)

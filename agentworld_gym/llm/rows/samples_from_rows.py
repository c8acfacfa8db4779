"""Samples from recorded rows: one for a whole session, or one for each of its turns."""

from __future__ import annotations

from collections.abc import Iterator

from agentworld_gym.core.contracts import Message
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens import observations_of
from agentworld_gym.llm.prompting.parsing import in_output_tag, parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.pools import group_of
from agentworld_gym.llm.rows.rerendering import (
    conversation,
    prompts_for,
    rendered_turns,
    required_task,
    rerendered_messages,
)
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.turn_weights import Weighting, turn_weights


def cpt_sample(
    row: Row,
    prompts: Prompts | None = None,
    weighting: Weighting | None = None,
    context_weight: float = 0.0,
) -> Sample:
    """Make a sample of a whole session, for continual pre-training (Qwen-AgentWorld, arXiv 2606.24597).

    A user message is an action, and an assistant message is what it showed. No prompt ends with a closing request, and
    no message holds any thinking.

    Args:
        row: The session.
        prompts: The prompts that the messages are rendered with; None keeps the profile and form of the row. In the
            change form an assistant message is the change. In the full profile that differs from what a language world
            sends, whose history holds whole screens: there take `turn_samples`.
        weighting: How much each turn counts; None weighs turns by class, see `turn_weights`.
        context_weight: The weight of all that is not an assistant message.

    Raises:
        SpecError: The messages cannot be rendered again, as in `rerendered_messages`.
    """
    prompts = prompts or _changes_of(row)
    messages = row.messages() if prompts is None else rerendered_messages(row, prompts)
    return Sample(
        id=row.id,
        domain=row.domain,
        messages=tuple(messages),
        weights=tuple(row_weights(row, weighting or Weighting())),
        context_weight=context_weight,
        group=group_of(row),
    )


def turn_samples(
    row: Row,
    prompts: Prompts | None = None,
    weighting: Weighting | None = None,
    context_weight: float = 0.0,
) -> Iterator[Sample]:
    """Yield a sample for each turn: the request as a language world sends it, and the completion to write.

    Where prompts end with a closing request, the completion stands in the output tag that it asks for. Turns of weight
    0 are left out. A row whose task cannot be generated again keeps its own messages.

    Args:
        row: The session.
        prompts: The prompts that the messages are rendered with; None keeps the profile and form of the row.
        weighting: How much each turn counts; None weighs all turns alike.
        context_weight: The weight of all that is not the completion.

    Raises:
        SpecError: The messages cannot be rendered again, as in `rerendered_messages`.
    """
    prompts = prompts or _changes_of(row)
    task = None if prompts is None else required_task(row, prompts)
    if prompts is None or task is None:
        history, closing = row.messages(), row.closing
        completions = [in_output_tag(parse_completion(text) or "") if closing else text for text in row.response]
    else:
        turns, closing = list(rendered_turns(row, prompts, task)), prompts.closing
        answers = [prompts.past(task, *turn.seen) for turn in turns]
        history = conversation(row, prompts, task, zip((turn.user for turn in turns), answers, strict=True))
        same = prompts.profile == "compact" and not closing
        completions = answers if same else [prompts.completion(task, *turn.seen) for turn in turns]
    weights = row_weights(row, weighting or Weighting(rule="equal"))
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


def row_weights(row: Row, weighting: Weighting) -> list[float]:
    """Return the weights of all turns, by what was done and shown, in whatever form a model writes it.

    The prompt line with which a capture of a terminal begins tells nothing of the turn, and does not count.
    """
    asked = row.actions or (*row.prompt[:-1], row.current_prompt)
    observations = row.observations or row.response
    if row.actions and row.observations:
        before = (row.first_observation, *row.observations)
        observations = tuple(map(observations_of(row.domain).behind_repetition, before, row.observations))
    return turn_weights(row.id, asked, observations, weighting, row.domain)


def _changes_of(row: Row) -> Prompts | None:
    """Return the prompts of a row in the change form whose messages hold whole screens, as those of the full profile
    do.
    """
    if row.form != "change" or row.profile != "full" or find_domain(row.domain) is None:
        return None
    return prompts_for(row)

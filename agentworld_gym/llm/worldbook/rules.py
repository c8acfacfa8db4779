"""Rules that a model writes for a worldbook: each is kept only if it predicts sessions that the model did not see."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import ChatRequest, Failure, Generator, Message
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.prompting.parsing import strip_thinking
from agentworld_gym.llm.prompting.templates import render, ticks
from agentworld_gym.llm.prompting.tool_definitions import parameters_of
from agentworld_gym.llm.rows.pools import draw, group_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.worldbook.book import ActionPage, BookRule, When, Worldbook
from agentworld_gym.llm.worldbook.mining import MinedStep, by_action, mine
from agentworld_gym.llm.worldbook.pages import template
from agentworld_gym.llm.worldbook.steps import rendered

TEMPLATE = "shared/worldbook_rules.j2"
"""The template of what a model is asked."""

HELD_OUT = 0.25
"""The share of the groups of sessions that the model does not see, and that judge its rules."""

MOST_RULES = 8
"""How many rules a model is asked for, an action."""

MOST_STEPS, MOST_ACTIONS = 8, 50
"""How many wrong steps of an action a model is shown at most, and of how many actions."""

CHARS = 1500
"""How many characters it is shown at most of each text."""

SAMPLING = Sampling(temperature=0.0, max_tokens=4096, thinking=False)
"""How a model is asked: equal questions should get equal rules."""


class ProposedRule(Strict):
    """A rule as a model writes it."""

    when: When
    """The condition."""

    answer: str
    """The answer as a template."""


@dataclass(frozen=True)
class RuledBook:
    """A worldbook with rules, and what became of those that were proposed."""

    book: Worldbook
    """The book, with the rules that were kept."""

    asked: int
    """How many actions the model was asked about: those of which the book predicts some steps wrongly."""

    failed: int
    """How many of these requests failed."""

    unreadable: int
    """How many lines looked like a rule and are none."""

    proposed: int
    """How many rules the model wrote."""

    kept: int
    """How many of them predict more held-out steps than the book does without them."""


def with_rules(sessions: Sequence[Row], generator: Generator) -> RuledBook:
    """Mine a worldbook, and have a model write rules for it.

    The model sees a book of three quarters of the sessions, and steps of these that the book predicts wrongly. On the
    others a rule has to be right more often than the book without it. The book that is returned is of all sessions.

    Args:
        sessions: The sessions; see `agentworld_gym.llm.worldbook.mining.chosen_sessions`.
        generator: The model.

    Raises:
        SpecError: The sessions are too few to hold some out.
    """
    held_out, shown = list[Row](), list[Row]()
    for row in sessions:
        (held_out if draw(f"worldbook/{group_of(row)}") < HELD_OUT else shown).append(row)
    if not held_out or not shown:
        raise SpecError(
            "rows", "rows", len(sessions), "more sessions of different tasks, of which some judge the rules"
        )
    learned = mine(shown)
    seen, judges, pages = by_action(shown, learned.effects), by_action(held_out, learned.effects), learned.actions
    wrong = {name: [one for one in seen[name] if page.expected(one.step) != one.answer] for name, page in pages.items()}
    names = [name for name in pages if wrong[name]][:MOST_ACTIONS]
    requests = [ChatRequest([_question(name, pages[name], wrong[name])], SAMPLING) for name in names]
    rules: dict[str, tuple[BookRule, ...]] = {}
    proposed = unreadable = failed = 0
    for place, answer in generator.submit(requests):
        if isinstance(answer, Failure):
            failed += 1
            continue
        page = pages[names[place]]
        for rule in _rules(answer.text):
            proposed += rule is not None
            unreadable += rule is None
            kept = None if rule is None else judged(rule, page, judges.get(names[place], []))
            if kept is not None:
                page = page.model_copy(update={"rules": (*page.rules, kept)})
        rules[names[place]] = page.rules
    book = mine(sessions)
    actions = {name: page.model_copy(update={"rules": rules.get(name, ())}) for name, page in book.actions.items()}
    book = book.model_copy(update={"actions": actions})
    return RuledBook(book, len(names), failed, unreadable, proposed, sum(map(len, rules.values())))


def judged(rule: ProposedRule, page: ActionPage, steps: Sequence[MinedStep]) -> BookRule | None:
    """Return a rule with what held-out steps say of it; None where the page predicts as many of them without it.

    Args:
        rule: The rule.
        page: The page, with the rules that were kept before.
        steps: The held-out steps of the action.
    """
    said = ((one, rendered(rule.answer, one.step)) for one in steps if rule.when.holds(one.step))
    fits = [(one, text) for one, text in said if text is not None]
    right = sum(text == one.answer for one, text in fits)
    without = sum(page.expected(one.step) == one.answer for one, _ in fits)
    if right <= without:
        return None
    return BookRule(when=rule.when, answer=rule.answer, steps=len(fits), right=right, without=without)


def _rules(text: str) -> Iterator[ProposedRule | None]:
    """Yield the rules in a completion, and None for each line that looks like a rule and is none."""
    lines = [line.strip().rstrip(",") for line in strip_thinking(text).splitlines()]
    for line in [line for line in lines if line.startswith("{")][:MOST_RULES]:
        try:
            yield validated(ProposedRule, json.loads(line), "a rule")
        except (ValueError, RecursionError, SpecError):
            yield None


def _question(name: str, page: ActionPage, wrong: Sequence[MinedStep]) -> Message:
    some = wrong[:: max(1, len(wrong) // MOST_STEPS)][:MOST_STEPS]
    known = [
        {"when": {} if one.when is None else one.when.model_dump(exclude_defaults=True), "answer": one.answer}
        for one in page.answers
    ]
    content = render(
        template(TEMPLATE),
        name=escape(name),
        parameters=escape(parameters_of(page.arguments)),
        kinds=[escape(json.dumps(kind, ensure_ascii=False)) for kind in known],
        steps=[_shown(one) for one in some],
        most=MOST_RULES,
    )
    return Message(role="user", content=content)


def _shown(one: MinedStep) -> dict[str, str]:
    texts = {"before": one.step.shown[-CHARS:], "action": one.step.action[:CHARS], "answer": one.answer[:CHARS]}
    return {**{key: escape(text) for key, text in texts.items()}, "ticks": ticks("\n".join(texts.values()))}

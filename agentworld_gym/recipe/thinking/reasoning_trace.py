"""The reasoning traces that grounded engines write: short, honest, and leading to the observation.

Whatever a trace quotes stands in the prompt, in the action or in the observation, and before the answer comes only what
a model can know. A trace says what the action asks for, what of the state decides the outcome, what changes, what is
made up, and what the observation is made of, without being a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable

from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.recipe.thinking.explainers.state_changes import record_clauses
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, read_call

__all__ = ["Situation", "engine_trace"]

FEWEST, MOST = 40, 150
"""The fewest and the most words of a trace: a shorter one goes on with what always holds, a longer one leaves details
out."""

_FILLERS = (
    "What earlier turns have shown still holds, and the observation has to agree with it.",
    "I write what the environment shows and nothing beside it, in the format of the earlier observations.",
    "Nothing is added to help the agent and nothing is left out.",
)


def engine_trace(turn: Situation) -> str:
    r"""Write the reasoning trace of one turn, 40 to 150 words of plain text.

    >>> text = engine_trace(Situation("terminal", "cat a.txt", "cat a.txt\nhello\n$ ", prompt="a.txt: hello, in /srv",
    ...                        state={"cwd": "/srv", "/srv/a.txt": "hello\n"}))
    >>> text.startswith("The agent runs `cat a.txt` in `/srv`."), "`a.txt` holds one line: `hello`." in text
    (True, True)
    """
    found = find_domain(turn.domain)
    explain: Callable[[Situation], Explanation] = (found and found.part("explain")) or _any
    explanation = explain(turn)
    start, end = [_sentence(explanation.asks)], [_sentence(explanation.shows)] if explanation.shows else []
    reads = list(map(_sentence, explanation.reads))
    changes = [_changed(turn, explanation)]
    made_up = [*_made_up(turn)]
    while reads and _count(*start, *reads, *changes, *made_up, *end) > MOST:
        reads.pop()
    if _count(*start, *changes, *made_up, *end) > MOST:
        changes = ["Several fields of the state change with it."]
    sentences = [*start, *reads, *changes, *made_up, *end]
    for filler in _FILLERS:
        if _count(*sentences) < FEWEST:
            sentences.insert(-1 if end else len(sentences), filler)
    return " ".join(sentences)


def _any(turn: Situation) -> Explanation:
    """Return the parts of the reasoning for a domain without an explainer of its own."""
    name, _ = read_call(turn.action)
    asks = f"The agent acts by {turn.cite(name) or turn.cite(turn.action) or 'an action'}"
    quote = turn.show(turn.observation)
    return Explanation(asks, [], record_clauses(turn), f"So the answer begins with {quote}" if quote else "")


def _changed(turn: Situation, explanation: Explanation) -> str:
    if explanation.changes:
        return _sentence("What changes: " + "; ".join(explanation.changes))
    if turn.changes and is_graphical(turn.domain):
        return "Nothing that is stored changes, only what is open and in front."
    if turn.changes:
        return "Only what nobody is shown changes."
    return "Nothing in the state changes."


def _made_up(turn: Situation) -> list[str]:
    kinds = {span.kind for span in turn.spans}
    sentences = []
    if "pre-existing" in kinds:
        sentences.append(
            "Some of what is shown was there before and nobody has told it: I choose something specific and keep to it."
        )
    if "metadata" in kinds:
        sentences.append("Times, sizes, places or ids that no rule fixes are made up and only need their format.")
    if turn.disturbed:
        sentences.append("The conditions of this episode act as its natural behaviour, where they strike.")
    return sentences


def _sentence(clause: str) -> str:
    clause = clause.strip().removesuffix(".")
    return clause[:1].upper() + clause[1:] + "."


def _count(*sentences: str) -> int:
    return sum(len(sentence.split()) for sentence in sentences)

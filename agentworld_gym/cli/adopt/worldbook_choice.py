"""Decides whether the worldbook of an adopted system answers before its model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentworld_gym.base.documents.strict import Share, Strict
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.baselines import MOST_SESSIONS
from agentworld_gym.evaluation.fidelity.measure import Begin, FidelityPlan, measure
from agentworld_gym.llm.bundled_models import carded_model
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.worldbook import mine

CHOOSING = 50
"""How many sessions decide at most."""


class WorldbookChoice(Strict):
    """How often the model of an adopted system is right, alone and behind the worldbook."""

    sessions: int
    """How many sessions decided, which the model did not learn from, and on which nothing is reported."""

    steps: int
    """The number of their steps."""

    alone: Share
    """The share of the steps on which the model is right, after the true history; a step without an answer is wrong."""

    behind: Share
    """The same, if the worldbook answers what it is sure of."""

    @property
    def book_first(self) -> bool:
        """Whether the worldbook answers first.

        >>> WorldbookChoice(sessions=50, steps=600, alone=0.87, behind=0.92).book_first
        True
        """
        return self.behind > self.alone


def choose(
    options: EnvOptions, model: str, book: Path, learned: Sequence[Row], others: Sequence[Row], begin: Begin
) -> WorldbookChoice | None:
    """Write the worldbook of an adopted system beside its model, if it makes the world more often right.

    Args:
        options: How the world is asked, with the model alone as its world.
        model: The handle of the model.
        book: Where the worldbook goes. It is left there only if it answers first.
        learned: The sessions that the model learned from, of which the book is mined.
        others: Sessions that decide.
        begin: A function that is called as a stage begins, and returns what counts it.

    Returns:
        What was measured; None where the two cannot answer together: the model writes no whole observations, or only
        one of both tells rewards.

    Raises:
        KeyboardInterrupt: The measuring was stopped.
    """
    card = carded_model(model)
    mined = mine(learned[:MOST_SESSIONS])
    if card is None or card.forms or mined.pays != card.pays:
        return None
    mined.write(book)
    system = options.world.partition("+")[0]
    deciding = others[:CHOOSING]
    shares: list[float] = []
    for world in (options.world, f"{system}+worldbook:{book}+{model}"):
        found, interrupted = measure(options.changed(world=world), FidelityPlan(deciding, free=False), on_stage=begin)
        if interrupted:
            raise KeyboardInterrupt
        run = found.taught
        right = 0.0 if run is None or run.measures is None else run.measures.deterministic.share
        answered = 0 if run is None or run.measures is None else run.measures.deterministic.count
        unanswered = 0 if run is None else sum(run.failures.values()) + run.lost
        shares.append(right * answered / max(1, answered + unanswered))
    choice = WorldbookChoice(sessions=len(deciding), steps=found.steps, alone=shares[0], behind=shares[1])
    if not choice.book_first:
        book.unlink()
    return choice

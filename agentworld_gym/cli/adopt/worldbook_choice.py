"""Decides whether the worldbook of an adopted system answers before its model, and how sure it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from agentworld_gym.agents.policies.playing import WAVE
from agentworld_gym.base.documents.strict import Share, Strict
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.baselines import beside_worldbook, mined_sessions
from agentworld_gym.evaluation.fidelity.cases import cases_of
from agentworld_gym.evaluation.fidelity.measure import Begin
from agentworld_gym.evaluation.fidelity.replay import Replay, replay
from agentworld_gym.llm.rows.pools import group_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.worldbook import mine
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.own_tasks import truth_of

CHOOSING = 50
"""How many sessions decide at most."""

BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""How sure the worldbook may have to be."""


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

    sure: Share
    """How sure it is of these answers: that of `BOUNDS` with which most steps are right."""

    @property
    def book_first(self) -> bool:
        """Whether the worldbook answers first.

        >>> WorldbookChoice(sessions=50, steps=600, alone=0.87, behind=0.92, sure=0.6).book_first
        True
        """
        return self.behind > self.alone


def choose(
    options: EnvOptions, book: Path, learned: Sequence[Row], others: Sequence[Row], begin: Begin
) -> WorldbookChoice | None:
    """Write the worldbook of an adopted system, if it makes the world more often right.

    Args:
        options: How the world is asked, which the model plays alone.
        book: Where the worldbook goes. It is written only if it answers first.
        learned: The sessions that the model learned from, of which the book is mined.
        others: Sessions that decide.
        begin: A function that is called as a stage begins, and returns what counts it.

    Returns:
        What was measured; None where the two cannot answer together: the model writes no whole observations, or only
        one of both tells rewards; and where no session is left to mine, or to play again.
    """
    book.unlink(missing_ok=True)
    sessions = mined_sessions(learned, set(map(group_of, others)))
    if not sessions:
        return None
    mined = mine(sessions)
    judged = options.changed(judge="none", traces=None)
    with closing(judged.runner()) as runner, closing(judged.runner_of_truth(truth_of(judged.world), runner)) as truth:
        world = runner.world
        if not isinstance(world, LanguageWorld) or world.prompts.form != "full" or world.pays != mined.pays:
            return None
        cases = [case for case in cases_of(others[:CHOOSING], truth) if case is not None]
        steps = sum(sum(case.asked) for case in cases)
        if not steps:
            return None
        beside = beside_worldbook(runner, mined)
        model, alone = Replay(), Replay()
        tally = begin("the model, to choose", "steps", sum(len(case.actions) for case in cases))
        replay(runner, cases, taught=True, wave=WAVE, into=model, on_progress=lambda done: tally.reached(done, 0, {}))
        replay(beside, cases, taught=True, wave=WAVE, into=alone)
    right = {(one.case, one.turn): bool(one.match and one.match.deterministic) for one in model.steps}
    told = {
        (one.case, one.turn): (one.sequence or 0.0, bool(one.match and one.match.deterministic)) for one in alone.steps
    }

    def share(sure: float) -> float:
        firm = {place: is_right for place, (known, is_right) in told.items() if known >= sure}
        return sum({**right, **firm}.values()) / steps

    best = max(BOUNDS, key=lambda sure: (share(sure), sure))
    by_model = sum(right.values()) / steps
    choice = WorldbookChoice(sessions=len(cases), steps=steps, alone=by_model, behind=share(best), sure=best)
    if choice.book_first:
        mined.model_copy(update={"sure": best}).write(book)
    return choice

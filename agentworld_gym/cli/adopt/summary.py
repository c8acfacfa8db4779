"""What an adoption found, and the page that says in plain words what to trust."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Literal

from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.cli.adopt.worldbook_choice import WorldbookChoice
from agentworld_gym.evaluation.live_check import LiveReport
from agentworld_gym.evaluation.results.base import EvaluationResult
from agentworld_gym.evaluation.results.fidelity import Cell, Consistency, DomainFidelity, FidelityRun, Trusted

TRUSTED, DOUBTED = 0.95, 0.8
"""The shares of right steps from which an action is to be trusted, and below which it is not."""

WIDTH = 120
"""How wide the paragraphs of the page are."""

FEW = 20
"""With fewer steps than this, nothing is said of an action."""


class AdoptedSystem(EvaluationResult):
    """What an adoption found."""

    kind: Literal["adopted"] = "adopted"
    """The kind of the result."""

    system: str
    """What the system says that it is, or the recordings that were taken."""

    world: str
    """The folder of the world."""

    env_id: str
    """The environment that plays it."""

    dialect: str | None = None
    """The dialect of the recordings, where that is not the first one of the environment."""

    check: LiveReport | None
    """What the check of the live system found; None where recordings alone were taken."""

    sessions: int
    """How many sessions the model learned from."""

    kinds: int
    """How many kinds of answers they show."""

    unmet: float
    """The share of further answers that would be of a kind which no session shows, as Good and Turing estimate it."""

    trained: dict[str, float]
    """The last metrics of the training."""

    choice: WorldbookChoice | None = None
    """Whether a worldbook answers before the model; None where it could not."""

    fidelity: DomainFidelity
    """How right the world is on sessions that no training saw."""

    @property
    def guard(self) -> Trusted | None:
        """The least guard of those measured that leaves at most 2 % of the answers wrong; None where none does."""
        fit = [one for one in self.fidelity.trusted if one.wrong is not None and one.wrong.share <= 0.02]
        return min(fit, key=lambda one: one.least, default=None)


def page_of(found: AdoptedSystem) -> str:
    """Return the page, as Markdown."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: AdoptedSystem) -> Iterator[str]:
    measured, check = found.fidelity, found.check
    yield f"# A world model of {found.system}"
    yield ""
    yield "```python"
    spoken = "" if found.dialect is None else f', dialect="{found.dialect}"'
    yield f'env = gym.make("{found.env_id}", world="{found.world}"{spoken})'
    yield "```"
    yield ""
    source = "recorded sessions" if check is None else "sessions of the live system"
    yield f"It learned from {found.sessions:,} {source}, and was measured on {measured.sessions}"
    yield f"others ({measured.steps:,} steps). `fidelity.html` shows all figures, and steps that it got wrong."
    yield ""
    yield "## How right it is"
    yield ""
    who = [("this world", measured.taught, measured.free, measured.consistency)]
    if measured.worldbook is not None:
        book = measured.worldbook
        name = f"the worldbook, mined from {book.sessions:,} of these sessions without a model"
        who.append((name, book.taught, book.free, book.consistency))
    if measured.nearest is not None:
        table = measured.nearest
        name = f"the nearest answer, a table of {table.turns:,} recorded steps"
        who.append((name, table.taught, table.free, table.consistency))
    planned = " consistency ratio |" if measured.consistency is not None else ""
    yield f"| | true history | own history | whole sessions |{planned}"
    yield "|---|---|---|---|" + ("---|" if planned else "")
    for name, taught, free, plans in who:
        ratio = f" {_of_plans(plans)} |" if planned else ""
        yield f"| {name} | {_of_run(taught)} | {_of_run(free)} | {_of_whole(free)} |{ratio}"
    yield ""
    yield from wrap(_figures_of(found), WIDTH)
    yield ""
    yield from wrap(_chosen(found.choice), WIDTH)
    run = measured.free or measured.taught
    if run is not None:
        if run.failures:
            told = ", ".join(f"{kind} {count}" for kind, count in sorted(run.failures.items()))
            yield f"Steps without an answer: {told}; they left {run.lost} unplayed."
        yield ""
        yield "## What to trust"
        yield ""
        cells = run.groups.get("action", {})
        yield from _told_of(cells, "Trust", lambda share: share >= TRUSTED)
        yield from _told_of(cells, "Check now and then", lambda share: DOUBTED <= share < TRUSTED)
        yield from _told_of(cells, "Do not trust", lambda share: share < DOUBTED)
        acted = run.groups.get("policy", {})
        if len(acted) > 1:
            told = ", ".join(f"`{name}` {cell.deterministic.share:.2f}" for name, cell in acted.items())
            yield f"- **By who acted**: {told}"
        few = [name for name, cell in cells.items() if cell.deterministic.count < FEW]
        if few:
            yield f"- **Not known**, with fewer than {FEW} steps: {', '.join(f'`{name}`' for name in few)}"
    yield ""
    yield "## When it doubts"
    yield ""
    yield from _guard_of(found)
    yield ""
    yield "## What the system is like"
    yield ""
    if check is None:
        yield "- No live system was at hand: whether it repeats itself is not known, and no step can be grounded in it."
        yield "- Its tasks are those of the recordings, and no check tells whether one is solved."
    else:
        yield f"- {check.verdict}"
        yield f"- {check.repeats:.1%} of its answers repeat without what varies; forks: {check.forks}."
    yield f"- The sessions show {found.kinds} kinds of answers; about {found.unmet:.2%} of further ones would be new."
    if check is not None and check.coverage.unmet:
        yield f"- Nobody called {', '.join(check.coverage.unmet[:12])} in the check: what they do is not known."
    if check is not None and check.coverage.refused:
        yield f"- Every call of {', '.join(check.coverage.refused[:12])} was refused in the check."
    if measured.stale:
        yield f"- {measured.stale} of the measured sessions no longer repeat in the live system, and were left out."


def _figures_of(found: AdoptedSystem) -> str:
    """Say what the figures are."""
    live, plans = found.check is not None, found.fidelity.consistency
    where = " where the system repeats itself" if live else ""
    played = "the live system answers when the same actions are played in it" if live else "was recorded"
    said = (
        f"The share of answers that are exact{where}, with its 95 % interval. *True history*: each step is asked after "
        "what the system showed. *Own history*: after what the world itself answered before, as an agent meets it. "
        f"*Whole sessions*: the share of sessions in which every such answer equals what {played}."
    )
    if plans is None:
        return said
    said += (
        " *Consistency ratio*: the share of tasks whose plan, found in this world, succeeds when it is replayed in the "
        f"live system, divided by that of tasks whose plan is found there; {plans.tasks} tasks, {plans.plans} plans of "
        f"`{plans.policy}` each."
    )
    if plans.precision is None:
        return f"{said} No plan succeeds in this world."
    return f"{said} Of the plans that succeed in this world {plans.precision:.1%} succeed when they are replayed."


def _chosen(choice: WorldbookChoice | None) -> str:
    """Say who answers, and why."""
    if choice is None:
        return "The model answers everything: no worldbook can answer before it, or nothing was left to try one on."
    shares = f"on {choice.sessions} further sessions the model alone was right on {choice.alone:.3f} of the steps, "
    shares += f"and {choice.behind:.3f} with the worldbook before it"
    if choice.book_first:
        return f"The worldbook answers what it is sure of ({choice.sure:g}), and the model the rest: {shares}."
    return f"The model answers everything: {shares}."


def _guard_of(found: AdoptedSystem) -> Iterator[str]:
    guard = found.guard
    if guard is None or guard.wrong is None:
        yield "No guard that was measured leaves fewer than 2 % of the answers wrong."
        return
    yield "```python"
    yield "language = {"
    remedy = "end" if found.check is None else "ground"
    yield f'    "guard": {{"least": {guard.least:g}, "remedy": "{remedy}"}}, "generator": {{"confidence": True}}'
    yield "}"
    yield "```"
    yield ""
    done = "ends the episode" if found.check is None else "is taken from the live system"
    yield f"With these options an answer that the model holds to be less than {guard.least:g} likely {done}:"
    yield f"{1 - guard.taken.share:.1%} of the steps. Of the others {guard.wrong.share:.1%} are wrong."


def _told_of(cells: dict[str, Cell], verdict: str, fits: Any) -> Iterator[str]:
    known = {name: cell.deterministic for name, cell in cells.items() if cell.deterministic.count >= FEW}
    some = [f"`{name}` {share.share:.2f}" for name, share in known.items() if fits(share.share)]
    if some:
        yield f"- **{verdict}**: {', '.join(some)}"


def _of_run(run: FidelityRun | None) -> str:
    return "–" if run is None or run.measures is None else _of_share(run.measures.deterministic)


def _of_whole(run: FidelityRun | None) -> str:
    return "–" if run is None or run.whole is None else _of_share(run.whole)


def _of_plans(plans: Consistency | None) -> str:
    if plans is None or plans.ratio is None:
        return "–"
    return f"{plans.ratio:.3f} ({plans.low:.2f} to {plans.high:.2f})"


def _of_share(share: Share) -> str:
    return f"{share.share:.3f} ({share.low:.2f} to {share.high:.2f})"

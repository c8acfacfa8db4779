"""What a run reports: tries, success, tokens and cost of every stage, and what the worlds are like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.contracts import Usage
from agentworld_gym.domains.mcp.synth.draft import WorldDraft
from agentworld_gym.domains.mcp.synth.journal import JournalEntry
from agentworld_gym.domains.mcp.synth.stages import STAGES, profile_of

PAPER = {"worlds": 1_000.0, "tables": 18.5, "tools": 35.0, "tasks": 10.0}
"""What Agent World Model reports of its own run (arXiv 2602.10090): worlds, and tables, tools and tasks of each."""


class GenerationPrices(Strict):
    """What tokens cost."""

    prompt: float = Field(default=0.0, ge=0)
    """The price of a million tokens of prompts."""

    completion: float = Field(default=0.0, ge=0)
    """The price of a million tokens of completions."""

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return what some tokens cost; None where they are not known.

        >>> GenerationPrices(prompt=0.5, completion=2).cost(1_000_000, 500_000)
        1.5
        """
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


class StageReport(Strict):
    """What one stage took."""

    stage: str
    """The name of the stage."""

    asked: int = 0
    """How many things the stage had to make: batches of scenarios, worlds, or tasks."""

    made: int = 0
    """How many of them were made."""

    first: int = 0
    """How many of them were made at the first try."""

    tries: int = 0
    """How many answers were given."""

    prompt_tokens: int | None = 0
    """The tokens of the requests; None where the server does not tell."""

    completion_tokens: int | None = 0
    """The tokens of the answers; None where the server does not tell."""

    seconds: float = 0.0
    """How long the checks took, in seconds."""

    @property
    def mean_tries(self) -> float:
        """How many answers one of them took, those that failed included."""
        return self.tries / self.asked if self.asked else 0.0


class SynthReport(Strict):
    """What a run came to."""

    stages: tuple[StageReport, ...]
    """The stages in their order."""

    begun: int
    """How many worlds were begun."""

    made: tuple[str, ...]
    """The names of the worlds that were made."""

    given_up: dict[str, str]
    """Why worlds were given up, by name."""

    unfinished: dict[str, str]
    """Why worlds wait for the generator, by name: the same run goes on with them."""

    tables: float
    """Tables of a made world, the mean."""

    tools: float
    """Tools of a made world, the mean."""

    tasks: float
    """Tasks of a made world that hold, the mean."""

    def cost(self, prices: GenerationPrices) -> float | None:
        """Return what the tokens of all stages cost; None where they are not known."""
        costs = [prices.cost(stage.prompt_tokens, stage.completion_tokens) for stage in self.stages]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def stage_reports(entries: Iterable[JournalEntry]) -> tuple[StageReport, ...]:
    """Return what each stage took, by the answers of a journal."""
    by_stage: dict[str, list[JournalEntry]] = {stage: [] for stage in STAGES}
    for entry in entries:
        by_stage[entry.key.stage].append(entry)
    return tuple(_stage_report(stage, answers) for stage, answers in by_stage.items())


def _stage_report(stage: str, answers: Sequence[JournalEntry]) -> StageReport:
    made = [entry for entry in answers if entry.checked and not entry.problem]
    spent = sum((Usage.read(entry.tokens) for entry in answers), Usage())
    return StageReport(
        stage=stage,
        asked=len({(entry.key.world, entry.key.part) for entry in answers}),
        made=len(made),
        first=sum(entry.key.attempt == 1 for entry in made),
        tries=len(answers),
        prompt_tokens=spent.prompt_tokens if spent.known else None,
        completion_tokens=spent.completion_tokens if spent.known else None,
        seconds=round(sum(entry.seconds for entry in answers), 3),
    )


def report_of(
    entries: Iterable[JournalEntry],
    begun: int,
    made: Sequence[WorldDraft],
    given_up: dict[str, str],
    unfinished: dict[str, str],
) -> SynthReport:
    """Return the report of a run."""
    profiles = [profile_of(draft) for draft in made]

    def mean(counts: Sequence[int]) -> float:
        return round(sum(counts) / len(counts), 2) if counts else 0.0

    return SynthReport(
        stages=stage_reports(entries),
        begun=begun,
        made=tuple(draft.name for draft in made),
        given_up=given_up,
        unfinished=unfinished,
        tables=mean([len(profile.tables) for profile in profiles]),
        tools=mean([len(draft.sketches) for draft in made]),
        tasks=mean([len(draft.solved) for draft in made]),
    )

"""What recorded sessions answer without learning: the nearest answer, and a worldbook that is mined from them.

The nearest answer is asked in the form in which the world is asked, and read by its view: what it gets right is what
the form of the answers, the names in them and the view do by themselves. A worldbook writes whole observations. A model
is worth what it gets right beyond both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from agentworld_gym.base.statistics.bootstrap import Share, ratio_interval
from agentworld_gym.core.contracts import World
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.evaluation.fidelity.replay import Replay, ReplayedStep
from agentworld_gym.llm.generators.nearest import NearestGenerator, answers_of
from agentworld_gym.llm.rows.pools import group_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample, read_samples
from agentworld_gym.llm.rows.samples_from_rows import turn_samples
from agentworld_gym.llm.worldbook import Worldbook, mine
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld

MOST_SESSIONS = 2000
"""How many sessions a worldbook is mined from at most."""

_TURN = re.compile(r"/\d+$")
"""What follows the id of a session in that of a sample of one of its turns."""


@dataclass(frozen=True)
class Baseline:
    """A world that recorded sessions play."""

    sessions: int
    """The number of recorded sessions."""

    turns: int
    """The number of their turns."""

    runner: EpisodeRunner
    """The world, with the tasks of the world that it stands beside."""


def nearest_answers(
    runner: EpisodeRunner,
    recorded: Iterable[Row] | Path,
    without: Collection[str],
) -> Baseline | None:
    """Make a table of recorded sessions that is asked as a world is: with the same prompts, in the same form.

    A world that is no language world lends it no prompts: it then writes whole observations to compact ones.

    Args:
        runner: The world to stand beside.
        recorded: The sessions, or a file of samples that `agentworld samples` made in the form of the world.
        without: The groups of sessions that are left out, because the world is asked about them.

    Returns:
        The table; None where no session is left.

    Raises:
        SpecError: The file holds no samples, or the task of a session cannot be generated again.
    """
    world = _language(runner.world)
    if isinstance(recorded, Path):
        samples: Iterator[Sample] = read_samples(recorded)
    else:
        rows = (row for row in recorded if group_of(row) not in without)
        prompts = WorldOptions(runner.spec).templates("compact") if world is None else world.prompts
        samples = (sample for row in rows for sample in turn_samples(row, prompts))
    sessions: set[str] = set()
    answers: list[tuple[str, str]] = []
    for sample in samples:
        if sample.group not in without and sample.domain == runner.spec.id:
            sessions.add(_TURN.sub("", sample.id))
            answers += answers_of(sample.messages, sample.weights)
    if not answers:
        return None
    table = NearestGenerator(answers)
    if world is None:
        played: LanguageWorld = WorldOptions(runner.spec).language(table, "compact", thinking=False)
    else:
        asked = replace(world.sampling, reasks=0)
        played = replace(world, generator=table, sampling=asked, retrieval=None, guard=None)
    beside = EpisodeRunner(runner.spec, played, runner.source, max_steps=runner.max_steps)
    return Baseline(len(sessions), len(table), beside)


def worldbook_answers(
    runner: EpisodeRunner, recorded: Iterable[Row] | Path, without: Collection[str]
) -> Baseline | None:
    """Mine a worldbook from recorded sessions, which answers by itself.

    At most `MOST_SESSIONS` of them are taken, so that mining takes minutes at most.

    Args:
        runner: The world to stand beside.
        recorded: The sessions. A file of samples holds no sessions, of which a book could be mined.
        without: The groups of sessions that are left out, because the world is asked about them.

    Returns:
        The book, and the world that it plays; None where no session is left.
    """
    rows = [] if isinstance(recorded, Path) else mined_sessions(recorded, without)
    if not rows:
        return None
    turns = sum(len(row.actions) for row in rows)
    return Baseline(len(rows), turns, beside_worldbook(runner, mine(rows)))


def mined_sessions(recorded: Iterable[Row], without: Collection[str]) -> list[Row]:
    """Return the recorded sessions of which a worldbook is mined: the first `MOST_SESSIONS` without controls.

    Args:
        recorded: The sessions.
        without: The groups of sessions that are left out, because a world is asked about them.
    """
    calm = (row for row in recorded if row.actions and not any(row.controls.values()))
    return list(islice((row for row in calm if group_of(row) not in without), MOST_SESSIONS))


def beside_worldbook(runner: EpisodeRunner, book: Worldbook) -> EpisodeRunner:
    """Return the world that a worldbook plays alone, with the tasks of the world that it stands beside."""
    played = WorldOptions(runner.spec).by_worldbook(book)
    return EpisodeRunner(runner.spec, played, runner.source, max_steps=runner.max_steps)


def share_of_errors(world: Replay, table: Replay) -> Share | None:
    """Return the errors of a world as a share of those of the table, over the steps that both were asked for.

    A step without an answer is an error of either. Where only the exactness of the world's answers is known, that of
    the table's is compared.

    Returns:
        The share with its interval, from a bootstrap over sessions that draws both together; None where the table makes
        no error, or nothing was asked of both.
    """
    exact = any(step.match is None and step.failure is None for step in world.steps)
    wrongs = [{(step.case, step.turn): not _right(step, exact) for step in one.steps} for one in (world, table)]
    both = sorted(wrongs[0].keys() & wrongs[1].keys())
    if not both:
        return None
    first, second = ([float(wrong[place]) for place in both] for wrong in wrongs)
    return ratio_interval(first, second, [case for case, _ in both])


def _right(step: ReplayedStep, exact: bool) -> bool:
    if step.match is None:
        return bool(step.exact)
    return step.match.exact if exact else step.match.deterministic


def _language(world: World[Any]) -> LanguageWorld | None:
    inner = world.inner if isinstance(world, RecordingWorld) else world
    return inner if isinstance(inner, LanguageWorld) else None

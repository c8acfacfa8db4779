"""`agentworld rollout`: many episodes with a fixed policy, as a table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    FAILED,
    ControlOption,
    EnvironmentName,
    FamilyOption,
    FormOption,
    LevelOption,
    ProfileOption,
    RetrievalOption,
    SamplingOption,
    SeedOption,
    SplitOption,
    TracesOption,
    WorldOption,
    env_options,
    examples,
    pairs,
    printable,
    progress,
    stderr,
    stdout,
)
from agentworld_gym.errors import SpecError
from agentworld_gym.process.interrupts import remembered_interrupt

if TYPE_CHECKING:
    from agentworld_gym.domain.task import Task
    from agentworld_gym.episodes.episode import Episode
    from agentworld_gym.episodes.runner import EpisodeRunner
    from agentworld_gym.screens.sight import Way


class Policy(StrEnum):
    """Agents that need no training."""

    EXPERT = "expert"
    MENU = "menu"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Outcome:
    """How one episode ended. `success` is None where it was not tested, `failure` says what the world did wrong."""

    task: Task
    success: bool | None
    reward: float
    steps: int
    tokens: int
    failure: str | None


def rollout(
    env: EnvironmentName,
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="How many episodes.")] = 20,
    policy: Annotated[
        Policy, typer.Option("--policy", help="The task's expert, random choices from its menu, or finish at once.")
    ] = Policy.EXPERT,
    world: WorldOption = "auto",
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "train",
    width: Annotated[int, typer.Option("--width", min=1, help="Episodes stepped together, in one wave.")] = 16,
    profile: ProfileOption = None,
    form: FormOption = None,
    retrieval: RetrievalOption = None,
    sampling: SamplingOption = None,
    control: ControlOption = None,
    out: TracesOption = None,
) -> None:
    """Run episodes with a fixed policy and print how often they succeed.

    Exit 1 if the world failed in any of them. After Ctrl-C the table holds what was finished.
    """
    from agentworld_gym.options import EnvOptions

    runner = EnvOptions(
        **env_options(
            env,
            world=world,
            families=family,
            levels=level,
            split=split,
            profile=profile,
            form=form,
            retrieval=retrieval,
            sampling=pairs(sampling, "--sampling"),
            controls=pairs(control, "--control"),
            traces=out,
        )
    ).runner()
    outcomes: list[Outcome] = []
    stopped = False
    try:
        with progress(f"{runner.spec.id}, {policy}", episodes) as bar, remembered_interrupt() as check:
            for outcome in roll(runner, policy, range(seed, seed + episodes), width):
                outcomes.append(outcome)
                bar.advance(bar.task_ids[0])
                check()
    except KeyboardInterrupt:
        stopped = True
    finally:
        runner.close()
    show(outcomes)
    if stopped:
        raise KeyboardInterrupt
    failures = [outcome.failure for outcome in outcomes if outcome.failure]
    if failures:
        message = printable(f"the world failed in {len(failures)} episodes, first: {failures[0]}")
        stderr().print(message, style="red", markup=False, soft_wrap=True)
        raise typer.Exit(FAILED)


def roll(runner: EpisodeRunner, policy: Policy, seeds: range, width: int) -> Iterator[Outcome]:
    """Play one episode a seed, `width` at a time; an episode that ends makes room for the next at once."""
    waiting = iter(seeds)
    playing: list[tuple[Episode, Way]] = []
    paid: dict[str, float] = {}
    tokens: dict[str, int] = {}
    try:
        while True:
            fresh = [seed for _, seed in zip(range(width - len(playing)), waiting, strict=False)]
            for (episode, _, _), seed in zip(runner.start(fresh, {}) if fresh else [], fresh, strict=True):
                playing.append((episode, way(policy, episode, random.Random(seed))))
            if not playing:
                return
            actions = [act(episode, going_on) for episode, going_on in playing]
            results = runner.advance([episode for episode, _ in playing], actions)
            going: list[tuple[Episode, Way]] = []
            for (episode, going_on), result in zip(playing, results, strict=True):
                info: dict[str, Any] = dict(result.info)
                paid[episode.id] = paid.get(episode.id, 0.0) + result.reward
                spent = sum(info["tokens"][kind] for kind in ("prompt", "completion"))
                tokens[episode.id] = tokens.get(episode.id, 0) + spent
                if not (result.terminated or result.truncated):
                    going.append((episode, going_on))
                    continue
                episode.session.close()
                yield Outcome(
                    episode.task,
                    info.get("success"),
                    paid.pop(episode.id),
                    episode.steps,
                    tokens.pop(episode.id),
                    info["failure"]["message"] if "failure" in info else None,
                )
            playing = going
    finally:
        for episode, _ in playing:
            episode.session.close()


def way(policy: Policy, episode: Episode, rng: random.Random) -> Way:
    """What a policy does in an episode that has begun.

    Raises:
        SpecError: if the task has no expert or no menu.
    """
    from agentworld_gym.policies.scripted import expert_policy, menu_policy, nothing_policy
    from agentworld_gym.screens.sight import on_screen

    task = episode.task
    if policy is not Policy.NOTHING and not (task.expert if policy is Policy.EXPERT else task.menu):
        raise SpecError(f"task {task.id}", policy.value, None, "a task that has one; try --policy nothing")
    if policy is Policy.NOTHING:
        return nothing_policy()
    chosen = expert_policy(task) if policy is Policy.EXPERT else menu_policy(task, rng)
    return on_screen(chosen, task.domain, episode.observation)


def act(episode: Episode, way: Way) -> str:
    """The next action of a way; `finish` at its end."""
    try:
        return way.send(episode.observation) if episode.steps else next(way)
    except StopIteration:
        return "finish"


def show(outcomes: list[Outcome]) -> None:
    """Print a table, one row a family and level."""
    from rich.table import Table

    table = Table()
    table.add_column("tasks")
    for name in ("level", "episodes", "success", "return", "steps", "tokens", "failures"):
        table.add_column(name, justify="right")
    groups = sorted({(outcome.task.family, outcome.task.level) for outcome in outcomes})
    for family, level in groups:
        members = [one for one in outcomes if (one.task.family, one.task.level) == (family, level)]
        table.add_row(family, str(level), *summary(members))
    if len(groups) > 1:
        table.add_section()
        table.add_row("all", "", *summary(outcomes))
    stdout().print(table)


def summary(outcomes: list[Outcome]) -> list[str]:
    """Episodes, success rate, mean return, mean steps, tokens in total, failures of the world.

    Where the world failed nothing is known of the agent: those episodes are left out of the rates.
    """
    counted = [one for one in outcomes if one.failure is None]
    tested = [one.success for one in counted if one.success is not None]
    rate = f"{sum(tested) / len(tested):.2f}" if tested else "-"
    gained = f"{sum(one.reward for one in counted) / len(counted):.2f}" if counted else "-"
    steps = f"{sum(one.steps for one in counted) / len(counted):.1f}" if counted else "-"
    failures = len(outcomes) - len(counted)
    return [str(len(outcomes)), rate, gained, steps, str(sum(one.tokens for one in outcomes)), str(failures)]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld rollout terminal -n 100 --level 1 --level 2",
            "agentworld rollout terminal --policy menu --world tiny --out traces",
            "agentworld rollout web --world http://localhost:8000/v1 --width 64",
        )
    )(rollout)

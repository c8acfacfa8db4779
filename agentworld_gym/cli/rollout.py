"""`agentworld rollout`: many episodes with a fixed policy, as a table."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.base.process.interrupts import remembered_interrupt
from agentworld_gym.cli.common import (
    AGENTS,
    FAILED,
    AgentOption,
    ControlOption,
    EnvironmentName,
    FamilyOption,
    JudgeOption,
    LevelOption,
    LockOption,
    ScenarioOption,
    SeedOption,
    SplitOption,
    TensorBoardOption,
    TracesOption,
    WandbOption,
    WorldOption,
    counted,
    env_options,
    examples,
    pairs,
    printable,
    stderr,
    stdout,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.on_ray import RayOption, WorkersOption, check_workers, counted_on_ray

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.playing import Played
    from agentworld_gym.agents.policies.playing import Policy as PlayedPolicy
    from agentworld_gym.agents.progress import Tally
    from agentworld_gym.envs.episodes.runner import EpisodeRunner


@with_language_options
def rollout(
    env: EnvironmentName,
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="How many episodes.")] = 20,
    policy: Annotated[str, typer.Option("--policy", help=f"{AGENTS}.")] = "expert",
    world: WorldOption = "auto",
    scenario: ScenarioOption = None,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "train",
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Only this task: an id, or a YAML file; several are played in turn."),
    ] = None,
    width: Annotated[int, typer.Option("--width", min=1, help="Episodes that run at a time, in each worker.")] = 16,
    ray: RayOption = False,
    workers: WorkersOption = None,
    control: ControlOption = None,
    judge: JudgeOption = "same",
    lock: LockOption = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
    out: TracesOption = None,
    agent_option: AgentOption = None,
    **language: Any,
) -> None:
    """Let an agent play episodes and print how often it succeeds.

    The table has a row for each family and level. Episodes in which the world failed are counted apart and left out of
    the rates; exit 1 if there was one. After Ctrl-C the table holds what was finished, and a line says with
    which seed to go on.
    """
    from agentworld_gym.agents.policies.registry import open_policy
    from agentworld_gym.agents.progress import live
    from agentworld_gym.envs.options import EnvOptions

    check_workers(ray, workers)
    options = EnvOptions(
        **env_options(
            env,
            world=world,
            scenario=scenario,
            families=family,
            levels=level,
            split=split,
            task=task,
            controls=control,
            judge=judge,
            lock=lock,
            traces=out,
            **language,
        )
    )
    seeds = range(seed, seed + episodes)
    chosen = pairs(agent_option, "--agent-option")
    opening = partial(open_policy, policy, options.domain_spec(), options=chosen)
    runner = None if ray else options.runner()
    outcomes: list[Played] = []
    stopped = False
    try:
        name = f"{options.domain_spec().id}, {policy}"
        with live(name, episodes, tensorboard=tensorboard, wandb=wandb) as tally, remembered_interrupt() as check:
            if runner is None:
                playing = counted_on_ray(options, opening, seeds, workers, width, tally)
            else:
                playing = _here(runner, opening(), seeds, width, tally)
            with closing(playing):
                for outcome in playing:
                    outcomes.append(outcome)
                    check()
    except KeyboardInterrupt:
        stopped = True
    finally:
        if runner is not None:
            runner.close()
    outcomes.sort(key=lambda outcome: outcome.place)
    show(outcomes)
    if stopped:
        done = next((count for count, one in enumerate(outcomes) if one.place != count), len(outcomes))
        if 0 < done < episodes:
            stderr().print(f"To go on: --seed {seed + done} --episodes {episodes - done}", highlight=False)
        raise KeyboardInterrupt
    lost = {
        "the world": [outcome.failure_message for outcome in outcomes if outcome.failure],
        "the agent's server": [outcome.agent_message for outcome in outcomes if outcome.agent_failure],
    }
    for who, failures in lost.items():
        if failures:
            message = printable(f"{who} failed in {counted(len(failures), 'episode')}, first: {failures[0]}")
            stderr().print(message, style="red", markup=False, soft_wrap=True)
    if any(lost.values()):
        raise typer.Exit(FAILED)


def _here(
    runner: EpisodeRunner, policy: PlayedPolicy, seeds: range, width: int, tally: Tally
) -> Generator[Played, None, None]:
    from agentworld_gym.agents.policies.playing import play

    tally.watch(runner)
    try:
        yield from play(runner, policy, seeds, wave=width)
    finally:
        getattr(policy, "close", lambda: None)()


def show(outcomes: list[Played]) -> None:
    """Print a table with one row for each family and level."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("tasks", no_wrap=True)
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


def summary(outcomes: list[Played]) -> list[str]:
    """Return the number of episodes, success rate, mean return, mean steps, tokens of steps, and failures of the world.

    Where the world or the server of the agent failed, nothing is known of the agent: those episodes are left out of the
    rates.
    """
    from agentworld_gym.core.contracts import Usage

    counted = [one for one in outcomes if not (one.failure or one.agent_failure)]
    tested = [one.success for one in counted if one.success is not None]
    rate = f"{sum(tested) / len(tested):.2f}" if tested else "-"
    gained = f"{sum(one.reward for one in counted) / len(counted):.2f}" if counted else "-"
    steps = f"{sum(len(one.actions) for one in counted) / len(counted):.1f}" if counted else "-"
    spent = sum((one.step_usage for one in outcomes), Usage()).total
    failures = len(outcomes) - len(counted)
    return [str(len(outcomes)), rate, gained, steps, "unknown" if spent is None else str(spent), str(failures)]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld rollout terminal -n 100 --level 1 --level 2",
            "agentworld rollout android --task early.yaml --task late.yaml -n 2",
            "agentworld rollout terminal --policy menu --world tiny --out traces",
            "agentworld rollout web --world http://localhost:8000/v1 --width 64",
            "agentworld rollout web --world http://a:8000/v1,http://b:8000/v1 --ray --workers 8 --width 64 -n 10000",
        )
    )(rollout)

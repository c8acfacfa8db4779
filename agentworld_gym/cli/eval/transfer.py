"""`agentworld eval transfer`: one policy in a language world and in the grounded world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    AGENTS,
    AgentOption,
    EnvironmentName,
    EvaluatedSeedOption,
    EvaluatedSplitOption,
    FamilyOption,
    LevelOption,
    LockOption,
    TensorBoardOption,
    WandbOption,
    WorldOption,
    env_options,
    evaluated_seed,
    evaluated_split,
    examples,
    pairs,
    stdout,
)
from agentworld_gym.cli.eval.output import (
    OutOption,
    WidthOption,
    announce,
    check_writable,
    print_table,
    share_text,
    stages,
    write_result,
)
from agentworld_gym.cli.language_options import with_language_options

if TYPE_CHECKING:
    from agentworld_gym.envs.episodes.runner import EpisodeRunner


@with_language_options
def transfer(
    env: EnvironmentName,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            help=f"{AGENTS}. Of a zip the weights alone are read; the pickles in the file, which would "
            "run as programs, are not.",
        ),
    ],
    world: WorldOption = "tiny",
    out: OutOption = Path("transfer.json"),
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="How many tasks, each played in both worlds.")] = 100,
    traces: Annotated[
        Path | None,
        typer.Option(
            "--traces",
            file_okay=False,
            help="A folder for the traces, in `dream` (the language world) and `grounded`; else beside the result.",
            show_default=False,
        ),
    ] = None,
    seed: EvaluatedSeedOption = None,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: EvaluatedSplitOption = None,
    lock: LockOption = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
    width: WidthOption = 64,
    agent_option: AgentOption = None,
    **language: Any,
) -> None:
    """Let a policy play the same tasks in a language world and in the grounded world.

    Says both success rates, their paired difference, where the two part, and whether the agent learned the simulator.
    Ctrl-C keeps the tasks that both finished.
    """
    from agentworld_gym.envs.options import EnvOptions
    from agentworld_gym.evaluation.results.base import TaskDraw
    from agentworld_gym.evaluation.transfer import transfer as compare

    levels = level or [1]
    split, drawn = evaluated_split(world, split), seed is None
    seed = evaluated_seed(split, seed)
    options = EnvOptions(
        **env_options(
            env,
            world=world,
            families=family,
            levels=levels,
            split=split,
            lock=lock,
            **language,
        )
    )
    check_writable(out)
    folder = traces or out.with_name(f"{out.stem}-traces")
    with stages("transfer", tensorboard, wandb) as begin:

        def show(side: str, runner: EpisodeRunner) -> None:
            begin(side, "episodes", tasks).watch(runner)

        result = compare(
            policy,
            options,
            range(seed, seed + tasks),
            wave=width,
            traces=folder,
            on_runner=show,
            agent_options=pairs(agent_option, "--agent-option"),
        )
    played = TaskDraw(split=options.split, seed=seed, drawn=drawn, tasks=result.tasks)
    result = result.model_copy(update={"draw": played})
    write_result(out, result)
    rows = [(side.world, side.success, _total(side.failures)) for side in (result.dream, result.grounded)]
    print_table(("world", "success", "failures"), [(name, share_text(one), failed) for name, one, failed in rows])
    stdout().print(f"gap {result.gap or '-'}. {result.verdict}", markup=False, highlight=False, soft_wrap=True)
    stdout().print(str(played), highlight=False, soft_wrap=True)
    for parting in result.partings[:5]:
        where = "only in the language world" if parting.dream else "only in the grounded world"
        said = (
            f"{parting.task_id}, seed {parting.seed}: succeeds {where}; parts at turn {parting.turn} ({parting.part})"
        )
        stdout().print(said, markup=False, highlight=False, soft_wrap=True)
    announce(out, result.interrupted)


def _total(failures: dict[str, int]) -> str:
    return str(sum(failures.values()))


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval transfer terminal --policy agent.zip --world tiny",
            "agentworld eval transfer android --policy expert --world http://localhost:8000/v1 --tasks 20",
        )
    )(transfer)

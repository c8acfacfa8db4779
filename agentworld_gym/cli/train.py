"""`agentworld train`: the stages of a world model's training."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import GeneratorError, SpecError, install
from agentworld_gym.cli.common import (
    FAILED,
    INTERRUPTED,
    Commands,
    WandbOption,
    examples,
    pair,
    printable,
    stderr,
    stdout,
)
from agentworld_gym.cli.outputs import writable_out
from agentworld_gym.cli.training_progress import TrainingProgress

if TYPE_CHECKING:
    from agentworld_gym.recipe.training.metrics import Metrics
    from agentworld_gym.recipe.training.queue import RunState

train = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help="""Train a world model: cpt, then sft, then rl.

    With `accelerate launch -m agentworld_gym train …` they run on several GPUs. `--world transformers:DIR` and
    `agentworld serve DIR` take the folder `model` of a run.
    """,
)

ConfigArgument = Annotated[
    str, typer.Argument(metavar="CONFIG", help="A configuration: the name of a shipped one, or a YAML file.")
]
RunOption = Annotated[
    Path, typer.Option("--out", file_okay=False, callback=writable_out, help="The folder of the run.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A value for the configuration, with a dotted key, such as train.max_steps=100; repeatable.",
    ),
]

C = TypeVar("C", bound=Strict)


@train.command(
    epilog=examples(
        "agentworld train cpt search --out runs/search",
        "agentworld train cpt my.yaml --out runs/mine --set train.max_seconds=600",
        "accelerate launch --multi_gpu --num_processes 2 -m agentworld_gym train cpt my.yaml --out runs/mine",
    )
)
def cpt(config: ConfigArgument, out: RunOption, changes: SetOption = None, wandb: WandbOption = None) -> None:
    """Pre-train on whole sessions: next-token loss, without thinking.

    Sessions that the configuration does not name are recorded first. Ctrl-C keeps a checkpoint, and the same command
    goes on from it. The model ends up in the folder `model` of the run.
    """
    from agentworld_gym.recipe.training.stage_config import CptConfig

    settings = _configured(config, CptConfig, changes)
    from agentworld_gym.recipe.training.cpt import train as run

    board = _followed(wandb, out, settings.train.tensorboard)
    with board, _show_progress("cpt", settings.data.episodes) as (measured, recorded):
        outcome = run(settings, out, measured, recorded)
    _tell(out, outcome.steps, outcome.model)


@train.command(
    epilog=examples(
        "agentworld train sft sft-0.6b --out runs/sft",
        "agentworld train sft sft-0.6b --out runs/sft --set model.path=runs/cpt/model",
    )
)
def sft(config: ConfigArgument, out: RunOption, changes: SetOption = None, wandb: WandbOption = None) -> None:
    """Fine-tune on samples with thinking: loss on answers only.

    Ctrl-C keeps a checkpoint, and the same command goes on from it. The model ends up in the folder `model` of the run.
    """
    from agentworld_gym.recipe.training.stage_config import SftConfig

    settings = _configured(config, SftConfig, changes)
    from agentworld_gym.recipe.training.sft import train as run

    with _followed(wandb, out, settings.train.tensorboard), _show_progress("sft") as (measured, _):
        outcome = run(settings, out, measured)
    _tell(out, outcome.steps, outcome.model)


@train.command(
    epilog=examples("agentworld train rl rl-4b --out runs/rl --set model.path=runs/sft/model"),
)
def rl(config: ConfigArgument, out: RunOption, changes: SetOption = None, wandb: WandbOption = None) -> None:
    """Sharpen by reinforcement learning: predictions that a rubric and rule verifiers reward.

    Ctrl-C keeps a checkpoint, and the same command goes on from it. The model ends up in the folder `model` of the run.
    """
    from agentworld_gym.recipe.rl.config import RlConfig

    settings = _configured(config, RlConfig, changes)
    from agentworld_gym.recipe.rl.gspo import train as run

    with _followed(wandb, out, settings.tensorboard), _show_progress("rl") as (measured, _):
        metrics = run(settings, out, measured)
    _tell(out, metrics.get("step", 0), None if metrics.get("stopped") else out / "model")


@train.command(
    epilog=examples(
        "agentworld train queue agentworld_gym/recipe/queues/specialists.yaml --out runs --core 1",
        "agentworld train queue queue.yaml --out runs --minutes 170",
        "agentworld train queue queue.yaml --out runs --status",
    )
)
def queue(
    file: Annotated[Path, typer.Argument(metavar="QUEUE", help="A YAML file that lists the runs.")],
    out: Annotated[
        Path,
        typer.Option("--out", file_okay=False, callback=writable_out, help="The folder of the runs' folders and logs."),
    ],
    core: Annotated[int | None, typer.Option("--core", min=0, help="Bind the runs to this core of the CPU.")] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0, help="Stop the run that is under way after this time, with a checkpoint."),
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Tell how the runs stand, and begin none.")] = False,
) -> None:
    """Work off a list of training runs, one after the other, and go on where the last session stopped.

    Each run goes on from its last checkpoint; one that is finished is passed over, and one that fails leaves its reason
    in its log. Ctrl-C keeps a checkpoint of the run that is under way.
    """
    from agentworld_gym.recipe.training.queue import QueueWorker, load_queue, state_of

    runs = load_queue(file)
    if status:
        states = [state_of(run, out / run.name) for run in runs.runs]
    else:
        worker = QueueWorker(runs, out, core, lambda state: _say(standing(state)))
        states = worker.run(None if minutes is None else 60 * minutes)
    for state in states:
        stdout().print(standing(state), markup=False, highlight=False, soft_wrap=True)
    if any(state.status == "failed" for state in states):
        raise typer.Exit(FAILED)
    if not status and any(state.status != "finished" for state in states):
        raise typer.Exit(INTERRUPTED)


def standing(state: RunState) -> str:
    """Say in a line where a run of a queue stands.

    >>> from agentworld_gym.recipe.training.queue import RunState
    >>> standing(RunState("terminal", "begun", 1_250_000, 0.9125))
    'terminal: begun, 1.2 million tokens, validation exact 0.912'
    """
    exact = "" if state.exact is None else f", validation exact {state.exact:.3f}"
    return f"{state.name}: {state.status}, {state.tokens / 1e6:.1f} million tokens{exact}"


def _configured(source: str, kind: type[C], changes: list[str] | None) -> C:
    """Return the configuration, after checking that what training needs is installed."""
    from agentworld_gym.recipe.config_files import load_config

    chosen = dict(pair(text, "--set") for text in changes or ())
    try:
        settings = load_config(source, kind, chosen)
    except SpecError as error:
        if not any(f"{key}.".startswith(f"{error.key}.") or error.key.startswith(f"{key}.") for key in chosen):
            raise
        raise SpecError("command line", f"--set {error.key}", error.value, error.expected) from error
    must_have_what_trains()
    if not _main():
        logging.getLogger("agentworld_gym").setLevel(logging.ERROR)
    return settings


def must_have_what_trains() -> None:
    """Check that what training needs is installed.

    Raises:
        GeneratorError: Something is missing; the error says what to install.
    """
    missing = [name for name in ("torch", "transformers", "accelerate") if find_spec(name) is None]
    if missing:
        raise GeneratorError(f"training needs {' and '.join(missing)}: {install('train')}")


def _say(text: str) -> None:
    stderr().print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _followed(project: str | None, out: Path, tensorboard: bool) -> AbstractContextManager[object]:
    """Show the curves of a run in a project of Weights & Biases too, in the main process; None shows none."""
    if project is None or not _main():
        return nullcontext()
    if not tensorboard:
        expected = "a configuration whose metrics are written for TensorBoard (tensorboard: true)"
        raise SpecError("command line", "--wandb", project, expected)
    from agentworld_gym.agents.progress.wandb import followed
    from agentworld_gym.recipe.training.metrics import TENSORBOARD

    return followed(project, out.name, out / TENSORBOARD)


@contextmanager
def _show_progress(
    stage: str, episodes: int = 0
) -> Iterator[tuple[Callable[[Metrics], None] | None, Callable[[int], None] | None]]:
    """Show a run in the main process, and yield what takes its metrics and the number of its recorded sessions."""
    if not _main():
        yield None, None
        return
    with TrainingProgress(stage, episodes, stderr()) as progress:
        yield progress.measured, progress.recorded


def _main() -> bool:
    """Whether this is the first of several processes; accelerate and torchrun number them in the environment."""
    return os.environ.get("RANK", "0") == "0"


def _tell(out: Path, steps: int, model: Path | None) -> None:
    """Say where the run stands, and how to go on."""
    if model is None:
        if _main():
            stdout().print(f"{out}: stopped at step {steps}; the same command goes on from there", markup=False)
        raise typer.Exit(INTERRUPTED)
    if _main():
        text = f'{out}: {steps} steps; gym.make(ID, world="transformers:{model}"), or: agentworld serve {model}'
        stdout().print(text + _without_card(model), markup=False, highlight=False, soft_wrap=True)


def _without_card(model: Path) -> str:
    """What a user has to pass for a model whose folder does not say how it is asked; nothing where it does."""
    from agentworld_gym.llm.bundled_models import CARD, carded_model

    if carded_model(f"transformers:{model}") is not None:
        return ""
    options = 'language={"profile": …, "form": …, "sampling": {"thinking": …}}'
    return f"; the folder has no {CARD}, so pass what the samples were made with: {options}"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(train, name="train")

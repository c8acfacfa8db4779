"""`agentworld train`: a small world model from recorded sessions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import INTERRUPTED, SMALL, counter, examples, progress, stdout
from agentworld_gym.errors import GeneratorError, SpecError

if TYPE_CHECKING:
    from agentworld_gym.recipe.config import RecipeConfig
    from agentworld_gym.recipe.train import Progress, Trainer

VALIDATION_SESSIONS = 100
TOKENIZER_SESSIONS = 4000
"""A vocabulary needs no more sessions than these."""


def train(
    config: Annotated[str, typer.Argument(help="A configuration: the name of a shipped one, or a YAML file.")],
    out: Annotated[Path, typer.Option("--out", file_okay=False, help="The folder of the run.")],
    data: Annotated[
        Path | None, typer.Option("--data", dir_okay=False, help="What `collect` recorded; else it is recorded here.")
    ] = None,
) -> None:
    """Train a small world model as a configuration says.

    Ctrl-C keeps a checkpoint, and the same command goes on from it. The model ends up in the folder `model` of the run.
    """
    from agentworld_gym.recipe.config import load_config
    from agentworld_gym.recipe.model import export

    settings = load_config(config)
    if data is not None and not data.is_file():
        raise SpecError("command line", "--data", str(data), "a file that `agentworld collect` wrote")
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise GeneratorError("training needs torch and transformers: pip install 'agentworld-gym[train]'")
    sessions = data or _recorded(settings, out / "sessions.jsonl")
    with progress("training", 100) as bar:
        task = bar.task_ids[0]

        def report(metrics: Mapping[str, Any]) -> None:
            loss = f", loss {metrics['loss']:.3f}" if "loss" in metrics else ""
            bar.update(task, completed=round(100 * metrics["progress"]), description=f"step {metrics['step']}{loss}")

        trainer = _trainer(settings, sessions, out, report)
        trainer.run()
    if trainer.spent < 1:
        stdout().print(f"{out}: stopped at step {trainer.steps}; the same command goes on from there", markup=False)
        raise typer.Exit(INTERRUPTED)
    folder = export(out, out / "model")
    usage = f'{out}: {trainer.steps} steps; gym.make("AgentWorld/Terminal-v0", world="transformers:{folder}", {SMALL})'
    stdout().print(usage, markup=False, highlight=False, soft_wrap=True)


def _recorded(settings: RecipeConfig, path: Path) -> Path:
    """The sessions that a configuration asks for; a file that holds them already stays as it is."""
    from agentworld_gym.recipe.collect import collect
    from agentworld_gym.spec import load_spec

    spec, seed = load_spec(settings.domain), settings.train.seed
    with progress("recording", settings.episodes) as bar:
        collect([spec], path, settings.episodes, seed, settings.collect, progress=counter(bar))
    return path


def _trainer(settings: RecipeConfig, sessions: Path, out: Path, report: Progress) -> Trainer:
    """A run over recorded sessions, with the tokenizer it began with or one made for them."""
    from agentworld_gym.recipe.dataset import encode, render
    from agentworld_gym.recipe.evaluate import quick
    from agentworld_gym.recipe.model import TOKENIZER
    from agentworld_gym.recipe.recorder import Recorder
    from agentworld_gym.recipe.rows import read_rows
    from agentworld_gym.recipe.tokenizer import build_tokenizer, load_tokenizer
    from agentworld_gym.recipe.train import Trainer
    from agentworld_gym.spec import load_spec

    if (out / TOKENIZER).is_file():
        tokenizer = load_tokenizer(out)
    else:
        texts = (render(row.messages()) for row in read_rows(sessions, 0, TOKENIZER_SESSIONS))
        tokenizer = build_tokenizer(texts, settings.model.vocab_size)
    spec = load_spec(settings.domain)
    recorder = Recorder([spec], settings.collect, settings.train.seed, "validation")
    unseen = [row for number in range(VALIDATION_SESSIONS) if (row := recorder.row(number)) is not None]
    data = encode(read_rows(sessions), tokenizer)
    return Trainer(settings, data, tokenizer, out, quick(unseen, tokenizer, spec), report)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld train tiny-terminal --out runs/tiny",
            "agentworld train my.yaml --out runs/mine --data runs/sessions.jsonl",
        )
    )(train)

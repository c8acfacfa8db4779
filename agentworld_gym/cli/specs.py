"""`agentworld specs`: validate, show and describe domain specs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.cli.common import USAGE, Commands, complain, counted, counting, examples, stdout

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.trial import Trial

specs = typer.Typer(cls=Commands, no_args_is_help=True, help="Validate, show and describe domain specs.")


@specs.command(
    epilog=examples(
        "agentworld specs check", "agentworld specs check my.yaml", "agentworld specs check terminal --play"
    )
)
def check(
    files: Annotated[list[str] | None, typer.Argument(help="Specs to check; else those of all domains.")] = None,
    play: Annotated[
        bool,
        typer.Option(
            "--play",
            help="Also let the expert of each family play a task of level 1, forked in the middle, and compare both "
            "branches. All seven domains take about a minute.",
        ),
    ] = False,
) -> None:
    """Validate specs with their prompts and tasks; exit 2 if one is broken.

    Every example action and every expert action has to parse. With --play a table says for each domain how many experts
    succeed and on how many tasks both branches of a fork show and leave the same. It plays the domain's grounded world.
    """
    from agentworld_gym.core.registration import all_domains

    errors = 0
    played: dict[str, dict[str, Trial | None] | None] = {}
    for name in files or all_domains():
        try:
            tasks = _check(name)
        except SpecError as error:
            errors += 1
            complain(error)
            continue
        stdout().print(f"{name}: ok, {counted(tasks, 'hand-written task')}", highlight=False)
        if play:
            played[name] = _play(name)
    if played:
        _table(played)
        errors += sum(
            trial is None or not trial.success or trial.departure is not None
            for trials in played.values()
            for trial in (trials or {}).values()
        )
    if errors:
        raise typer.Exit(USAGE)


def _play(name: str) -> dict[str, Trial | None] | None:
    """Play a task of each family, and complain of what does not hold.

    Returns:
        What became of each family, None for one that cannot be played; None in place of all without a grounded world.
    """
    from agentworld_gym.agents.policies.trial import try_task
    from agentworld_gym.cli.common import spec_source
    from agentworld_gym.core.engines.catalog import has_engine
    from agentworld_gym.envs.env import AgentWorldEnv

    env = AgentWorldEnv(spec=spec_source(name), world="scripted")
    domain, families = env.domain.id, env.domain.tasks.families
    env.close()
    if not has_engine(domain):
        return None
    trials: dict[str, Trial | None] = {}
    env = AgentWorldEnv(spec=spec_source(name), world="grounded")
    try:
        with counting(name, len(families) or 1, "families") as show:
            for family in families or ("handwritten",):
                options = {"family": family, "level": 1} if families else {}
                try:
                    trials[family] = try_task(env, options)
                # Whatever a package's code raises is printed as a mistake of the family, and the other families go on.
                except Exception as error:
                    trials[family] = None
                    told = str(error) if isinstance(error, AgentWorldError) else f"{type(error).__name__}: {error}"
                    complain(AgentWorldError(f"{name}: family {family}: {told}"))
                show(len(trials))
    finally:
        env.close()
    for trial in filter(None, trials.values()):
        if not trial.success:
            why = trial.problem or f"no success after {counted(trial.steps, 'step')}"
            complain(AgentWorldError(f"{name}: the expert of task {trial.task}: {why}"))
        if trial.departure is not None:
            complain(AgentWorldError(f"{name}: the fork of task {trial.task} departs at {trial.departure}"))
    return trials


def _table(played: dict[str, dict[str, Trial | None] | None]) -> None:
    """Print what held in each domain."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("domain")
    for column in ("families", "experts succeed", "forks agree"):
        table.add_column(column, justify="right")
    for name, trials in played.items():
        if trials is None:
            table.add_row(name, "-", "no grounded world", "-")
            continue
        ended = [trial for trial in trials.values() if trial is not None]
        held = [sum(trial.success for trial in ended), sum(trial.departure is None for trial in ended)]
        table.add_row(name, str(len(trials)), *(f"{number} of {len(trials)}" for number in held))
    stdout().print(table)


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
    """Print the JSON Schema of a spec, for editors.

    An editor that knows YAML schemas completes keys and marks mistakes, if the first line of the spec is
    `# yaml-language-server: $schema=agentworld.schema.json`.
    """
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

"""`agentworld eval agent`: how good an agent is, in the grounded worlds or in a world model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agentworld_gym.base.errors import SpecError, one_of
from agentworld_gym.cli.common import (
    AGENTS,
    FAILED,
    AgentOption,
    FamilyOption,
    TensorBoardOption,
    WandbOption,
    counted,
    evaluated_seed,
    examples,
    pairs,
    printable,
    refuse_other_options,
    source_in_dialect,
    stderr,
    stdout,
    tokens_text,
)
from agentworld_gym.cli.eval.output import (
    OutOption,
    WidthOption,
    announce,
    check_writable,
    number,
    print_table,
    share_text,
    stages,
    token_prices,
    write_result,
)
from agentworld_gym.cli.on_ray import RayOption, WorkersOption, check_workers, counted_on_ray

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.playing import Played, Policy
    from agentworld_gym.agents.progress import Tally
    from agentworld_gym.envs.episodes.runner import EpisodeRunner
    from agentworld_gym.envs.options import EnvOptions
    from agentworld_gym.evaluation.agent import Party
    from agentworld_gym.evaluation.bench.aggregate import TokenPrices
    from agentworld_gym.evaluation.results.agent import AgentCell, AgentResult

_OF_DRAWN_TASKS = frozenset({"tasks", "family", "level", "split", "seed"})
"""The parameters that have no meaning where tasks are named."""

_OF_TRACES = frozenset({"agent", "played", "split", "out"})
"""The parameters that have a meaning where traces are read."""


def agent(
    context: typer.Context,
    agent: Annotated[str, typer.Option("--agent", help=f"{AGENTS}.")],
    played: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A folder of traces that the agent left, as of `agentworld mcp serve --env`: they are read, nothing "
            "is played, and --agent is the agent's name. Tasks that nobody generated need --split.",
        ),
    ] = None,
    world: Annotated[
        str,
        typer.Option(
            "--world",
            help="Who plays the environments: grounded, tiny, live:FILE for your own system, or a world model's "
            "handle.",
        ),
    ] = "grounded",
    domains: Annotated[
        str | None,
        typer.Option("--domains", metavar="NAME,NAME", help="The domains; a dialect as in swe:cli. Without it, all."),
    ] = None,
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="How many tasks of each domain.")] = 100,
    samples: Annotated[int, typer.Option("--samples", min=1, help="How many times each task is played.")] = 1,
    out: OutOption = Path("agent.json"),
    sampling: Annotated[
        list[str] | None,
        typer.Option("--sampling", metavar="KEY=VALUE", help="How the agent samples: temperature=0.7; repeatable."),
    ] = None,
    overflow: Annotated[
        Literal["stop", "drop"],
        typer.Option(
            "--overflow",
            help="Where the context of the agent's model is full: stop, or drop the oldest observations and leave a "
            "mark.",
        ),
    ] = "stop",
    agent_option: AgentOption = None,
    world_option: Annotated[
        list[str] | None,
        typer.Option(
            "--world-option",
            metavar="KEY=VALUE",
            help='An option of `gym.make`, such as judge=none or \'language={"profile": "compact"}\'; repeatable.',
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            help="Only this task: a YAML file of your own, whose domain is that of the file or of --domains, or an id; "
            "repeatable.",
        ),
    ] = None,
    family: FamilyOption = None,
    level: Annotated[
        list[int] | None,
        typer.Option("--level", min=1, help="Only this level; repeatable. Without it, 1 to 3."),
    ] = None,
    split: Annotated[
        Literal["train", "validation", "test"] | None,
        typer.Option(
            "--split",
            help="Which tasks: test for figures to report, the others to choose by. AWM's worlds have no splits "
            "and levels.",
            show_default="test",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Seed of the first task; the others count up. For test tasks each new result draws one.",
            show_default="0; test tasks draw a new one",
        ),
    ] = None,
    width: WidthOption = 64,
    ray: RayOption = False,
    workers: WorkersOption = None,
    traces: Annotated[
        Path | None, typer.Option("--traces", file_okay=False, help="A folder for the traces of each domain.")
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            "--price", metavar="IN,OUT", help="Dollars for a million tokens of the agent's prompt and answer."
        ),
    ] = None,
    world_price: Annotated[
        str | None, typer.Option("--world-price", metavar="IN,OUT", help="The same for the tokens of the world.")
    ] = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
) -> None:
    """Let an agent play tasks of all domains and say how good it is.

    Every episode is kept as it ends, beside the result: the same command goes on after a kill or Ctrl-C, and plays what
    a server or the world failed again. Such episodes are counted apart and not scored; exit 1 if there are any.
    """
    from agentworld_gym.core.registration import all_domains, shipped_domains
    from agentworld_gym.evaluation.agent import Setup, begun_seed, evaluate_agent, evaluated_traces
    from agentworld_gym.worlds.own_tasks import brings_tasks

    check_workers(ray, workers)
    check_writable(out)
    command = shlex.join(["agentworld", *sys.argv[1:]])
    if played is not None:
        refuse_other_options(context, _OF_TRACES, "nothing: with --from no task is played")
        _report(out, evaluated_traces(agent, played, split, command=command))
        return
    own = brings_tasks(world)
    split = split or ("train" if own else "test")
    records = out.with_suffix(".episodes.jsonl")
    begun = begun_seed(records) if seed is None else None
    asked = shipped_domains() if domains is None else domains.split(",")
    names = [name.strip() for name in asked if name.strip()]
    if not names:
        raise SpecError("command line", "--domains", domains, f"some of {', '.join(all_domains())}")
    sources = tuple(dict.fromkeys(source_in_dialect(name, None, "--domains") for name in names))
    named: dict[str, tuple[str, ...]] = {}
    if task:
        known = context.params.keys() - _OF_DRAWN_TASKS
        refuse_other_options(context, known, "nothing: --task names the tasks")
        named = _by_domain(task, sources, domains is not None)
    setup = Setup(
        agent=agent,
        options=_options(agent, agent_option, sampling, overflow),
        world=world,
        world_options=pairs(world_option, "--world-option") or {},
        domains=tuple(named) or sources,
        levels=tuple(dict.fromkeys(level or ((1,) if own else (1, 2, 3)))),
        families=tuple(family or ()),
        split=split,
        seed=0 if named else evaluated_seed(split, seed) if begun is None else begun,
        drawn=seed is None and split == "test" and not named,
        named=named,
    )
    prices: dict[Party, TokenPrices] = {}
    if price is not None:
        prices["agent"] = token_prices(price, "--price")
    if world_price is not None:
        prices["world"] = token_prices(world_price, "--world-price")
    stopped: list[bool] = []

    def print_before_error(result: AgentResult) -> None:
        if result.episodes:
            _report(out, result)

    with stages("agent", tensorboard, wandb) as begin:
        tallies: list[Tally] = []

        def show(domain: str, runner: EpisodeRunner, count: int) -> None:
            tallies.append(begin(domain, "episodes", count))
            if not ray:
                tallies[-1].watch(runner)

        def elsewhere(
            options: EnvOptions, opening: Callable[[], Policy], seeds: Sequence[int]
        ) -> Generator[Played, None, None]:
            return counted_on_ray(options, opening, seeds, workers, width, tallies[-1])

        result = evaluate_agent(
            setup,
            tasks,
            records,
            samples=samples,
            wave=width,
            traces=traces,
            prices=prices,
            command=command,
            on_runner=show,
            elsewhere=elsewhere if ray else None,
            on_interrupt=lambda: stopped.append(True),
            on_error=print_before_error,
        )
    _report(out, result)
    if result.interrupted:
        mine = "Episodes are missing: the same command goes on with what was played."
        others = "Episodes that another command of this result asked for are missing."
        stdout().print(mine if stopped else others, soft_wrap=True)
    if stopped:
        raise KeyboardInterrupt
    asked_for = [one for one in result.episodes if one.domain in setup.domains]
    lost = {
        "agent's server": [one.message for one in asked_for if one.agent_failure],
        "world": [one.message for one in asked_for if one.world_failure],
    }
    for who, messages in lost.items():
        if messages:
            said = f"the {who} failed in {counted(len(messages), 'episode')}, first: {messages[0]}"
            said += "; the same command tries them again"
            stderr().print(printable(said), style="red", markup=False, soft_wrap=True)
    if any(lost.values()):
        raise typer.Exit(FAILED)


def _by_domain(tasks: list[str], sources: tuple[str, ...], chosen: bool) -> dict[str, tuple[str, ...]]:
    """Return the named tasks of each domain: that which the file of a task states, or else the one that was chosen.

    Raises:
        SpecError: The domain of a task is not known, or a domain that was chosen has no task.
    """
    from agentworld_gym.base.documents.strict import read_yaml
    from agentworld_gym.core.domain.spec import load_spec

    ids = {source: load_spec(source).id for source in sources}
    found: dict[str, list[str]] = {source: [] for source in sources}
    for task in tasks:
        data = read_yaml(Path(task), "a task") if task.endswith((".yaml", ".yml")) else None
        stated = data.get("domain") if isinstance(data, dict) else None
        own = [source for source, domain in ids.items() if domain == stated or (stated is None and chosen)]
        if not own or (stated is None and len(own) > 1):
            raise SpecError("command line", "--task", task, "a file that states its `domain`, or one of --domains")
        for source in own:
            found[source].append(task)
    for source in (one for one, given in found.items() if chosen and not given):
        raise SpecError("command line", "--domains", source, "domains of which --task names a task")
    return {source: tuple(given) for source, given in found.items() if given}


def _report(out: Path, result: AgentResult) -> None:
    write_result(out, result)
    _print(result)
    announce(out, False)


def _options(agent: str, given: list[str] | None, sampling: list[str] | None, overflow: str) -> dict[str, Any]:
    """Return the options of an agent, whose values the registry checks.

    Raises:
        SpecError: --sampling has no such field.
    """
    from agentworld_gym.agents.policies.registry import is_model
    from agentworld_gym.core.domain.spec import SamplingSpec

    sampled = pairs(sampling, "--sampling") or {}
    for name in sampled.keys() - SamplingSpec.model_fields.keys():
        raise SpecError("command line", f"--sampling {name}", sampled[name], one_of(name, SamplingSpec.model_fields))
    options = {**(pairs(given, "--agent-option") or {}), **sampled}
    return {"overflow": overflow, **options} if is_model(agent) else options


def _print(result: AgentResult) -> None:
    rows = [_row(name, cell) for name, cell in result.domains.items()]
    if len(rows) > 1:
        rows.append(_row("all", result.whole))
    print_table(("domain", "success", "score", "steps", "not scored"), rows)
    said = [f"{how} {count}" for how, count in result.ends.items()]
    lines = [
        f"ends: {', '.join(said) or '-'}; {counted(result.refused, 'action')} refused",
        f"tokens: {', '.join(f'{who} {tokens_text(one.total)}' for who, one in result.tokens.items())}",
        str(result.draw),
    ]
    in_vain = [f"{who} {tokens_text(one.total)}" for who, one in result.replaced.items() if one.total != 0]
    if in_vain:
        lines.insert(-1, f"tokens beside these for what was asked or played again: {', '.join(in_vain)}")
    calls = [f"{name} {kind}" for name, cell in result.domains.items() for kind in cell.calls]
    if calls:
        lines.insert(-1, f"calls of tools: {', '.join(calls)}")
    if result.samples > 1:
        for name, shares in (("pass@", result.pass_at), ("pass^", result.pass_all)):
            lines.insert(0, ", ".join(f"{name}{k} {share_text(share)}" for k, share in shares.items()))
    for line in lines:
        stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _row(name: str, cell: AgentCell) -> tuple[str, str, str, str, str]:
    return name, share_text(cell.success), number(cell.score), number(cell.steps), str(cell.unscored or "-")


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval agent --agent http://localhost:8001/v1 --out mine.json",
            "agentworld eval agent --agent http://localhost:8001/v1 --world http://localhost:8000/v1 --domains web,swe "
            "--tasks 50 --samples 4",
            "agentworld eval agent --agent expert --world tiny --domains terminal --tasks 20",
            "agentworld eval agent --agent http://localhost:8001/v1 --task mine.yaml --domains terminal",
            "agentworld eval agent --from runs/traces --agent my-agent --out mine.json",
            "agentworld eval report mine.json other.json --out page.html",
        )
    )(agent)

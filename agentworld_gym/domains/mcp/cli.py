"""`agentworld mcp`: a scenario's tools or an episode as a real server, and what is in a folder of AWM's worlds."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.base.process.protocol_server import PATH, require_sdk
from agentworld_gym.cli.common import (
    Commands,
    ControlOption,
    FamilyOption,
    JudgeOption,
    LevelOption,
    LockOption,
    SplitOption,
    WorldOption,
    counted,
    env_options,
    examples,
    printable,
    refuse_other_options,
    stderr,
    stdout,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.outputs import writable, writable_out

if TYPE_CHECKING:
    from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
    from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine
    from agentworld_gym.domains.mcp.engine import ToolMachine
    from agentworld_gym.envs.episodes.episode import Episode
    from agentworld_gym.envs.episodes.step import Transition

AWM = "awm:"
"""What stands before the folder of AWM's worlds."""

mcp_app = typer.Typer(
    cls=Commands, name="mcp", no_args_is_help=True, help="The tools of a scenario, or an episode, as a real server."
)

_OF_A_SCENARIO = frozenset({"server", "size", "host", "save_initial", "save_final"})
_OF_BOTH = frozenset({"env", "scenario", "seed", "http"})


@mcp_app.command(
    epilog=examples(
        "agentworld mcp serve shop",
        "agentworld mcp serve bank --size full --seed 7 --http 8080",
        "agentworld mcp serve shop --save-initial before.db --save-final after.db",
        "agentworld mcp serve awm:outputs --scenario e_commerce_33",
        "agentworld mcp serve --env terminal --level 2 --seed 7 --traces runs/agent",
        "agentworld mcp serve --env web --world http://localhost:8000/v1 --http 8080 --traces runs/agent",
    )
)
@with_language_options
def serve(
    context: typer.Context,
    server: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario's name, such as shop, the path of its folder, or awm:DIR with --scenario.",
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            help="An episode of this environment, and no scenario: a domain (terminal), an id, or a spec (my.yaml). "
            "Only --scenario, --seed and --http stand with both.",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario", help="The scenario of AWM's, for awm:DIR; with --env only its tasks, as in `rollout`."
        ),
    ] = None,
    size: Annotated[Literal["small", "full"], typer.Option("--size", help="How many rows there are.")] = "small",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Seed of the rows, or of the first episode; those of further clients count up."
        ),
    ] = 0,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            metavar="PORT",
            min=1,
            max=65535,
            help="Serve streamable HTTP on this port, instead of standard input and output.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on, for --http; an episode listens on this machine alone.")
    ] = "127.0.0.1",
    save_initial: Annotated[
        Path | None,
        typer.Option("--save-initial", dir_okay=False, help="Write the database here at the start, as an SQLite file."),
    ] = None,
    save_final: Annotated[
        Path | None,
        typer.Option("--save-final", dir_okay=False, help="Write the database here at the end, as an SQLite file."),
    ] = None,
    world: WorldOption = "auto",
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "train",
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Only this task: an id, or a YAML file; several are played in turn."),
    ] = None,
    control: ControlOption = None,
    judge: JudgeOption = "same",
    lock: LockOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--traces", file_okay=False, callback=writable_out, help="Record world and agent traces in this folder."
        ),
    ] = None,
    **language: Any,
) -> None:
    """Serve the tools of a scenario, or an episode of any domain, with the official MCP SDK, until the client leaves.

    Clients of a scenario read the texts that the grounded world gives, and all of them work on one database.

    With --env, each connection is an episode of its own, whose agent is the client. It is given the domain's tools, or
    `act` where actions are texts, and reads the task in the server's instructions, in the prompt `task` or by the tool
    `observe`. The episode is scored when the agent calls `finish`, or when it leaves or Ctrl-C is pressed before; a
    line on standard error tells the outcome. It needs the extra `mcp`.
    """
    _refuse_options_of_the_other(context, _OF_A_SCENARIO if env is None else frozenset(context.params) - _OF_A_SCENARIO)
    for option, path in (("--save-initial", save_initial), ("--save-final", save_final)):
        if path is not None and not path.parent.is_dir():
            raise SpecError("command line", option, str(path), "a file in a folder that is there")
        if path is not None:
            writable(path, option)
    require_sdk()
    # Whoever ends a server ends it with this signal; it shall end as with Ctrl-C, and save or score.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if env is None:
        _serve_scenario(str(server), scenario, size, seed, http, host, save_initial, save_final)
        return
    options = env_options(
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
    _serve_episodes(options, seed, http)


def _refuse_options_of_the_other(context: typer.Context, known: frozenset[str]) -> None:
    """Refuse what was given and has no meaning in what is served; `known` are the parameters that have one.

    Raises:
        SpecError: Such an option was given, or neither a scenario nor an environment.
    """
    if context.params["server"] is None and context.params["env"] is None:
        raise SpecError("command line", "SCENARIO", None, "the name of a scenario, or --env with an environment")
    served = "an episode" if context.params["env"] else "a scenario"
    refuse_other_options(context, known | _OF_BOTH, f"nothing: {served} is served")


def _serve_scenario(
    server: str,
    scenario: str | None,
    size: Literal["small", "full"],
    seed: int,
    port: int | None,
    host: str,
    save_initial: Path | None,
    save_final: Path | None,
) -> None:
    from agentworld_gym.domains.mcp.engine.sdk_server import serve_http, serve_stdio

    with ExitStack() as opened:
        machine = _machine(server, scenario, size, seed, opened)
        opened.callback(machine.close)
        if save_initial is not None:
            machine.save(save_initial)
        if save_final is not None:
            opened.callback(machine.save, save_final)
        if port is None:
            serve_stdio(machine)
        else:
            _notify(f"Serving {len(machine.card.tools)} tools", host, port)
            serve_http(machine, host, port)


def _serve_episodes(options: dict[str, Any], seed: int, port: int | None) -> None:
    from agentworld_gym.envs.options import EnvOptions
    from agentworld_gym.integrations.mcp import LOOPBACK, EpisodeHost, serve_http, serve_stdio

    runner = EnvOptions(**options).runner()
    runner.listeners.append(_tell_outcome)
    try:
        with EpisodeHost(runner, seed) as host:
            if port is None:
                serve_stdio(host)
            else:
                _notify(f"Serving episodes of {runner.spec.id}", LOOPBACK, port)
                serve_http(host, port)
    finally:
        runner.close()


def _tell_outcome(episode: Episode, step: Transition) -> None:
    """Print how an episode ended; it is called after every step."""
    if not (step.terminated or step.truncated):
        return
    task, info = episode.task, step.info
    verdict = {True: "success", False: "no success", None: "success was not tested"}[info.get("success")]
    if (failure := info.get("failure")) is not None:
        verdict = f"the world failed: {failure['message']}"
    refused = sum(action.error is not None for action in episode.taken)
    told = f"{task.id}, level {task.level}, seed {episode.seed}: {verdict}, score {info.get('score', 0.0):.2f}"
    line = f"{told}, {counted(episode.steps, 'step')}, {refused} refused"
    stderr().print(printable(line), markup=False, highlight=False, soft_wrap=True)


def _notify(what: str, host: str, port: int) -> None:
    notice = f"{what} at http://{host}:{port}{PATH}"
    stderr().print(notice, markup=False, highlight=False, soft_wrap=True)


@mcp_app.command(
    epilog=examples("agentworld mcp check awm:outputs", "agentworld mcp check awm:outputs --scenario shop_1")
)
def check(
    folder: Annotated[str, typer.Argument(metavar="awm:DIR", help="The folder with AWM's files.")],
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only this scenario.")] = None,
) -> None:
    """Load AWM's worlds, call every tool once, and run every verifier on the databases of the start.

    A table says for each world what was left out and what failed; exit 1 if anything was or did.
    """
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from agentworld_gym.domains.mcp.awm.engine.survey import COLUMNS, survey

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if place else "left", overflow="fold")
    with ExitStack() as opened:
        engine = _awm_engine(folder, opened)
        names = engine.files.names if scenario is None else (engine.files.find(scenario),)
        notes, problems = dict[str, list[str]](), dict[str, list[str]]()
        for name in names:
            try:
                found = survey(engine, name)
            except AgentWorldError as error:
                problems[name] = [f"it cannot be played: {error}"]
                continue
            table.add_row(*map(printable, found.cells()))
            notes[name], problems[name] = found.notes(), list(found.problems)
    stdout().print(table)
    for name in names:
        if lines := [*notes.get(name, ()), *problems[name]]:
            stdout().print(f"\n{printable(name)}", markup=False, highlight=False)
            for line in lines:
                text = Text(printable(line).partition("\n")[0], style="red" if line in problems[name] else "")
                stdout().print(Padding(text, (0, 0, 0, 2)))
    broken = sum(map(bool, problems.values()))
    stdout().print(f"\n{len(names) - broken} of {len(names)} worlds without a problem", highlight=False)
    if broken:
        raise typer.Exit(1)


def _machine(
    server: str, scenario: str | None, size: Literal["small", "full"], seed: int, opened: ExitStack
) -> ToolMachine | AwmMachine:
    """Start the machine that is served."""
    if server.startswith(AWM):
        if scenario is None:
            raise SpecError("command line", "--scenario", scenario, "the name of one of AWM's scenarios")
        engine = _awm_engine(server, opened)
        return engine.start(engine.files.find(scenario), seed)
    if scenario is not None:
        raise SpecError("command line", "--scenario", scenario, "nothing: only awm:DIR has scenarios")
    from agentworld_gym.domains.mcp.engine import ToolMachine

    return ToolMachine.start({"scenario": server, "size": size, "seed": seed}, seed=seed)


def _awm_engine(folder: str, opened: ExitStack) -> AwmEngine:
    from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
    from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles

    if not folder.startswith(AWM):
        raise SpecError("command line", "awm:DIR", folder, "a folder with AWM's files, as in awm:outputs")
    engine = AwmEngine(AwmFiles(Path(folder.removeprefix(AWM))))
    opened.callback(engine.close)
    return engine


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(mcp_app)

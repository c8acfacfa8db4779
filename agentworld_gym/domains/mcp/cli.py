"""`agentworld mcp`: a scenario's tools as a real server, and what is in a folder of AWM's worlds."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.cli.common import Commands, examples, printable, stderr, stdout
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
    from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine
    from agentworld_gym.domains.mcp.engine import ToolMachine

AWM = "awm:"
"""What stands before the folder of AWM's worlds."""

mcp_app = typer.Typer(cls=Commands, name="mcp", no_args_is_help=True, help="The tools of a scenario as a real server.")


@mcp_app.command(
    epilog=examples(
        "agentworld mcp serve shop",
        "agentworld mcp serve bank --size full --seed 7 --transport http --port 8080",
        "agentworld mcp serve shop --save-initial before.db --save-final after.db",
        "agentworld mcp serve awm:outputs --scenario e_commerce_33",
    )
)
def serve(
    server: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario's name, such as shop, the path of its folder, or awm:DIR with --scenario.",
        ),
    ],
    scenario: Annotated[str | None, typer.Option("--scenario", help="The scenario of AWM's, for awm:DIR.")] = None,
    size: Annotated[Literal["small", "full"], typer.Option("--size", help="How many rows there are.")] = "small",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the rows.")] = 0,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option("--transport", help="Standard input and output, or streamable HTTP.")
    ] = "stdio",
    host: Annotated[str, typer.Option("--host", help="Address to listen on, for http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on, for http.")] = 8000,
    save_initial: Annotated[
        Path | None,
        typer.Option("--save-initial", dir_okay=False, help="Write the database here at the start, as an SQLite file."),
    ] = None,
    save_final: Annotated[
        Path | None,
        typer.Option("--save-final", dir_okay=False, help="Write the database here at the end, as an SQLite file."),
    ] = None,
) -> None:
    """Serve the tools of a scenario with the official MCP SDK, until the client goes away or Ctrl-C.

    Clients read the texts that the grounded world gives, and all of them work on one database. It needs the extra
    `mcp`.
    """
    from agentworld_gym.domains.mcp.engine.sdk_server import PATH, require_sdk, serve_http, serve_stdio

    for option, path in (("--save-initial", save_initial), ("--save-final", save_final)):
        if path is not None and not path.parent.is_dir():
            raise SpecError("command line", option, str(path), "a file in a folder that is there")
        if path is not None:
            writable(path, option)
    require_sdk()
    with ExitStack() as opened:
        machine = _machine(server, scenario, size, seed, opened)
        opened.callback(machine.close)
        if save_initial is not None:
            machine.save(save_initial)
        # Whoever ends a server ends it with this signal; it shall end as with Ctrl-C, and save.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if save_final is not None:
            opened.callback(machine.save, save_final)
        if transport == "stdio":
            serve_stdio(machine)
        else:
            notice = f"Serving {len(machine.card.tools)} tools at http://{host}:{port}{PATH}"
            stderr().print(notice, markup=False, highlight=False, soft_wrap=True)
            serve_http(machine, host, port)


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

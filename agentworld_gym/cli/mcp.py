"""`agentworld mcp`: the scenarios of tool servers, and one of them as a real server."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Literal

import typer

from agentworld_gym.cli.common import Commands, examples, stderr, writable
from agentworld_gym.errors import SpecError

mcp_app = typer.Typer(cls=Commands, name="mcp", no_args_is_help=True, help="The tools of a scenario as a real server.")


@mcp_app.command(
    epilog=examples(
        "agentworld mcp serve shop",
        "agentworld mcp serve bank --size full --seed 7 --transport http --port 8080",
        "agentworld mcp serve shop --save-initial before.db --save-final after.db",
    )
)
def serve(
    scenario: Annotated[str, typer.Argument(help="A scenario's name, such as shop, or the path of its folder.")],
    size: Annotated[Literal["small", "full"], typer.Option("--size", help="How many rows there are.")] = "small",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the rows.")] = 0,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option("--transport", help="Standard input and output, or streamable HTTP.")
    ] = "stdio",
    host: Annotated[str, typer.Option("--host", help="Address to listen on, for http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on, for http.")] = 8000,
    save_initial: Annotated[
        Path | None, typer.Option("--save-initial", dir_okay=False, help="Write the database here at the start.")
    ] = None,
    save_final: Annotated[
        Path | None, typer.Option("--save-final", dir_okay=False, help="Write the database here at the end.")
    ] = None,
) -> None:
    """Serve the tools of a scenario with the official MCP SDK, until the client goes away or Ctrl-C."""
    from agentworld_gym.engines.mcp import ToolMachine
    from agentworld_gym.engines.mcp.sdk_server import PATH, require_sdk, serve_http, serve_stdio

    for option, path in (("--save-initial", save_initial), ("--save-final", save_final)):
        if path is not None and not path.parent.is_dir():
            raise SpecError("command line", option, str(path), "a file in a folder that is there")
        if path is not None:
            writable(path, option)
    require_sdk()
    machine = ToolMachine.start({"scenario": scenario, "size": size, "seed": seed}, seed=seed)
    if save_initial is not None:
        machine.save(save_initial)
    # Whoever ends a server ends it with this signal; it shall end as with Ctrl-C, and save.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if transport == "stdio":
            serve_stdio(machine)
        else:
            notice = f"Serving {len(machine.service.tools)} tools at http://{host}:{port}{PATH}"
            stderr().print(notice, markup=False, highlight=False, soft_wrap=True)
            serve_http(machine, host, port)
    finally:
        if save_final is not None:
            machine.save(save_final)
        machine.close()


@mcp_app.callback()
def scenarios() -> None:
    """Make `serve` a subcommand: typer would run the only command of an app in the place of the app."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(mcp_app)

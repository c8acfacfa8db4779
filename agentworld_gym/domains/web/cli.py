"""`agentworld web`: the sites of the Web domain, for a browser on this machine."""

from __future__ import annotations

import signal
from typing import Annotated, Literal

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import Commands, examples, stderr

web_app = typer.Typer(cls=Commands, name="web", no_args_is_help=True, help="The sites of the Web domain.")


@web_app.command(
    epilog=examples(
        "agentworld web serve",
        "agentworld web serve --site shop --site wiki --seed 7 --port 8080",
    )
)
def serve(
    site: Annotated[
        list[str] | None,
        typer.Option("--site", help="A site's name, or the path of its folder; all where none is given."),
    ] = None,
    size: Annotated[Literal["small", "full"], typer.Option("--size", help="How many rows there are.")] = "full",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the rows.")] = 0,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on loopback; 0 takes any.")] = 8000,
) -> None:
    """Serve the sites on this machine until Ctrl-C, and print their addresses and accounts.

    All visitors work on the same rows, which last until the command ends.
    """
    from agentworld_gym.domains.web.engine.sites import Sites
    from agentworld_gym.domains.web.engine.sites.http_server import SiteServer
    from agentworld_gym.domains.web.engine.sites.site import load_site, site_names

    names = site or list(site_names())
    hosts = {load_site(name).name: load_site(name).about.host for name in names}
    opening = f"http://{next(iter(hosts.values()))}/"
    sites = Sites.start({"open": opening, "sites": dict.fromkeys(names), "size": size, "seed": seed}, seed=seed)
    try:
        server = SiteServer(sites, port)
    except OSError as error:
        raise SpecError("command line", "--port", port, f"a port that is free ({error.strerror})") from error
    # Whoever ends a server ends it with this signal; it shall end as with Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    fields = sites.state()
    try:
        for name in hosts:
            address = server.address(hosts[name])
            for key, value in fields.items():
                rest = key.removeprefix(f"{name}/users/")
                if rest != key and rest.endswith("/password"):
                    address += f"  user {rest.partition('/')[0]}, password {value}"
                    break
            stderr().print(address, markup=False, highlight=False, soft_wrap=True)
        server.run()
    finally:
        server.close()
        sites.close()


@web_app.callback()
def sites() -> None:
    """Keep `serve` a command of its own."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(web_app)

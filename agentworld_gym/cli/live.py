"""`agentworld live check`: whether a user's own system is fit to be a world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import Commands, counted, examples, spec_source, stderr, stdout
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.evaluation.live_check import LiveReport

app = typer.Typer(cls=Commands, no_args_is_help=True, help="Your own systems as worlds.")


@app.command(epilog=examples("agentworld live check my.yaml", "agentworld live check my.yaml -n 40 --write"))
def check(
    config: Annotated[Path, typer.Argument(help="The YAML file of the system, as for `live=` of gym.make.")],
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=2, help="How many episodes are played first.")] = 20,
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="ENV", help="The environment, where the file has no key domain.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The seed of what the explorer draws.")] = 0,
    write: Annotated[
        bool, typer.Option("--write", help="Write the learned masks, and whether it is deterministic, into the file.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", dir_okay=False, help="Write what was found here too, as JSON.")
    ] = None,
) -> None:
    """Check whether a live system repeats itself, resets and forks, and tell its speed and its memory.

    An explorer that knows nothing of the system but what it says of itself plays some episodes. Their actions are
    played again, one episode after the other and all at a time. The page tells which share of the answers is the same,
    what varies, and the patterns that mark it (`masks`), and what the system is fit for.
    """
    from agentworld_gym.agents.progress import Meter, TerminalProgress
    from agentworld_gym.envs.options import EnvOptions
    from agentworld_gym.evaluation.live_check import check_live, page_of

    spec = spec_of_system(config, domain)
    if out is not None:
        writable(out, "--out")
    meter = Meter()
    with TerminalProgress("checking", meter, stderr()) as view:

        def follow(stage: str, done: int, share: float) -> None:
            meter.share = share
            meter.place = f"{stage}, {counted(done, 'episode')} done"
            view.show()

        report = check_live(EnvOptions(spec=spec, world=f"live:{config}"), episodes, seed, follow)
        meter.share, meter.place = 1.0, "done"
    stdout().print(page_of(report), markup=False, highlight=False, soft_wrap=True)
    if out is not None:
        out.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if write:
        _write(config, report)


def spec_of_system(config: Path, domain: str | None) -> str:
    """Return the spec of the environment of a live system: that which is asked for, or else that of its file.

    Raises:
        SpecError: Neither names one.
    """
    from agentworld_gym.kit.live import LiveSource

    named = domain or LiveSource.of(config).data.get("domain")
    if not isinstance(named, str):
        raise SpecError(config, "domain", named, "the id of a domain, such as mcp; or pass --domain")
    try:
        return spec_source(named)
    except SpecError as error:
        if domain is not None:
            raise
        raise SpecError(config, "domain", named, error.expected) from error


def _write(config: Path, report: LiveReport) -> None:
    """Write what was learned into a configuration; what else stands in the file stays as it is.

    Raises:
        SpecError: The file cannot be written to without a change of what else it says; the error tells the keys.
    """
    import yaml

    from agentworld_gym.base.documents.yaml_keys import with_keys
    from agentworld_gym.kit.live import LiveSource

    learned = report.learned(LiveSource.of(config).data)
    written = with_keys(config.read_text(encoding="utf-8"), learned, config)
    if written is None:
        told = yaml.safe_dump(learned, sort_keys=False, allow_unicode=True)
        raise SpecError(config, "--write", str(config), f"a file with each key on a line of its own; it needs:\n{told}")
    config.write_text(written, encoding="utf-8")


def register(parent: typer.Typer) -> None:
    """Add the commands."""
    parent.add_typer(app, name="live")

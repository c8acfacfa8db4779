"""The command of an adoption, and what it shows while it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import examples, printable, spec_source, stderr, stdout
from agentworld_gym.cli.live import spec_of_system
from agentworld_gym.cli.outputs import writable_out
from agentworld_gym.cli.training_progress import TrainingProgress

if TYPE_CHECKING:
    from agentworld_gym.agents.progress import Tally
    from agentworld_gym.recipe.training.metrics import Metrics


def adopt(
    out: Annotated[
        Path, typer.Option("--out", file_okay=False, callback=writable_out, help="The folder of the adoption.")
    ],
    config: Annotated[
        Path | None, typer.Argument(help="The YAML file of the system, as for `live=` of gym.make.")
    ] = None,
    traces: Annotated[
        list[Path] | None,
        typer.Option(
            "--traces",
            help="Recordings alone, where the system is not here: a file of sessions that `collect` or `import` wrote, "
            "or a folder of them; repeatable.",
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain", metavar="ENV", help="The environment, where neither the file nor the recordings name it."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="An agent that plays three of ten of the sessions that are recorded, beside the explorer: a language "
            "model such as http://localhost:8001/v1, or python:MODULE:FACTORY, as in `agentworld collect`.",
        ),
    ] = None,
    sessions: Annotated[int, typer.Option("--sessions", min=10, help="The most sessions to learn from.")] = 2000,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="The minutes of training.")] = 30.0,
    tokens: Annotated[int | None, typer.Option("--tokens", min=1, help="The most tokens to train on.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="DIR|NAME",
            help="A pretrained model to start from; else a small one of 3 million parameters, which begins with the "
            "layers of a shipped one.",
        ),
    ] = None,
) -> None:
    """Make a world model of your own system: check it, record it, train, measure, and say what to trust.

    The folder ends up with `README.md`, which says how right the world is and what to trust, and `world`, which
    `gym.make(ID, world="OUT/world")` plays. Every stage is done once: after Ctrl-C or a kill, the same command goes on.
    With --traces the model learns from recordings alone: nothing is checked or recorded, and no system is asked.
    """
    from agentworld_gym.cli.adopt.adoption import Adoption, Budget
    from agentworld_gym.cli.adopt.adoption import adopt as run
    from agentworld_gym.cli.adopt.summary import page_of
    from agentworld_gym.cli.adopt.traces import spec_of_traces
    from agentworld_gym.cli.train import must_have_what_trains

    if "+" in str(out):
        raise SpecError("command line", "--out", str(out), "a path without +, which separates worlds in a handle")
    if (config is None) == (not traces):
        given = "both" if traces else "none"
        raise SpecError("command line", "CONFIG, --traces", given, "one: the system, or recordings of it")
    if traces and agent is not None:
        raise SpecError("command line", "--agent", agent, "nothing beside --traces, with which nothing is recorded")
    if config is not None:
        source = spec_of_system(config, domain)
    else:
        source = spec_of_traces(traces or ()) if domain is None else spec_source(domain, "--domain")
    must_have_what_trains()
    budget = Budget(sessions=sessions, minutes=minutes, tokens=tokens)
    adoption = Adoption(config, out, source, tuple(traces or ()), domain is not None, budget, model, agent)
    try:
        with _Shown() as shown:
            found = run(adoption, shown)
    except KeyboardInterrupt:
        said = f"{out} keeps what is done; the same command goes on with it."
        stderr().print(said, markup=False, highlight=False, soft_wrap=True)
        raise
    stdout().print(page_of(found), markup=False, highlight=False, soft_wrap=True)
    stdout().print(f"{out / 'README.md'}, {out / 'fidelity.html'}", markup=False, highlight=False, soft_wrap=True)


class _Shown(ExitStack):
    """Shows an adoption on standard error, one stage at a time."""

    def begin(self, what: str, unit: str, total: int) -> Tally:
        """Show a stage, and return what counts it; the stage before ends."""
        from agentworld_gym.agents.progress import live

        self.close()
        tally = self.enter_context(live(f"adopt, {what}", total))
        tally.unit = unit
        return tally

    @contextmanager
    def training(self) -> Iterator[Callable[[Metrics], None]]:
        """Show a training; the stage before ends."""
        self.close()
        with TrainingProgress("cpt", 0, stderr()) as progress:
            yield progress.measured

    def say(self, text: str) -> None:
        """Show a sentence."""
        stderr().print(printable(text), markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld adopt my.yaml --out runs/mine",
            "agentworld adopt my.yaml --out runs/mine --sessions 500 --minutes 10",
            "agentworld adopt my.yaml --out runs/mine --agent http://localhost:8001/v1",
            "agentworld adopt --traces sessions/ --out runs/mine",
        )
    )(adopt)

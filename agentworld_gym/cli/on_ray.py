"""What the commands that play on a Ray cluster share: their options, and progress that counts what comes back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.base.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.playing import Played, Policy
    from agentworld_gym.agents.progress import Tally
    from agentworld_gym.base.process.elsewhere import Elsewhere, Hand
    from agentworld_gym.envs.options import EnvOptions

RayOption = Annotated[
    bool, typer.Option("--ray", help="Run on a Ray cluster: that of RAY_ADDRESS, or of this machine.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Processes that play on the cluster; without it one for each node that has a CPU."
    ),
]


def check_workers(ray: bool, workers: int | None) -> None:
    """Refuse workers without a cluster.

    Raises:
        SpecError: There are some, and no cluster.
    """
    if workers is not None and not ray:
        raise SpecError("command line", "--workers", workers, "--ray beside it: without Ray there is one process")


def on_ray(workers: int | None, width: int) -> Elsewhere:
    """Return what works on a cluster; see `integrations.ray.spread`."""

    def elsewhere(
        make: Callable[[str, int], Hand[Any, Any]], items: Sequence[Any], ahead: int | None
    ) -> Generator[tuple[int, Any], None, None]:
        from agentworld_gym.integrations.ray import spread

        return spread(make, items, workers=workers, width=width, ahead=ahead)

    return elsewhere


def counted_on_ray(
    options: EnvOptions,
    opening: Callable[[], Policy],
    seeds: Sequence[int],
    workers: int | None,
    width: int,
    tally: Tally,
) -> Generator[Played, None, None]:
    """Play one episode for each seed on a cluster, and count them; see `integrations.ray.play_on_ray`."""
    from agentworld_gym.integrations.ray import play_on_ray

    with closing(play_on_ray(options, opening, seeds, workers=workers, wave=width)) as playing:
        for outcome in playing:
            tally.tokens += outcome.step_usage.total or 0
            tally.ended(
                outcome.success, outcome.reward, len(outcome.actions), failure=outcome.failure or outcome.agent_failure
            )
            yield outcome

"""Live progress of long runs: one class counts, and two show what it counted, on a terminal and in TensorBoard, which
Weights & Biases can follow.

with live("training", tensorboard="runs/board", window=100) as tally:
    tally.watch(env.unwrapped.runner)
    model.learn(100_000)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike

from agentworld_gym.agents.progress.tally import Tally
from agentworld_gym.agents.progress.terminal import Meter, TerminalProgress

__all__ = ["Meter", "Tally", "TerminalProgress", "live"]


@contextmanager
def live(
    what: str,
    total: int | None = None,
    *,
    tensorboard: str | PathLike[str] | None = None,
    wandb: str | None = None,
    window: int | None = None,
    terminal: bool = True,
) -> Iterator[Tally]:
    """Count a run and show it while it lasts.

    Args:
        what: The name of the run.
        total: How many episodes there will be; None where that is not known.
        tensorboard: A folder for TensorBoard, which needs the extra `tensorboard`; None writes none.
        wandb: A project of Weights & Biases that the run is shown in, which needs the extra `wandb`; None shows none.
        window: The means are over so many last episodes, as suits a run that learns; None takes all.
        terminal: Whether to show the run on standard error.

    Raises:
        ImportError: TensorBoard or Weights & Biases is asked for and not installed.
        SpecError: Nothing can be written into the folder, the project cannot be reached, or the window holds no
            episode.

    >>> with live("demo", total=2, terminal=False) as tally:
    ...     tally.ended(success=True, gain=1.0)
    >>> tally.episodes
    1
    """
    tally = Tally(total, window)
    with ExitStack() as opened:
        if wandb is not None:
            from agentworld_gym.agents.progress.wandb import followed

            tensorboard = opened.enter_context(followed(wandb, what, tensorboard))
        if tensorboard is not None:
            from agentworld_gym.agents.progress.tensorboard import TensorBoardProgress

            tally.views.append(opened.enter_context(TensorBoardProgress(tensorboard, tally)))
        if terminal:
            tally.views.append(opened.enter_context(TerminalProgress(what, tally)))
        yield tally

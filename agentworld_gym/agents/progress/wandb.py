"""Progress in Weights & Biases, which follows what is written for TensorBoard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike, fspath
from tempfile import TemporaryDirectory

from agentworld_gym.base.errors import SpecError, install

try:
    import wandb
except ImportError as error:
    raise ImportError(f"progress in Weights & Biases needs wandb: {install('wandb')}") from error


@contextmanager
def followed(project: str, name: str, folder: str | PathLike[str] | None) -> Iterator[str]:
    """Show what is written for TensorBoard below a folder in Weights & Biases too, as one run, and yield the folder.

    The variables of wandb count, such as `WANDB_MODE=offline`, which keeps the run on this machine, below `WANDB_DIR`.

    Args:
        project: The project of the run.
        name: The name of the run.
        folder: The folder; None takes a temporary one.

    Raises:
        SpecError: The run cannot begin, because nobody is signed in for example.
    """
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory()) if folder is None else fspath(folder)
        wandb.tensorboard.patch(save=False, root_logdir=folder)
        opened.callback(wandb.tensorboard.unpatch)
        try:
            run = wandb.init(project=project, name=name, sync_tensorboard=True, settings=wandb.Settings(console="off"))
        except wandb.Error as error:
            expected = f"a project that can be reached, or the variable WANDB_MODE=offline ({error})"
            raise SpecError("options", "wandb", project, expected) from error
        opened.enter_context(run)
        yield folder

"""The processes that train one model together, through accelerate; a single process is the simplest case.

Whoever starts the processes decides how many there are, on which devices they run, and whether the model is copied or
sharded: `python` starts one, `accelerate launch` and `torchrun` start as many as you ask for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import GeneratorError, install

if TYPE_CHECKING:
    import torch

    from agentworld_gym.recipe.training.loss import ModelWithLoss

PATIENCE = timedelta(hours=12)
"""How long processes wait for the one that records or encodes the data."""

PREFIX = "model."
"""The prefix that `ModelWithLoss` adds to the names of the model's parameters."""


class Processes:
    """This process among those that train together.

    Raises:
        GeneratorError: accelerate is not installed, or does not see the processes that were started.
    """

    def __init__(self) -> None:
        try:
            from accelerate import Accelerator, InitProcessGroupKwargs
        except ImportError as error:
            raise GeneratorError(f"training needs accelerate: {install('train')}") from error
        patience: Any = InitProcessGroupKwargs(timeout=PATIENCE)
        self._accelerator = Accelerator(kwargs_handlers=[patience])
        self.rank: int = self._accelerator.process_index
        self.count: int = self._accelerator.num_processes
        started = int(os.environ.get("WORLD_SIZE", "1"))
        if started != self.count:
            raise GeneratorError(
                f"{started} processes were started, and accelerate works with {self.count}; on a CPU say so: "
                "ACCELERATE_USE_CPU=true torchrun …"
            )
        self.device: torch.device = self._accelerator.device
        self.sharded = "FSDP" in str(self._accelerator.distributed_type)

    @property
    def main(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def prepare(
        self, learner: ModelWithLoss, optimizers: list[torch.optim.Optimizer]
    ) -> tuple[Any, list[torch.optim.Optimizer]]:
        """Put a model on its device, copied or sharded, and its optimizers with it."""
        prepared, *others = self._accelerator.prepare(learner, *optimizers)
        return prepared, others

    def unsynced(self, learner: Any) -> AbstractContextManager[Any]:
        """Return a context within which gradients are added up without being exchanged."""
        context: AbstractContextManager[Any] = self._accelerator.no_sync(learner)
        return context

    def backward(self, loss: torch.Tensor) -> None:
        """Add the gradients of a loss."""
        self._accelerator.backward(loss)

    def clip(self, learner: Any, limit: float) -> float:
        """Scale the gradients down to a norm of at most `limit`, and return the norm that they had before."""
        norm: Any = self._accelerator.clip_grad_norm_(learner.parameters(), limit)
        return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)

    def total(self, values: Sequence[float]) -> list[float]:
        """Return the sums of some numbers over all processes, equal on all of them."""
        if self.count == 1:
            return list(values)
        import torch

        summed: Any = self._accelerator.reduce(
            torch.tensor(values, dtype=torch.float64, device=self.device), reduction="sum"
        )
        totals: list[float] = summed.tolist()
        return totals

    def wait(self) -> None:
        """Wait until all processes have come here."""
        self._accelerator.wait_for_everyone()

    def random_states(self) -> list[Any]:
        """Return the states of the random numbers of every process, in the order of their ranks."""
        import torch
        from accelerate.utils import gather_object

        state = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            state["cuda"] = torch.cuda.get_rng_state(self.device)
        return [state] if self.count == 1 else list(gather_object([state]))

    def set_random_state(self, states: Sequence[Any]) -> None:
        """Restore the random numbers of this process from the states of all, if there was a process of its rank."""
        import torch

        if self.rank < len(states):
            torch.set_rng_state(states[self.rank]["cpu"])
            if "cuda" in states[self.rank] and self.device.type == "cuda":
                torch.cuda.set_rng_state(states[self.rank]["cuda"], self.device)

    def state(self, learner: Any, optimizers: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return the trained parameters by name, and the states of the optimizers; a sharded model gives them on the
        main process alone.
        """
        from agentworld_gym.recipe.training.model import trained_weights

        weights: dict[str, Any] = dict(trained_weights(self._accelerator.unwrap_model(learner).model))
        if not self.sharded:
            return weights, [optimizer.state_dict() for optimizer in optimizers]
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

        options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True)
        plain = [optimizer.optimizer for optimizer in optimizers]
        model_state, optimizer_state = get_state_dict(learner, plain, options=options)
        whole = {name.removeprefix(PREFIX): value for name, value in model_state.items()}
        return {name: whole[name] for name in weights if name in whole}, [optimizer_state]

    def restore(self, learner: Any, optimizers: list[Any], weights: dict[str, Any], states: list[Any]) -> None:
        """Restore what `state` returned; the optimizers keep the options that they were made with."""
        options = [_options(optimizer) for optimizer in optimizers]
        self._load(learner, optimizers, weights, states)
        for optimizer, kept_options in zip(optimizers, options, strict=True):
            for group, kept in zip(optimizer.param_groups, kept_options, strict=True):
                group.update(kept)

    def _load(self, learner: Any, optimizers: list[Any], weights: dict[str, Any], states: list[Any]) -> None:
        if not self.sharded:
            from agentworld_gym.recipe.training.model import load_weights

            load_weights(self._accelerator.unwrap_model(learner).model, weights, "checkpoint")
            for optimizer, saved in zip(optimizers, states, strict=True):
                optimizer.load_state_dict(saved)
            return
        from torch.distributed.checkpoint.state_dict import StateDictOptions, set_state_dict

        set_state_dict(
            learner,
            [optimizer.optimizer for optimizer in optimizers],
            model_state_dict={PREFIX + name: value for name, value in weights.items()},
            optim_state_dict=states[0],
            options=StateDictOptions(full_state_dict=True, strict=False),
        )


def _options(optimizer: Any) -> list[dict[str, Any]]:
    """Return the options of the groups of an optimizer, without their parameters."""
    return [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]

"""Two processes that shard one model as FSDP does, on a CPU: what they save, and whether they go on from it exactly.

Accelerate shards on GPUs alone, so the model is sharded by hand. Prints the losses before and after going on, and which
of the saved parameters are missing or too many.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import torch
import torch.distributed as processes
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from training_run import config

from agentworld_gym.recipe.training.distributed import Processes
from agentworld_gym.recipe.training.loss import Inputs, ModelWithLoss
from agentworld_gym.recipe.training.model import make_model, make_tokenizer, trained_weights
from agentworld_gym.recipe.training.optimizers import make_optimizers


class Wrapped:
    """An optimizer as accelerate hands it back."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self.param_groups = optimizer.param_groups


def main() -> None:
    """Train, save, train on; and train on from what was saved."""
    torch.set_num_threads(1)
    workers = Processes()
    workers.sharded = True
    settings = config({"optimizer": "adamw"})
    tokenizer = make_tokenizer(settings.model, ["alpha beta"])
    mesh = init_device_mesh("cpu", (workers.count,))

    def build() -> tuple[ModelWithLoss, list[Wrapped]]:
        model: Any = make_model(settings.model, tokenizer, 0)
        learner = ModelWithLoss(model, bfloat16=False)
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(learner, mesh=mesh)
        return learner, [Wrapped(optimizer) for optimizer in make_optimizers(model, settings.train, "float32")]

    def step(learner: ModelWithLoss, optimizers: list[Wrapped], seed: int) -> float:
        ids = torch.randint(0, 200, (1, 16), generator=torch.Generator().manual_seed(seed))
        ones = torch.ones(15)
        losses = learner(Inputs(ids, None, torch.arange(15), ids[0, 1:], ones, ones.bool()))
        losses.loss.backward()
        workers.clip(learner, 1.0)
        for wrapped in optimizers:
            wrapped.optimizer.step()
            wrapped.optimizer.zero_grad()
        return losses.loss.item()

    learner, optimizers = build()
    names = set(trained_weights(learner.model))
    step(learner, optimizers, 0)
    saved: list[Any] = deepcopy(list(workers.state(learner, optimizers)))  # the counts of steps are not copies
    wrong = sorted(names ^ saved[0].keys())
    on = [step(learner, optimizers, seed) for seed in (1, 2)]
    processes.broadcast_object_list(saved, 0)
    learner, optimizers = build()
    workers.restore(learner, optimizers, *saved)
    again = [step(learner, optimizers, seed) for seed in (1, 2)]
    if workers.main:
        print(json.dumps({"on": on, "again": again, "wrong": wrong}))


if __name__ == "__main__":
    main()

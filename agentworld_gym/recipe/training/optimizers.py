"""The optimizers and the schedule of their learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentworld_gym.llm.generators.number_formats import NumberFormat
from agentworld_gym.recipe.training.train_config import TrainConfig

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

LOWEST = 0.01
"""The factor of the learning rate at the end of a run."""

FIRST = 0.05
"""The factor of the learning rate at the beginning of a run."""


def make_optimizers(
    model: PreTrainedModel, options: TrainConfig, number_format: NumberFormat
) -> list[torch.optim.Optimizer]:
    """Make the optimizers of the parameters that are trained.

    Muon (K. Jordan et al., 2024) orthogonalises the momentum of a matrix, in the given number format. Embeddings, the
    output layer and all other parameters that are not matrices get AdamW, without weight decay.
    """
    import torch

    from agentworld_gym.recipe.training.muon import BatchedMuon

    network: Any = model  # some of it untyped
    ends = {id(layer.weight) for layer in (network.get_input_embeddings(), network.get_output_embeddings()) if layer}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    muon = options.optimizer == "muon+adamw"
    matrices = [
        parameter
        for parameter in trained
        if id(parameter) not in ends and (parameter.ndim == 2 or (parameter.ndim > 2 and not muon))
    ]
    chosen = {id(parameter) for parameter in matrices}
    others = [parameter for parameter in trained if id(parameter) not in chosen]
    adamw: dict[str, Any] = {"lr": options.adamw_lr, "betas": options.adamw_betas}
    if muon and matrices:
        chosen_format = getattr(torch, number_format)
        optimizers: list[torch.optim.Optimizer] = [
            BatchedMuon(matrices, lr=options.muon_lr, weight_decay=options.weight_decay, number_format=chosen_format)
        ]
        return optimizers + ([torch.optim.AdamW(others, weight_decay=0.0, **adamw)] if others else [])
    groups = [
        {"params": parameters, "weight_decay": decay}
        for parameters, decay in ((matrices, options.weight_decay), (others, 0.0))
        if parameters
    ]
    return [torch.optim.AdamW(groups, **adamw)]


def learning_rate_factor(spent: float, options: TrainConfig) -> float:
    """Return the factor of the learning rate when a share of the budget is spent: it rises, stays level, and falls.

    >>> options = TrainConfig(max_steps=100, warmup=0.1, decay=0.5)
    >>> [round(learning_rate_factor(spent, options), 2) for spent in (0.0, 0.05, 0.1, 0.5, 0.75, 1.0)]
    [0.05, 0.5, 1.0, 1.0, 0.5, 0.01]
    """
    if spent < options.warmup:
        return max(spent / options.warmup, FIRST)
    if spent > 1 - options.decay:
        return max((1 - spent) / options.decay, LOWEST)
    return 1.0


class LearningRates:
    """Sets the learning rates of optimizers to a share of those that they were made with."""

    def __init__(self, optimizers: list[torch.optim.Optimizer]) -> None:
        self._optimizers = optimizers
        self._full = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]

    def set(self, factor: float) -> None:
        """Set all learning rates to `factor` times their full value."""
        # Loading a state replaces the groups, so they are looked up every time.
        groups = [group for optimizer in self._optimizers for group in optimizer.param_groups]
        for group, full in zip(groups, self._full, strict=True):
            group["lr"] = full * factor

"""The loss of a batch as one module, which is what is spread over processes and sharded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from agentworld_gym.llm.teacher_forcing import select_positions

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from agentworld_gym.recipe.training.batches import Batch


class Inputs(NamedTuple):
    """A batch as tensors on the device."""

    ids: torch.Tensor
    """The tokens, of the shape (rows, width)."""

    positions: torch.Tensor | None
    """The positions of packed samples, of the same shape; None where each row holds one sample."""

    chosen: torch.Tensor
    """The places, counted through the whole batch, whose next token is a target."""

    targets: torch.Tensor
    """The target after each chosen place."""

    weights: torch.Tensor
    """The weight of each target in the loss."""

    observed: torch.Tensor
    """Whether each target is part of an answer."""


class Losses(NamedTuple):
    """Sums over a batch."""

    loss: torch.Tensor
    """The sum of the weighted losses."""

    observed_loss: torch.Tensor
    """The sum of the losses of the tokens of answers."""

    hits: torch.Tensor
    """The number of tokens of answers than which the model finds none likelier."""

    observed: torch.Tensor
    """The number of tokens of answers."""


def target_weight(batch: Batch) -> float:
    """Return the sum of the weights of all targets of a batch."""
    return float(batch.weights[:, 1:].sum(dtype="float64"))


def target_count(batch: Batch) -> int:
    """Return the number of targets of a batch."""
    return int(np.count_nonzero(batch.weights[:, 1:]))


def with_context_share(batch: Batch, share: float, rng: np.random.Generator) -> Batch:
    """Return a batch in which only a random share of the context has a weight; answers keep theirs."""
    if share >= 1:
        return batch
    kept = batch.observed | (rng.random(batch.weights.shape) < share)
    return replace(batch, weights=np.where(kept, batch.weights, np.float32(0)))


def model_inputs(batch: Batch, device: torch.device, packed: bool) -> Inputs:
    """Make tensors of a batch. The first token of a row is never a target, because nothing stands before it."""
    ids = torch.from_numpy(batch.ids)
    weights, observed = torch.from_numpy(batch.weights)[:, 1:], torch.from_numpy(batch.observed)[:, 1:]
    row, column = torch.nonzero(weights > 0, as_tuple=True)
    inputs = Inputs(
        ids,
        torch.from_numpy(batch.positions) if packed else None,
        row * ids.shape[1] + column,
        ids[row, column + 1],
        weights[row, column],
        observed[row, column],
    )
    return Inputs(*(None if item is None else item.to(device, non_blocking=True) for item in inputs))  # type: ignore[arg-type]


class ModelWithLoss(nn.Module):
    """A causal language model with its loss.

    Only places whose next token is a target reach the output layer, which for large vocabularies is most of the work.
    Packed samples are kept apart by their positions, which transformers turns into a mask.

    Args:
        model: Any causal language model of transformers.
        bfloat16: Whether to compute in bfloat16 where that is safe.
    """

    def __init__(self, model: PreTrainedModel, bfloat16: bool) -> None:
        super().__init__()
        self.model = model
        self._bfloat16 = bfloat16
        self._losses_and_hits = _losses_and_hits
        self._chosen: torch.Tensor | None = None
        self._no_split_modules = getattr(model, "_no_split_modules", None)  # what sharding looks for
        network: Any = model  # some of it untyped
        network.get_output_embeddings().register_forward_pre_hook(self._choose)

    def compile_layers(self) -> None:
        """Compile each layer by itself, and what follows the output layer, for rows of any width.

        The layers share what is compiled. The model around them is not compiled: as a whole, transformers would make a
        mask of what is causal, and attention on a CPU would then take twice the time.
        """
        for module in self.model.modules():
            if type(module).__name__ in (self._no_split_modules or ()):
                module.compile(dynamic=True)
        self._losses_and_hits = torch.compile(_losses_and_hits, dynamic=True)

    def forward(self, inputs: Inputs) -> Losses:
        """Return the sums of a batch."""
        ids = inputs.ids
        self._chosen = inputs.chosen
        model: Any = self.model
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._bfloat16):
            logits = model(input_ids=ids, position_ids=inputs.positions, use_cache=False).logits
        self._chosen = None
        each, hits = self._losses_and_hits(logits.squeeze(0), inputs.targets)
        hits = hits & inputs.observed
        return Losses(
            (each * inputs.weights).sum(),
            (each.detach() * inputs.observed).sum(),
            hits.sum(),
            inputs.observed.sum(),
        )

    def _choose(self, _layer: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...] | None:
        return None if self._chosen is None else (select_positions(arguments[0], self._chosen),)


def why_not_compiled() -> str:
    """Return why this machine cannot compile with `torch.compile`, such as the lack of a C++ compiler; empty if it can.

    To find out, it compiles a function of one line, which takes some seconds the first time.
    """
    try:
        torch.compile(_twice)(torch.ones(1))
    except Exception as error:  # What a compiler or its headers lack is told by many types.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return next((line for line in lines if "error: " in line), lines[0])
    return ""


def _twice(values: torch.Tensor) -> torch.Tensor:
    return values * 2


def _losses_and_hits(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of each target, and whether no other token is likelier."""
    wide = logits.float()
    each = nn.functional.cross_entropy(wide, targets, reduction="none")
    detached = wide.detach()
    return each, detached.gather(1, targets[:, None]).squeeze(1) >= detached.amax(-1)

"""The count of the floating-point operations that a step of training cannot do without: its products of matrices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TRAINED, FROZEN = 6, 4
"""The operations for each weight and token: a product and a sum in the forward pass, the same for the gradients of the
activations, and the same for the gradients of the weights where they are trained."""


class FlopCount(NamedTuple):
    """The floating-point operations of a step, by what they grow with.

    >>> FlopCount(token=6.0, target=2.0, pair=1.0).of(tokens=10, targets=5, pairs=55)
    125.0
    """

    token: float
    """The operations for each token, in the layers."""

    target: float
    """The operations for each token that is a target, in the output layer."""

    pair: float
    """The operations for each pair of a token and one that it looks back to, itself included."""

    def of(self, tokens: float, targets: float, pairs: float) -> float:
        """Return the operations for so many tokens, targets and pairs."""
        return self.token * tokens + self.target * targets + self.pair * pairs


def count_flops(model: PreTrainedModel) -> FlopCount:
    """Count the operations of a step of a model. Activations that are computed twice to spare memory count once."""
    network: Any = model  # some of it untyped
    output = network.get_output_embeddings().weight
    ends = {id(output), id(network.get_input_embeddings().weight)}
    config: Any = model.config.get_text_config()
    experts = getattr(config, "num_experts", None) or 1
    active = (getattr(config, "num_experts_per_tok", None) or 1) / experts
    token = sum(
        _each(weight) * weight.numel() * (active if experts > 1 and ".experts." in name else 1)
        for name, weight in model.named_parameters()
        if id(weight) not in ends and weight.ndim > 1
    )
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return FlopCount(token, _each(output) * output.numel(), 2 * TRAINED * kinds.count("full_attention") * heads * width)


def attention_pairs(lengths: Iterable[int]) -> int:
    """Return the number of pairs of a token and one that it looks back to, in samples of these lengths.

    >>> attention_pairs([1, 3])
    7
    """
    return sum(length * (length + 1) // 2 for length in lengths)


def _each(weight: Any) -> int:
    return TRAINED if weight.requires_grad else FROZEN

"""Muon for small models and for any machine: matrices of one shape together, in the number format that is fast."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

STACK = 1 << 26
"""The most entries of the matrices that are orthogonalised together, so that large models need little more memory."""


class BatchedMuon(torch.optim.Muon):
    """`torch.optim.Muon`, which orthogonalises one matrix at a time in bfloat16, for all matrices of a shape at once.

    A step of a small model on a GPU takes as long as its kernels take to launch, and this launches a fraction of them.
    The steps are the same up to rounding, and so is the state: a checkpoint of either optimizer goes on with the other.

    Args:
        params: The matrices to train.
        lr: The learning rate of a square matrix.
        weight_decay: The share of each weight that a step takes away, before it is multiplied by the learning rate.
        number_format: The format in which the iteration of Newton and Schulz computes.

    >>> weight = torch.nn.Parameter(torch.eye(2))
    >>> weight.grad = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    >>> BatchedMuon([weight], lr=0.1, weight_decay=0.0, number_format=torch.float32).step()
    >>> weight[0, 1] < -0.05
    tensor(True)
    """

    def __init__(
        self, params: Iterable[torch.nn.Parameter], *, lr: float, weight_decay: float, number_format: torch.dtype
    ) -> None:
        super().__init__(params, lr=lr, weight_decay=weight_decay)
        self.number_format = number_format

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every matrix that has a gradient, and return what the closure returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weights in _alike(weight for weight in group["params"] if weight.grad is not None):
                self._change(weights, group)
        return loss

    def _change(self, weights: list[torch.Tensor], group: dict[str, Any]) -> None:
        gradients: list[Any] = [weight.grad for weight in weights]
        for weight, gradient in zip(weights, gradients, strict=True):
            if "momentum_buffer" not in self.state[weight]:
                self.state[weight]["momentum_buffer"] = torch.zeros_like(gradient)
        averages = [self.state[weight]["momentum_buffer"] for weight in weights]
        torch._foreach_lerp_(averages, gradients, 1 - group["momentum"])
        updates = torch._foreach_lerp(gradients, averages, group["momentum"]) if group["nesterov"] else averages
        stacked = torch.stack(list(updates)).to(self.number_format)
        changes = orthogonal(stacked, group["ns_coefficients"], group["ns_steps"], group["eps"]).to(weights[0].dtype)
        rows, columns = weights[0].shape
        torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(weights, changes.unbind(), alpha=-group["lr"] * math.sqrt(max(1, rows / columns)))


def orthogonal(matrices: torch.Tensor, coefficients: Sequence[float], steps: int, eps: float) -> torch.Tensor:
    """Return matrices with all their singular values brought near 1, by the iteration of Newton and Schulz.

    Args:
        matrices: Matrices of one shape, as a tensor of the shape (matrices, rows, columns).
        coefficients: The coefficients of the first, third and fifth power in a step.
        steps: The number of steps.
        eps: The least norm that a matrix is divided by.

    >>> found = orthogonal(torch.diag(torch.tensor([3.0, 1.0]))[None], (1.5, -0.5, 0.0), 20, 1e-7)
    >>> torch.allclose(found[0], torch.eye(2), atol=1e-4)
    True
    """
    linear, cubic, quintic = coefficients
    tall = matrices.shape[-2] > matrices.shape[-1]
    wide = matrices.mT if tall else matrices
    wide = wide / torch.linalg.matrix_norm(wide, keepdim=True).clamp(min=eps)
    for _ in range(steps):
        gram = wide @ wide.mT
        powers = torch.baddbmm(gram, gram, gram, beta=cubic, alpha=quintic)
        wide = torch.baddbmm(wide, powers, wide, beta=linear)
    return wide.mT if tall else wide


def _alike(weights: Iterable[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    """Yield matrices in lists of one shape, type and device, each of at most `STACK` entries unless it holds one."""
    kinds: defaultdict[object, list[torch.Tensor]] = defaultdict(list)
    for weight in weights:
        kinds[weight.shape, weight.dtype, weight.device].append(weight)
    for alike in kinds.values():
        most = max(1, STACK // max(1, alike[0].numel()))
        yield from (alike[start : start + most] for start in range(0, len(alike), most))

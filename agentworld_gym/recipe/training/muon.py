"""Muon for machines that compute in float32 faster than in bfloat16."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch


class Float32Muon(torch.optim.Muon):
    """`torch.optim.Muon` with its Newton-Schulz iteration in float32, which torch computes in bfloat16.

    The steps are the same up to rounding, and so is the state: a checkpoint of either optimizer goes on with the other.

    Args:
        params: The matrices to train.
        lr: The learning rate of a square matrix.
        weight_decay: The share of each weight that a step takes away, before it is multiplied by the learning rate.

    >>> weight = torch.nn.Parameter(torch.eye(2))
    >>> weight.grad = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    >>> Float32Muon([weight], lr=0.1, weight_decay=0.0).step()
    >>> weight[0, 1] < -0.05
    tensor(True)
    """

    def __init__(self, params: Iterable[torch.nn.Parameter], *, lr: float, weight_decay: float) -> None:
        super().__init__(params, lr=lr, weight_decay=weight_decay)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every matrix that has a gradient, and return what the closure returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._change(weight, group)
        return loss

    def _change(self, weight: torch.Tensor, group: dict[str, Any]) -> None:
        gradient, state = weight.grad, self.state[weight]
        assert gradient is not None
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        average = state["momentum_buffer"]
        average.lerp_(gradient, 1 - group["momentum"])
        update = gradient.lerp(average, group["momentum"]) if group["nesterov"] else average
        update = orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = weight.shape
        weight.mul_(1 - group["lr"] * group["weight_decay"])
        weight.add_(update.to(weight.dtype), alpha=-group["lr"] * math.sqrt(max(1, rows / columns)))


def orthogonal(matrix: torch.Tensor, coefficients: Sequence[float], steps: int, eps: float) -> torch.Tensor:
    """Return a matrix with all its singular values brought near 1, by the iteration of Newton and Schulz in float32.

    Args:
        matrix: A matrix of any shape.
        coefficients: The coefficients of the first, third and fifth power in a step.
        steps: The number of steps.
        eps: The least norm that the matrix is divided by.

    >>> found = orthogonal(torch.diag(torch.tensor([3.0, 1.0])), (1.5, -0.5, 0.0), 20, 1e-7)
    >>> torch.allclose(found, torch.eye(2), atol=1e-4)
    True
    """
    linear, cubic, quintic = coefficients
    result = matrix.float()
    wide = result if result.shape[0] <= result.shape[1] else result.T
    wide = wide / wide.norm().clamp(min=eps)
    for _ in range(steps):
        gram = wide @ wide.T
        powers = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        wide = torch.addmm(wide, powers, wide, beta=linear)
    return wide if result.shape[0] <= result.shape[1] else wide.T

"""The configuration of the training loop: budget, batches, optimizer, schedules and checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Positive, Share, Strict

Bfloat16 = bool | Literal["auto"]
"""Whether to compute in bfloat16; `auto` does so where this machine multiplies matrices in it clearly faster."""


class TrainConfig(Strict):
    """How to train.

    The run ends after `max_steps` steps, `max_tokens` tokens or `max_seconds` of training, whichever comes first. All
    schedules follow the share of that budget that is spent.

    The defaults are for a model from scratch. A model at a path is trained with AdamW, at the rates of `PRETRAINED` and
    `ADAPTED`, and without a curriculum, unless the configuration says otherwise.
    """

    seed: int = 0
    """The seed of the weights, of the order of the samples, and of every other draw."""

    threads: Positive = 1
    """The number of CPU threads that torch uses."""

    compile: bool | Literal["auto"] = False
    """Whether the layers and the loss are compiled with `torch.compile`. With `auto` they are on a CPU where
    that works, if the run is long enough to win back the minute or two that the first time takes."""

    bfloat16: Bfloat16 = "auto"
    """Whether to compute in bfloat16. With `auto` a product of matrices is timed at the start in bfloat16 and in
    float32, and the faster format is taken."""

    optimizer: Literal["muon+adamw", "adamw"] = "muon+adamw"
    """`muon+adamw` trains the matrices with Muon, whose own iteration is computed in the faster number format whatever
    `bfloat16` says, and the other parameters with AdamW; `adamw` trains all parameters with AdamW."""

    muon_lr: float = Field(default=0.02, gt=0)
    """The highest learning rate of Muon."""

    adamw_lr: float = Field(default=3e-3, gt=0)
    """The highest learning rate of AdamW."""

    adamw_betas: tuple[float, float] = (0.9, 0.95)
    """The decay rates of AdamW's two moments."""

    weight_decay: float = Field(default=0.01, ge=0)
    """The weight decay of the matrices."""

    clip: float = Field(default=1.0, gt=0)
    """The norm to which larger gradients are scaled down."""

    explosion: float = Field(default=10.0, gt=1)
    """A step is skipped if its loss is more than this many times the median of the last steps' losses. It is also
    skipped if its loss or its gradient is not finite. Several skipped steps in a row end the run."""

    batch_tokens: Positive = 8192
    """The most tokens of a batch on each process. Where several processes cannot share the rows of a batch equally,
    some get one row more."""

    accumulation: Positive = 1
    """The number of batches whose gradients make up a step, on each process."""

    context_share: Share = 1.0
    """The share of the context with a weight that is learned at a time, drawn at random, which spares the output layer
    the rest."""

    max_steps: Positive | None = None
    """The number of steps after which the run ends; None sets no such limit."""

    max_tokens: Positive | None = None
    """The number of tokens after which the run ends; None sets no such limit."""

    max_seconds: float | None = Field(default=None, gt=0)
    """The seconds of training after which the run ends; None sets no such limit."""

    warmup: float = Field(default=0.005, ge=0, lt=1)
    """The share of the run over which the learning rate rises linearly. It is constant after that."""

    decay: Share = 0.3
    """The share of the run, at its end, over which the learning rate falls linearly."""

    curriculum: Share = 0.1
    """The share of the run, at its beginning, during which samples longer than `short_tokens` wait."""

    short_tokens: Positive = 384
    """The most tokens of a sample that is learned during the curriculum."""

    log_seconds: float = Field(default=10, ge=0)
    """The seconds between two lines of metrics."""

    checkpoint_seconds: float = Field(default=180, gt=0)
    """The seconds between two checkpoints; `checkpoint_steps` takes precedence."""

    checkpoint_steps: Positive | None = None
    """The steps between two checkpoints; None goes by `checkpoint_seconds`."""

    keep: Positive = 2
    """The number of checkpoints that are kept, the newest ones."""

    tensorboard: bool = True
    """Whether metrics are written for TensorBoard too."""

    @model_validator(mode="after")
    def _has_end(self) -> Self:
        if self.max_steps is None and self.max_tokens is None and self.max_seconds is None:
            raise ValueError("max_steps, max_tokens or max_seconds")
        return self

    @property
    def is_long(self) -> bool:
        """Whether every limit that is set allows at least `LONG_SECONDS` or `LONG_TOKENS`.

        >>> TrainConfig(max_seconds=1800).is_long, TrainConfig(max_seconds=1800, max_steps=10).is_long
        (True, False)
        """
        tokens = self.max_tokens or LONG_TOKENS
        if self.max_steps is not None:
            tokens = min(tokens, self.max_steps * self.batch_tokens * self.accumulation)
        return (self.max_seconds or LONG_SECONDS) >= LONG_SECONDS and tokens >= LONG_TOKENS


LONG_SECONDS, LONG_TOKENS = 600, 1_000_000
"""From this budget on compiling is worth its time on one core."""

PRETRAINED: Mapping[str, Any] = {"optimizer": "adamw", "adamw_lr": 1e-5, "curriculum": 0.0}
"""The options with which a model at a path is trained unless the configuration says otherwise."""

ADAPTED: Mapping[str, Any] = {**PRETRAINED, "adamw_lr": 1e-4}
"""The options with which adapters are trained unless the configuration says otherwise."""

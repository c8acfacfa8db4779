"""The configuration of the model to train: its shape or its path, its number format, and its adapters."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Positive, Strict


class ModelShape(Strict):
    """The size of a Qwen3 model; the fields are those of `transformers.Qwen3Config`."""

    hidden_size: Positive = 192
    intermediate_size: Positive = 512
    num_hidden_layers: Positive = 4
    num_attention_heads: Positive = 4
    num_key_value_heads: Positive = 2
    head_dim: Positive = 32
    max_position_embeddings: Positive = 4096
    rope_theta: float = Field(default=10000.0, gt=0)
    vocab_size: int = Field(default=1024, ge=300)

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError("num_attention_heads: a multiple of num_key_value_heads")
        return self


class LoraConfig(Strict):
    """Low-rank adapters (LoRA, arXiv 2106.09685), trained in place of the weights and merged into them in the end."""

    rank: Positive = 16
    """The rank of the matrices that an adapter is the product of."""

    alpha: Positive = 32
    """The numerator of the factor `alpha / rank` that scales an adapter's output."""

    dropout: float = Field(default=0.0, ge=0, lt=1)
    """The probability that dropout zeroes an input of an adapter."""

    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"
    """The names of the layers that get an adapter; `all-linear` is every linear layer but the output."""


class ModelConfig(Strict):
    """The model to train: one of a `shape`, from scratch, or any causal language model at a `path`.

    >>> ModelConfig(path="runs/cpt/model").shape is None, ModelConfig().shape == ModelShape()
    (True, True)
    """

    shape: ModelShape | None = None
    """The size of a model that is trained from scratch, with a tokenizer of its own."""

    layers_of: str | None = Field(default=None, min_length=1)
    """A model whose layers a model from scratch begins with. It has the same shape, but its vocabulary may differ and
    it may have fewer layers. The value is its folder, or the name of a model that comes with the package."""

    tokenizer_samples: Positive = 4000
    """The number of samples from which the tokenizer of a model from scratch is made."""

    spelled: bool = False
    """Whether names and words of the tasks' lists are spelled in pieces, and are no tokens of a small model's own
    tokenizer (`agentworld_gym.recipe.data.small_tokenizer`). A model copies pieces that are frequent better than whole
    words that are rare."""

    path: str | None = Field(default=None, min_length=1)
    """A folder that transformers can read, such as the `model` of an earlier run (that is how SFT goes on from CPT, and
    RL from SFT), the name of a model that `agentworld models get` fetched, or a name on the Hugging Face hub."""

    revision: str | None = None
    """The revision of a model on the hub; None takes the newest."""

    download: bool = False
    """Whether a model may be fetched from the hub."""

    dtype: Literal["float32", "bfloat16"] = "float32"
    """The number format of the weights while they are trained; FSDP in mixed precision raises it to float32."""

    attention: Literal["sdpa", "eager", "flash_attention_2", "flash_attention_3"] = "sdpa"
    """The implementation of attention that transformers takes."""

    gradient_checkpointing: bool = False
    """Whether activations are computed a second time in the backward pass, so that few of them are kept in memory."""

    lora: LoraConfig | None = None
    """The adapters to train in place of the weights; None trains the weights."""

    @model_validator(mode="before")
    @classmethod
    def _some_shape(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("path") is None and data.get("shape") is None:
            return {**data, "shape": {}}
        return data

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.path is not None and self.shape is not None:
            raise ValueError("a shape or a path, not both")
        if self.path is not None and self.layers_of is not None:
            raise ValueError("layers_of: for a model from scratch alone, one without a path")
        if self.path is None and self.lora is not None:
            raise ValueError("a path where there is lora: adapters need weights to adapt")
        return self

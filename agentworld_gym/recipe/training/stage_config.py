"""The configurations of the stages that learn from samples: continual pre-training and supervised fine-tuning."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.base.documents.strict import Positive, Share, Strict
from agentworld_gym.recipe.data.preparation import Preparation
from agentworld_gym.recipe.training.model_config import ModelConfig
from agentworld_gym.recipe.training.train_config import ADAPTED, PRETRAINED, TrainConfig


class SmallModelPreparation(Preparation):
    """How sessions become samples in pre-training: the context counts a little."""

    context_weight: Share = 0.1
    """The weight in the loss of all that is not an assistant message."""


class DataConfig(Strict):
    """Which samples to learn from."""

    samples: tuple[str, ...] = ()
    """Files that `agentworld samples` wrote, or folders that hold one such file for each split."""

    domains: tuple[str, ...] = ()
    """The domains whose samples are kept; an empty tuple keeps all. Of recorded sessions `swe:claude-code` keeps, or
    records, those in a dialect."""

    max_tokens: Positive = 1536
    """The most tokens of a sample; longer ones are left out."""

    packing: Literal["sorted", "packed"] = "sorted"
    """How samples share a batch: `sorted` puts those of like length together; `packed` puts several into one row, which
    needs a model whose only way of looking back is attention."""

    held_out: tuple[str, ...] = ()
    """The files of the samples on which the progress is measured; of a folder, the validation split is taken."""

    validation: Annotated[int, Field(ge=0)] = 100
    """The most held-out samples on which the progress is measured."""


class SessionsConfig(DataConfig):
    """Which sessions to learn from.

    Where nothing is held out, the progress is measured on sessions of the `domains`, recorded on tasks that training
    never sees. Files that are held out may hold sessions too, of which the validation split is taken.
    """

    rows: tuple[str, ...] = ()
    """Files of recorded sessions, or folders that `agentworld collect` wrote, whose training split is taken."""

    episodes: Positive = 50_000
    """The number of sessions of the `domains` that are recorded first where there are neither `rows` nor `samples`."""

    workers: Positive = 1
    """The number of processes that record and prepare sessions."""

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if not (self.rows or self.samples or self.domains):
            raise ValueError("rows, samples, or domains to record")
        return self


class StageConfig(Strict):
    """What the configurations of the stages that learn from samples have in common."""

    stage: Literal["cpt", "sft"]
    """The stage, which distinguishes this configuration from others."""

    name: str = Field(min_length=1)
    """The name of the run."""

    data: DataConfig
    """The samples to learn from."""

    model: ModelConfig
    """The model to train."""

    train: TrainConfig
    """How to train it."""

    @model_validator(mode="before")
    @classmethod
    def _defaults_that_suit_the_model(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        model, train = _explicit_fields(data.get("model")), _explicit_fields(data.get("train"))
        if model.get("path") is None or not train:
            return data
        return {**data, "train": {**(PRETRAINED if model.get("lora") is None else ADAPTED), **train}}

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.data.max_tokens > self.train.batch_tokens:
            raise ValueError(
                f"train.batch_tokens: no less than data.max_tokens ({self.data.max_tokens}): the longest sample has to "
                "fit a batch"
            )
        # FlashAttention tells packed samples apart by their positions, but only in a batch of a single row.
        if self.data.packing == "packed" and self.model.attention.startswith("flash"):
            raise ValueError(f"data.packing: sorted, or another model.attention than {self.model.attention}")
        return self


class CptConfig(StageConfig):
    """Continual pre-training, or training from scratch: next-token loss over whole sessions, without thinking.

    >>> CptConfig(name="a", data={"domains": ["terminal"]}, train={"max_steps": 9}).model.shape.hidden_size
    192
    """

    stage: Literal["cpt"] = "cpt"
    collect: SmallModelSessions = SmallModelSessions()
    """Which sessions are recorded, where the configuration names none that are there."""

    data: SessionsConfig
    preparation: SmallModelPreparation = SmallModelPreparation()
    """How sessions become samples: from which pool, through which filters, in which prompts, with which weights in the
    loss, and with what plain texts in between."""

    model: ModelConfig = ModelConfig()


class SftConfig(StageConfig):
    """Supervised fine-tuning on samples that `agentworld samples` wrote, with their thinking: loss on answers only.

    >>> data, model = {"samples": ["data/sft.jsonl"]}, {"path": "runs/cpt/model"}
    >>> SftConfig(name="a", data=data, model=model, train={"max_steps": 9}).train.optimizer
    'adamw'
    """

    stage: Literal["sft"] = "sft"

    @model_validator(mode="after")
    def _has_samples(self) -> Self:
        if not self.data.samples:
            raise ValueError("data.samples: files that `agentworld samples` wrote")
        return self


def _explicit_fields(part: object) -> dict[str, Any]:
    """Return the fields of a part of a configuration that were set, without those that keep their defaults."""
    if isinstance(part, Strict):
        return part.model_dump(exclude_unset=True)
    return part if isinstance(part, dict) else {}

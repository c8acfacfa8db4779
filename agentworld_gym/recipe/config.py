"""What a training run is: typed configuration, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.domain.spec import Form
from agentworld_gym.errors import SpecError
from agentworld_gym.prompting.prompt import Profile
from agentworld_gym.recipe.data.preparation import Preparation

PolicyName = Literal["expert", "mixed", "menu", "explore", "blend"]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Bfloat16 = bool | Literal["auto"]
"""Whether to compute in bfloat16; `auto` does where this machine multiplies matrices in it clearly faster."""


class CollectConfig(Strict):
    """Which sessions to record.

    `profile` is that of the prompts, and `form` how a next state is written in the domains whose spec restates it.
    `policies` are shares; they need not add up to one, and those that cannot play a domain are left out there. `levels`
    are shares by level; empty `families` are all of the domain. With probability `controls_share` a session is
    disturbed by controls of its domain, with probability `probe_share` it ends with the probes of its task, which is
    how environments look at a state. `slip` is how often the mixed policy errs before a step. Domains take turns, `mix`
    sessions of each in a round, one of those that it does not name.
    """

    profile: Profile = "full"
    form: Form = "full"
    policies: dict[PolicyName, float] = Field(
        default={"expert": 0.25, "mixed": 0.3, "menu": 0.2, "explore": 0.1, "blend": 0.15}, min_length=1
    )
    levels: dict[int, float] = Field(default={1: 0.4, 2: 0.35, 3: 0.25}, min_length=1)
    families: tuple[str, ...] = ()
    controls_share: Share = 0.0
    probe_share: Share = 0.2
    slip: float = Field(default=0.3, ge=0, lt=1)
    mix: dict[str, Positive] = Field(default_factory=dict)
    max_turns: Positive = 40


class SmallModelSessions(CollectConfig):
    """What a small model learns from: sessions in compact prompts, screens as their changes."""

    profile: Profile = "compact"
    form: Form = "change"


class SmallModelPreparation(Preparation):
    """How sessions become samples in pre-training: the context counts a little.

    `drills` are so many made-up sessions, behind those that were recorded, for a model from scratch to learn copying
    from; see `agentworld_gym.recipe.data.drills`.
    """

    context_weight: Share = 0.1
    drills: Annotated[int, Field(ge=0)] = 0


class ModelShape(Strict):
    """The size of a Qwen3 model."""

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
    """Low-rank adapters (LoRA, arXiv 2106.09685), trained in place of the weights and merged into them in the end.

    `targets` are the names of the layers that get one; `all-linear` is every linear layer but the output.
    """

    rank: Positive = 16
    alpha: Positive = 32
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"


class ModelConfig(Strict):
    """The model to train: one of a `shape`, from scratch, or any causal language model at a `path`.

    A path is a folder that transformers can read, such as the `model` of an earlier run (that is how SFT goes on from
    CPT, and RL from SFT), or a name on the Hugging Face hub, which is fetched only with `download`. A model from
    scratch gets a tokenizer of its own, made from the first `tokenizer_samples` samples; with `layers_of` it begins
    with the layers of another model of its shape, whose vocabulary may differ and which may have fewer of them. `dtype`
    is that of the weights while they are trained; FSDP in mixed precision raises it to float32.
    `gradient_checkpointing` computes activations twice and keeps few of them.

    >>> ModelConfig(path="runs/cpt/model").shape is None, ModelConfig().shape == ModelShape()
    (True, True)
    """

    shape: ModelShape | None = None
    layers_of: str | None = Field(default=None, min_length=1)
    tokenizer_samples: Positive = 4000
    path: str | None = Field(default=None, min_length=1)
    revision: str | None = None
    download: bool = False
    dtype: Literal["float32", "bfloat16"] = "float32"
    attention: Literal["sdpa", "eager", "flash_attention_2", "flash_attention_3"] = "sdpa"
    gradient_checkpointing: bool = False
    lora: LoraConfig | None = None

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


class DataConfig(Strict):
    """Which samples to learn from.

    `samples` are files that `agentworld samples` wrote, or folders that hold one for each split; `domains` keeps some
    of the domains alone. A sample of more than `max_tokens` tokens is left out. `packing` says how samples share a
    batch: `sorted` puts those of like length together; `packed` puts several into one row, which needs a model whose
    only way of looking back is attention. The progress is measured on `validation` samples of the files `held_out`, if
    there are any.
    """

    samples: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    max_tokens: Positive = 1536
    packing: Literal["sorted", "packed"] = "sorted"
    held_out: tuple[str, ...] = ()
    validation: Annotated[int, Field(ge=0)] = 100


class SessionsConfig(DataConfig):
    """Which sessions to learn from.

    `rows` are files of recorded sessions, or folders that `agentworld collect` wrote, whose training split is taken; so
    may `held_out` be, of which the validation split is taken. Where there are neither `rows` nor `samples`, `episodes`
    sessions of the `domains` are recorded first. Where nothing is held out, the progress is measured on sessions of the
    `domains`, recorded on tasks that training never sees. `workers` processes record and prepare.
    """

    rows: tuple[str, ...] = ()
    episodes: Positive = 50_000
    workers: Positive = 1

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if not (self.rows or self.samples or self.domains):
            raise ValueError("rows, samples, or domains to record")
        return self


class TrainConfig(Strict):
    """How to train.

    The run ends after `max_steps` steps, `max_tokens` tokens or `max_seconds` of training, whichever comes first, and
    all schedules follow the share of that budget that is spent: a short linear warm-up, a constant rate, and a linear
    decay over the last `decay` of the run. During the first `curriculum` of the run samples longer than `short_tokens`
    wait. A step takes `accumulation` batches of at most `batch_tokens` tokens for each process; where several processes
    cannot share the rows of a batch equally, some get one row more. Of the context that has a weight a random
    `context_share` is learned at a time, which spares the output layer the rest.

    Where `bfloat16` is `auto`, a product of matrices is timed at the start, in bfloat16 and in float32, and the faster
    format is taken. `muon+adamw` trains the matrices with Muon, whose own iteration is computed in the faster format
    whatever `bfloat16` says, and the rest with AdamW; `adamw` trains all with AdamW. A step is skipped
    if its loss or its gradient is not finite, or its loss is more than `explosion` times the median of the last steps;
    several such steps in a row end the run. The last `keep` checkpoints are kept.

    The defaults are for a model from scratch. One at a path is trained with AdamW, at the rates of `PRETRAINED` and
    `ADAPTED`, and without a curriculum, where nothing else is said.
    """

    seed: int = 0
    threads: Positive = 1
    compile: bool = False
    bfloat16: Bfloat16 = "auto"
    optimizer: Literal["muon+adamw", "adamw"] = "muon+adamw"
    muon_lr: float = Field(default=0.02, gt=0)
    adamw_lr: float = Field(default=3e-3, gt=0)
    adamw_betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = Field(default=0.01, ge=0)
    clip: float = Field(default=1.0, gt=0)
    explosion: float = Field(default=10.0, gt=1)
    batch_tokens: Positive = 8192
    accumulation: Positive = 1
    context_share: Share = 1.0
    max_steps: Positive | None = None
    max_tokens: Positive | None = None
    max_seconds: float | None = Field(default=None, gt=0)
    warmup: float = Field(default=0.005, ge=0, lt=1)
    decay: Share = 0.3
    curriculum: Share = 0.1
    short_tokens: Positive = 384
    log_seconds: float = Field(default=10, ge=0)
    checkpoint_seconds: float = Field(default=180, gt=0)
    checkpoint_steps: Positive | None = None
    keep: Positive = 2
    tensorboard: bool = True

    @model_validator(mode="after")
    def _has_end(self) -> Self:
        if self.max_steps is None and self.max_tokens is None and self.max_seconds is None:
            raise ValueError("max_steps, max_tokens or max_seconds")
        return self


PRETRAINED: Mapping[str, Any] = {"optimizer": "adamw", "adamw_lr": 1e-5, "curriculum": 0.0}
"""How a model at a path is trained where nothing else is said."""

ADAPTED: Mapping[str, Any] = {**PRETRAINED, "adamw_lr": 1e-4}
"""And one with adapters."""


class StageConfig(Strict):
    """What the stages that learn from samples have in common."""

    stage: Literal["cpt", "sft"]
    name: str = Field(min_length=1)
    data: DataConfig
    model: ModelConfig
    train: TrainConfig

    @model_validator(mode="before")
    @classmethod
    def _defaults_that_suit_the_model(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        model, train = _said(given.get("model")), _said(given.get("train"))
        if model.get("path") is None or not train:
            return given
        return {**given, "train": {**(PRETRAINED if model.get("lora") is None else ADAPTED), **train}}

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.data.max_tokens > self.train.batch_tokens:
            raise ValueError(
                f"train.batch_tokens: no less than data.max_tokens ({self.data.max_tokens}): the longest sample has to "
                "fit a batch"
            )
        # It tells packed samples apart by their positions, but only in a batch of a single row.
        if self.data.packing == "packed" and self.model.attention.startswith("flash"):
            raise ValueError(f"data.packing: sorted, or another model.attention than {self.model.attention}")
        return self


class CptConfig(StageConfig):
    """Continual pre-training, or training from scratch: next-token loss over whole sessions, without thinking.

    `collect` is what sessions are recorded with, and `preparation` how they become samples: from which pool, through
    which filters, in which prompts, with which weights in the loss, and with what knowledge in between.

    >>> load_config("tiny").stage
    'cpt'
    """

    stage: Literal["cpt"] = "cpt"
    collect: SmallModelSessions = SmallModelSessions()
    data: SessionsConfig
    preparation: SmallModelPreparation = SmallModelPreparation()
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


def _said(part: object) -> dict[str, Any]:
    """What a part of a configuration says itself, its defaults left out."""
    if isinstance(part, Strict):
        return part.model_dump(exclude_unset=True)
    return part if isinstance(part, dict) else {}


C = TypeVar("C", bound=Strict)
CONFIGS = "configs"


def shipped() -> list[str]:
    """The names of the configurations that come with the package.

    >>> "tiny" in shipped()
    True
    """
    folder = Path(str(resources.files("agentworld_gym.recipe"))) / CONFIGS
    return sorted(file.stem for file in folder.glob("*.yaml"))


def config_path(source: str | Path) -> Path:
    """The file of a configuration: a shipped one by its name, or a YAML file.

    Raises:
        SpecError: no shipped configuration has that name.
    """
    path = Path(source)
    if path.suffix in (".yaml", ".yml"):
        return path
    path = Path(str(resources.files("agentworld_gym.recipe"))) / CONFIGS / f"{source}.yaml"
    if not path.is_file():
        raise SpecError(str(source), "configuration", str(source), f"a YAML file, or one of: {', '.join(shipped())}")
    return path


def load_config(
    source: str | Path,
    kind: type[C] = CptConfig,  # type: ignore[assignment]
    changes: Mapping[str, Any] | None = None,
) -> C:
    """A configuration by the name of a shipped one, or from a YAML file.

    Args:
        source: the name, or the path of a file that ends with .yaml.
        kind: of the stage: `CptConfig`, `SftConfig`, or `agentworld_gym.recipe.rl.config.RlConfig`.
        changes: values that take the place of those in the file, by dotted key.

    >>> load_config("tiny", changes={"train.max_steps": 5}).train.max_steps
    5

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    path = config_path(source)
    data = read_yaml(path)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        place = data
        for parent in parents:
            place = place.setdefault(parent, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise SpecError(path, key, value, "a key of this configuration")
        place[last] = value
    return validated(kind, data, path)

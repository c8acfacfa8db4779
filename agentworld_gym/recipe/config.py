"""What a recipe run is: typed configuration, read from YAML."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from agentworld_gym.errors import SpecError
from agentworld_gym.prompt import Profile
from agentworld_gym.task import Strict, read_yaml, validated

PolicyName = Literal["expert", "mixed", "menu", "explore", "blend"]
Positive = Annotated[int, Field(ge=1)]


class CollectConfig(Strict):
    """Which sessions to record.

    `profile` is that of the prompts. `policies` are shares; they need not add up to one, and those that cannot play a
    domain are left out there. `levels` are shares by level; empty `families` are all of the domain. With probability
    `controls_share` a session is disturbed by controls of its domain, with probability `probe_share` it ends with the
    probes of its task, which is how environments look at a state. `slip` is how often the mixed policy errs before a
    step.
    """

    profile: Profile = "full"
    policies: dict[PolicyName, float] = Field(
        default={"expert": 0.25, "mixed": 0.3, "menu": 0.2, "explore": 0.1, "blend": 0.15}, min_length=1
    )
    levels: dict[int, float] = Field(default={1: 0.4, 2: 0.35, 3: 0.25}, min_length=1)
    families: tuple[str, ...] = ()
    controls_share: float = Field(default=0.0, ge=0, le=1)
    probe_share: float = Field(default=0.2, ge=0, le=1)
    slip: float = Field(default=0.3, ge=0, lt=1)
    max_turns: int = Field(default=40, ge=1)


class SmallModelSessions(CollectConfig):
    """What a small model learns from: sessions in compact prompts."""

    profile: Profile = "compact"


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
    def _heads_divide(self) -> ModelShape:
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError("num_attention_heads to be a multiple of num_key_value_heads")
        return self


class TrainConfig(Strict):
    """How to train.

    The run ends after `max_seconds` of training or `max_tokens` tokens, whichever comes first, and all schedules follow
    the share of that budget that is spent: a short linear warm-up, a constant rate, and a linear decay over the last
    `decay` of the run. During the first `curriculum` of the run sessions longer than `short_tokens` wait.
    """

    seed: int = 0
    threads: Positive = 1
    compile: bool = False
    bfloat16: bool = True
    batch_tokens: Positive = 8192
    max_session_tokens: Positive = 1536
    max_seconds: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    muon_lr: float = Field(default=0.02, gt=0)
    adamw_lr: float = Field(default=3e-3, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    warmup: float = Field(default=0.005, ge=0, lt=1)
    decay: float = Field(default=0.3, ge=0, lt=1)
    curriculum: float = Field(default=0.1, ge=0, le=1)
    short_tokens: Positive = 384
    clip: float = Field(default=1.0, gt=0)
    context_weight: float = Field(default=0.3, ge=0)
    log_seconds: float = Field(default=10, gt=0)
    checkpoint_seconds: float = Field(default=180, gt=0)

    @model_validator(mode="after")
    def _has_end(self) -> TrainConfig:
        if self.max_seconds is None and self.max_tokens is None:
            raise ValueError("max_seconds or max_tokens")
        return self


class RecipeConfig(Strict):
    """A whole run: what to record, the model, how to train it.

    >>> load_config("tiny-terminal").domain
    'terminal'
    """

    name: str = Field(min_length=1)
    domain: str = Field(min_length=1)
    episodes: Positive = 50_000
    collect: SmallModelSessions = SmallModelSessions()
    model: ModelShape = ModelShape()
    train: TrainConfig


def load_config(source: str | Path) -> RecipeConfig:
    """A configuration by the name of a shipped one, or from a YAML file.

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    path = Path(source)
    if path.suffix not in (".yaml", ".yml"):
        folder = Path(str(resources.files("agentworld_gym.recipe"))) / "configs"
        path = folder / f"{source}.yaml"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
            raise SpecError(str(source), "configuration", str(source), f"a YAML file, or one of: {known}")
    return validated(RecipeConfig, read_yaml(path), path)

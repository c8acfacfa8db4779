"""The configuration of reinforcement learning of a world model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Positive, Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import Form
from agentworld_gym.llm.rows.pools import PostPool
from agentworld_gym.recipe.data.filters import Filters
from agentworld_gym.recipe.rl.hybrid_reward import RewardConfig
from agentworld_gym.recipe.training.model_config import ModelConfig
from agentworld_gym.recipe.training.train_config import Bfloat16


class TurnsConfig(Strict):
    """Which turns to learn from: exactly one of each session in an epoch, drawn from the seed."""

    rows: tuple[str, ...] = Field(min_length=1)
    """Files of recorded sessions, or folders that `agentworld collect` wrote, whose training split is taken."""

    domains: tuple[str, ...] = ()
    """The domains whose sessions are kept, as `swe` or, in one dialect, `swe:claude-code`; an empty tuple keeps all."""

    max_prompt_tokens: Positive = 2048
    """The most tokens of a prompt; a turn with a longer one is replaced by an earlier turn of its session."""

    min_answer_tokens: int = Field(default=0, ge=0)
    """The least tokens of a true answer; a turn with a shorter one is replaced by an earlier turn of its session, which
    leaves out what is learned already."""

    form: Form | None = None
    """How the model writes a screen; None keeps the form of the rows. The profile is that of the rows."""

    pool: PostPool | None = PostPool()
    """The sessions of the files that are taken; None takes all. The default takes those that continual pre-training
    leaves, if its `post_share` is the same."""

    filters: Filters = Filters()
    """The rules by which turns and sessions are removed."""


class JudgeConfig(Strict):
    """The judge that scores predictions."""

    generator: str = Field(min_length=1)
    """The handle of the judge's generator: a server's URL, `vllm:MODEL`, or `transformers:DIR`."""

    temperature: float = Field(default=0.6, ge=0)
    """The temperature of the judge's samples."""

    max_tokens: Positive = 4096
    """The most tokens of a verdict."""

    thinking: bool = True
    """Whether the judge thinks before its verdict."""

    tries: Positive = 3
    """The number of times that a verdict is asked for until it can be read."""

    prompts: str | None = None
    """The prompts of the judge: `official:DIR` with the official ones; None takes those of this package."""


class SamplingConfig(Strict):
    """How the model samples its group of completions."""

    temperature: float = Field(default=1.0, gt=0)
    """The temperature."""

    top_p: float = Field(default=1.0, gt=0, le=1)
    """The share of the probability that the likeliest tokens make up, from which one is drawn."""

    top_k: int = Field(default=0, ge=0)
    """The number of likeliest tokens from which one is drawn; 0 sets no limit."""

    max_tokens: Positive = 512
    """The most tokens of a completion."""

    thinking: bool = False
    """Whether the model thinks before its answer."""

    engine: Literal["transformers", "colocate", "server"] = "transformers"
    """The engine: `transformers`, or vLLM, in the training processes (`colocate`) or as a server (`server`)."""

    server: str = ""
    """The address of the server (`trl vllm-serve`)."""

    gpu_share: float = Field(default=0.3, gt=0, le=1)
    """The share of the GPU's memory that vLLM takes in the training processes."""

    @model_validator(mode="after")
    def _has_server(self) -> SamplingConfig:
        if self.engine == "server" and not self.server:
            raise ValueError("server: the address of `trl vllm-serve`, such as http://localhost:8000")
        return self


class RlConfig(Strict):
    """Reinforcement learning of a world model by GSPO (arXiv 2507.18071): one turn of a session is one episode.

    >>> config = RlConfig(name="a", model={"path": "runs/sft/model"}, data={"rows": ["data"]}, reward={"rubric": 0})
    >>> config.accumulation(processes=1)
    8
    """

    stage: Literal["rl"] = "rl"
    """The stage, which distinguishes this configuration from others."""

    name: str = Field(min_length=1)
    """The name of the run."""

    model: ModelConfig
    """The model to train, which is that of an earlier stage."""

    data: TurnsConfig
    """The turns to learn from."""

    reward: RewardConfig = RewardConfig()
    """How rewards are made."""

    judge: JudgeConfig | None = None
    """The judge; None where the verifiers alone make the reward."""

    sampling: SamplingConfig = SamplingConfig()
    """How completions are sampled."""

    seed: int = 0
    """The seed of all draws."""

    threads: Positive = 1
    """The number of CPU threads that torch uses."""

    steps: Positive = 200
    """The number of steps after which the run ends."""

    prompts: Positive = 8
    """The number of turns of a step."""

    group: Annotated[int, Field(ge=2)] = 8
    """The number of completions of each turn."""

    batch: Positive = 8
    """The number of completions that a process takes in one pass."""

    iterations: Positive = 1
    """The number of passes over the same completions."""

    learning_rate: float = Field(default=1e-6, gt=0)
    """The highest learning rate of AdamW."""

    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """The schedule of the learning rate."""

    warmup_steps: int = Field(default=0, ge=0)
    """The number of steps over which the learning rate rises."""

    weight_decay: float = Field(default=0.0, ge=0)
    """The weight decay."""

    clip: float = Field(default=1.0, gt=0)
    """The norm to which larger gradients are scaled down."""

    epsilon: float = Field(default=3e-4, gt=0)
    """How far below 1 the ratio of whole completions is clipped, which matters where `iterations` is more than 1."""

    epsilon_high: float = Field(default=4e-4, gt=0)
    """How far above 1 the ratio of whole completions is clipped."""

    beta: float = Field(default=0.0, ge=0)
    """The weight of the distance to the first model (KL divergence)."""

    spread: bool = True
    """Whether advantages are divided by the standard deviation of their group's rewards."""

    bfloat16: Bfloat16 = False
    """Whether to compute in bfloat16, whose rounding is larger than `epsilon`; `auto` decides by the speed of products
    of matrices at the start."""

    log_steps: Positive = 1
    """The steps between two lines of metrics."""

    checkpoint_steps: Positive = 50
    """The steps between two checkpoints."""

    keep: Positive = 2
    """The number of checkpoints that are kept, the newest ones."""

    tensorboard: bool = True
    """Whether metrics are written for TensorBoard too."""

    @model_validator(mode="after")
    def _fits(self) -> RlConfig:
        if self.model.path is None:
            raise ValueError("model.path: the model of an earlier stage; random weights earn nothing")
        if self.reward.judged and self.judge is None:
            raise ValueError("judge: who scores, or reward.rubric 0 for the verifiers alone")
        if (self.prompts * self.group) % self.batch:
            raise ValueError(f"batch: a divisor of prompts x group, which is {self.prompts * self.group}")
        return self

    def accumulation(self, processes: int) -> int:
        """Return the number of passes that make a step.

        Raises:
            SpecError: The completions of a step cannot be shared equally among the processes.
        """
        whole = self.prompts * self.group
        passes, rest = divmod(whole, self.batch * processes)
        if rest or not passes:
            raise SpecError("rl", "batch", self.batch, f"a divisor of {whole} / {processes} completions a process")
        return passes

"""What reinforcement learning of a world model is: typed configuration, read from YAML."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.spec import Form
from agentworld_gym.errors import SpecError
from agentworld_gym.recipe.data.filters import Filters
from agentworld_gym.recipe.field_types import Bfloat16
from agentworld_gym.recipe.rl.hybrid_reward import RewardConfig
from agentworld_gym.recipe.training.model_config import ModelConfig
from agentworld_gym.sessions.pools import PostPool

Positive = Annotated[int, Field(ge=1)]


class TurnsConfig(Strict):
    """Which turns to learn from: exactly one of each session in an epoch, drawn from the seed.

    `rows` are files of recorded sessions, or folders that `agentworld collect` wrote, whose training split is taken;
    `domains` keeps some of the domains alone. A turn whose prompt has more than `max_prompt_tokens` tokens is replaced
    by an earlier one of its session, and so is one whose true answer has less than `min_answer_tokens`, which leaves
    out what is learned already. `form` is how the model writes a screen, None as in the rows; the profile is
    that of the rows. `pool` says which sessions of the files are taken, None all of them: by default those that
    continual pre-training leaves, if its `post_share` is the same. `filters` are the rules by which turns and sessions
    go.
    """

    rows: tuple[str, ...] = Field(min_length=1)
    domains: tuple[str, ...] = ()
    max_prompt_tokens: Positive = 2048
    min_answer_tokens: int = Field(default=0, ge=0)
    form: Form | None = None
    pool: PostPool | None = PostPool()
    filters: Filters = Filters()


class JudgeConfig(Strict):
    """Who scores predictions: a generator's handle (a server's URL, `vllm:MODEL`, `transformers:DIR`), and how."""

    generator: str = Field(min_length=1)
    temperature: float = Field(default=0.6, ge=0)
    max_tokens: Positive = 4096
    thinking: bool = True
    tries: Positive = 3


class SamplingConfig(Strict):
    """How the model samples its group of completions.

    `engine` is `transformers`, or vLLM: `colocate` in the training processes, `server` at `server` (`trl vllm-serve`).
    """

    temperature: float = Field(default=1.0, gt=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    max_tokens: Positive = 512
    thinking: bool = False
    engine: Literal["transformers", "colocate", "server"] = "transformers"
    server: str = ""
    gpu_share: float = Field(default=0.3, gt=0, le=1)

    @model_validator(mode="after")
    def _has_server(self) -> SamplingConfig:
        if self.engine == "server" and not self.server:
            raise ValueError("server: the address of `trl vllm-serve`, such as http://localhost:8000")
        return self


class RlConfig(Strict):
    """Reinforcement learning of a world model by GSPO (arXiv 2507.18071): one turn of a session is one episode.

    A step takes `prompts` turns with a `group` of completions each, in passes of `batch` completions on each process.
    `epsilon` clips the ratio of whole completions, which matters where `iterations` goes over the same completions more
    than once. `spread` divides advantages by the spread of their group; `beta` weighs the distance to the first model.
    `bfloat16` is off unless said otherwise: its rounding is larger than `epsilon`. With `auto` it is what products of
    matrices say at the start. The run ends after `steps`.

    >>> config = RlConfig(name="a", model={"path": "runs/sft/model"}, data={"rows": ["data"]}, reward={"rubric": 0})
    >>> config.accumulation(processes=1)
    8
    """

    stage: Literal["rl"] = "rl"
    name: str = Field(min_length=1)
    model: ModelConfig
    data: TurnsConfig
    reward: RewardConfig = RewardConfig()
    judge: JudgeConfig | None = None
    sampling: SamplingConfig = SamplingConfig()
    seed: int = 0
    threads: Positive = 1
    steps: Positive = 200
    prompts: Positive = 8
    group: Annotated[int, Field(ge=2)] = 8
    batch: Positive = 8
    iterations: Positive = 1
    learning_rate: float = Field(default=1e-6, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup_steps: int = Field(default=0, ge=0)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, gt=0)
    epsilon: float = Field(default=3e-4, gt=0)
    epsilon_high: float = Field(default=4e-4, gt=0)
    beta: float = Field(default=0.0, ge=0)
    spread: bool = True
    bfloat16: Bfloat16 = False
    log_steps: Positive = 1
    checkpoint_steps: Positive = 50
    keep: Positive = 2
    tensorboard: bool = True

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
        """How many passes make a step.

        Raises:
            SpecError: the completions of a step cannot be shared equally among the processes.
        """
        whole = self.prompts * self.group
        passes, rest = divmod(whole, self.batch * processes)
        if rest or not passes:
            raise SpecError("rl", "batch", self.batch, f"a divisor of {whole} / {processes} completions a process")
        return passes

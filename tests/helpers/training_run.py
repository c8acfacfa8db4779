"""A training run that is small enough for tests; as a program, it is what tests start as a process of its own.

The sessions are of a copying game, so that a model of some thousand parameters has something to learn.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.training.model_config import ModelConfig
from agentworld_gym.recipe.training.stage_config import DataConfig, SftConfig
from agentworld_gym.recipe.training.train_config import TrainConfig

SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 400,
}
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]


def samples(count: int = 60, seed: int = 0) -> Iterator[Sample]:
    """Sessions in which the world repeats what is said, of one to four turns."""
    rng = random.Random(seed)
    for number in range(count):
        messages = [{"role": "system", "content": "echo"}]
        for _ in range(rng.randint(1, 4)):
            text = " ".join(rng.choices(WORDS, k=rng.randint(1, 5)))
            messages += [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
        weights = [1.0] * (len(messages) // 2)
        yield Sample.model_validate(
            {"id": str(number), "domain": "terminal", "messages": messages, "weights": weights, "context_weight": 0.1}
        )


def config(
    train: dict[str, Any] | None = None, data: dict[str, Any] | None = None, model: dict[str, Any] | None = None
) -> SftConfig:
    """Twelve steps of some 500 tokens, every fourth with a checkpoint."""
    options: dict[str, Any] = {
        "max_steps": 12,
        "batch_tokens": 512,
        "short_tokens": 32,
        "bfloat16": False,
        "log_seconds": 0,
        "checkpoint_steps": 4,
        "tensorboard": False,
    }
    return SftConfig(
        name="test",
        model=ModelConfig.model_validate(model or {"shape": SHAPE}),
        data=DataConfig.model_validate({"samples": ["given"], "max_tokens": 128, "validation": 8, **(data or {})}),
        train=TrainConfig.model_validate({**options, **(train or {})}),
    )


def train(folder: str, options: str, **environment: str) -> None:
    """Train in a folder, with training options that are a JSON object."""
    from agentworld_gym.recipe.training.pipeline import fit

    os.environ.update(environment)
    fit(config(json.loads(options)), Path(folder), samples, lambda: samples(8, seed=1))


def main() -> int:
    """Train in the folder of the first argument, with the training options of the second.

    Where `WORLD_SIZE` asks for several processes, they are forked from this one, which has imported what they need.
    """
    ranks = [str(rank) for rank in range(int(os.environ.get("WORLD_SIZE", "1")))]
    if len(ranks) == 1:
        train(*sys.argv[1:])
        return 0
    from accelerate import Accelerator  # noqa: F401
    from transformers import Qwen3ForCausalLM  # noqa: F401

    forks = get_context("fork")
    places = [{"RANK": rank, "LOCAL_RANK": rank} for rank in ranks]
    processes = [forks.Process(target=train, args=sys.argv[1:], kwargs=place) for place in places]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(abs(process.exitcode or 0) for process in processes)


if __name__ == "__main__":
    sys.exit(main())

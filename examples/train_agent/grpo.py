r"""GRPO in a dream: a language model acts in a world model and learns from its rewards, with TRL's `GRPOTrainer`.

    agentworld eval agent --agent transformers:runs/agent --domains terminal --out before.json
    python examples/train_agent/grpo.py --model runs/agent --world tiny --out runs/dreamt
    agentworld eval agent --agent transformers:runs/dreamt --domains terminal --out after.json
    agentworld eval report before.json after.json --out page.html

`--world` takes any world model's handle, such as a server's URL, or `grounded`. `--vllm colocate` lets vLLM in this
process write the actions, and `--vllm URL` a server on another GPU, which TRL sends the weights of each step:

    VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --port 8001 --weight-transfer-config '{"backend": "nccl"}' \
        --logprobs-mode processed_logprobs --max-logprobs -1

A model that never wins learns nothing: let it imitate some sessions first (`sft.py`). Ctrl-C saves the model as it is.
"""

from __future__ import annotations

import argparse
import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
from datasets import Dataset
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer

from agentworld_gym.base.documents.json_lines import read_jsonl
from agentworld_gym.integrations.trl import EnvironmentRollout, environment_reward
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer


def vllm_of(handle: str | None, longest: int) -> dict[str, Any]:
    """Return the settings of who writes the actions: transformers, vLLM in this process, or a server of it."""
    if handle is None:
        return {"use_vllm": False}
    if handle == "colocate":
        return {"use_vllm": True, "vllm_mode": "colocate", "vllm_max_model_length": longest}
    return {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": handle}


def success(environment_success: list[bool | None], environment_return: list[float | None], **_: Any) -> list[Any]:
    """Return success as a reward of no weight, so that it is logged."""
    outcomes = zip(environment_success, environment_return, strict=True)
    return [None if paid is None else float(bool(solved)) for solved, paid in outcomes]


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """Train, save the model, and return the log of every step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder, a name of `agentworld models list` or of the hub")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the trained model")
    parser.add_argument("--env", default="AgentWorld/Terminal-v0", help="the id of the environment")
    parser.add_argument("--world", default="tiny", help="who plays it")
    parser.add_argument("--families", nargs="+", help="families of tasks; else all")
    parser.add_argument("--levels", nargs="+", type=int, default=[1])
    parser.add_argument("--prompts", type=Path, help="a folder of `agentworld export --format prompt-only`")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--group", type=int, default=8, help="episodes of each task")
    parser.add_argument("--tasks", type=int, default=8, help="tasks of each step")
    parser.add_argument("--turns", type=int, default=8, help="actions of an episode at most")
    parser.add_argument("--tokens", type=int, default=128, help="tokens of an action at most")
    parser.add_argument("--context", type=int, default=4096, help="tokens of an episode at most")
    parser.add_argument("--rate", type=float, default=2e-6, help="the learning rate")
    parser.add_argument("--lora", type=int, default=0, help="the rank of LoRA; 0 trains all weights")
    parser.add_argument("--vllm", help="colocate, or the URL of a server; without it transformers writes the actions")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first task; the others count up")
    chosen = parser.parse_args(arguments)
    source, gpu = model_source(chosen.model), torch.cuda.is_available()
    tasks = {"world": chosen.world, "families": chosen.families, "levels": chosen.levels}
    rollout = EnvironmentRollout(chosen.env, max_turns=chosen.turns, max_tokens=chosen.context, **tasks)
    if chosen.prompts:
        prompts = Dataset.from_list(list(read_jsonl(chosen.prompts / "train.jsonl")))
    else:
        prompts = rollout.dataset(range(chosen.seed, chosen.seed + chosen.tasks * chosen.steps))
    adapter = LoraConfig(r=chosen.lora, lora_alpha=2 * chosen.lora, target_modules="all-linear")
    trainer: Any = GRPOTrainer(
        model=load_model(source, dtype=torch.float32),  # bfloat16 would round most of so small steps away.
        processing_class=load_tokenizer(source),
        train_dataset=prompts,
        rollout_func=rollout,
        reward_funcs=[environment_reward, success],
        peft_config=adapter if chosen.lora else None,
        args=GRPOConfig(
            output_dir=str(chosen.out),
            max_steps=chosen.steps,
            num_generations=chosen.group,
            per_device_train_batch_size=chosen.group,
            gradient_accumulation_steps=chosen.tasks,
            max_completion_length=chosen.tokens,  # This limits one action, not the episode.
            learning_rate=chosen.rate,
            lr_scheduler_type="constant",
            loss_type="dapo",
            # Divided by the spread of a group, the cost of a step would weigh as much as a success where all fail.
            scale_rewards="none",
            reward_weights=[1.0, 0.0],
            gradient_checkpointing=gpu,
            use_cpu=not gpu,
            bf16=gpu,
            save_strategy="no",
            report_to="none",
            logging_steps=1,
            seed=chosen.seed,
            **vllm_of(chosen.vllm, chosen.context + chosen.tokens),
        ),
    )
    with closing(rollout), suppress(KeyboardInterrupt):  # What was learned is kept.
        trainer.train()
    (trainer.model.merge_and_unload() if chosen.lora else trainer.model).save_pretrained(chosen.out)
    trainer.processing_class.save_pretrained(chosen.out)
    return [entry for entry in trainer.state.log_history if "reward" in entry]


if __name__ == "__main__":
    main()

"""Supervised fine-tuning: a language model imitates recorded sessions, with TRL's `SFTTrainer`.

    agentworld rollout terminal --policy expert --family permissions --level 1 -n 200 --out runs/expert
    agentworld export runs/expert --format chat --out runs/chat
    python examples/train_agent/sft.py runs/chat --model smollm2-135m --lora 16 --out runs/agent
    agentworld eval agent --agent transformers:runs/agent --domains terminal --family permissions --level 1

`--model` takes a folder, a name of `agentworld models list`, or one of the Hugging Face hub. That of a world model
(`runs/world/model`, as `agentworld train cpt` leaves it) makes the agent its own world model. `pip install -e
'.[train]'` in a clone first.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

from agentworld_gym.base.documents.json_lines import read_jsonl
from agentworld_gym.integrations.trl import session_tokens
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer


def fine_tune(
    model: str,
    data: Path,
    out: Path,
    *,
    epochs: float = 1.0,
    rate: float = 1e-4,
    batch: int = 8,
    lora: int = 0,
    longest: int = 8192,
    seed: int = 0,
) -> list[float]:
    """Train a model on the sessions of an export and save it, with its tokenizer.

    Args:
        model: The model to begin with.
        data: The folder of an export in the format `chat`.
        out: The folder for the trained model.
        epochs: How often each session is learned from.
        rate: The learning rate of the first step; it falls to 0.
        batch: The number of sessions of a step.
        lora: The rank of LoRA's matrices, which are merged into the saved weights; 0 trains all weights.
        longest: The most tokens of a session; longer ones are left out.
        seed: The seed of the order of the sessions.

    Returns:
        The loss of each step.
    """
    source, gpu = model_source(model), torch.cuda.is_available()
    tokenizer = load_tokenizer(source)
    started = load_model(source, dtype=torch.float32)  # bfloat16 would round most of so small steps away.
    rows = [session_tokens(tokenizer, session["messages"]) for session in read_jsonl(data / "train.jsonl")]
    kept = [row for row in rows if len(row["input_ids"]) <= longest]
    print(
        f"{len(kept)} sessions, {len(rows) - len(kept)} too long, {sum(len(row['input_ids']) for row in kept)} tokens"
    )
    trainer: Any = SFTTrainer(
        model=started,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(kept),
        peft_config=LoraConfig(r=lora, lora_alpha=2 * lora, target_modules="all-linear") if lora else None,
        args=SFTConfig(
            output_dir=str(out),
            num_train_epochs=epochs,
            learning_rate=rate,
            lr_scheduler_type="linear",
            # One session at a time needs no padding, and the least memory.
            per_device_train_batch_size=1,
            gradient_accumulation_steps=batch,
            max_length=None,
            gradient_checkpointing=gpu,
            use_cpu=not gpu,
            bf16=gpu,
            save_strategy="no",
            report_to="none",
            logging_steps=1,
            seed=seed,
        ),
    )
    trainer.train()
    trained = trainer.model.merge_and_unload() if lora else trainer.model
    trained.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder of `agentworld export --format chat`")
    parser.add_argument("--model", required=True, help="the model to begin with")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the trained model")
    parser.add_argument("--epochs", type=float, default=1.0, help="how often each session is learned from")
    parser.add_argument("--rate", type=float, default=1e-4, help="the learning rate")
    parser.add_argument("--batch", type=int, default=8, help="sessions of a step")
    parser.add_argument("--lora", type=int, default=0, help="the rank of LoRA; 0 trains all weights")
    parser.add_argument("--longest", type=int, default=8192, help="the most tokens of a session")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the sessions")
    return fine_tune(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()

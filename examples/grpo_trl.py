"""GRPO in the terminal with TRL: a language model learns from whole batches of episodes.

    python examples/grpo_trl.py                                               # a tiny model, in minutes on a CPU
    python examples/grpo_trl.py --model Qwen/Qwen3-0.6B --steps 200           # a real one, on a GPU
    python examples/grpo_trl.py --model Qwen/Qwen3-0.6B --steps 200 --vllm    # the same, written by vLLM

The tiny model has a tokenizer of its own and first imitates some expert episodes, so that it solves a few tasks; GRPO
goes on from there. Success on tasks of the test split is measured before and after. The script reads from top to
bottom. It needs `pip install -e '.[train]'` in a clone.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from agentworld_gym.generators.pretrained.catalog import model_source
from agentworld_gym.integrations.trl import EnvironmentRollout, environment_reward, observation_tokens
from agentworld_gym.statistics.bootstrap import Share
from agentworld_gym.statistics.proportions import proportion
from agentworld_gym.text.escaping import escape

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
Tokens = tuple[list[int], list[int]]


def expert_episodes(rollout: EnvironmentRollout, seeds: range) -> list[list[tuple[str, str]]]:
    """Return for every episode of an expert pairs of an action and its observation; the first action is empty."""
    runner, found = rollout.runner, []
    for episode, observation, _ in runner.start(list(seeds), {}):
        turns = [("", observation)]
        for action in episode.task.expert:
            turns.append((action, runner.advance([episode], [action])[0].observation))
        episode.session.close()
        found.append(turns)
    return found


def tiny_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE of 800 entries with the ChatML tokens."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=800, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<|endoftext|>", eos_token="<|im_end|>", chat_template=CHATML
    )


def tiny_model(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Make a small Qwen3 with random weights."""
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=96,
            intermediate_size=192,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=24,
            max_position_embeddings=2048,
            initializer_range=0.1,  # The default fits wide models; a narrow one learns to copy names far later with it.
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def expert_tokens(tokenizer: Any, system: str, turns: list[tuple[str, str]]) -> Tokens:
    """Return one expert episode as tokens, with labels on what the expert wrote."""
    chat = [{"role": "system", "content": system}, {"role": "user", "content": escape(turns[0][1])}]
    tokens = list(tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"])
    labels = [-100] * len(tokens)
    for action, observation in turns[1:]:
        written = [*tokenizer(escape(action))["input_ids"], tokenizer.eos_token_id]
        shown = observation_tokens(tokenizer, escape(observation), {})[1:]
        tokens += written + shown
        labels += written + [-100] * len(shown)
    return tokens, labels


def warm_up(model: Qwen3ForCausalLM, tokenizer: Any, episodes: list[Tokens], steps: int) -> float:
    """Train the model to predict the next token of what experts wrote; return the last loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / 30) * max(0.02, 1 - step / steps))
    chance = random.Random(0)
    loss = torch.zeros(())
    for _ in range(steps):
        batch = chance.sample(episodes, 8)
        longest = max(len(tokens) for tokens, _ in batch)
        inputs = torch.tensor([t + [tokenizer.pad_token_id] * (longest - len(t)) for t, _ in batch])
        labels = torch.tensor([lab + [-100] * (longest - len(lab)) for _, lab in batch])
        lengths = torch.tensor([len(tokens) for tokens, _ in batch])
        attention = (torch.arange(longest) < lengths.unsqueeze(1)).long()
        loss = model(input_ids=inputs, attention_mask=attention, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
    return loss.item()


def evaluate(rollout: EnvironmentRollout, trainer: GRPOTrainer, seeds: range) -> Share:
    """Return the success on some tasks, sampled as in training; episodes whose world failed are left out."""
    prompts = [row["prompt"] for row in rollout.dataset(seeds)]
    played = rollout(prompts, trainer)
    outcomes = zip(played["environment_success"], played["environment_return"], strict=True)
    return proportion([bool(success) for success, paid in outcomes if paid is not None])


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """Train, evaluate, and return the log of every step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", help="a folder, a name for transformers or of `agentworld models list`; else a tiny model"
    )
    parser.add_argument("--world", default="grounded", help="who plays the terminal")
    parser.add_argument("--families", nargs="+", default=["copy_move"])
    parser.add_argument("--steps", type=int, default=30, help="GRPO steps")
    parser.add_argument("--demonstrations", type=int, default=500, help="expert episodes (tiny model only)")
    parser.add_argument("--warm-up", type=int, default=700, help="steps on expert episodes (tiny model only)")
    parser.add_argument("--group", type=int, default=8, help="episodes of each task")
    parser.add_argument("--tasks", type=int, default=8, help="tasks of each step")
    parser.add_argument("--evaluate", type=int, default=100, help="tasks that success is measured on")
    parser.add_argument("--seed", type=int, default=0, help="of the weights, the tasks and what is sampled")
    parser.add_argument("--vllm", action="store_true", help="let vLLM in this process write the actions")
    parser.add_argument("--output", default="runs/grpo", help="where a real model's checkpoints go")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)

    # The system message is short, because every token of it costs a tiny model time.
    system = "You use a Linux shell. Write one command line, or finish."
    tiny = options.model is None
    setting: dict[str, Any] = {
        "world": options.world,
        "families": options.families,
        "max_turns": 8,
        "max_tokens": 1024 if tiny else 8192,
        "system": system if tiny else None,
    }
    rollout = EnvironmentRollout("AgentWorld/Terminal-v0", **setting)
    test = EnvironmentRollout("AgentWorld/Terminal-v0", split="test", **setting)
    if tiny:
        torch.set_num_threads(1)
        episodes = expert_episodes(rollout, range(options.demonstrations))
        tokenizer: Any = tiny_tokenizer([system, *(text for turns in episodes for pair in turns for text in pair)])
        model: Any = tiny_model(tokenizer)
        began = time.perf_counter()
        shown = [expert_tokens(tokenizer, system, turns) for turns in episodes]
        loss = warm_up(model, tokenizer, shown, options.warm_up)
        print(f"warm-up: {options.warm_up} steps in {time.perf_counter() - began:.0f} s, loss {loss:.2f}")
    else:
        source = model_source(options.model)
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(source, dtype="auto", trust_remote_code=False)

    config = GRPOConfig(
        output_dir=options.output,
        max_steps=options.steps,
        per_device_train_batch_size=options.group * options.tasks,
        num_generations=options.group,
        max_completion_length=24 if tiny else 256,  # This limits one action, not the episode.
        learning_rate=5e-5 if tiny else 1e-6,
        lr_scheduler_type="constant",
        logging_steps=1,
        report_to="none",
        save_strategy="no" if tiny else "steps",
        use_cpu=tiny,
        bf16=not tiny,
        gradient_checkpointing=not tiny,
        use_vllm=options.vllm,
        vllm_mode="colocate",
        disable_tqdm=False,
        seed=options.seed,
        # The lengths of the episodes must not weigh in.
        loss_type="dapo",
        # Divided by the spread of a group, the cost of a step would weigh as much as a success where all members fail,
        # and the model would learn to finish at once.
        scale_rewards="none",
    )
    first = 1000 + options.seed * options.tasks * options.steps  # beyond the seeds of the expert episodes
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=config,
        train_dataset=rollout.dataset(range(first, first + options.tasks * options.steps)),
        reward_funcs=environment_reward,
        rollout_func=rollout,
    )
    before = evaluate(test, trainer, range(options.evaluate))
    trainer.train()
    after = evaluate(test, trainer, range(options.evaluate))
    rollout.close()
    test.close()
    log = [entry for entry in trainer.state.log_history if "reward" in entry]
    for entry in log:
        print(f"step {entry['step']}: reward {entry['reward']:.3f}, loss {entry['loss']:.4f}")
    print(f"success before {before}, after {after}")
    return log


if __name__ == "__main__":
    main()

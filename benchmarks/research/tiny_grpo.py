"""How much GRPO teaches a tiny model in the terminal, with TRL, in about 140 s of one core.

    python benchmarks/research/tiny_grpo.py --seed 0

A Qwen3 of 207,000 parameters with a tokenizer of its own first imitates some sessions of somebody who errs now and
then, so that it solves some tasks and fails at others; GRPO goes on from there. Success on tasks of the test split is
measured before and after. The extra `train` is needed.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen3Config,
    Qwen3ForCausalLM,
    get_linear_schedule_with_warmup,
)
from trl import GRPOConfig, GRPOTrainer

from agentworld_gym.agents.policies.playing import Played, ScriptedPolicy, play
from agentworld_gym.agents.policies.scripted import mixed_policy
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.integrations.trl import IGNORED, EnvironmentRollout, environment_reward, seed_of, session_tokens

SYSTEM = "Act."
"""The system message of the tiny model; every token of it costs time, and it knows no English."""

CHAT = (
    "{% for turn in messages %}<|{{ turn.role }}|>{{ turn.content }}{% if turn.role == 'assistant' %}<|end|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
Tokens = dict[str, list[int]]


def tiny_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE in which a word, a space and a prompt such as `dev@box:~$` are one token each.

    A name is the same token wherever it stands, which makes it easy to copy.
    """
    core = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(r"\w+@\S+|\s|\w+|[^\s\w]+"), "isolated")
    core.pre_tokenizer = pre_tokenizers.Sequence([pieces, pre_tokenizers.ByteLevel(False, use_regex=False)])
    core.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=1500, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<|pad|>", eos_token="<|end|>", chat_template=CHAT)


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


def messages_of(played: Played) -> list[dict[str, Any]]:
    """Return a session as chat messages, of which those that were typed are learned."""
    first, *shown = played.observations
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": escape(first)}]
    for action, observation in zip(played.actions, shown, strict=True):
        messages.append({"role": "assistant", "content": escape(action), "train": True})
        messages.append({"role": "user", "content": escape(observation)})
    return messages


def imitate(model: Qwen3ForCausalLM, tokenizer: Any, sessions: Sequence[Tokens], steps: int, seed: int) -> float:
    """Train the model to predict some sessions; return the last loss of what was typed in them.

    What was typed counts as much as what the world shows, whose echoes teach a model from scratch to copy.
    """
    weights = [one for one in model.model.layers.parameters() if one.ndim == 2]
    rest = [one for one in model.parameters() if all(one is not other for other in weights)]
    optimizers = [torch.optim.Muon(weights, lr=0.02, weight_decay=0.0), torch.optim.AdamW(rest, lr=3e-3)]
    rates = [get_linear_schedule_with_warmup(one, 20, steps) for one in optimizers]
    chance = random.Random(seed)
    typed = torch.zeros(())
    for _ in range(steps):
        batch = chance.sample(sessions, 8)
        longest = max(len(one["input_ids"]) for one in batch)
        left = [longest - len(one["input_ids"]) for one in batch]
        padded = list(zip(batch, left, strict=True))
        inputs = torch.tensor([one["input_ids"] + [tokenizer.pad_token_id] * more for one, more in padded])
        labels = torch.tensor([one["labels"] + [IGNORED] * more for one, more in padded])
        there = torch.tensor([[1] * (longest - more) + [0] * more for more in left])
        logits = model(input_ids=inputs, attention_mask=there).logits[:, :-1]
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), inputs[:, 1:], reduction="none")
        agent = labels[:, 1:] != IGNORED
        typed, shown = losses[agent].mean(), losses[there[:, 1:].bool() & ~agent].mean()
        for one in optimizers:
            one.zero_grad()
        (typed + shown).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for one in [*optimizers, *rates]:
            one.step()
    return typed.item()


def success(
    prompts: Sequence[Any],
    environment_success: Sequence[bool | None],
    environment_return: Sequence[float | None],
    log_metric: Callable[[str, float], None],
    **_: Any,
) -> list[float | None]:
    """Return success as a reward of no weight, so that it is logged, and log the share of groups with both outcomes.

    The members of any other group differ by the cost of their steps and by partial credit alone.
    """
    groups: dict[int, set[bool]] = {}
    for prompt, solved in zip(prompts, environment_success, strict=True):
        groups.setdefault(seed_of(prompt), set()).add(bool(solved))
    log_metric("both_outcomes", sum(len(outcomes) == 2 for outcomes in groups.values()) / len(groups))
    outcomes = zip(environment_success, environment_return, strict=True)
    return [None if paid is None else float(bool(solved)) for solved, paid in outcomes]


def evaluate(rollout: EnvironmentRollout, trainer: GRPOTrainer, seeds: range) -> Share:
    """Return the success on some tasks, sampled as in training; episodes whose world failed are left out."""
    prompts = [row["prompt"] for row in rollout.dataset(seeds)]
    played = rollout(prompts, trainer)
    outcomes = zip(played["environment_success"], played["environment_return"], strict=True)
    return proportion([bool(solved) for solved, paid in outcomes if paid is not None])


class Progress(PrinterCallback):
    """Prints a line for each step: what a run that does not learn should be asked first."""

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Print the step's means."""
        names = {
            "reward": "reward",
            "success": "rewards/success/mean",
            "groups with both outcomes": "both_outcomes",
            "entropy": "entropy",
            "tokens written": "completions/mean_length",
            "episodes cut": "cut_episodes/max_turns",
            "actions cut": "cut_actions",
            "seconds": "step_time",
        }
        if logs and "reward" in logs:
            values = (f"{name} {float(logs[key]):.2f}" for name, key in names.items() if key in logs)
            print(f"step {state.global_step}:", ", ".join(values), flush=True)


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """Train, evaluate, and return the log of every step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", default="grounded", help="who plays the terminal")
    parser.add_argument("--families", nargs="+", default=["permissions"])
    parser.add_argument("--levels", nargs="+", type=int, default=[1])
    parser.add_argument("--steps", type=int, default=24, help="GRPO steps")
    parser.add_argument("--rate", type=float, default=5e-4, help="the learning rate")
    parser.add_argument("--sessions", type=int, default=400, help="sessions to imitate")
    parser.add_argument("--slip", type=float, default=0.3, help="how often these err before a step")
    parser.add_argument("--imitation", type=int, default=400, help="steps on these sessions")
    parser.add_argument("--turns", type=int, default=8, help="actions of an episode at most")
    parser.add_argument("--tokens", type=int, default=24, help="tokens of an action at most")
    parser.add_argument("--group", type=int, default=8, help="episodes of each task")
    parser.add_argument("--tasks", type=int, default=8, help="tasks of each step")
    parser.add_argument("--evaluate", type=int, default=100, help="tasks that success is measured on")
    parser.add_argument("--seed", type=int, default=0, help="of the sessions, the tasks and what is sampled")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)

    setting: dict[str, Any] = {
        "world": options.world,
        "families": options.families,
        "levels": options.levels,
        "max_turns": options.turns,
        "max_tokens": 768,
        "system": SYSTEM,
    }
    rollout = EnvironmentRollout("AgentWorld/Terminal-v0", **setting)
    test = EnvironmentRollout("AgentWorld/Terminal-v0", split="test", **setting)
    first = 1_000_000 * options.seed  # Each seed has sessions and tasks of its own.
    torch.set_num_threads(1)
    began = time.perf_counter()
    policy = ScriptedPolicy("mixed", lambda task, rng: mixed_policy(task, rng, options.slip))
    seeds = range(first, first + options.sessions)
    played = sorted(play(rollout.runner, policy, seeds), key=lambda one: one.place)
    tokenizer: Any = tiny_tokenizer([SYSTEM, *(text for one in played for text in [*one.observations, *one.actions])])
    model: Any = tiny_model(tokenizer)
    sessions = [session_tokens(tokenizer, messages_of(one)) for one in played]
    loss = imitate(model, tokenizer, sessions, options.imitation, options.seed)
    solved = proportion([bool(one.success) for one in played])
    print(f"who is imitated solves {solved}; {time.perf_counter() - began:.0f} s, loss {loss:.2f}", flush=True)

    first += options.sessions
    config = GRPOConfig(
        output_dir="runs/tiny_grpo",
        max_steps=options.steps,
        per_device_train_batch_size=options.group * options.tasks,
        num_generations=options.group,
        max_completion_length=options.tokens,  # This limits one action, not the episode.
        learning_rate=options.rate,
        lr_scheduler_type="constant",
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
        seed=options.seed,
        # The lengths of the episodes must not weigh in.
        loss_type="dapo",
        # Divided by the spread of a group, the cost of a step would weigh as much as a success where all members fail,
        # and the model would learn to finish at once.
        scale_rewards="none",
        reward_weights=[1.0, 0.0],
    )
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=config,
        train_dataset=rollout.dataset(range(first, first + options.tasks * options.steps)),
        reward_funcs=[environment_reward, success],
        rollout_func=rollout,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Progress)
    before = evaluate(test, trainer, range(options.evaluate))
    print(f"success before {before}", flush=True)
    began = time.perf_counter()
    trainer.train()
    print(f"{options.steps} steps in {time.perf_counter() - began:.0f} s")
    after = evaluate(test, trainer, range(options.evaluate))
    rollout.close()
    test.close()
    print(f"success before {before}, after {after}")
    return [entry for entry in trainer.state.log_history if "reward" in entry]


if __name__ == "__main__":
    main()

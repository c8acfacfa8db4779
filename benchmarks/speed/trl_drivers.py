"""How long a batch of GRPO takes with each of the two drivers for TRL, against a world that answers after 100 ms.

    python benchmarks/speed/trl_drivers.py [--episodes 16] [--calls 6] [--latency 0.1] [--sigma 0]

A server process on loopback answers every request of the language world after the same time, or with a `--sigma` after
log-normal ones with the median `--latency`. The real `GRPOTrainer` takes two steps with `EnvironmentRollout`
(`rollout_func`), two with the same driver in synchronous waves (`min_ready` is the size of the batch), and two with
`environment_factory`. The model writes a script, so that all play the same actions in the same episodes; what is timed
is the generation of a batch and the whole step. The exit status tells whether the rollouts of the first driver take at
most a fifth of the time of the last.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import mean
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import stub
import torch
from tokenizers import AddedToken
from tokenizers.pre_tokenizers import ByteLevel
from transformers import Qwen2Tokenizer, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.integrations.trl import EnvironmentRollout, environment_reward
from agentworld_gym.integrations.trl_environments import environment_factory

ANSWER = "<predicted_observation>\nuser@host:~$ ls\nnotes.txt  report.txt\nuser@host:~$ \n</predicted_observation>"
ID = "AgentWorld/Terminal-v0"
TURN = "<|im_start|>assistant"
STEPS, TARGET = 2, 5.0


class ScriptedTrainer(GRPOTrainer):  # type: ignore[misc]
    """The trainer of TRL with a model that writes the same texts in every episode, a text a turn."""

    def script(self, turns: Sequence[str]) -> None:
        """Take the texts, and begin to keep time."""
        self.turns, self.seconds = list(turns), []

    def _generate_single_turn(self, prompt_ids: Sequence[list[int]], *_: Any, **__: Any) -> tuple[Any, None]:
        tokenizer = self.processing_class
        places = (tokenizer.decode(prompt).count(TURN) - 1 for prompt in prompt_ids)
        return [[*tokenizer(self.turns[place])["input_ids"], tokenizer.eos_token_id] for place in places], None

    def _generate(self, prompts: Any) -> Any:
        began = time.perf_counter()
        result = super()._generate(prompts)
        self.seconds.append(time.perf_counter() - began)
        return result


def byte_tokenizer() -> Qwen2Tokenizer:
    """Return a tokenizer of single bytes with the chat template of Qwen3."""
    made = Qwen2Tokenizer(vocab={one: index for index, one in enumerate(sorted(ByteLevel.alphabet()))}, merges=[])
    special = [AddedToken(name, special=True) for name in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    made.add_tokens(special)
    made.pad_token, made.eos_token, made.chat_template = "<|endoftext|>", "<|im_end|>", qwen3_chat_template
    return made


def tool_call(name: str, **arguments: str) -> str:
    """Return a call as Qwen3 writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def train(turns: Sequence[str], episodes: int, **driver: Any) -> tuple[float, float]:
    """Return the seconds that the rollouts of a step took, and those of a whole step."""
    tokenizer = byte_tokenizer()
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = Qwen3Config(
        vocab_size=len(tokenizer), num_key_value_heads=1, head_dim=16, max_position_embeddings=1 << 16, **size
    )
    with tempfile.TemporaryDirectory() as folder:
        args = GRPOConfig(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=episodes,
            num_generations=episodes // 2,
            max_completion_length=16384,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            gradient_checkpointing=False,
        )
        trainer = ScriptedTrainer(model=Qwen3ForCausalLM(config), processing_class=tokenizer, args=args, **driver)
        trainer.script(turns)
        began = time.perf_counter()
        trainer.train()
        return mean(trainer.seconds), (time.perf_counter() - began) / STEPS


def main() -> int:
    """Measure both drivers and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=16, help="episodes of a batch, in two groups")
    parser.add_argument("--calls", type=int, default=6, help="actions of an episode before it finishes")
    parser.add_argument("--latency", type=float, default=0.1, help="seconds in which the world answers (the median)")
    parser.add_argument("--sigma", type=float, default=0.0, help="the spread of log-normal latencies")
    options = parser.parse_args()
    torch.set_num_threads(1)
    actions = [f"cat notes.txt | head -n {number + 1}" for number in range(options.calls)]
    calls = [tool_call("act", action=action) for action in actions]
    finish = tool_call(VERB)
    print(
        f"{options.episodes} episodes of {options.calls} calls and finish; {options.latency} s, sigma {options.sigma}"
    )
    with stub.server(options.latency, ANSWER, options.sigma) as base:
        world = {"world": f"{base}/v1", "families": ["count_lines"]}

        def row(name: str, turns: Sequence[str], **driver: Any) -> float:
            rollouts, step = train(turns, options.episodes, **driver)
            requests = len(stub.taken(base)) // STEPS
            print(f"{name:28} rollouts {rollouts:6.2f} s  step {step:6.2f} s  {requests} requests a step", flush=True)
            return rollouts

        def batched(name: str, min_ready: int) -> float:
            limits = {"max_turns": options.calls + 1, "max_tokens": 1 << 15, "min_ready": min_ready}
            rollout = EnvironmentRollout(ID, system="Act.", **limits, **world)
            rows = rollout.dataset(range(8))
            driver = {"rollout_func": rollout, "reward_funcs": environment_reward, "train_dataset": rows}
            seconds = row(name, [*actions, VERB], **driver)
            rollout.close()
            return seconds

        as_they_come = batched("rollout_func", 1)
        waves = batched("rollout_func, waves", options.episodes)
        factory = environment_factory(ID, **world)
        driver = {"environment_factory": factory, "train_dataset": factory.dataset(range(8))}
        single = row("environment_factory", [*calls, finish, "Done."], **driver)
        factory.close()
    print(f"ratios of the rollouts to the first: {waves / as_they_come:.1f}, {single / as_they_come:.1f}")
    return 0 if single / as_they_come >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())

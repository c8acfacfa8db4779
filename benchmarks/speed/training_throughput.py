"""Training throughput against a plain `transformers.Trainer`: same model, same data, same optimizer, in one run.

Both train a model from scratch on the same recorded sessions, in turns, on one thread. A step holds about the same
number of tokens. Counted are real tokens (no padding) per second of CPU time, so that other processes of the machine do
not matter. The first step of each turn is left out, and of ours the first four, in which a trainer may compile.
`Trainer` pads a batch of random samples, or, as `grouped`, one of samples of like length. The last lines are our
trainer with Muon, with `torch.compile`, in bfloat16, and packed.

    python benchmarks/speed/training_throughput.py
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.data.preparation import Preparation, prepare
from agentworld_gym.recipe.data.token_store import TokenStore, build_store
from agentworld_gym.recipe.training.batches import Batches
from agentworld_gym.recipe.training.model import make_model, make_tokenizer
from agentworld_gym.recipe.training.model_config import ModelConfig, ModelShape
from agentworld_gym.recipe.training.train_config import TrainConfig
from agentworld_gym.recipe.training.trainer import Trainer

DOMAINS = ("terminal", "mcp")
SIZES = {
    "1.3M": {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 4},
    "5.4M": {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 6},
}
LONGEST = 1536
WARM = 4
"""The steps of our trainer that are left out at the beginning of a turn, in which it may compile."""

Measure = tuple[int, float, int]
"""Real tokens, seconds of CPU time, cells (tokens with padding)."""


class Sessions(torch.utils.data.Dataset):  # type: ignore[misc]
    """The samples of a store as `transformers.Trainer` takes them."""

    def __init__(self, store: TokenStore) -> None:
        self.items = []
        for index in range(len(store)):
            ids, weights, _ = store[index]
            self.items.append(
                {"input_ids": ids.tolist(), "labels": np.where(weights > 0, ids.astype(np.int64), -100).tolist()}
            )

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.items[index]


class Clock(transformers.TrainerCallback):
    """CPU time from the end of the first step to the end of the last one."""

    def __init__(self) -> None:
        self.begun = self.ended = 0.0

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.ended = time.process_time()
        if state.global_step == 1:
            self.begun = self.ended


def theirs(
    model: Any, store: TokenStore, tokenizer: Any, tokens: int, folder: Path, **options: Any
) -> Callable[[int], Measure]:
    """A function that trains some steps with `transformers.Trainer`."""
    data = Sessions(store)
    rows = max(1, round(tokens / float(store.lengths.mean())))
    pad = transformers.DataCollatorForTokenClassification(tokenizer, pad_to_multiple_of=32)
    seen: list[tuple[int, int]] = []

    def collate(items: list[dict[str, Any]]) -> Any:
        batch = pad(items)
        seen.append((sum(len(item["input_ids"]) for item in items), batch["input_ids"].numel()))
        return batch

    def measure(steps: int) -> Measure:
        clock = Clock()
        seen.clear()
        arguments = transformers.TrainingArguments(
            output_dir=str(folder),
            max_steps=steps + 1,
            per_device_train_batch_size=rows,
            learning_rate=1e-3,
            adam_beta2=0.95,
            optim="adamw_torch",
            lr_scheduler_type="constant",
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            dataloader_num_workers=0,
            **options,
        )
        transformers.Trainer(
            model=model, args=arguments, train_dataset=data, data_collator=collate, callbacks=[clock]
        ).train()
        found = seen[1 : steps + 1]
        return sum(real for real, _ in found), clock.ended - clock.begun, sum(cells for _, cells in found)

    return measure


def ours(
    model: Any, store: TokenStore, pad: int, tokens: int, folder: Path, packing: Any = "sorted", **options: Any
) -> Callable[[int], Measure]:
    """A function that trains some steps with our trainer."""
    batches = Batches(store, seed=0, tokens=tokens, longest=LONGEST, short=LONGEST, packing=packing, pad=pad)
    settings = TrainConfig(
        max_steps=10**6, warmup=0, adamw_lr=1e-3, curriculum=0, tensorboard=False, batch_tokens=tokens, **options
    )
    trainer = Trainer(model, batches, settings, folder, packed=packing == "packed")

    def measure(steps: int) -> Measure:
        for _ in range(WARM):
            trainer.step()
        begun = time.process_time()
        found = [trainer.step() for _ in range(steps)]
        spent = time.process_time() - begun
        return int(sum(item.tokens for item in found)), spent, int(sum(item.cells for item in found))

    return measure


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, default=400)
    parser.add_argument("--tokens", type=int, default=4096, help="tokens of a step")
    parser.add_argument("--steps", type=int, default=10, help="steps of a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--size", choices=list(SIZES), action="append")
    options = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collect(
            [load_spec(domain) for domain in DOMAINS],
            folder / "rows.jsonl",
            options.sessions,
            0,
            SmallModelSessions(max_turns=12),
        )

        def samples() -> Any:
            return prepare(read_rows(folder / "rows.jsonl"), Preparation(pool=None, context_weight=0.1))[0]

        shape: dict[str, Any] = {"vocab_size": 2048}
        texts = (message["content"] for sample in samples() for message in sample.messages)
        tokenizer = make_tokenizer(ModelConfig(shape=ModelShape(**shape)), texts)
        store = build_store(samples(), tokenizer, folder / "tokens", LONGEST)
        print(f"{len(store)} samples, {store.meta['tokens']:,} tokens, {options.tokens} tokens a step\n")
        print("| model | trainer | tokens/s | against plain | padded |\n| --- | --- | --- | --- | --- |")
        for size in options.size or SIZES:
            config = ModelConfig(shape=ModelShape(**shape, **SIZES[size]))

            def fresh(config: ModelConfig = config) -> Any:
                return make_model(config, tokenizer, 0)

            def peer(name: str, **settings: Any) -> Callable[[int], Measure]:
                return theirs(fresh(), store, tokenizer, options.tokens, folder / name, **settings)

            def own(name: str, **settings: Any) -> Callable[[int], Measure]:
                given = {"bfloat16": False, **settings}
                return ours(fresh(), store, tokenizer.pad_token_id, options.tokens, folder / name, **given)

            runs = {
                "transformers.Trainer": peer("a"),
                "transformers.Trainer, grouped": peer("b", train_sampling_strategy="group_by_length"),
                "ours": own("c", optimizer="adamw"),
                "ours, Muon": own("d"),
                "ours, Muon, compiled": own("e", compile=True),
                "ours, Muon, compiled, bfloat16": own("f", compile=True, bfloat16=True),
                "ours, packed": own("g", packing="packed", optimizer="adamw"),
            }
            found: dict[str, list[Measure]] = {name: [] for name in runs}
            for _ in range(options.turns):
                for name, run in runs.items():
                    found[name].append(run(options.steps))
            rates = {
                name: sum(m[0] for m in measures) / sum(m[1] for m in measures) for name, measures in found.items()
            }
            for name, measures in found.items():
                padded = 1 - sum(m[0] for m in measures) / sum(m[2] for m in measures)
                ratio = rates[name] / rates["transformers.Trainer"]
                print(f"| {size} | {name} | {rates[name]:,.0f} | {ratio:.2f} | {padded:.1%} |", flush=True)


if __name__ == "__main__":
    main()

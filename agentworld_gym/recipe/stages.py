"""What the stages that learn from samples share: from samples to a trained model in the folder of a run.

The folder holds `config.yaml`, `tokenizer`, `tokens` and `held_out` (the samples as tokens), what the trainer writes,
and in the end `model`. What is there already is used again, so that the same command goes on where a run stopped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from agentworld_gym.errors import SpecError
from agentworld_gym.fingerprint import digest_of
from agentworld_gym.recipe.batches import Batches
from agentworld_gym.recipe.config import CptConfig, DataConfig, SftConfig
from agentworld_gym.recipe.encoding import tokenizer_digest
from agentworld_gym.recipe.metrics import Metrics, Progress
from agentworld_gym.recipe.model import CONFIG, TOKENIZER, export, make_model, make_tokenizer, tokenizer_of_run
from agentworld_gym.recipe.samples import Sample
from agentworld_gym.recipe.store import META, TokenStore, build_store
from agentworld_gym.recipe.trainer import Evaluate, Trainer
from agentworld_gym.recipe.validation import validation
from agentworld_gym.recipe.workers import Workers
from agentworld_gym.task import read_yaml

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TOKENS, HELD_OUT, MODEL = "tokens", "held_out", "model"

Samples = Callable[[], Iterable[Sample]]
"""Gives the same samples each time it is called."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its last metrics, its steps, and the folder of the model; None where the run was stopped."""

    metrics: Metrics
    steps: int
    model: Path | None


def fit(
    config: CptConfig | SftConfig,
    out: Path,
    samples: Samples,
    held_out: Samples,
    progress: Progress | None = None,
    evaluate: Evaluate | None = None,
) -> Outcome:
    """Train a model on samples, or go on with it, and export it.

    Every process of a run calls this; the main one alone makes the samples and writes.

    Args:
        config: of the stage.
        out: the folder of the run.
        samples: to learn from.
        held_out: to measure the progress on.
        progress: called with each line of metrics.
        evaluate: further metrics of a model, at every checkpoint.

    Raises:
        SpecError: the folder is of another configuration, or its tokens of another tokenizer.
        TrainingError: the run cannot go on; the last checkpoint is whole.
    """
    workers = Workers()
    if workers.main:
        _prepare(config, out, samples, held_out)
    workers.wait()
    tokenizer = tokenizer_of_run(out)
    store = TokenStore.open(out / TOKENS, tokenizer)
    batches = batches_of(store, config, tokenizer, workers)
    trainer = Trainer(
        make_model(config.model, tokenizer, config.train.seed),
        batches,
        config.train,
        out,
        identity={"model": digest_of(config.model.model_dump(mode="json")), "tokenizer": tokenizer_digest(tokenizer)},
        packed=config.data.packing == "packed",
        evaluate=_all([_validation(config.data, out, tokenizer), evaluate]) if workers.main else None,
        progress=progress,
        workers=workers,
    )
    metrics = trainer.run()
    finished = trainer.spent >= 1
    if finished and workers.main:
        export(out, out / MODEL)
    workers.wait()
    return Outcome(metrics, trainer.steps, out / MODEL if finished else None)


def batches_of(
    store: TokenStore, config: CptConfig | SftConfig, tokenizer: PreTrainedTokenizerBase, workers: Workers
) -> Batches:
    """The batches of this process."""
    return Batches(
        store,
        seed=config.train.seed,
        tokens=config.train.batch_tokens,
        longest=config.data.max_tokens,
        short=config.train.short_tokens if config.train.curriculum else config.data.max_tokens,
        packing=config.data.packing,
        pad=_pad(tokenizer),
        rank=workers.rank,
        processes=workers.count,
    )


def _prepare(config: CptConfig | SftConfig, out: Path, samples: Samples, held_out: Samples) -> None:
    """Write what a run begins with, unless it is there."""
    _claim(config, out)
    if not (out / TOKENIZER).is_dir():
        first = islice(samples(), config.model.tokenizer_samples)
        texts = (message["content"] for sample in first for message in sample.messages)
        partial = out / f"{TOKENIZER}.partial"
        make_tokenizer(config.model, texts).save_pretrained(str(partial))
        os.replace(partial, out / TOKENIZER)
    tokenizer = tokenizer_of_run(out)
    if not (out / TOKENS / META).is_file():
        build_store(samples(), tokenizer, out / TOKENS, config.data.max_tokens)
    if config.data.validation and not (out / HELD_OUT / META).is_file():
        unseen = list(islice(held_out(), config.data.validation))
        if unseen:
            build_store(unseen, tokenizer, out / HELD_OUT, config.data.max_tokens)


def _claim(config: CptConfig | SftConfig, out: Path) -> None:
    """Write the configuration. Once there are tokens, only how long and how to train may differ from an earlier one."""
    path = out / CONFIG
    plain = config.model_dump(mode="json")
    if path.is_file() and (out / TOKENS / META).is_file():
        before, after = _flat(read_yaml(path)), _flat(plain)
        for key in sorted(before.keys() | after.keys()):
            if key != "name" and not key.startswith("train.") and before.get(key) != after.get(key):
                raise SpecError(path, key, before.get(key), f"{after.get(key)!r}, or another folder for the run")
    else:
        shutil.rmtree(out / TOKENIZER, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(yaml.safe_dump(plain, sort_keys=False), encoding="utf-8")
    os.replace(partial, path)


def _flat(value: Any, key: str = "") -> dict[str, Any]:
    """Plain data by dotted key.

    >>> _flat({"model": {"path": None, "shape": {"vocab_size": 512}}})
    {'model.path': None, 'model.shape.vocab_size': 512}
    """
    if not isinstance(value, dict) or not value:
        return {key: value}
    return {name: item for inner in value for name, item in _flat(value[inner], f"{key}.{inner}".strip(".")).items()}


def _validation(data: DataConfig, out: Path, tokenizer: PreTrainedTokenizerBase) -> Evaluate | None:
    if not (out / HELD_OUT / META).is_file():
        return None
    return validation(TokenStore.open(out / HELD_OUT, tokenizer), data.max_tokens)


def _all(parts: list[Evaluate | None]) -> Evaluate:
    def evaluate(model: Any) -> Metrics:
        return {key: value for part in parts if part is not None for key, value in part(model).items()}

    return evaluate


def _pad(tokenizer: PreTrainedTokenizerBase) -> int:
    found: Any = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    return int(found or 0)

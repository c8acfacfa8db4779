"""The pipeline of the stages that learn from samples: from samples to a trained model in the folder of a run.

The folder holds `config.yaml`, `tokenizer`, `tokens` and `held_out` (the samples as tokens), `world.yaml` (the
card of the model), what the trainer writes, and in the end `model`. What is there already is used again, so that the
same command goes on where a run stopped.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.llm.bundled_models import CARD
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.tokenization import tokenization_digest
from agentworld_gym.recipe.data.data_files import data_files, file_digests, must_be_unchanged
from agentworld_gym.recipe.data.token_store import META, TokenStore, build_store
from agentworld_gym.recipe.run_folder import ensure_same_settings, sole_process
from agentworld_gym.recipe.training.batches import Batches
from agentworld_gym.recipe.training.distributed import Processes
from agentworld_gym.recipe.training.metrics import Metrics, Progress
from agentworld_gym.recipe.training.model import (
    CONFIG,
    TOKENIZER,
    export,
    make_model,
    make_tokenizer,
    must_have_model,
    tokenizer_of_run,
)
from agentworld_gym.recipe.training.stage_config import DataConfig, SessionsConfig, StageConfig
from agentworld_gym.recipe.training.train_config import TrainConfig
from agentworld_gym.recipe.training.trainer import Evaluate, Trainer
from agentworld_gym.recipe.training.validation import validation
from agentworld_gym.recipe.training.world_card import copy_card, write_card

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

TOKENS, HELD_OUT, MODEL = "tokens", "held_out", "model"

INCIDENTAL = {"download", "attention", "gradient_checkpointing"}
"""The fields of a model's configuration that may change without making it another model."""

ORDER = {"seed", "batch_tokens", "curriculum", "short_tokens"}
"""The fields that decide which samples of the training data come next. A checkpoint's position means nothing without
them."""

FREE = {
    "name",
    "data.workers",
    *(f"model.{key}" for key in INCIDENTAL),
    *(f"train.{key}" for key in TrainConfig.model_fields if key not in ORDER),
}
"""The fields that may differ when a run goes on."""

Samples = Callable[[], Iterable[Sample]]
"""A function that gives the same samples each time it is called."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended."""

    metrics: Metrics
    """The last metrics."""

    steps: int
    """The number of steps."""

    model: Path | None
    """The folder of the model; None where the run was stopped."""


def fit(
    config: StageConfig,
    out: Path,
    samples: Samples,
    held_out: Samples,
    progress: Progress | None = None,
    evaluate: Evaluate | None = None,
    card: Callable[[], Mapping[str, Any] | None] | None = None,
) -> RunOutcome:
    """Train a model on samples, or go on with it, and export it.

    Every process of a run calls this; the main one alone makes the samples and writes files.

    Args:
        config: The configuration of the stage.
        out: The folder of the run.
        samples: The samples to learn from.
        held_out: The samples to measure the progress on.
        progress: A function that is called with each line of metrics.
        evaluate: A function that gives further metrics of a model, at every checkpoint.
        card: A function that returns what the card of the trained model says; None where it needs none.

    Raises:
        SpecError: The folder is of another configuration, its tokens are of another tokenizer, the model is not there,
            or the files that the tokens were made of hold something else.
        TrainingError: Another process trains in the folder, or the run cannot go on; the last checkpoint is whole.
    """
    must_have_model(config.model)
    processes = Processes()
    with sole_process(out) if processes.main else nullcontext():
        if processes.main:
            _prepare(config, out, samples, held_out)
            if card is not None and not (out / CARD).exists():
                write_card(out, card())  # before training, so that an error costs no trained model
        processes.wait()
        tokenizer = tokenizer_of_run(out)
        store = TokenStore.open(out / TOKENS, tokenizer)
        batches = batches_of(store, config, tokenizer, processes)
        trainer = Trainer(
            make_model(config.model, tokenizer, config.train.seed),
            batches,
            config.train,
            out,
            identity={
                "model": digest_of(config.model.model_dump(mode="json", exclude=INCIDENTAL)),
                "tokenizer": tokenization_digest(tokenizer),
                "data": store.meta["digest"],
            },
            packed=config.data.packing == "packed",
            evaluate=_all([_validation(config.data, out, tokenizer), evaluate]) if processes.main else None,
            progress=progress,
            processes=processes,
        )
        metrics = trainer.run()
        finished = trainer.spent >= 1
        if finished and processes.main:
            export(out, out / MODEL)
            copy_card(out, out / MODEL)
        processes.wait()
        return RunOutcome(metrics, trainer.steps, out / MODEL if finished else None)


def batches_of(
    store: TokenStore, config: StageConfig, tokenizer: PreTrainedTokenizerBase, processes: Processes
) -> Batches:
    """Return the batches of this process."""
    short = config.train.short_tokens if config.train.curriculum else config.data.max_tokens
    if (shortest := int(store.lengths.min())) > short:
        logger.info("the shortest sample has %d tokens, above train.short_tokens: the run begins with all", shortest)
        short = config.data.max_tokens
    return Batches(
        store,
        seed=config.train.seed,
        tokens=config.train.batch_tokens,
        longest=config.data.max_tokens,
        short=short,
        packing=config.data.packing,
        pad=_pad(tokenizer),
        rank=processes.rank,
        processes=processes.count,
    )


def _prepare(config: StageConfig, out: Path, samples: Samples, held_out: Samples) -> None:
    """Write what a run begins with, unless it is there."""
    encoded, watched = out / TOKENS, out / HELD_OUT
    if not (encoded / META).is_file():
        (out / CONFIG).unlink(missing_ok=True)
        (out / CARD).unlink(missing_ok=True)
        shutil.rmtree(out / TOKENIZER, ignore_errors=True)

    def completed(earlier: Mapping[str, Any]) -> Mapping[str, Any]:
        return validated(type(config), earlier, out / CONFIG).model_dump(mode="json")

    ensure_same_settings(out / CONFIG, config.model_dump(mode="json"), FREE, completed)
    data = config.data
    data_sources = [*data.samples, *(data.rows if isinstance(data, SessionsConfig) else ())]
    if data.validation and not (watched / META).is_file():
        data_files(data.held_out, "validation")  # a missing file is an error before anything is tokenized
    if not (out / TOKENIZER).is_dir():
        first = islice(samples(), config.model.tokenizer_samples)
        texts = (message["content"] for sample in first for message in sample.messages)
        partial = out / f"{TOKENIZER}.partial"
        make_tokenizer(config.model, texts).save_pretrained(str(partial))
        os.replace(partial, out / TOKENIZER)
    tokenizer = tokenizer_of_run(out)
    if (encoded / META).is_file():
        must_be_unchanged(TokenStore.open(encoded, tokenizer).meta["sources"])
    else:
        sources = file_digests(data_sources, "train")
        build_store(_announced(samples()), tokenizer, encoded, data.max_tokens, sources=sources)
    if data.validation and not (watched / META).is_file():
        logger.info("preparing %d held-out samples", data.validation)
        unseen = list(islice(held_out(), data.validation))
        if unseen:
            build_store(unseen, tokenizer, watched, data.max_tokens)


def _announced(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield samples, and say so when the first one is there: a missing file is an error before anything is said."""
    for number, sample in enumerate(samples):
        if number == 0:
            logger.info("encoding samples")
        yield sample


def _validation(data: DataConfig, out: Path, tokenizer: PreTrainedTokenizerBase) -> Evaluate | None:
    if not (out / HELD_OUT / META).is_file():
        return None
    return validation(TokenStore.open(out / HELD_OUT, tokenizer), data.max_tokens)


def _all(parts: list[Evaluate | None]) -> Evaluate:
    def evaluate(model: Any) -> Metrics:
        return {key: value for part in parts if part is not None for key, value in part(model).items()}

    return evaluate


def _pad(tokenizer: PreTrainedTokenizerBase) -> int:
    pad: Any = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    return int(pad or 0)

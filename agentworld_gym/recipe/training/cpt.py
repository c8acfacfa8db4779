"""Continual pre-training of a world model, or training from scratch, on recorded sessions.

The loss is that of the next token, over whole sessions, with the weights of `agentworld_gym.llm.rows.turn_weights`
(Qwen-AgentWorld, arXiv 2606.24597). A user message is an action, an assistant message is what it showed, and no message
holds any thinking.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.pools import SessionPool
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.data_files import data_files, holds_samples, samples_of_files
from agentworld_gym.recipe.data.preparation import PreparationReport, prepare
from agentworld_gym.recipe.data.text_corpora import Knowledge
from agentworld_gym.recipe.data.token_store import TokenStore
from agentworld_gym.recipe.training.metrics import Progress
from agentworld_gym.recipe.training.pipeline import TOKENS, RunOutcome, fit
from agentworld_gym.recipe.training.stage_config import CptConfig
from agentworld_gym.recipe.training.trainer import Evaluate
from agentworld_gym.recipe.training.world_card import base_card, bounded_card, joined_card, stated_card, world_card

logger = logging.getLogger(__name__)

SESSIONS = "sessions.jsonl"
ATTEMPTS = 10
"""The most sessions that are played for each validation session that is wanted; some sessions have no turn."""


def train(
    config: CptConfig,
    out: Path,
    progress: Progress | None = None,
    recording: Callable[[int], None] | None = None,
    evaluate: Evaluate | None = None,
) -> RunOutcome:
    """Train as a configuration says, and record the sessions first where it names none.

    Args:
        config: The configuration of the run.
        out: The folder of the run; what an earlier, stopped run left there is gone on with.
        progress: A function that is called with each line of metrics.
        recording: A function that is called with the number of recorded sessions.
        evaluate: A function that gives further metrics of a model, at every checkpoint.

    Raises:
        SpecError: A file of the configuration is missing or wrong, or the folder is of another configuration.
        TrainingError: The run cannot go on; the last checkpoint is whole.
    """

    learned = {path.resolve() for path in data_files(config.data.rows, "train")}
    held = {path.resolve() for path in data_files(config.data.held_out, "validation")}
    # Imported sessions are split by file; of a file that is named twice, none may be learned from and measured on.
    shared, preparation = bool(learned & held), config.preparation
    if shared and preparation.pool is not None:
        drawn = preparation.pool.model_copy(update={"imported": "drawn"})
        preparation = preparation.model_copy(update={"pool": drawn})
    told: dict[Path, PreparationReport] = {}

    def tell(path: Path, account: PreparationReport) -> None:
        if path not in told:
            logger.info("%s: %s", path, account.summary())
        told[path] = account

    def samples() -> Iterator[Sample]:
        sources = data_files(config.data.rows, "train")
        if not sources and not config.data.samples:
            path = out / SESSIONS
            specs = [load_spec(domain) for domain in config.data.domains]
            settings, seed = config.collect, config.train.seed
            collect(specs, path, config.data.episodes, seed, settings, "train", config.data.workers, recording)
            sources = [path]
        sources += data_files(config.data.samples, "train")
        yield from _some(samples_of_files(sources, config.data.domains, preparation, config.data.workers, tell), told)

    def held_out() -> Iterator[Sample]:
        pool = SessionPool(split="validation", post_share=0.0, imported="drawn" if shared else "every")
        true = {"pool": pool, "knowledge": Knowledge(), "renamed": 0.0}
        watched = config.preparation.model_copy(update=true)
        if config.data.held_out:
            yield from samples_of_files(data_files(config.data.held_out, "validation"), config.data.domains, watched)
        elif config.data.domains:
            logger.info("recording held-out sessions")
            yield from prepare(_unseen(config), watched)[0]

    def card() -> dict[str, Any] | None:
        learned = bounded_card(_learned(config, out), TokenStore.open(out / TOKENS).longest_answer)
        return joined_card(base_card(config.model.path, thinking=False), learned)

    return fit(config, out, samples, held_out, progress, evaluate, card)


def _learned(config: CptConfig, out: Path) -> dict[str, Any] | None:
    """Return what the card of a model says of the sessions and samples of its run."""
    files = data_files(config.data.rows, "train") or [path for path in (out / SESSIONS,) if path.is_file()]
    if not all(map(holds_samples, files)):
        return world_card(files, config.data.domains, config.preparation)
    # A default says nothing of samples that were made elsewhere.
    stated = [part for part in (config.preparation, config.collect) if "profile" in part.model_fields_set]
    profile = next((part.profile for part in stated if part.profile is not None), None)
    form = next((part.form for part in stated if "form" in part.model_fields_set and part.form is not None), None)
    return stated_card(config.data.domains, profile, form)


def _some(samples: Iterator[Sample], told: Mapping[Path, PreparationReport]) -> Iterator[Sample]:
    """Yield samples.

    Raises:
        SpecError: There are none, although there were sessions: the error says how many were left out and why.
    """
    first = next(samples, None)
    if first is not None:
        yield first
        yield from samples
    elif told:
        files = ", ".join(map(str, told))
        reasons = "; ".join(account.summary() for account in told.values())
        raise SpecError(files, "sessions", 0, f"at least one to learn from ({reasons})")


def _unseen(config: CptConfig) -> Iterator[Row]:
    specs = [load_spec(domain) for domain in config.data.domains]
    with closing(Recorder(specs, config.collect, config.train.seed, "validation")) as recorder:
        yield from filter(None, map(recorder.row, range(ATTEMPTS * config.data.validation)))

"""Supervised fine-tuning of a world model on samples that think before they answer (Qwen-AgentWorld, arXiv 2606.24597).

The loop is that of every stage; only the samples differ: each ends with one answer, which alone has a weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.data_files import data_files, samples_of_files
from agentworld_gym.recipe.data.token_store import TokenStore
from agentworld_gym.recipe.training.metrics import Progress
from agentworld_gym.recipe.training.pipeline import TOKENS, RunOutcome, fit
from agentworld_gym.recipe.training.stage_config import SftConfig
from agentworld_gym.recipe.training.trainer import Evaluate
from agentworld_gym.recipe.training.world_card import base_card, bounded_card, joined_card


def train(
    config: SftConfig, out: Path, progress: Progress | None = None, evaluate: Evaluate | None = None
) -> RunOutcome:
    """Train as a configuration says.

    Args:
        config: The configuration of the run.
        out: The folder of the run; what an earlier, stopped run left there is gone on with.
        progress: A function that is called with each line of metrics.
        evaluate: A function that gives further metrics of a model, at every checkpoint.

    Raises:
        SpecError: A file of the configuration is missing or wrong, or the folder is of another configuration.
        TrainingError: The run cannot go on; the last checkpoint is whole.
    """

    def samples() -> Iterator[Sample]:
        yield from samples_of_files(data_files(config.data.samples, "train"), config.data.domains)

    def held_out() -> Iterator[Sample]:
        yield from samples_of_files(data_files(config.data.held_out, "validation"), config.data.domains)

    def card() -> dict[str, Any] | None:
        if base_card(config.model.path) is None:
            return None
        first = next((sample for sample in samples() if sample.weights), None)
        thinks = first is not None and any("<think>" in message["content"] for message in first.messages)
        base = base_card(config.model.path, thinks)
        if base is None or "max_tokens" not in base["sampling"]:
            return base
        return joined_card(base, bounded_card(base, TokenStore.open(out / TOKENS).longest_answer))

    return fit(config, out, samples, held_out, progress, evaluate, card)

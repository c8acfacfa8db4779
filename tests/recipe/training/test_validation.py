"""Validation: what is measured of a model on held-out samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from training_run import SHAPE, samples  # noqa: E402

from agentworld_gym.llm.rows.samples import Sample  # noqa: E402
from agentworld_gym.llm.rows.tokenization import SampleTokenizer  # noqa: E402
from agentworld_gym.recipe.data.token_store import build_store  # noqa: E402
from agentworld_gym.recipe.training.model import make_model, make_tokenizer  # noqa: E402
from agentworld_gym.recipe.training.model_config import ModelConfig  # noqa: E402
from agentworld_gym.recipe.training.validation import validation  # noqa: E402


def test_answers_without_a_weight_are_not_measured(tmp_path: Path) -> None:
    """Samples for fine-tuning learn their last answer alone; the ones before are history."""
    torch.set_num_threads(1)
    config = ModelConfig.model_validate({"shape": SHAPE})
    tokenizer = make_tokenizer(config, (message["content"] for sample in samples() for message in sample.messages))
    model: Any = make_model(config, tokenizer, 0).train(False)

    def measured(name: str, made: list[Sample]) -> dict[str, Any]:
        return validation(build_store(made, tokenizer, tmp_path / name, 200), 200)(model)

    many = [sample for sample in samples(20) if len(sample.weights) > 1]
    last = [sample.model_copy(update={"weights": (0.0,) * (len(sample.weights) - 1) + (1.0,)}) for sample in many]
    costs = []
    for item in SampleTokenizer(tokenizer).encode(many):
        asked = item.observed.copy()
        asked[: item.turns[-2]] = False
        ids = torch.from_numpy(item.ids.astype(np.int64))
        with torch.inference_mode():
            logits = model(input_ids=ids[None]).logits[0, :-1]
        costs += torch.nn.functional.cross_entropy(logits, ids[1:], reduction="none")[asked[1:]].tolist()
    assert measured("last", last)["validation_loss"] == pytest.approx(np.mean(costs), rel=1e-4)
    assert measured("all", many)["validation_loss"] != pytest.approx(np.mean(costs), rel=1e-4)

"""A model small enough to run anywhere: the bundled one, or a random one of the same architecture."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_model import write_tiny_model

from agentworld_gym.llm.bundled_models import tiny_model
from agentworld_gym.llm.generators.pretrained.eight_bits import ordinary_folder


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundled = tiny_model("terminal")
    return Path(ordinary_folder(str(bundled))) if bundled else write_tiny_model(tmp_path_factory.mktemp("tiny"))

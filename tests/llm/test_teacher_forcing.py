"""Teacher forcing: the scores of the true tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from training_run import SHAPE, samples  # noqa: E402

from agentworld_gym.llm import teacher_forcing  # noqa: E402
from agentworld_gym.llm.rows.tokenization import SampleTokenizer  # noqa: E402
from agentworld_gym.llm.teacher_forcing import teacher_forced  # noqa: E402
from agentworld_gym.recipe.training.model import make_model, make_tokenizer  # noqa: E402
from agentworld_gym.recipe.training.model_config import ModelConfig  # noqa: E402

CONFIG = ModelConfig.model_validate({"shape": SHAPE})
TOKENIZER = make_tokenizer(CONFIG, (message["content"] for sample in samples() for message in sample.messages))


@pytest.fixture(scope="module")
def model() -> Any:
    torch.set_num_threads(1)
    found = make_model(CONFIG, TOKENIZER, 0)
    found.train(False)
    return found


def alone(model: Any, ids: Any) -> tuple[Any, Any]:
    """Which tokens of a sample are the likeliest, and their losses, from all scores at once."""
    tokens = torch.from_numpy(ids.astype(np.int64))
    with torch.inference_mode():
        logits = model(input_ids=tokens[None]).logits[0, :-1]
    losses = torch.nn.functional.cross_entropy(logits, tokens[1:], reduction="none")
    return (logits.argmax(-1) == tokens[1:]).numpy(), losses.numpy()


@pytest.mark.parametrize(("scores", "places"), [(2**29, 1024), (1, 3)])
def test_samples_together_have_the_losses_that_each_has_alone(
    model: Any, monkeypatch: pytest.MonkeyPatch, scores: int, places: int
) -> None:
    """Whether many of them come at once or one by one, and whatever number of places is judged at a time."""
    monkeypatch.setattr(teacher_forcing, "SCORES_AT_ONCE", scores)
    monkeypatch.setattr(teacher_forcing, "PLACES_AT_ONCE", places)
    encoded = list(SampleTokenizer(TOKENIZER).encode(samples(9)))
    found = list(
        teacher_forced(model, [item.ids for item in encoded], [item.observed for item in encoded], with_loss=True)
    )
    assert sorted(item.place for item in found) == list(range(9))
    for place, right, loss in found:
        asked = encoded[place].observed
        expected, costs = alone(model, encoded[place].ids)
        assert loss is not None and not loss[~asked].any() and not right[~asked].any()
        np.testing.assert_array_equal(right[asked], np.append(False, expected)[asked])
        np.testing.assert_allclose(loss[asked], np.append(0, costs)[asked], rtol=1e-4)


def test_only_places_that_are_asked_about_reach_the_output_layer(model: Any) -> None:
    seen: list[int] = []
    hook = model.get_output_embeddings().register_forward_hook(lambda _, given, out: seen.append(out.shape[1]))
    (item,) = SampleTokenizer(TOKENIZER).encode(samples(1))
    last = np.zeros(len(item.ids), dtype=np.bool_)
    last[-1] = True
    list(teacher_forced(model, [item.ids], [last]))
    list(teacher_forced(model, [item.ids], [np.zeros_like(last)]))
    model(input_ids=torch.zeros((1, 7), dtype=torch.long))
    hook.remove()
    assert seen == [1, 7], "nothing is computed where nothing is asked, and the model is left as it was"

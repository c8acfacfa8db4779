"""Configurations of training: those that are shipped are right, and a wrong one says where."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentworld_gym.base.documents.strict import Strict, read_yaml
from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.domains import DOMAINS
from agentworld_gym.recipe.config_files import config_path, load_config, shipped
from agentworld_gym.recipe.rl.config import RlConfig
from agentworld_gym.recipe.training.model_config import LoraConfig, ModelConfig, ModelShape
from agentworld_gym.recipe.training.optimizers import LOWEST, learning_rate_factor
from agentworld_gym.recipe.training.queue import load_queue
from agentworld_gym.recipe.training.stage_config import CptConfig, SessionsConfig, SftConfig
from agentworld_gym.recipe.training.train_config import PRETRAINED, TrainConfig

ROOT = Path(__file__).resolve().parents[2]

KINDS: dict[str, type[Strict]] = {"sft": SftConfig, "rl": RlConfig}
"""Configurations by how their names begin; all others are of pre-training."""


@pytest.mark.parametrize("name", shipped())
def test_shipped_configurations_are_valid_and_say_what_they_are_for(name: str) -> None:
    config = load_config(name, KINDS.get(name.partition("-")[0], CptConfig))
    assert config.name == name
    assert set(config.data.domains) <= set(DOMAINS)
    assert config_path(name).read_text().startswith("# ")


@pytest.mark.parametrize(("name", "read"), [("my.yaml", load_config), ("queue.yaml", load_queue)])
def test_the_files_that_the_page_shows_are_whole(name: str, read: Callable[[Path], Strict], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "world_models" / "recipe.md").read_text(encoding="utf-8")
    shown = re.search(rf"^```yaml\n(# {re.escape(name)}.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown
    (tmp_path / name).write_text(shown[1], encoding="utf-8")
    assert read(tmp_path / name)


def test_a_wrong_configuration_says_where(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"

    def wrong(text: str, expected: str, kind: type[Strict] = CptConfig) -> None:
        path.write_text(text)
        with pytest.raises(SpecError, match=expected):
            load_config(path, kind)

    start = "name: a\ndata: {domains: [terminal]}\n"
    wrong(start + "train: {max_seconds: 1, clip: -1}\n", r"mine.yaml: train.clip: got -1")
    wrong(start + "train: {}\n", "max_steps, max_tokens or max_seconds")
    wrong("name: a\ndata: {}\ntrain: {max_steps: 1}\n", "rows, samples, or domains")
    wrong(start + "train: {max_steps: 1}\nmodel: {path: a, shape: {}}\n", "not both")
    wrong(start + "train: {max_steps: 1}\nmodel: {lora: {rank: 4}}\n", "a path where there is lora")
    wrong(start + "train: {max_steps: 1}\nmodel: {shape: {num_attention_heads: 3}}\n", "a multiple")
    tune = "name: a\nmodel: {path: a}\ntrain: {max_steps: 1}\n"
    wrong(tune + "data: {domains: [terminal]}\n", "files that `agentworld samples`", SftConfig)
    wrong(tune + "data: {samples: [a], rows: [a]}\n", r"data.rows: .*no such key", SftConfig)
    wrong(
        start + "train: {max_steps: 1, batch_tokens: 1000}\n",
        r"train.batch_tokens: got 1000, expected no less than data.max_t",
    )
    flash = "name: a\ndata: {domains: [terminal], packing: packed}\ntrain: {max_steps: 1}\n"
    wrong(flash + "model: {path: a, attention: flash_attention_2}\n", "another model.attention than flash_attention_2")
    wrong(start + "train: {max_steps: 1}\nmodel: {layers_of: a, path: b}\n", "model.layers_of: got 'a', expected for a")
    wrong(start + "train: {max_step: 1}\n", "train.max_step: got 1, expected no such key, but one of: max_steps, ")
    wrong("name: a\ndata: {session: 50}\ntrain: {max_steps: 1}\n", r"data.session: got 50, .* one of: .*episodes")
    drilled = start + "train: {max_steps: 1}\npreparation: {drills: 5}\n"
    wrong(drilled, r"preparation.drills: got 5, expected no such key, but one of: .*renamed")
    with pytest.raises(SpecError, match=r"one of: .*search"):
        load_config("no-such-recipe")


def test_values_of_the_command_line_take_the_place_of_those_in_the_file() -> None:
    config = load_config("search", changes={"train.max_steps": 7, "model.shape.hidden_size": 64, "name": "mine"})
    assert config.train.max_steps == 7 and config.name == "mine"
    assert config.model.shape is not None and config.model.shape.hidden_size == 64
    with pytest.raises(SpecError, match=r"train.max_stepz.*no such key"):
        load_config("search", changes={"train.max_stepz": 7})
    with pytest.raises(SpecError, match=r"name\.first"):
        load_config("search", changes={"name.first": 7})


def test_a_model_has_one_origin() -> None:
    assert ModelConfig().shape is not None and ModelConfig(path="a").shape is None
    with pytest.raises(ValidationError):
        ModelConfig.model_validate({"path": "a", "shape": {}})
    again = ModelConfig.model_validate(ModelConfig(path="a").model_dump(mode="json"))
    assert again == ModelConfig(path="a"), "a configuration that was written is read as it was"


def test_a_run_learns_from_something() -> None:
    with pytest.raises(ValidationError):
        SessionsConfig()
    assert SessionsConfig(domains=("terminal",)).rows == ()


def test_a_pretrained_model_is_trained_gently_where_nothing_else_is_said() -> None:
    def found(model: Any, **train: Any) -> tuple[str, float, float]:
        data = {"domains": ["terminal"]}
        config = CptConfig(name="a", data=data, model=model, train={"max_steps": 1, **train})  # type: ignore[arg-type]
        assert CptConfig.model_validate(config.model_dump(mode="json")) == config
        return config.train.optimizer, config.train.adamw_lr, config.train.curriculum

    assert found({"path": "a"}) == ("adamw", 1e-5, 0)
    assert found({"path": "a", "lora": {}}) == found(ModelConfig(path="a", lora=LoraConfig())) == ("adamw", 1e-4, 0)
    assert found({"path": "a"}, adamw_lr=1.0, curriculum=0.5) == ("adamw", 1.0, 0.5)
    assert found({}) == ("muon+adamw", 3e-3, 0.1)
    tuned = SftConfig(
        name="a",
        data={"samples": ["a"]},  # type: ignore[arg-type]
        model=ModelConfig(path="a"),
        train=TrainConfig(max_steps=1, adamw_lr=1e-6),
    )
    assert (tuned.train.optimizer, tuned.train.adamw_lr) == ("adamw", 1e-6)


@pytest.mark.parametrize("name", [name for name in shipped() if not name.startswith("rl")])
def test_shipped_configurations_of_pretrained_models_say_how_to_train(name: str) -> None:
    plain = read_yaml(config_path(name))
    assert "path" not in plain["model"] or PRETRAINED.keys() <= plain["train"].keys()


def test_the_context_counts_a_little_whatever_else_is_said_of_the_preparation() -> None:
    assert load_config("search", changes={"preparation.renamed": 0.5}).preparation.context_weight == 0.1
    assert load_config("search").preparation.context_weight == 0.1
    assert load_config("search", changes={"preparation.context_weight": 0.3}).preparation.context_weight == 0.3


@given(
    spent=st.floats(min_value=0, max_value=1),
    warmup=st.floats(min_value=0, max_value=0.5),
    decay=st.floats(min_value=0, max_value=1),
)
def test_a_rate_is_a_share_of_its_height_and_never_nothing(spent: float, warmup: float, decay: float) -> None:
    options = TrainConfig(max_steps=1, warmup=warmup, decay=decay)
    assert LOWEST <= learning_rate_factor(spent, options) <= 1
    if warmup <= spent <= 1 - decay:
        assert learning_rate_factor(spent, options) == 1


def test_a_model_begins_with_the_layers_of_another_under_its_own_vocabulary() -> None:
    torch = pytest.importorskip("torch")
    from agentworld_gym.recipe.training.model import make_model, make_tokenizer

    source = resources.files("agentworld_gym") / "models" / "tiny-terminal-state"
    shape = ModelShape(vocab_size=400, num_hidden_layers=6)
    config = ModelConfig(shape=shape, layers_of="tiny-terminal-state")
    tokenizer = make_tokenizer(config, ["alpha beta\ncat notes.txt"] * 3)
    model, again = make_model(config, tokenizer, 0), make_model(config, tokenizer, 0)
    other = make_model(ModelConfig(path=str(source)), tokenizer, 0)
    given = dict(other.named_parameters())
    for name, parameter in model.named_parameters():
        if "embed" in name:
            assert parameter.shape[0] == len(tokenizer)
        else:
            assert torch.equal(parameter, given[name])
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    end = tokenizer.eos_token_id
    assert torch.equal(model.get_input_embeddings().weight[end], other.get_input_embeddings().weight[1])
    with pytest.raises(SpecError, match="the shape of the model to train"):
        narrow = ModelShape(hidden_size=64, num_hidden_layers=6)
        make_model(ModelConfig(shape=narrow, layers_of=str(source)), tokenizer, 0)
    for layers in (1, 13):
        with pytest.raises(SpecError, match=rf"num_hidden_layers: got {layers}, expected 6 to 12"):
            make_model(ModelConfig(shape=ModelShape(num_hidden_layers=layers), layers_of=str(source)), tokenizer, 0)
    with pytest.raises(GeneratorError, match="layers_of"):
        make_model(ModelConfig(shape=shape, layers_of="nowhere"), tokenizer, 0)
    with pytest.raises(ValueError, match="layers_of: for a model from scratch"):
        ModelConfig(path="x", layers_of="y")


def test_a_deeper_model_begins_by_answering_as_the_one_that_its_layers_are_of(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from agentworld_gym.recipe.training.model import make_model, make_tokenizer, write_model
    from agentworld_gym.recipe.training.warm_start import layer_origins

    def of_depth(depth: int, origin: Path | None) -> Any:
        shape = ModelShape(hidden_size=32, intermediate_size=64, num_hidden_layers=depth, vocab_size=400)
        return make_model(ModelConfig(shape=shape, layers_of=origin and str(origin)), tokenizer, 0)

    tokenizer = make_tokenizer(ModelConfig(shape=ModelShape(vocab_size=400)), ["alpha beta\ncat notes.txt"] * 3)
    source = write_model(of_depth(3, None), tokenizer, tmp_path / "model")
    ids = torch.arange(6, 200)[None]
    with torch.no_grad():
        expected = of_depth(3, source)(ids).logits
        for depth in (4, 5, 6):
            deeper = of_depth(depth, source)
            assert torch.allclose(deeper(ids).logits, expected, atol=1e-4)
            copies = [
                place
                for place, origin in enumerate(layer_origins(3, depth))
                if origin in layer_origins(3, depth)[:place]
            ]
            assert len(copies) == depth - 3
            for place in copies:
                layer, twin = deeper.model.layers[place], deeper.model.layers[place - 1]
                assert torch.equal(layer.mlp.up_proj.weight, twin.mlp.up_proj.weight)
                layer.mlp.down_proj.weight.add_(twin.mlp.down_proj.weight)
            assert not torch.allclose(deeper(ids).logits, expected, atol=1e-3)
    for depth in (2, 7):
        with pytest.raises(SpecError, match=rf"num_hidden_layers: got {depth}, expected 3 to 6"):
            of_depth(depth, source)


def test_activations_may_be_computed_twice_also_from_scratch() -> None:
    pytest.importorskip("torch")
    from agentworld_gym.recipe.training.model import make_model, make_tokenizer

    for wanted in (True, False):
        config = ModelConfig(shape=ModelShape(vocab_size=400), gradient_checkpointing=wanted)
        assert make_model(config, make_tokenizer(config, ["a"]), 0).is_gradient_checkpointing is wanted

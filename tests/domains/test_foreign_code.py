"""A folder of a model brings Python files of its own: nothing of them is ever run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tiny_model import write_tiny_model

import agentworld_gym
from agentworld_gym.base.errors import AgentWorldError

pytest.importorskip("transformers")

PACKAGE = Path(agentworld_gym.__file__).parent
CODE = """
from pathlib import Path
Path({target!r}).write_text("executed")
from transformers import PretrainedConfig, PreTrainedTokenizerFast, Qwen3ForCausalLM
class Config(PretrainedConfig):
    model_type = "foreign"
class Model(Qwen3ForCausalLM):
    config_class = Config
class Tokens(PreTrainedTokenizerFast):
    pass
"""


def _generator(folder: Path) -> object:
    from agentworld_gym.llm.generators import TransformersGenerator

    return TransformersGenerator(folder)


def _encoder(folder: Path) -> object:
    from agentworld_gym.cli.samples import _encoder as encoder

    return encoder(folder)


def _training(folder: Path) -> object:
    from agentworld_gym.recipe.training.model import load_tokenizer_of
    from agentworld_gym.recipe.training.model_config import ModelConfig

    return load_tokenizer_of(ModelConfig(path=str(folder)))


LOADERS: dict[str, Callable[[Path], object]] = {
    "a generator": _generator,
    "the command line": _encoder,
    "training": _training,
}


@pytest.fixture
def foreign(tmp_path: Path) -> tuple[Path, Path]:
    """Such a folder, and the file that its code would write."""
    folder, target = write_tiny_model(tmp_path / "model"), tmp_path / "executed"
    (folder / "foreign.py").write_text(CODE.format(target=str(target)))
    for name, change in {
        "config.json": {"model_type": "foreign", "auto_map": {"AutoConfig": "foreign.Config"}},
        "tokenizer_config.json": {
            "tokenizer_class": "Tokens",
            "auto_map": {"AutoTokenizer": [None, "foreign.Tokens"]},
        },
    }.items():
        file = folder / name
        file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    return folder, target


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_a_folder_with_code_of_its_own_is_refused_whatever_is_typed(load, foreign, monkeypatch):
    folder, target = foreign
    monkeypatch.setattr("builtins.input", lambda prompt="": "y")
    with pytest.raises(AgentWorldError):
        load(folder)
    assert not target.exists()


def test_transformers_loads_at_one_place_only():
    where = [path for path in PACKAGE.rglob("*.py") if ".from_pretrained" in path.read_text()]
    assert [path.relative_to(PACKAGE).as_posix() for path in where] == ["llm/generators/pretrained/loading.py"]


@pytest.mark.parametrize(("options", "trusted"), [({}, False), ({"trust_remote_code": True}, True)])
def test_vllm_runs_it_only_where_the_caller_says_so(options, trusted, monkeypatch, tmp_path):
    from agentworld_gym.llm.generators.vllm_engine import VLLMGenerator

    given: dict[str, Any] = {}

    class LLM:
        def __init__(self, model: str, **options: Any) -> None:
            given.update(options)
            raise RuntimeError("enough")

    monkeypatch.setitem(sys.modules, "vllm", _module("vllm", LLM=LLM, __version__="0"))
    platform = SimpleNamespace(is_cpu=lambda: False)
    monkeypatch.setitem(sys.modules, "vllm.platforms", _module("vllm.platforms", current_platform=platform))
    with pytest.raises(AgentWorldError, match="enough"):
        VLLMGenerator(str(tmp_path), **options)
    assert given["trust_remote_code"] is trusted


def _module(name: str, **members: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(members)
    return module

"""Weights in eight bits: what is lost, who reads them, and the ordinary folder that any program gets."""

from __future__ import annotations

import multiprocessing
from contextlib import closing
from pathlib import Path

import pytest
from tiny_model import write_tiny_model
from typer.testing import CliRunner

from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.bundled_models import bundled_models
from agentworld_gym.llm.generators import TransformersGenerator
from agentworld_gym.llm.generators.pretrained.eight_bits import FILE, ordinary_folder, pack
from agentworld_gym.llm.generators.pretrained.loading import load_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A model's folder, and the same with weights in eight bits."""
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path / "cache"))
    plain = write_tiny_model(tmp_path / "plain")
    pack(plain, tmp_path / "packed")
    return plain, tmp_path / "packed"


def test_packed_weights_take_half_of_the_room_and_lie_within_half_a_step_of_the_others(folders):
    sizes = [sum(file.stat().st_size for file in folder.glob("*.safetensors")) for folder in folders]
    assert sizes[1] < 0.6 * sizes[0]
    before, after = (load_model(folder, dtype=torch.float32).state_dict() for folder in folders)
    assert list(before) == list(after)
    for name, weight in before.items():
        step = weight.abs().amax(-1, keepdim=True) / 127 if weight.ndim > 1 else torch.tensor(0.0)
        assert torch.all((after[name] - weight).abs() <= 0.51 * step + 2**-8 * weight.abs()), name


def test_an_ordinary_folder_holds_the_weights_that_this_package_computes_with(folders):
    _, packed = folders
    folder = ordinary_folder(str(packed))
    assert ordinary_folder(str(packed)) == folder and not (Path(folder) / FILE).exists()
    ours = load_model(packed).state_dict()
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict()
    assert all(torch.equal(ours[name], weight) for name, weight in theirs.items()) and len(ours) == len(theirs)
    assert ordinary_folder(str(folders[0])) == str(folders[0])


def answer(folder: Path | str) -> str:
    with closing(TransformersGenerator(folder)) as generator:
        request = ChatRequest(({"role": "user", "content": "ls"},), Sampling(temperature=0.0, max_tokens=20))
        ((_, completion),) = generator.submit([request])
    assert isinstance(completion, Completion)
    return completion.text


def test_a_world_model_answers_the_same_from_either_folder(folders):
    assert answer(folders[1]) == answer(ordinary_folder(str(folders[1])))


def test_new_weights_of_a_name_get_a_folder_of_their_own(folders, tmp_path):
    first = ordinary_folder(str(folders[1]))
    pack(write_tiny_model(tmp_path / "other", layers=1), folders[1])
    assert ordinary_folder(str(folders[1])) != first


def test_processes_that_unpack_at_the_same_time_all_get_the_folder(folders):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(ordinary_folder, [str(folders[1])] * 6)
    assert len(set(found)) == 1 and load_model(found[0]) is not None
    assert len(list(Path(found[0]).parent.iterdir())) == 1, "nothing else is left"


def test_the_bundled_models_are_given_to_other_programs_by_name(folders):
    name = next(iter(bundled_models()))
    done = CliRunner().invoke(app, ["models", "get", name])
    assert done.exit_code == 0, done.output
    assert transformers.AutoModelForCausalLM.from_pretrained(done.stdout.strip()).num_parameters() > 1_000_000


def test_a_name_that_is_no_model_is_refused_with_those_that_there_are():
    done = CliRunner().invoke(app, ["models", "get", "tiny-nothing"])
    assert done.exit_code == 2 and "tiny-nothing" in done.output and "tiny-terminal-state" in done.output

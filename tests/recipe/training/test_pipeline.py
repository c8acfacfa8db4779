"""The command `agentworld train`: from recorded sessions over samples to a model that answers."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from training_run import SHAPE, samples  # noqa: E402

from agentworld_gym.cli.app import app  # noqa: E402
from agentworld_gym.llm.rows.row_reading import read_rows  # noqa: E402
from agentworld_gym.llm.rows.samples import write_samples  # noqa: E402
from agentworld_gym.recipe.data.token_store import TokenStore  # noqa: E402
from agentworld_gym.recipe.training.metrics import read_metrics  # noqa: E402

TRAIN = {"max_steps": 4, "batch_tokens": 2048, "short_tokens": 1024, "bfloat16": False, "tensorboard": False}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(path: Path, config: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump({"name": path.stem, **config}))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few steps over sessions that it recorded itself."""
    folder = tmp_path_factory.mktemp("stages")
    config = {
        "collect": {"max_turns": 6},
        "data": {"domains": ["terminal"], "episodes": 16, "validation": 4, "max_tokens": 1024},
        "preparation": {"context_weight": 0.1},
        "model": {"shape": {**SHAPE, "vocab_size": 600}},
        "train": TRAIN,
    }
    result = run("train", "cpt", write(folder / "cpt.yaml", config), "--out", folder / "cpt")
    assert result.exit_code == 0, result.output
    assert "4 steps" in result.stdout
    assert result.stderr.count("measuring the progress on held-out samples\n") == 1
    for said in ("recording: 16 of 16 sessions", "making a tokenizer", "recording held-out sessions", " tokens/s"):
        assert said in result.stderr
    return folder


def test_pretraining_records_its_sessions_and_leaves_a_model(trained: Path) -> None:
    run_folder = trained / "cpt"
    sessions = list(read_rows(run_folder / "sessions.jsonl"))
    store = TokenStore.open(run_folder / "tokens")
    assert len(sessions) == 16 > len(store) > 0, "a share of the tasks is kept for the stages that follow"
    assert {"loss", "validation_exact"} <= set().union(*read_metrics(run_folder))
    tokenizer = transformers.AutoTokenizer.from_pretrained(run_folder / "model")
    model = transformers.AutoModelForCausalLM.from_pretrained(run_folder / "model")
    ids = tokenizer.apply_chat_template(
        sessions[0].request(), add_generation_prompt=True, return_tensors="pt", return_dict=False
    )
    written = model.generate(ids, max_new_tokens=5)
    assert ids.shape[1] < written.shape[1] <= ids.shape[1] + 5


def test_a_finished_run_is_finished(trained: Path) -> None:
    before = (trained / "cpt" / "metrics.jsonl").read_bytes()
    result = run("train", "cpt", trained / "cpt.yaml", "--out", trained / "cpt")
    assert result.exit_code == 0 and "4 steps" in result.stdout
    assert len((trained / "cpt" / "metrics.jsonl").read_bytes()) >= len(before)


def test_a_run_of_a_version_that_knew_fewer_settings_goes_on(trained: Path) -> None:
    file = trained / "cpt" / "config.yaml"
    whole = file.read_text()
    file.write_text(whole.replace("  renamed: 0.0\n", ""))
    assert file.read_text() != whole
    assert run("train", "cpt", trained / "cpt.yaml", "--out", trained / "cpt").exit_code == 0
    assert file.read_text() == whole


def test_a_longer_budget_goes_on_with_a_run(trained: Path) -> None:
    result = run("train", "cpt", trained / "cpt.yaml", "--out", trained / "cpt", "--set", "train.max_steps=6")
    assert result.exit_code == 0 and "6 steps" in result.stdout
    assert "goes on with train.max_steps 6 in place of 4\n" in result.stderr
    line = r"^training, cpt: 100\.0% of the budget, step 6, loss \d\.\d+, .*[\d,]+ tokens/s(, left 0:00:00)?$"
    assert re.search(line, result.stderr, re.MULTILINE)


def test_another_order_of_the_samples_is_refused(trained: Path) -> None:
    before = (trained / "cpt" / "config.yaml").read_bytes()
    for key, value in (("batch_tokens", 4096), ("seed", 1), ("curriculum", 0.5), ("short_tokens", 100)):
        result = run("train", "cpt", trained / "cpt.yaml", "--out", trained / "cpt", "--set", f"train.{key}={value}")
        assert result.exit_code == 2 and f"config.yaml: train.{key}: got " in result.stderr
        assert f"expected {value}, or another folder" in result.stderr
    assert (trained / "cpt" / "config.yaml").read_bytes() == before


def test_fine_tuning_goes_on_from_the_model_of_pretraining(trained: Path, tmp_path: Path) -> None:
    write_samples(tmp_path / "sft.jsonl", samples(20))
    write_samples(tmp_path / "unseen.jsonl", samples(4, seed=1))
    config = {
        "data": {"samples": [str(tmp_path / "sft.jsonl")], "held_out": [str(tmp_path / "unseen.jsonl")]},
        "model": {"path": "to be named"},
        "train": {**TRAIN, "max_steps": 2},
    }
    path = write(tmp_path / "sft.yaml", config)
    base = trained / "cpt" / "model"
    result = run("train", "sft", path, "--out", tmp_path / "run", "--set", f"model.path={base}")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "run" / "held_out" / "meta.json").read_text())["samples"] == 4
    tokenizers = [(folder / "tokenizer.json").read_text() for folder in (base, tmp_path / "run" / "model")]
    assert tokenizers[0] == tokenizers[1]
    cards = [yaml.safe_load((folder / "world.yaml").read_text()) for folder in (base, tmp_path / "run" / "model")]
    assert cards[0] == cards[1], "fine-tuning keeps what the model knows"


def test_a_public_model_is_trained_by_its_name(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path))
    write_samples(tmp_path / "sft.jsonl", samples(8))
    data = {"samples": [str(tmp_path / "sft.jsonl")], "held_out": [str(tmp_path / "sft.jsonl")]}
    path = write(
        tmp_path / "sft.yaml", {"data": data, "model": {"path": "smollm2-135m"}, "train": {**TRAIN, "max_steps": 1}}
    )
    missing = run("train", "sft", path, "--out", tmp_path / "run")
    assert missing.exit_code == 1 and "`agentworld models get smollm2-135m` fetches it" in missing.stderr
    shutil.copytree(trained / "cpt" / "model", tmp_path / "models" / "smollm2-135m")
    result = run("train", "sft", path, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run" / "model" / "config.json").is_file()


def test_what_is_wrong_is_said_in_one_line(trained: Path, tmp_path: Path) -> None:
    def error(stage: str, config: Path, *more: str) -> str:
        result = run("train", stage, config, "--out", tmp_path / "run", *more)
        assert result.exit_code in (1, 2)
        assert result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    data = {"samples": [str(tmp_path / "missing.jsonl")]}
    sft = write(
        tmp_path / "sft.yaml", {"data": data, "model": {"path": str(trained / "cpt" / "model")}, "train": TRAIN}
    )
    assert "missing.jsonl: no such file" in error("sft", sft)
    assert "train.max_steps" in error("sft", sft, "--set", "train.max_steps=none")
    absent = tmp_path / "runs" / "absent" / "model"
    gone = error("sft", sft, "--set", f"model.path={absent}")
    assert f"model.path: {absent}: no such folder" in gone and "--set model.path=" in gone
    write_samples(tmp_path / "missing.jsonl", samples(4))
    assert "there is no tokenizer that transformers can read" in error("sft", sft, "--set", f"model.path={tmp_path}")
    assert "download: true" in error("sft", sft, "--set", "model.path=nobody/nothing")
    assert (
        "another folder"
        in run(
            "train", "cpt", trained / "cpt.yaml", "--out", trained / "cpt", "--set", "model.shape.hidden_size=64"
        ).stderr
    )

"""Training, checkpoints, export and evaluation, with a model small enough for tests."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from agentworld_gym.errors import AgentWorldError, SpecError  # noqa: E402
from agentworld_gym.recipe import evaluate  # noqa: E402
from agentworld_gym.recipe.config import RecipeConfig, SmallModelSessions  # noqa: E402
from agentworld_gym.recipe.dataset import encode, pad_id, render  # noqa: E402
from agentworld_gym.recipe.model import CHECKPOINT, export, load_checkpoint, model_from_checkpoint  # noqa: E402
from agentworld_gym.recipe.recorder import Recorder  # noqa: E402
from agentworld_gym.recipe.tokenizer import build_tokenizer  # noqa: E402
from agentworld_gym.recipe.train import MAX_BAD_STEPS, Trainer  # noqa: E402
from agentworld_gym.spec import load_spec  # noqa: E402

SPEC = load_spec("terminal")
RECORDER = Recorder([SPEC], SmallModelSessions(max_turns=16), seed=5)
SESSIONS = [row for number in range(12) if (row := RECORDER.row(number)) is not None]
TOKENIZER = build_tokenizer((m["content"] for s in SESSIONS for m in s.messages()), 600)
DATA = encode(SESSIONS, TOKENIZER)
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
}


def recipe(**train: Any) -> RecipeConfig:
    options = {"batch_tokens": 1024, "max_tokens": 6000, "bfloat16": False, "log_seconds": 1e-6, **train}
    return RecipeConfig.model_validate({"name": "t", "domain": "terminal", "model": SHAPE, "train": options})


def trainer(folder: Path, **train: Any) -> Trainer:
    return Trainer(recipe(**train), DATA, TOKENIZER, folder)


def weights(run: Trainer) -> list[Any]:
    return [parameter.detach().clone() for parameter in run.model.parameters()]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned a little."""
    folder = tmp_path_factory.mktemp("run")
    trainer(folder, max_tokens=40_000).run()
    return folder


def test_training_lowers_the_loss_and_writes_metrics(learned: Path) -> None:
    lines = [json.loads(line) for line in (learned / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["observed_loss"] < lines[0]["observed_loss"] / 2
    assert [line["tokens"] for line in lines] == sorted(line["tokens"] for line in lines)
    assert lines[-1]["progress"] == 1


def test_an_interrupted_run_goes_on_exactly(tmp_path: Path) -> None:
    whole, first = trainer(tmp_path / "whole"), trainer(tmp_path / "parts")
    for _ in range(4):
        whole.step()
    for _ in range(2):
        first.step()
    first.checkpoint()
    second = trainer(tmp_path / "parts")
    assert (second.steps, second.tokens) == (first.steps, first.tokens)
    for _ in range(2):
        second.step()
    assert all(torch.equal(a, b) for a, b in zip(weights(whole), weights(second), strict=True))


def test_a_signal_ends_a_run_with_a_checkpoint(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    run = Trainer(
        recipe(max_tokens=10**9),
        DATA,
        TOKENIZER,
        tmp_path,
        progress=lambda line: os.kill(os.getpid(), signal.SIGTERM) if line["step"] == 2 else None,
    )
    run.run()
    state = load_checkpoint(tmp_path)
    assert state is not None and 2 <= state["steps"] == run.steps < 5
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_broken_gradient_changes_nothing_and_in_the_end_stops_the_run(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    before = weights(run)
    run.model.lm_head.register_forward_hook(lambda *arguments: arguments[-1] * float("nan"))
    with pytest.raises(AgentWorldError, match="no finite gradient"):
        for _ in range(MAX_BAD_STEPS):
            run.step()
    assert all(torch.equal(a, b) for a, b in zip(before, weights(run), strict=True))


def test_a_half_written_checkpoint_is_never_read(learned: Path, tmp_path: Path) -> None:
    (tmp_path / f"{CHECKPOINT}.partial").write_bytes(b"torn")
    assert load_checkpoint(tmp_path) is None
    with pytest.raises(SpecError, match="a run with a checkpoint"):
        model_from_checkpoint(tmp_path)


def test_an_exported_model_loads_everywhere_and_speaks_the_same_tokens(learned: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "README.md").write_text("a card")
    export(learned, folder)
    assert (folder / "README.md").read_text() == "a card"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype == torch.bfloat16 and model.generation_config.eos_token_id == tokenizer.eos_token_id
    for session in SESSIONS:
        messages = session.messages()
        ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False)
        assert ids == TOKENIZER.encode(render(messages)).ids
        opened = tokenizer.apply_chat_template(
            messages[:-1], add_generation_prompt=True, enable_thinking=False, tokenize=False
        )
        assert opened == render(messages[:-1]) + "<|assistant|>"


def test_one_forward_pass_tells_what_generation_writes(learned: Path) -> None:
    model = model_from_checkpoint(learned)
    flags = evaluate.exact_by_forward(model, DATA, pad_id(TOKENIZER))
    asked = evaluate.prompts_of(DATA)[:24]
    texts = evaluate.generated(model, TOKENIZER, [ids for _, _, ids in asked], batch=5, max_new_tokens=64)
    for (session, turn, _), text in zip(asked, texts, strict=True):
        assert flags[session][turn] == (text == SESSIONS[session].observations[turn])
    assert [len(row) for row in flags] == [len(session.actions) for session in SESSIONS]


def test_an_evaluation_tells_model_and_baselines_apart(learned: Path) -> None:
    steps = evaluate.evaluate(model_from_checkpoint(learned), TOKENIZER, SPEC, SESSIONS, recorded=SESSIONS)
    assert len(steps) == sum(len(session.actions) for session in SESSIONS)
    assert evaluate.share(steps, "nearest").share > 0.9  # it has seen these very sessions
    assert evaluate.share(steps, "copy").share < 0.3
    found = evaluate.summary(steps)
    assert found["model"]["printing"]["steps"] == sum(step.prints for step in steps)
    assert "| model |" in evaluate.markdown(found) and "| cat |" in evaluate.markdown(found)


def test_an_interval_encloses_its_share_and_shrinks_with_more_sessions() -> None:
    def steps(sessions: int) -> list[evaluate.Step]:
        return [evaluate.Step(n, 0, "f", 1, "p", "ls", True, {"model": n % 4 != 0}) for n in range(sessions)]

    few, many = evaluate.share(steps(20)), evaluate.share(steps(400))
    assert few.low <= few.share == many.share == 0.75 <= few.high
    assert many.high - many.low < few.high - few.low

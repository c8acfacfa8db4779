"""Reinforcement learning of a world model, on a model of random weights: the machinery, not the learning."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_model import write_tiny_model

from agentworld_gym import SpecError
from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import TrainingError
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.pools import BENCHMARK, group_of, stage_of
from agentworld_gym.llm.rows.rerendering import prompts_for
from agentworld_gym.llm.rows.row import RowProvenance
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.config_files import load_config
from agentworld_gym.recipe.rl.config import RlConfig, TurnsConfig
from agentworld_gym.recipe.rl.turn_dataset import TurnDataset
from agentworld_gym.recipe.rl.verifiers import Truth, verify
from agentworld_gym.recipe.training.metrics import read_metrics

SESSIONS = 24
EVERYTHING = {"min_turns": 1, "repeated": "none", "empty_action": "none", "retry": "none"}
"""Filters that take nothing of what is recorded."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and recorded sessions of two domains."""
    folder = tmp_path_factory.mktemp("rl")
    write_tiny_model(folder / "model", context=4096)
    (folder / "model" / "world.yaml").write_text("domains: [terminal]\nsampling: {max_tokens: 64}\n")
    specs = [load_spec("terminal"), load_spec("android")]
    config = CollectConfig(profile="compact", controls_share=0.3)
    collect(specs, folder / "rows.jsonl", episodes=SESSIONS, seed=0, config=config)
    return folder


def config(folder, **changes):
    settings = {
        "name": "test",
        "model": {"path": str(folder / "model")},
        "data": {
            "rows": [str(folder / "rows.jsonl")],
            "domains": ["terminal"],
            "max_prompt_tokens": 900,
            "pool": None,
            "filters": EVERYTHING,
        },
        "reward": {"rubric": 0, "partial": True, "guards": False},
        "steps": 3,
        "prompts": 2,
        "group": 3,
        "batch": 6,
        "learning_rate": 1e-3,
        "sampling": {"max_tokens": 64},
        "checkpoint_steps": 1,
        "tensorboard": False,
    }
    return RlConfig(**(settings | changes))


def turns(folder, *, count=SESSIONS, seed=0, verifiable=True, answer_tokens=600, **data):
    from transformers import AutoTokenizer

    rows = [str(folder / "rows.jsonl")]
    chosen = {"rows": rows, "domains": ["terminal"], "max_prompt_tokens": 3000, "pool": None} | data
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    return TurnDataset(
        TurnsConfig(**chosen), tokenizer, seed=seed, count=count, answer_tokens=answer_tokens, verifiable=verifiable
    )


def weights(path):
    from safetensors.torch import load_file

    return load_file(path / "model.safetensors")


def equal(one, other):
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


def test_an_epoch_has_one_turn_of_each_session(folder):
    drawn, again, other = turns(folder, count=6), turns(folder, count=6), turns(folder, count=6, seed=1)
    ids = [drawn[number].id for number in range(len(drawn))]
    assert len(set(ids)) == len(ids) == 6
    assert [again[number] for number in range(6)] == [drawn[number] for number in range(6)]
    assert [other[number].id for number in range(6)] != ids


def test_only_the_sessions_of_the_pool_are_trained_on(folder, tmp_path):
    rows = {row.id: row for row in read_rows(folder / "rows.jsonl")}
    drawn = turns(folder, pool={"post_share": 0.5})
    assert {stage_of(group_of(rows[drawn[number].id]), 0.5) for number in range(len(drawn))} == {"post"}
    assert any(stage_of(group_of(row), 0.5) == "cpt" for row in rows.values() if row.domain == "terminal")
    own = RowProvenance(source=BENCHMARK)
    bench = [row.model_copy(update={"seed": None, "provenance": own}) for row in rows.values()]
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(row.model_dump_json() + "\n" for row in bench))
    with pytest.raises(SpecError, match="of another pool"):
        turns(folder, rows=[str(path)], pool={"stage": "all"})


def test_what_a_filter_takes_is_not_trained_on(folder, tmp_path):
    rows = [row for row in read_rows(folder / "rows.jsonl") if row.domain == "terminal"]
    again = tmp_path / "again.jsonl"
    again.write_text("".join(row.model_copy(update={"id": f"{row.id}-2"}).model_dump_json() + "\n" for row in rows))
    files = [str(folder / "rows.jsonl"), str(again)]
    few = turns(folder, rows=files, count=len(rows) - 4)  # some sessions cannot serve
    ids = [few[number].id.removesuffix("-2") for number in range(len(few))]
    assert len(set(ids)) == len(ids)
    long = {row.id for row in rows if row.turn_idx >= 5}
    chosen = turns(folder, filters={"min_turns": 5})
    assert {chosen[number].id for number in range(len(chosen))} <= long and len(long) < len(rows)


def test_turns_that_cannot_serve_give_way_to_earlier_ones(folder):
    drawn = turns(folder, count=40, max_prompt_tokens=700)
    for number in range(len(drawn)):
        row = drawn[number]
        assert row.domain == "terminal" and not verify(row, row.observations[-1]).skipped
        assert sum(len(drawn._tokenizer(m["content"])["input_ids"]) for m in drawn.prompt(row)) <= 700


def test_no_turn_that_can_serve_is_an_error_that_says_why(folder):
    with pytest.raises(SpecError, match="with too long a prompt"):
        turns(folder, max_prompt_tokens=8)
    with pytest.raises(SpecError, match=r"train\.jsonl"):
        turns(folder, rows=[str(folder / "nowhere")])


def test_prompts_are_those_of_the_rows_and_answers_are_read_back(folder):
    drawn = turns(folder, count=3)
    row = drawn[0]
    assert drawn.prompt(row) == row.request()
    assert drawn.read(row, row.observations[-1]) == row.observations[-1]


def test_in_the_change_form_the_model_writes_changes(folder):
    drawn = turns(folder, count=2, domains=["android"], form="change", max_prompt_tokens=9000, answer_tokens=200)
    row = drawn[0]
    assert len(drawn._tokenizer(row.observations[-1])["input_ids"]) > 200  # the screen is long, its change is not
    assert any("0|" in message["content"] for message in drawn.prompt(row))
    answer = prompts_for(row, form="change").answer(None, Truth.of(row).before, row.observations[-1])
    assert drawn.read(row, answer) == row.observations[-1]


def test_prompts_are_those_that_a_language_world_sends(folder, tmp_path):
    path = tmp_path / "rows.jsonl"
    collect([load_spec("android")], path, episodes=3, seed=0, config=CollectConfig(profile="full"))
    drawn = turns(folder, count=3, rows=[str(path)], domains=[], form="change", max_prompt_tokens=10**6)
    for row in read_rows(path):
        past = [message["content"] for message in drawn.prompt(row) if message["role"] == "assistant"]
        assert past == list(row.response[:-1])  # whole screens, though the model answers with changes


def test_training_changes_the_model_goes_on_exactly_and_ends_with_a_model(folder, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from agentworld_gym.recipe.rl.gspo import TRAINER, train

    straight = train(config(folder), tmp_path / "straight")
    assert straight["step"] == 3 and straight["turns"] == 6 and not straight["stopped"]
    assert not equal(weights(tmp_path / "straight" / TRAINER / "checkpoint-3"), weights(folder / "model"))

    parted = tmp_path / "parted"

    def interrupt(line):
        if line["step"] == 2:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = train(config(folder), parted, interrupt)
    assert stopped["stopped"] and stopped["step"] < 3 and not (parted / "model").exists()
    (parted / TRAINER / "checkpoint-9").mkdir()  # torn: a crash while it was written
    train(config(folder), parted)
    assert equal(weights(parted / "model"), weights(tmp_path / "straight" / "model"))
    assert [line["step"] for line in read_metrics(parted)] == [1, 2, 3]

    with pytest.raises(SpecError, match="another folder"):
        train(config(folder, learning_rate=1.0), parted)

    assert "terminal" in (parted / "model" / "world.yaml").read_text(), "the card of the model is taken over"
    model = AutoModelForCausalLM.from_pretrained(parted / "model")
    tokenizer = AutoTokenizer.from_pretrained(parted / "model")
    assert model.config.vocab_size == len(tokenizer) and tokenizer.chat_template


@pytest.mark.slow
def test_a_killed_run_goes_on_exactly_with_several_passes_over_its_completions(folder, tmp_path):
    from agentworld_gym.recipe.rl.gspo import TRAINER, train

    twice = config(folder, iterations=2, steps=4)
    train(twice, tmp_path / "straight")
    killed = tmp_path / "killed"
    script = Path(__file__).parents[2] / "helpers" / "rl_run.py"
    process = subprocess.Popen([sys.executable, str(script), str(killed), twice.model_dump_json()])
    deadline = time.monotonic() + 300
    while len(read_metrics(killed)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    process.wait()
    left = {path.name for path in (killed / TRAINER).iterdir()}
    assert left & {"checkpoint-2", "checkpoint-4"} and "checkpoint-8" not in left
    train(twice, killed)
    assert equal(weights(killed / "model"), weights(tmp_path / "straight" / "model"))


def test_a_run_is_stopped_where_it_can_go_on(folder, tmp_path):
    from agentworld_gym.recipe.rl.gspo import train

    def interrupt(line):
        if line["step"] == 1:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = train(config(folder, iterations=2, steps=2), tmp_path, interrupt)
    assert stopped["stopped"] and stopped["step"] == 2  # both passes over the completions were made


def test_metrics_say_what_rewards_are_made_of(folder, tmp_path):
    from agentworld_gym.recipe.rl.gspo import train

    lines = []
    lora = {"path": str(folder / "model"), "lora": {"rank": 2}}
    train(config(folder, steps=1, model=lora, reward={"rubric": 0}), tmp_path, lines.append)
    (line,) = lines
    assert {"reward", "flagged", "format_valid", "truncated", "groups_equal", "left"} <= set(line)
    assert line["reward"] == 0 and line["groups_equal"] == 1  # random weights ramble on, and none is right
    assert line["truncated"] == pytest.approx(line["flag/cut"]) and line["flag/cut"] > 0
    assert weights(tmp_path / "model").keys() == weights(folder / "model").keys()  # adapters are merged


def test_a_gradient_that_is_not_finite_ends_the_run_before_it_reaches_the_weights(folder, tmp_path, monkeypatch):
    from trl.trainer.grpo_trainer import GRPOTrainer

    from agentworld_gym.recipe.rl.gspo import TRAINER, train

    def broken(trainer, *args, **kwargs):
        loss = right(trainer, *args, **kwargs)
        return loss * math.nan if trainer.state.global_step else loss

    right = GRPOTrainer.compute_loss
    with monkeypatch.context() as patch:
        patch.setattr(GRPOTrainer, "compute_loss", broken)
        with pytest.raises(TrainingError, match="step 2: the gradient is not finite"):
            train(config(folder, steps=2), tmp_path)
    assert [path.name for path in (tmp_path / TRAINER).glob("checkpoint-*")] == ["checkpoint-1"]
    assert train(config(folder, steps=2), tmp_path)["step"] == 2


def test_a_full_disk_ends_the_run_with_one_line_that_says_so(folder, tmp_path, monkeypatch):
    import torch

    from agentworld_gym.recipe.rl.gspo import train

    def full(*_args, **_kwargs):
        raise RuntimeError("PytorchStreamWriter failed writing file\nmore")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(TrainingError, match="failed writing file; once that is mended, the same command goes on"):
        train(config(folder, steps=1), tmp_path)


def test_a_model_is_exchanged_as_a_whole_and_a_crash_in_between_loses_no_card(folder, tmp_path, monkeypatch):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from agentworld_gym.recipe.training.model import write_model

    model = AutoModelForCausalLM.from_pretrained(folder / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    out = tmp_path / "model"
    out.mkdir()
    (out / "README.md").write_text("a card")
    (out / "model-00001-of-00002.safetensors").write_text("of an earlier model")
    rename, calls = Path.rename, []

    def crashing(path, target):
        calls.append(path.name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", crashing)
        write_model(model, tokenizer, out)
    assert not out.exists()  # nothing rather than a half
    write_model(model, tokenizer, out)
    assert (out / "README.md").read_text() == "a card"
    assert [path.name for path in out.glob("*.safetensors")] == ["model.safetensors"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_judge_that_never_answers_masks_its_samples(folder, tmp_path):
    from agentworld_gym.recipe.rl.gspo import train

    class Silent:
        def judge(self, cases):
            return [Failure(FailureKind.TIMEOUT, "no answer")] * len(cases)

    judge = {"generator": "http://localhost:1/v1"}
    reward = {"verifier": 0, "guards": False}
    last = train(config(folder, steps=1, reward=reward, judge=judge), tmp_path, judge=Silent())
    assert last["judge_failures"] == last["unscored"] == 1
    before, after = weights(folder / "model"), weights(tmp_path / "trainer" / "checkpoint-1")
    assert equal(before, after)


def test_judge_prompts_that_are_not_there_end_a_run_at_its_start(folder, tmp_path):
    from agentworld_gym.recipe.rl.gspo import train

    judge = {"generator": "http://localhost:1/v1", "prompts": f"official:{tmp_path / 'wrong'}"}
    with pytest.raises(SpecError, match=r"wrong/terminal/judge_system_prompt\.txt"):
        train(config(folder, reward={}, judge=judge), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reward": {}}, "judge"),
        ({"model": {}}, "model.path"),
        ({"batch": 4}, "a divisor"),
        ({"sampling": {"engine": "server"}}, "server"),
    ],
)
def test_a_wrong_configuration_says_what_is_wrong(folder, changes, said):
    with pytest.raises(ValueError, match=said):
        config(folder, **changes)


def test_the_completions_of_a_step_are_shared_equally(folder):
    assert config(folder, prompts=4, batch=3).accumulation(processes=2) == 2
    with pytest.raises(SpecError, match="batch"):
        config(folder).accumulation(processes=4)


@pytest.mark.parametrize("name", ["rl-tiny", "rl-4b", "rl-35b"])
def test_shipped_configurations_are_valid(name):
    assert load_config(name, RlConfig).name == name

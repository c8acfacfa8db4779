"""The loop of training: what it learns, how it goes on after any end, and what it says when it cannot go on."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from training_run import SHAPE, config, samples  # noqa: E402

from agentworld_gym.base.errors import SpecError, TrainingError  # noqa: E402
from agentworld_gym.llm.rows.samples import Sample, write_samples  # noqa: E402
from agentworld_gym.recipe.data.token_store import TokenStore  # noqa: E402
from agentworld_gym.recipe.run_folder import sole_process  # noqa: E402
from agentworld_gym.recipe.training import loss, pipeline  # noqa: E402
from agentworld_gym.recipe.training import trainer as training  # noqa: E402
from agentworld_gym.recipe.training.checkpoints import Checkpoints  # noqa: E402
from agentworld_gym.recipe.training.distributed import Processes  # noqa: E402
from agentworld_gym.recipe.training.loss import ModelWithLoss  # noqa: E402
from agentworld_gym.recipe.training.metrics import METRICS, MetricsLog, read_metrics  # noqa: E402
from agentworld_gym.recipe.training.model import (  # noqa: E402
    CHECKPOINTS,
    export,
    make_model,
    make_tokenizer,
    model_of_run,
    tokenizer_of_run,
)
from agentworld_gym.recipe.training.pipeline import RunOutcome, batches_of, fit  # noqa: E402
from agentworld_gym.recipe.training.trainer import MAX_BAD_STEPS, Trainer  # noqa: E402

PROGRAM = Path(__file__).parents[2] / "helpers" / "training_run.py"


def train(folder: Path, progress: Callable[[dict[str, Any]], None] | None = None, **parts: Any) -> RunOutcome:
    return fit(config(**parts), folder, samples, lambda: samples(8, seed=1), progress)


def trainer(folder: Path, **parts: Any) -> Trainer:
    """A trainer over the folder of a run, to be stepped by hand."""
    settings = config(**parts)
    pipeline._prepare(settings, folder, samples, lambda: samples(8, seed=1))
    tokenizer, processes = tokenizer_of_run(folder), Processes()
    batches = batches_of(TokenStore.open(folder / pipeline.TOKENS, tokenizer), settings, tokenizer, processes)
    model = make_model(settings.model, tokenizer, settings.train.seed)
    return Trainer(
        model, batches, settings.train, folder, packed=settings.data.packing == "packed", processes=processes
    )


def weights(folder: Path) -> dict[str, Any]:
    state = Checkpoints(folder / CHECKPOINTS).read()
    assert state is not None
    return state["model"]


def equal(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of twelve steps that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    train(folder)
    return folder


def start(folder: Path, options: dict[str, Any], **environment: str) -> subprocess.Popen[bytes]:
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true", **environment}
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), json.dumps(options)],
        env=settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def test_a_run_learns_and_says_how_far_it_is(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    outcome = train(tmp_path, lines.append, train={"max_steps": 40, "checkpoint_steps": 20})
    steps = [line for line in lines if "loss" in line]
    assert outcome.steps == 40 and steps[-1]["observed_loss"] < steps[0]["observed_loss"] / 2
    assert [line["progress"] for line in steps] == sorted(line["progress"] for line in steps)
    assert lines[-1]["progress"] == 1 and lines[-1]["left"] == 0
    checked = [line for line in lines if "validation_loss" in line]
    assert [line["step"] for line in checked] == [20, 40]
    assert checked[-1]["validation_accuracy"] > checked[0]["validation_accuracy"]
    assert [line["step"] for line in read_metrics(tmp_path)] == [line["step"] for line in lines]


def test_only_the_last_checkpoints_stay(whole: Path) -> None:
    assert [int(path.stem) for path in Checkpoints(whole / CHECKPOINTS).paths()] == [8, 12]


def test_a_killed_run_goes_on_exactly(whole: Path, tmp_path: Path) -> None:
    process = start(tmp_path, {"max_steps": 12})
    deadline = time.monotonic() + 100
    try:
        while len(read_metrics(tmp_path)) < 8 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    stood = [int(path.stem) for path in Checkpoints(tmp_path / CHECKPOINTS).paths()]
    assert stood and stood[-1] < 12, "the process was to be killed between its first and its last checkpoint"
    train(tmp_path)
    assert equal(weights(tmp_path), weights(whole))
    losses = [[line.get("loss") for line in read_metrics(folder)] for folder in (tmp_path, whole)]
    assert losses[0] == losses[1]


def test_two_processes_have_the_losses_of_one(whole: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    both = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LOCAL_WORLD_SIZE": "2"}
    process = start(tmp_path, {"batch_tokens": 256}, **both)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors.decode()
    one, two = (
        [(line["loss"], line["tokens"]) for line in read_metrics(folder) if "loss" in line]
        for folder in (whole, tmp_path)
    )
    assert [tokens for _, tokens in one] == [tokens for _, tokens in two]
    np.testing.assert_allclose([loss for loss, _ in two], [loss for loss, _ in one], rtol=1e-4)


@pytest.mark.slow
def test_a_sharded_model_is_saved_whole_and_goes_on_exactly() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    common |= {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "LOCAL_WORLD_SIZE": "2"}
    both = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM.with_name("sharded_run.py"))],
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=300)[0] for process in both]
    found = json.loads(printed[0].splitlines()[-1])
    assert found["again"] == found["on"] and found["wrong"] == []


def test_accumulated_batches_make_the_step_of_one_large_batch(tmp_path: Path) -> None:
    """Here every batch is the same one, twice: the mean over both is the mean over one."""
    once, twice = trainer(tmp_path, train={"clip": 1e9}), trainer(tmp_path, train={"accumulation": 2, "clip": 1e9})
    batch = once.batches.next()
    for run in (once, twice):
        run.batches.next = lambda short=False: batch  # type: ignore[method-assign]
        run.step()
    for one, two in zip(once.model.parameters(), twice.model.parameters(), strict=True):
        torch.testing.assert_close(one, two)


def test_of_the_context_a_share_is_learned_and_of_answers_all(tmp_path: Path) -> None:
    """Which share is a function of the seed and the step, so that a run goes on exactly."""
    from agentworld_gym.recipe.training.loss import with_context_share

    batch = trainer(tmp_path).batches.next()
    half, again, other = (with_context_share(batch, 0.5, np.random.default_rng(seed)) for seed in (0, 0, 1))
    context = ~batch.observed & (batch.weights > 0)
    assert 0.4 < (half.weights[context] > 0).mean() < 0.6
    np.testing.assert_array_equal(half.weights[batch.observed], batch.weights[batch.observed])
    np.testing.assert_array_equal(half.weights, again.weights)
    assert (half.weights != other.weights).any()
    assert with_context_share(batch, 1.0, np.random.default_rng(0)) is batch


def test_a_run_that_learns_a_share_of_the_context_goes_on_exactly(tmp_path: Path) -> None:
    options = {"train": {"context_share": 0.5, "max_steps": 6, "checkpoint_steps": 3}}
    train(tmp_path / "once", **options)
    train(
        tmp_path / "twice", lambda line: os.kill(os.getpid(), signal.SIGTERM) if line["step"] == 2 else None, **options
    )
    train(tmp_path / "twice", **options)
    assert equal(weights(tmp_path / "once"), weights(tmp_path / "twice"))


@pytest.mark.slow
@pytest.mark.parametrize(("bfloat16", "near"), [(False, 1e-3), (True, 1e-2)])
def test_compiled_layers_have_the_losses_of_plain_ones(tmp_path: Path, bfloat16: bool, near: float) -> None:
    """For rows of several widths; needs a C++ compiler."""
    plain = trainer(tmp_path / "a", train={"bfloat16": bfloat16})
    compiled = trainer(tmp_path / "b", train={"bfloat16": bfloat16, "compile": True})
    for _ in range(3):
        expected, found = plain.step(), compiled.step()
        np.testing.assert_allclose(found.loss, expected.loss, rtol=near)
        np.testing.assert_allclose(found.observed_accuracy, expected.observed_accuracy, atol=near)


@pytest.mark.parametrize(("budget", "compiled"), [({"max_steps": 10**6}, True), ({"max_steps": 12}, False)])
def test_long_runs_are_compiled_where_that_works(
    tmp_path: Path, budget: dict[str, int], compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[ModelWithLoss] = []
    monkeypatch.setattr(loss, "why_not_compiled", lambda: "")
    monkeypatch.setattr(ModelWithLoss, "compile_layers", lambda learner: calls.append(learner))
    trainer(tmp_path, train={"compile": "auto", **budget})
    assert bool(calls) == compiled


def test_the_time_that_compiling_takes_is_not_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelWithLoss, "compile_layers", lambda learner: None)
    run = trainer(tmp_path, train={"compile": True})
    run.step()
    assert run.seconds == 0
    run.step()
    assert run.seconds > 0


@pytest.mark.parametrize("stopped", [True, False])
def test_a_compiler_that_ends_with_the_run_leaves_the_last_checkpoint_and_one_that_fails_is_told(
    tmp_path: Path, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelWithLoss, "compile_layers", lambda learner: None)
    run = trainer(tmp_path, train={"compile": True})
    run.step()
    kept = run.checkpoint()

    def compiling(*_: Any) -> None:
        if stopped:
            run.stop()
        raise RuntimeError("the compiler was ended")

    monkeypatch.setattr(ModelWithLoss, "forward", compiling)
    with nullcontext() if stopped else pytest.raises(RuntimeError, match="the compiler was ended"):
        run.run()
    assert run.stopped == stopped and Checkpoints(tmp_path / CHECKPOINTS).paths() == [kept]


def test_a_machine_without_a_compiler_trains_without_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import config as inductor

    torch._dynamo.reset()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "compiled"))
    with inductor.patch({"cpp.cxx": (None, str(tmp_path / "no-compiler"))}):
        run = trainer(tmp_path / "run", train={"compile": "auto", "max_steps": 10**6})
        assert math.isfinite(run.step().loss)
    [told] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "needs a C++ compiler" in told and "no-compiler" in told


@pytest.mark.slow
def test_a_compiled_run_that_is_stopped_ends_as_one_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"train": {"compile": True, "max_steps": 6, "checkpoint_steps": 3}}
    train(tmp_path / "once", **options)
    train(
        tmp_path / "twice", lambda line: os.kill(os.getpid(), signal.SIGTERM) if line["step"] == 2 else None, **options
    )
    torch._dynamo.reset()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "compiled anew"))
    train(tmp_path / "twice", **options)
    assert equal(weights(tmp_path / "once"), weights(tmp_path / "twice"))


def test_a_signal_ends_a_run_with_a_checkpoint(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    outcome = train(tmp_path, lambda line: os.kill(os.getpid(), signal.SIGTERM) if line["step"] == 2 else None)
    assert outcome.model is None and 2 <= outcome.steps < 5
    assert [int(path.stem) for path in Checkpoints(tmp_path / CHECKPOINTS).paths()] == [outcome.steps]
    assert signal.getsignal(signal.SIGTERM) is before
    assert train(tmp_path).steps == 12


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_changes_nothing_and_in_the_end_stops_the_run(tmp_path: Path, value: float) -> None:
    run = trainer(tmp_path)
    run.step()
    run.checkpoint()
    before = {name: parameter.detach().clone() for name, parameter in run.model.named_parameters()}
    run.model.get_output_embeddings().register_forward_hook(lambda *arguments: arguments[-1] * value)
    with pytest.raises(TrainingError, match=r"the loss is (nan|inf).* lower the learning rates"):
        run.run()
    assert run.steps == 1 + MAX_BAD_STEPS
    assert equal(weights(tmp_path), before), "the checkpoint from before stays, and no later one is written"
    assert equal(dict(run.model.named_parameters()), before)


def test_a_loss_that_explodes_is_told_from_one_that_is_usual(tmp_path: Path) -> None:
    run = trainer(tmp_path, train={"max_steps": 200, "explosion": 3, "curriculum": 0})
    for _ in range(training.MIN_LOSSES):
        run.step()
    run.model.get_output_embeddings().register_forward_hook(lambda *arguments: arguments[-1] * 1000)
    with pytest.raises(TrainingError, match="the loss explodes"):
        run.run()
    assert run.steps == training.MIN_LOSSES + MAX_BAD_STEPS


def test_longer_samples_may_have_larger_losses(tmp_path: Path) -> None:
    parts = {"max_steps": 2 * training.MIN_LOSSES + 8, "curriculum": 0.5, "explosion": 1.01}
    run = trainer(tmp_path, train=parts)
    output = run.model.get_output_embeddings()
    output.register_forward_hook(lambda *arguments: arguments[-1] * (1 if run.batches.short else 1000))
    losses = [run.step().loss for _ in range(training.MIN_LOSSES + 4 + MAX_BAD_STEPS)]
    assert losses[-1] > 10 * losses[0], "the loss leaps where the curriculum ends, and the run goes on"


def test_batches_without_anything_to_learn_stop_the_run(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    batch = run.batches.next()
    batch.weights[:] = 0
    run.batches.next = lambda short=False: batch  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match="the batch is empty"):
        run.run()


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trainer(tmp_path)
    run.step()
    run.checkpoint()
    before = weights(tmp_path)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run.step()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(TrainingError, match=r"No space left on device\); the last whole checkpoint is .*0001.pt"):
            run.checkpoint()
    assert equal(weights(tmp_path), before)
    assert {path.suffix for path in (tmp_path / CHECKPOINTS).iterdir()} == {".pt"}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_a_checkpoint_that_does_not_fit_says_so(tmp_path: Path) -> None:
    """A limit on the size of files makes writing fail in the middle, as a full disk does."""
    import resource

    checkpoints = Checkpoints(tmp_path)
    state = {"model": torch.zeros(100_000)}
    checkpoints.write(1, state)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(TrainingError, match="cannot be written"):
            checkpoints.write(2, state)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["0000000001.pt"]


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2):
        checkpoints.write(step, {"steps": step, "model": torch.zeros(10)})
    newest = checkpoints.paths()[-1]
    newest.write_bytes(newest.read_bytes()[:100])
    (tmp_path / "0000000003.partial").write_bytes(b"torn")
    found = checkpoints.read()
    assert found is not None and found["steps"] == 1
    checkpoints.paths()[0].write_bytes(b"")
    with pytest.raises(TrainingError, match="none of the 2 checkpoints"):
        checkpoints.read()


def test_a_checkpoint_with_a_flipped_byte_gives_way_to_the_one_before(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2):
        checkpoints.write(step, {"steps": step, "model": torch.full((1000,), 7.0)})
    newest = checkpoints.paths()[-1]
    content = bytearray(newest.read_bytes())
    content[content.index(torch.full((10,), 7.0).numpy().tobytes()) + 5] ^= 1
    newest.write_bytes(content)
    found = checkpoints.read()
    assert found is not None and found["steps"] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that is always full")
def test_metrics_that_do_not_fit_the_disk_say_so(tmp_path: Path) -> None:
    (tmp_path / METRICS).symlink_to("/dev/full")
    with pytest.raises(TrainingError, match="No space left"), MetricsLog(tmp_path, 0, tensorboard=False) as log:
        log.write({"step": 1})


def test_a_run_goes_on_with_other_options_but_not_with_another_optimizer(tmp_path: Path) -> None:
    train(tmp_path, train={"max_steps": 4})
    with pytest.raises(TrainingError, match=r"another optimizer; go on with the same one"):
        train(tmp_path, train={"optimizer": "adamw"})
    changed = {"weight_decay": 0.5, "adamw_betas": [0.5, 0.6], "muon_lr": 0.01}
    run = trainer(tmp_path, train=changed)
    groups = [group for optimizer in run._optimizers for group in optimizer.param_groups]
    assert run.steps == 4 and groups[0]["weight_decay"] == 0.5 and tuple(groups[1]["betas"]) == (0.5, 0.6)
    assert run._rates._full[0] == 0.01


def test_what_does_not_change_the_model_may_change_when_a_run_goes_on(tmp_path: Path) -> None:
    train(tmp_path, train={"max_steps": 4})
    model = {"shape": SHAPE, "attention": "eager", "gradient_checkpointing": True}
    assert train(tmp_path, model=model).steps == 12


def test_batches_of_another_size_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = trainer(tmp_path)
    run.step()
    run.batches.restore(run.batches.state())
    assert not caplog.records
    run.batches.restore({**run.batches.state(), "tokens": 1024})
    assert "batches of all processes hold 512 tokens, before it were 1024" in caplog.text


def test_other_content_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    write_samples(path, samples(20))
    options: dict[str, Any] = {"data": {"samples": [str(path)]}, "train": {"max_steps": 1}}
    run = tmp_path / "run"
    train(run, **options)
    train(run, **options)
    write_samples(path, samples(21))
    with pytest.raises(SpecError, match=r"samples.jsonl: content: .*another folder for the run"):
        train(run, **options)
    path.unlink()
    train(run, **options)


def test_a_checkpoint_does_not_go_on_over_other_tokens(tmp_path: Path) -> None:
    train(tmp_path, train={"max_steps": 1})
    shutil.rmtree(tmp_path / pipeline.TOKENS)
    with pytest.raises(TrainingError, match=r"another data"):
        fit(config(), tmp_path, lambda: (sample for sample in samples() if sample.id != "1"), tuple)


def test_missing_held_out_files_are_told_before_anything_is_encoded(tmp_path: Path) -> None:
    def never() -> Iterator[Sample]:
        raise AssertionError("samples are read")

    (tmp_path / "data").mkdir()
    with pytest.raises(SpecError, match=r"validation.jsonl"):
        fit(config(data={"held_out": [str(tmp_path / "data")]}), tmp_path / "run", never, tuple)


def test_two_processes_never_train_in_one_folder(tmp_path: Path) -> None:
    with sole_process(tmp_path / "run"), pytest.raises(TrainingError, match="another process trains in this folder"):
        train(tmp_path / "run")
    assert not list((tmp_path / "run").iterdir())


def test_a_folder_of_another_configuration_is_refused(whole: Path) -> None:
    with pytest.raises(SpecError, match=r"max_tokens.*another folder"):
        train(whole, data={"max_tokens": 64})


def test_tokens_of_another_tokenizer_are_refused(tmp_path: Path) -> None:
    settings = config()
    train(tmp_path, train={"max_steps": 1})
    make_tokenizer(settings.model, ["other words"]).save_pretrained(tmp_path / pipeline.TOKENIZER)
    with pytest.raises(SpecError, match="tokenizer"):
        train(tmp_path)


def test_packed_rows_have_the_loss_of_the_samples_alone(tmp_path: Path) -> None:
    """The first batch of each way holds other samples; over all of them the loss is the same."""
    from agentworld_gym.recipe.training.loss import model_inputs, target_weight

    found = []
    for packing in ("sorted", "packed"):
        run = trainer(tmp_path / packing, data={"packing": packing}, train={"batch_tokens": 100_000, "curriculum": 0})
        batch = run.batches.next()
        with torch.no_grad():
            losses = run._learner(model_inputs(batch, torch.device("cpu"), packing == "packed"))
        found.append((float(losses.loss), float(losses.observed_loss), int(losses.observed), target_weight(batch)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_an_exported_model_opens_in_transformers(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "README.md").write_text("a card")
    export(whole, folder)
    assert (folder / "README.md").read_text() == "a card"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype == torch.bfloat16 and model.generation_config.eos_token_id == tokenizer.eos_token_id
    assert equal(
        {name: value.float() for name, value in model.named_parameters()},
        {name: value.bfloat16().float() for name, value in model_of_run(whole).named_parameters()},
    )
    for sample in samples(5):
        text = tokenizer.apply_chat_template(list(sample.messages), tokenize=False)
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_adapters_are_trained_alone_and_merged_in_the_end(whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    base = str(export(whole, tmp_path / "base"))
    model = {"path": base, "lora": {"rank": 4}}
    fast = {"optimizer": "adamw", "adamw_lr": 3e-3}
    run = trainer(tmp_path / "run", model=model, train=fast)
    names = [name for name, parameter in run.model.named_parameters() if parameter.requires_grad]
    assert names and all("lora_" in name for name in names)
    outcome = train(tmp_path / "run", model=model, train=fast)
    assert set(weights(tmp_path / "run")) == set(names)
    assert outcome.model is not None
    before = transformers.AutoModelForCausalLM.from_pretrained(base).state_dict()
    after = transformers.AutoModelForCausalLM.from_pretrained(outcome.model).state_dict()
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and all("proj" in name for name in changed)


def test_an_adapted_run_goes_on_exactly(whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    model = {"path": str(export(whole, tmp_path / "base")), "lora": {"rank": 4, "dropout": 0.1}}
    options = {"model": model, "train": {"optimizer": "adamw", "max_steps": 6, "checkpoint_steps": 3}}
    train(tmp_path / "once", **options)
    train(
        tmp_path / "twice", lambda line: os.kill(os.getpid(), signal.SIGTERM) if line["step"] == 2 else None, **options
    )
    train(tmp_path / "twice", **options)
    assert equal(weights(tmp_path / "once"), weights(tmp_path / "twice"))


def test_an_error_of_the_card_comes_before_the_training(tmp_path: Path) -> None:
    def broken() -> None:
        raise SpecError("rows.jsonl", "id", None, "a text")

    with pytest.raises(SpecError, match="rows"):
        fit(config(), tmp_path, samples, lambda: samples(8, seed=1), card=broken)
    assert not (tmp_path / METRICS).exists() and not (tmp_path / "model").exists()

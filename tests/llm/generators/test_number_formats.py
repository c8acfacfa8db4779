"""Which number format is computed in: the one in which this machine multiplies matrices faster."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from tiny_model import write_tiny_model  # noqa: E402
from training_run import SHAPE, config, samples  # noqa: E402

from agentworld_gym.base.errors import GeneratorError, SpecError  # noqa: E402
from agentworld_gym.llm.generators import number_formats, vllm_engine  # noqa: E402
from agentworld_gym.llm.generators import transformers as local  # noqa: E402
from agentworld_gym.llm.generators.number_formats import Speeds, speeds  # noqa: E402
from agentworld_gym.recipe.config_files import load_config  # noqa: E402
from agentworld_gym.recipe.training import trainer as training  # noqa: E402
from agentworld_gym.recipe.training.checkpoints import Checkpoints  # noqa: E402
from agentworld_gym.recipe.training.flops import attention_pairs, count_flops  # noqa: E402
from agentworld_gym.recipe.training.metrics import read_metrics  # noqa: E402
from agentworld_gym.recipe.training.model import CHECKPOINTS  # noqa: E402
from agentworld_gym.recipe.training.model_config import ModelConfig  # noqa: E402
from agentworld_gym.recipe.training.muon import BatchedMuon, orthogonal  # noqa: E402
from agentworld_gym.recipe.training.pipeline import RunOutcome, fit  # noqa: E402
from agentworld_gym.recipe.training.train_config import TrainConfig  # noqa: E402

EMULATED, NATIVE = Speeds(36e9, 0.9e9), Speeds(165e9, 1240e9)


def train(folder: Path, **options: Any) -> RunOutcome:
    return fit(config(train={"bfloat16": "auto", **options}), folder, samples, lambda: samples(8, seed=1))


def measured_as(monkeypatch: pytest.MonkeyPatch, found: Speeds) -> None:
    monkeypatch.setattr(training, "speeds", lambda device: found)


class TestWhatIsMeasured:
    def test_both_formats_are_timed_once_in_a_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        timed: list[Any] = []
        monkeypatch.setattr(number_formats, "_speed", lambda device, kind: timed.append(kind) or 1e9)
        number_formats._measured.cache_clear()
        assert speeds("cpu") == speeds("cpu") == Speeds(1e9, 1e9)
        number_formats._measured.cache_clear()
        assert timed == [torch.float32, torch.bfloat16]

    def test_a_product_takes_as_long_as_its_speed_says(self) -> None:
        assert 1e8 < speeds("cpu").float32 < 1e14


class TestTraining:
    def test_auto_is_what_a_configuration_says_unless_told_otherwise(self) -> None:
        assert TrainConfig(max_steps=1).bfloat16 == load_config("search").train.bfloat16 == "auto"
        with pytest.raises(SpecError, match=r"train\.bfloat16"):
            load_config("search", changes={"train.bfloat16": "sometimes"})

    @pytest.mark.parametrize("found, format_", [(EMULATED, "float32"), (NATIVE, "bfloat16")])
    def test_the_faster_format_is_taken_and_said(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        found: Speeds,
        format_: str,
    ) -> None:
        measured_as(monkeypatch, found)
        used: list[torch.dtype] = []
        silu = torch.nn.functional.silu

        def watched(product: Any, **options: Any) -> Any:
            used.append(product.dtype)
            return silu(product, **options)

        monkeypatch.setattr(torch.nn.functional, "silu", watched)
        made: list[Any] = []
        make = training.make_optimizers
        monkeypatch.setattr(training, "make_optimizers", lambda *given: made.extend(make(*given)) or made)
        with caplog.at_level(logging.INFO):
            train(tmp_path, max_steps=1)
        assert set(used[: SHAPE["num_hidden_layers"]]) == {getattr(torch, format_)}
        assert made[0].number_format == getattr(torch, format_)
        assert f"computing in {format_}, and Muon's iteration in {format_}" in caplog.text
        assert "GFLOPS in float32" in caplog.text

    def test_a_configuration_decides_for_itself_but_muon_never_emulates(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        measured_as(monkeypatch, EMULATED)
        with caplog.at_level(logging.INFO):
            train(tmp_path, max_steps=1, bfloat16=True)
        assert "computing in bfloat16, and Muon's iteration in float32" in caplog.text

    def test_a_run_that_began_in_one_format_goes_on_in_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So does one from before the measure, whose checkpoint knows no `pairs`."""
        measured_as(monkeypatch, NATIVE)
        train(tmp_path, max_steps=4, bfloat16=True)
        checkpoints = Checkpoints(tmp_path / CHECKPOINTS)
        state = checkpoints.read()
        assert state is not None
        batches = {key: value for key, value in state["batches"].items() if key != "pairs"}
        checkpoints.write(4, {**state, "batches": batches})
        measured_as(monkeypatch, EMULATED)
        assert train(tmp_path, max_steps=8).steps == 8

    def test_lines_tell_the_share_of_the_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        shares = []
        for number, factor in enumerate((1, 1000)):
            measured_as(monkeypatch, Speeds(factor * 36e9, 0.9e9))
            train(tmp_path / str(number), max_steps=3)
            shares += [line["limit_share"] for line in read_metrics(tmp_path / str(number)) if "limit_share" in line][
                1:2
            ]
        assert 0 < shares[0] < 1
        assert shares[1] < shares[0] / 50


class TestInference:
    @pytest.mark.parametrize(
        "found, small, format_",
        [
            (EMULATED, 0, "float32"),
            (NATIVE, 0, "bfloat16"),
            (NATIVE, 100_000_000, "float32"),
        ],
    )
    def test_a_large_model_in_bfloat16_is_run_in_float32_where_that_is_emulated(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Speeds, small: int, format_: str
    ) -> None:
        write_tiny_model(tmp_path)
        model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16)
        model.save_pretrained(tmp_path)
        monkeypatch.setattr(local, "speeds", lambda device: found)
        monkeypatch.setattr(local, "_SMALL", small)
        generator = local.TransformersGenerator(tmp_path, device="cpu")
        assert generator.describe()["dtype"] == (format_, True)
        generator.close()

    @pytest.mark.parametrize(
        "found, asked, given",
        [(EMULATED, {}, "float32"), (NATIVE, {}, None), (EMULATED, {"dtype": "bfloat16"}, "bfloat16")],
    )
    def test_vllm_is_told_float32_on_a_cpu_that_emulates_the_other(
        self, monkeypatch: pytest.MonkeyPatch, found: Speeds, asked: dict[str, Any], given: str | None
    ) -> None:
        started: list[dict[str, Any]] = []

        class Engine:
            def __init__(self, model: str, **options: Any) -> None:
                started.append(options)
                raise RuntimeError("not started in this test")

        platforms = SimpleNamespace(current_platform=SimpleNamespace(is_cpu=lambda: True))
        monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=Engine, platforms=platforms))
        monkeypatch.setitem(sys.modules, "vllm.platforms", platforms)
        monkeypatch.setattr(vllm_engine, "speeds", lambda device: found)
        with pytest.raises(GeneratorError, match="not started"):
            vllm_engine.VLLMGenerator("some/model", **asked)
        assert started[0].get("dtype") == given


class TestMuon:
    @pytest.mark.parametrize("format_", [torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("stack", [1, 1 << 26])
    def test_a_step_is_torchs_step_up_to_rounding(
        self, monkeypatch: pytest.MonkeyPatch, stack: int, format_: torch.dtype
    ) -> None:
        """It is so for matrices of several shapes, some of them alike, and where few of them fit a stack."""
        monkeypatch.setattr("agentworld_gym.recipe.training.muon.STACK", stack)
        torch.manual_seed(0)
        first = [torch.randn(shape) for shape in [(96, 96), (256, 96), (96, 256), (96, 96), (256, 96)]]
        ours, theirs = ([torch.nn.Parameter(weight.clone()) for weight in first] for _ in range(2))
        optimizers = [
            BatchedMuon(ours, lr=0.02, weight_decay=0.01, number_format=format_),
            torch.optim.Muon(theirs, lr=0.02, weight_decay=0.01),
        ]
        for _ in range(3):
            before = [[weight.detach().clone() for weight in weights] for weights in (ours, theirs)]
            gradients = [torch.randn_like(weight) for weight in first]
            for weights, optimizer in zip((ours, theirs), optimizers, strict=True):
                for weight, gradient in zip(weights, gradients, strict=True):
                    weight.grad = gradient.clone()
                optimizer.step()
            for number in range(len(first)):
                own = ours[number].detach() - before[0][number]
                other = theirs[number].detach() - before[1][number]
                assert (own - other).norm() < 0.02 * other.norm()

    def test_a_matrix_without_a_gradient_stays(self) -> None:
        weights = [torch.nn.Parameter(torch.eye(4)) for _ in range(2)]
        weights[0].grad = torch.randn(4, 4)
        BatchedMuon(weights, lr=0.1, weight_decay=0.1, number_format=torch.float32).step()
        assert not torch.equal(weights[0], torch.eye(4)) and torch.equal(weights[1], torch.eye(4))

    def test_each_goes_on_with_the_others_state(self) -> None:
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(32, 16))
        weight.grad = torch.randn(32, 16)
        begun = torch.optim.Muon([weight], lr=0.02, weight_decay=0.01)
        begun.step()
        ours = BatchedMuon([weight], lr=0.02, weight_decay=0.01, number_format=torch.float32)
        for other in (ours, torch.optim.Muon([weight], lr=0.02, weight_decay=0.01)):
            other.load_state_dict(begun.state_dict())
            other.step()
            begun = other
        assert torch.isfinite(weight).all()

    @pytest.mark.parametrize("shape", [(2, 40, 60), (3, 60, 40)])
    def test_singular_values_come_near_one(self, shape: tuple[int, int, int]) -> None:
        torch.manual_seed(0)
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape), (3.4445, -4.7750, 2.0315), 5, 1e-7))
        assert values.min() > 0.5 and values.max() < 1.5


class TestWork:
    def test_it_is_six_operations_a_weight_and_token_beside_attention(self) -> None:
        from agentworld_gym.recipe.training.model import make_model, make_tokenizer

        settings = ModelConfig.model_validate({"shape": SHAPE})
        tokenizer = make_tokenizer(settings, ["alpha beta"] * 10)
        work = count_flops(make_model(settings, tokenizer, 0))
        hidden, wide, inner = 32, 64, 2 * 16
        layer = hidden * inner * 2 + hidden * inner // 2 * 2 + 3 * hidden * wide
        assert work.token == 6 * 2 * layer
        assert work.target == 6 * hidden * len(tokenizer)
        assert work.pair == 12 * 2 * inner

    def test_a_token_looks_back_to_itself_and_all_before(self) -> None:
        assert attention_pairs([4]) == 4 + 3 + 2 + 1
        assert attention_pairs([2, 2]) == 6

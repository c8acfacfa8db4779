"""Generators by handle, the scripted one, digests of model files, and a local model run by transformers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_model import write_tiny_model

from agentworld_gym.base.errors import ClosedError, GeneratorError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ScriptedGenerator, TransformersGenerator, open_generator
from agentworld_gym.llm.generators.pretrained.digests import tokenizer_digest, weights_digest
from agentworld_gym.llm.generators.pretrained.progress_bars import without_progress_bars


def ask(text: str, **sampling: object) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], Sampling(**{"max_tokens": 12, **sampling}))


# Scripted


def test_a_script_answers_with_text_completions_or_failures():
    answers = {"a": "text", "b": Completion("cut", "length"), "c": Failure(FailureKind.TIMEOUT, "late", True)}
    generator = ScriptedGenerator(lambda request: answers[request.messages[-1]["content"]])
    assert isinstance(generator, Generator)
    assert list(generator.submit([ask(t) for t in "abc"])) == [
        (0, Completion("text")),
        (1, answers["b"]),
        (2, answers["c"]),
    ]
    generator.close()
    with pytest.raises(ClosedError):
        generator.submit([])


# Handles


@pytest.mark.parametrize(
    "handle", ["", "vllm", "vllm:", "transformers:", "gpt-4o", "localhost:8000", "ftp://x/v1", "/models/x"]
)
def test_a_handle_that_names_nothing_is_refused_with_what_is_accepted(handle):
    with pytest.raises(SpecError) as refused:
        open_generator(handle)
    assert all(form in str(refused.value) for form in ("http://", "vllm:MODEL", "transformers:DIR"))


@pytest.mark.parametrize("handle", ["http://", "http://x:0x/v1"])
def test_a_broken_address_is_refused(handle):
    with pytest.raises(SpecError, match="http://localhost:8000/v1"):
        open_generator(handle)


def test_an_unknown_option_is_refused():
    with pytest.raises(SpecError, match=r"^generator: deadlin: got 3, expected one of api_key_env, .* deadline_s, "):
        open_generator("http://localhost:1/v1", deadlin=3)


@pytest.mark.parametrize(
    ("name", "value"), [("concurrency", 0), ("retries", -1), ("deadline_s", 0), ("deadline_s", "soon")]
)
def test_a_wrong_value_of_an_option_is_refused_by_name(name, value):
    with pytest.raises(SpecError, match=f"{name}.*{value}"):
        open_generator("http://localhost:1/v1", **{name: value})


def test_equal_handles_share_an_engine_until_the_last_user_closes_it():
    first, second = (open_generator("http://localhost:1/v1#m") for _ in range(2))
    other = open_generator("http://localhost:1/v1#m", retries=0)
    engine = first.generator
    assert engine is second.generator and engine is not other.generator
    first.close()
    first.close()
    with pytest.raises(ClosedError):
        first.submit([])
    assert len(list(second.submit([]))) == 0
    second.close()
    with pytest.raises(ClosedError):
        engine.submit([])
    third = open_generator("http://localhost:1/v1#m")
    assert third.generator is not engine
    third.close()
    other.close()


def test_importing_generators_imports_no_engine():
    code = """if True:
        import sys, agentworld_gym.llm.generators
        heavy = {"torch", "transformers", "vllm"} & set(sys.modules)
        assert not heavy, heavy"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Digests


def test_the_digest_of_weights_follows_their_bytes(tmp_path: Path):
    assert weights_digest(tmp_path) is None and tokenizer_digest(tmp_path) is None
    (tmp_path / "a.safetensors").write_bytes(bytes(1000))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("not part of it")
    before = weights_digest(tmp_path)
    (tmp_path / "notes.txt").write_text("changed")
    assert weights_digest(tmp_path) == before
    (tmp_path / "config.json").write_text('{"a": 1}')
    changed = weights_digest(tmp_path)
    assert changed != before
    (tmp_path / "a.safetensors").write_bytes(bytes(999) + b"1")
    assert weights_digest(tmp_path) not in (before, changed)


def test_large_weights_are_sampled_and_say_so(tmp_path: Path):
    (tmp_path / "a.safetensors").write_bytes(bytes(3 << 20))
    before = weights_digest(tmp_path, whole_bytes=1 << 20)
    assert before is not None and before.startswith("sampled-")
    (tmp_path / "a.safetensors").write_bytes(bytes((3 << 20) - 1) + b"1")
    assert weights_digest(tmp_path, whole_bytes=1 << 20) != before


def test_the_chat_template_is_part_of_the_tokenizer(tmp_path: Path):
    (tmp_path / "tokenizer.json").write_text("{}")
    before = tokenizer_digest(tmp_path)
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    assert tokenizer_digest(tmp_path) != before


# transformers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return write_tiny_model(tmp_path_factory.mktemp("tiny"), context=256)


@pytest.fixture(scope="module")
def local(folder: Path) -> Iterator[TransformersGenerator]:
    generator = TransformersGenerator(folder, device="cpu", batch_size=4)
    yield generator
    generator.close()


def texts(generator: TransformersGenerator, *requests: ChatRequest) -> list[str]:
    answers = dict(generator.submit(requests))
    assert sorted(answers) == list(range(len(requests)))
    return [answers[index].text for index in range(len(requests))]


def test_loading_and_the_first_request_are_logged_once(folder, caplog):
    with caplog.at_level("INFO", "agentworld_gym.llm.generators.transformers"):
        generator = TransformersGenerator(folder, device="cpu")
        for _ in range(2):
            texts(generator, ask("ls", max_tokens=1))
        generator.close()
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == f"loading the model in {folder} on cpu" and said[1].startswith("loaded 0 million parameters in ")
    assert [line for line in said if "requests begin" in line] == [said[-1]] and said[-1].startswith("the first 1 ")


def test_greedy_answers_equal_those_of_generate(local, folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    prompts = ["ls", "cat notes.txt", "wc -l < notes.txt " * 5, "a", "grep -c user notes.txt", ""]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    expected = []
    for prompt in prompts:
        messages = [{"role": "user", "content": prompt}]
        ids = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, enable_thinking=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            out = model.generate(**ids, max_new_tokens=12, do_sample=False)
        expected.append(tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True))
    assert texts(local, *(ask(p, temperature=0.0) for p in prompts)) == expected


def test_the_usage_counts_tokens_and_a_cut_off_says_so(local):
    ((_, completion),) = local.submit([ask("ls", temperature=0.0, max_tokens=3)])
    assert completion.usage.completion_tokens == 3 and completion.finish_reason == "length"
    assert completion.usage.prompt_tokens > 3


def test_a_seed_fixes_the_draws_of_its_request(local):
    requests = [ask("ls", temperature=1.0, seed=seed) for seed in (1, 2, 1)]
    first, second, again = texts(local, *requests)
    assert first == again != second
    assert texts(local, *requests) == [first, second, again]


@pytest.mark.parametrize("limits", [{"top_k": 1}, {"top_p": 1e-6}])
def test_the_tightest_sampling_is_greedy(local, limits):
    greedy = texts(local, ask("ls", temperature=0.0))
    assert texts(local, ask("ls", temperature=1.0, seed=5, **limits)) == greedy


def test_a_stop_string_ends_the_text_before_it(local):
    (whole,) = texts(local, ask("ls", temperature=0.0, max_tokens=40))
    stop = whole[5:8]
    answer = dict(local.submit([ask("ls", temperature=0.0, max_tokens=40, stop=(stop,))]))[0]
    assert answer.text == whole[: whole.index(stop)] and answer.finish_reason == "stop"
    assert answer.usage.completion_tokens < 40


def test_a_prompt_beyond_the_context_fails_alone(local):
    answers = dict(local.submit([ask("x " * 1000), ask("ls")]))
    assert answers[0].kind is FailureKind.OVERFLOW and "256" in answers[0].message
    assert isinstance(answers[1], Completion)


def test_writing_stops_where_the_context_ends(local):
    answer = dict(local.submit([ask("x" * 40, temperature=0.0, max_tokens=10_000)]))[0]
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= 256


def test_a_template_that_refuses_fails_alone(local, monkeypatch):
    template = "{% if messages[0].content == 'bad' %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}"
    monkeypatch.setattr(local._tokenizer, "chat_template", template)
    answers = dict(local.submit([ask("bad"), ask("good")]))
    assert answers[0].kind is FailureKind.REJECTED and "no" in answers[0].message
    assert isinstance(answers[1], Completion)


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u202e", "<|im_end|>", ""])
def test_whatever_a_message_holds_gets_an_answer(local, text):
    assert isinstance(dict(local.submit([ask(text)]))[0], Completion)


def test_the_description_is_verified(local, folder):
    parts = local.describe()
    assert parts["model"] == (weights_digest(folder), True)
    assert parts["tokenizer"] == (tokenizer_digest(folder), True)
    assert all(verified for _, verified in parts.values())


def test_a_handle_opens_a_local_model(folder):
    generator = open_generator(f"transformers:{folder}", device="cpu")
    assert isinstance(dict(generator.submit([ask("ls")]))[0], Completion)
    generator.close()


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_directory_without_a_model_is_refused_by_name(tmp_path, missing):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / missing).unlink(missing_ok=True)
    with pytest.raises(GeneratorError, match=tmp_path.name):
        TransformersGenerator(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_folder_in_place_of_a_file_of_a_model_is_refused_by_name(tmp_path, name):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).mkdir()
    with pytest.raises(GeneratorError, match=tmp_path.name):
        TransformersGenerator(tmp_path)
    assert weights_digest(tmp_path) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_weights_that_may_not_be_read_are_refused_by_name(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    (tmp_path / "model.safetensors").chmod(0)
    with pytest.raises(GeneratorError, match=tmp_path.name):
        TransformersGenerator(tmp_path)


def test_weights_that_were_written_anew_are_another_engine_while_the_old_one_is_open(tmp_path):
    folder = write_tiny_model(tmp_path / "model")
    handle = f"transformers:{folder}"
    old, same = open_generator(handle, device="cpu"), open_generator(handle, device="cpu")
    assert old.generator is same.generator
    before = old.describe()["model"]
    write_tiny_model(folder, layers=1)
    new = open_generator(handle, device="cpu")
    assert new.generator is not old.generator and old.describe()["model"] == before
    assert new.describe()["model"] == (weights_digest(folder), True) != before
    assert open_generator(handle, device="cpu").generator is new.generator
    assert all(isinstance(dict(one.submit([ask("ls")]))[0], Completion) for one in (old, new))


def test_transformers_shows_its_progress_again_if_it_did_before():
    bars = pytest.importorskip("transformers").utils.logging
    for shown in (True, False):
        bars.enable_progress_bar() if shown else bars.disable_progress_bar()
        with pytest.raises(OSError), without_progress_bars():
            assert not bars.is_progress_bar_enabled()
            raise OSError
        assert bars.is_progress_bar_enabled() == shown
    bars.enable_progress_bar()


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(GeneratorError, match=r"pip install -e '\.\[lwm\]'"):
        TransformersGenerator(tmp_path)
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(GeneratorError, match=r"pip install -e '\.\[vllm\]'"):
        open_generator("vllm:some/model")

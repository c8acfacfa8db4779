"""GGUF files as folders of safetensors, tokenizer and chat template, which transformers, TRL and vLLM load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import GeneratorError, install
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer
from agentworld_gym.llm.generators.pretrained.progress_bars import without_progress_bars


def convert_gguf(file: Path, folder: Path) -> None:
    """Write the model of a GGUF file into a folder as safetensors, with its tokenizer and its chat template.

    The weights are dequantised and saved in bfloat16, whose rounding is far finer than that of four bits.

    Args:
        file: The GGUF file.
        folder: The folder, which is made; what lies there is overwritten.

    Raises:
        GeneratorError: torch, transformers or gguf is missing, or the file cannot be read.
    """
    try:
        import gguf
        import torch
        import transformers
    except ImportError as error:
        raise GeneratorError(f"reading a GGUF file needs gguf, torch and transformers: {install('lwm')}") from error
    try:
        fields = gguf.GGUFReader(file).fields
        splitter = fields.get("tokenizer.ggml.pre")
        with without_progress_bars():
            tokenizer = load_tokenizer(file.parent, gguf_file=file.name, local_files_only=True)
            quantised = load_model(file.parent, gguf_file=file.name, dtype=torch.float32, local_files_only=True)
    except Exception as error:  # gguf, torch and transformers raise errors of many kinds.
        raise GeneratorError(f"{file} cannot be read as GGUF: {' '.join(str(error).split())[:600]}") from error
    config = quantised.config
    settings = {key: value for key, value in config.to_dict().items() if key not in _OF_THE_FILE}
    settings["rms_norm_eps"] = float(f"{config.rms_norm_eps:.6g}")  # The file holds it as float32.
    # A model that was read from GGUF refuses to be saved, so that its weights go into a fresh one.
    make: Any = transformers.AutoModelForCausalLM.from_config  # It has no types, and neither has the class below.
    plain = make(type(config)(**settings), dtype=torch.bfloat16)
    plain.load_state_dict(quantised.state_dict())
    generation: Any = transformers.GenerationConfig
    plain.generation_config = generation(
        bos_token_id=config.bos_token_id, eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id
    )
    _split_as_trained(tokenizer, None if splitter is None else str(splitter.contents()))
    tokenizer.model_max_length = config.max_position_embeddings
    with without_progress_bars():
        plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


_OF_THE_FILE = {"quantization_config", "_name_or_path", "_model_name_or_path", "dtype", "transformers_version"}
"""The settings that describe the GGUF file and not the model."""


def _split_as_trained(tokenizer: Any, splitter: str | None) -> None:
    """Split text before the merges as the model's own tokenizer does, which transformers does not read from GGUF.

    The splitter `smollm` makes each digit a piece of its own before whitespace is looked at: `\\n\\n1` begins with the
    token of two line feeds (`LLAMA_VOCAB_PRE_TYPE_SMOLLM` in llama.cpp).
    """
    from tokenizers import pre_tokenizers

    if splitter == "smollm":
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )

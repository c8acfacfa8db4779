"""The model on disk: building it, checkpoints that survive a crash, and the folder that is shipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.errors import SpecError
from agentworld_gym.recipe.config import ModelShape
from agentworld_gym.recipe.tokenizer import END, PAD, load_tokenizer, wrap

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import Qwen3ForCausalLM

CHECKPOINT = "checkpoint.pt"
TOKENIZER = "tokenizer.json"


def build_model(shape: ModelShape, tokenizer: Tokenizer, seed: int) -> Qwen3ForCausalLM:
    """An untrained Qwen3 of a shape, with the embeddings tied to the output."""
    import torch
    import transformers

    torch.manual_seed(seed)
    sizes = shape.model_dump(exclude={"rope_theta", "vocab_size"})
    make_config: Any = transformers.Qwen3Config
    make_model: Any = transformers.Qwen3ForCausalLM  # both untyped
    config = make_config(
        **sizes,
        vocab_size=tokenizer.get_vocab_size(),
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        tie_word_embeddings=True,
        attn_implementation="sdpa",
        bos_token_id=None,
        eos_token_id=tokenizer.token_to_id(END),
        pad_token_id=tokenizer.token_to_id(PAD),
    )
    model: Qwen3ForCausalLM = make_model(config)
    return model


def save_checkpoint(folder: Path, state: Mapping[str, Any]) -> Path:
    """Write a checkpoint so that a crash leaves either the old one or the whole of this one."""
    import torch

    path, partial = folder / CHECKPOINT, folder / (CHECKPOINT + ".partial")
    with partial.open("wb") as file:
        torch.save(dict(state), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    return path


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The checkpoint of a run, or nothing if it has none yet."""
    import torch

    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def model_from_checkpoint(folder: Path) -> Qwen3ForCausalLM:
    """The model of a run as its last checkpoint has it.

    Raises:
        SpecError: if the run has no checkpoint.
    """
    state = load_checkpoint(folder)
    if state is None:
        raise SpecError(folder, CHECKPOINT, None, "a run with a checkpoint")
    model = build_model(ModelShape(**state["shape"]), load_tokenizer(folder), 0)
    model.load_state_dict(state["model"])
    model.train(False)
    return model


def export(run: Path, folder: Path) -> Path:
    """Write the model of a run as a folder that transformers and vLLM load: weights in bfloat16, tokenizer, template.

    Files of the folder that are not part of the model (a model card) stay.

    Raises:
        SpecError: if the run has no checkpoint.
    """
    import torch
    import transformers

    model: Any = model_from_checkpoint(run)
    model.to(torch.bfloat16)
    tokenizer = load_tokenizer(run)
    make_generation: Any = transformers.GenerationConfig  # untyped
    model.generation_config = make_generation(
        do_sample=False,
        eos_token_id=tokenizer.token_to_id(END),
        pad_token_id=tokenizer.token_to_id(PAD),
        max_new_tokens=512,
    )
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    model.save_pretrained(partial)
    wrap(tokenizer, model.config.max_position_embeddings).save_pretrained(partial)
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(partial.iterdir()):
        os.replace(file, folder / file.name)
    partial.rmdir()
    return folder

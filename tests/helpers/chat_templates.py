"""The chat templates of the Qwen family, under a tokenizer with their added tokens."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")
TEMPLATES = ("qwen3", "qwen3_instruct_2507", "qwen3_5_think", "qwen3_5_nothink", "qwen3_8")

CONTROL = (
    "endoftext im_start im_end object_ref_start object_ref_end box_start box_end quad_start quad_end vision_start "
)
CONTROL += "vision_end vision_pad image_pad video_pad fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep "
CONTROL += "audio_start audio_end audio_pad"
ADDED = [f"<|{name}|>" for name in CONTROL.split()]
ADDED += [f"<{slash}{name}>" for name in ("think", "tool_call", "tool_response") for slash in ("", "/")]
ADDED += ["<tts_pad>", "<tts_text_bos>", "<tts_text_eod>", "<tts_text_bos_single>"]


@cache
def tokenizer(template: str) -> Any:
    package = importlib.util.find_spec("trl")
    if package is None or package.origin is None:
        pytest.skip("trl is not installed")
    text = (Path(package.origin).parent / "chat_templates" / f"{template}.jinja").read_text(encoding="utf-8")
    from tokenizers import AddedToken
    from tokenizers.pre_tokenizers import ByteLevel

    vocabulary = {symbol: index for index, symbol in enumerate(sorted(ByteLevel.alphabet()))}
    made = transformers.Qwen2Tokenizer(vocab=vocabulary, merges=[])
    made.add_tokens([AddedToken(token, special=token.startswith("<|"), normalized=False) for token in ADDED])
    made.chat_template = text
    return made

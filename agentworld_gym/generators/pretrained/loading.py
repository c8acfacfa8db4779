"""Loads models and tokenizers by transformers, the one place where this is done: no code of theirs is ever run.

A folder may name Python files of its own (`auto_map`). transformers asks at the keyboard whether to run them unless it
is told; here it is told not to, and such a folder is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load_tokenizer(source: Path | str, **options: Any) -> Any:
    """The tokenizer of a folder, or of a model by its name.

    Args:
        source: the folder, or the name.
        options: of `AutoTokenizer.from_pretrained`.

    Raises:
        OSError: there is none.
        ValueError: it cannot be read without running code that comes with it.
    """
    import transformers

    load: Any = transformers.AutoTokenizer.from_pretrained  # untyped
    return load(source, **options, trust_remote_code=False)


def load_model(source: Path | str, **options: Any) -> Any:
    """The language model of a folder, or of a name; what `AutoModelForCausalLM.from_pretrained` gives.

    Args:
        source: the folder, or the name.
        options: of `AutoModelForCausalLM.from_pretrained`.

    Raises:
        OSError: there is none.
        ValueError: it cannot be made without running code that comes with it.
    """
    import transformers

    load: Any = transformers.AutoModelForCausalLM.from_pretrained  # untyped
    return load(source, **options, trust_remote_code=False)

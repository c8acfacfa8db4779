"""The one place where models and tokenizers are loaded by transformers, so that no code of theirs is ever run.

The folder of a model may name Python files of its own (`auto_map`). transformers asks at the keyboard whether to run
them, unless an argument says so; here the argument says that it must not, and such a folder is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentworld_gym.llm.generators.pretrained.eight_bits import FILE, restored_weights


def load_tokenizer(source: Path | str, **options: Any) -> Any:
    """Load the tokenizer of a folder, or of a model by its name.

    Args:
        source: The folder, or the name.
        options: The options of `AutoTokenizer.from_pretrained`.

    Raises:
        OSError: There is no tokenizer.
        ValueError: The tokenizer cannot be read without running code that comes with it.
    """
    import transformers

    load: Any = transformers.AutoTokenizer.from_pretrained  # It has no types.
    return load(source, **options, trust_remote_code=False)


def load_model(source: Path | str, **options: Any) -> Any:
    """Load the language model of a folder, or one by its name; weights in eight bits are restored.

    Args:
        source: The folder, or the name.
        options: The options of `AutoModelForCausalLM.from_pretrained`, whose result is returned.

    Raises:
        OSError: There is no model.
        ValueError: The model cannot be made without running code that comes with it.
    """
    import transformers

    load: Any = transformers.AutoModelForCausalLM.from_pretrained  # It has no types, and neither have those below.
    if not (Path(source) / FILE).is_file():
        return load(source, **options, trust_remote_code=False)
    read: Any = transformers.AutoConfig.from_pretrained
    config = read(source, local_files_only=True, trust_remote_code=False)
    classes: Any = transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    weights = restored_weights(Path(source))
    return classes[type(config)].from_pretrained(None, config=config, state_dict=weights, **options)

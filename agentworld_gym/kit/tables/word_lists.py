"""The word lists that every scenario can use."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated


class _WordFile(Strict):
    words: dict[str, tuple[Any, ...]]


class _HeldOutFile(Strict):
    validation: dict[str, tuple[str, ...]]
    test: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def common_words() -> dict[str, tuple[Any, ...]]:
    """Return the word lists by name.

    Raises:
        SpecError: the file is wrong.
    """
    path = data_folder("domain_specs") / "scenarios" / "words.yaml"
    return validated(_WordFile, {"words": read_yaml(path)}, path).words


@lru_cache(maxsize=1)
def held_out_words() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the word lists by name that stand for the common ones in the tasks of each split but the training split.

    Raises:
        SpecError: the file is wrong.
    """
    path = data_folder("domain_specs") / "scenarios" / "held_out_words.yaml"
    return validated(_HeldOutFile, read_yaml(path), path).model_dump()

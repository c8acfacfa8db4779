"""The keys of a typed document: those of a place, those that resemble another, and the value at one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, get_args

from pydantic import BaseModel


def keys_at(model: type[BaseModel], place: Sequence[str]) -> list[str]:
    """Return the keys that a document of a model may have at a place.

    Args:
        model: The model of the whole document.
        place: The keys from the top to the place; those of lists and free mappings (`0`, `terminal`) are stepped over.

    >>> from agentworld_gym.core.domain.spec import DomainSpec
    >>> keys_at(DomainSpec, ["controls", "fog"]), keys_at(DomainSpec, ["action"])[:2]
    (['sentence', 'free'], ['syntax', 'schema'])
    """
    models = [model]
    for key in place:
        fields = [field for one in models for name, field in one.model_fields.items() if key in (name, field.alias)]
        if fields:
            models = [inner for field in fields for inner in _models(field.annotation)]
    return list(dict.fromkeys(field.alias or name for one in models for name, field in one.model_fields.items()))


def nearest(wrong: str, known: Collection[str]) -> list[str]:
    """Sort known names, those that resemble a wrong one most first.

    >>> nearest("max_step", ["seed", "max_tokens", "max_steps"])
    ['max_steps', 'max_tokens', 'seed']
    """
    return sorted(known, key=lambda name: -SequenceMatcher(None, wrong, name).ratio())


def resembles(wrong: str, known: str) -> bool:
    """Return whether a wrong name may be a known one that was misspelt.

    >>> resembles("max_step", "max_steps"), resembles("colour", "max_steps")
    (True, False)
    """
    return SequenceMatcher(None, wrong, known).ratio() >= 0.7


def value_at(data: Any, key: str) -> Any:
    """Return the value at a dotted key of plain data; None where there is none.

    >>> value_at({"train": {"max_steps": 5}}, "train.max_steps"), value_at({}, "train.max_steps")
    (5, None)
    """
    for part in key.split("."):
        data = data.get(part) if isinstance(data, Mapping) else getattr(data, part, None)
    return data


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a type names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]

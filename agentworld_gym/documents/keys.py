"""The keys of a typed document: which there are at a place, which are like another, and what data says of one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, get_args

from pydantic import BaseModel


def keys_at(model: type[BaseModel], place: Sequence[str]) -> list[str]:
    """The keys that a document of a model may have at a place.

    Args:
        model: of the whole document.
        place: keys from the top; those of lists and free mappings (`0`, `terminal`) are stepped over.

    >>> from agentworld_gym.domain.spec import DomainSpec
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
    """Known names, those most like a wrong one first.

    >>> nearest("max_step", ["seed", "max_tokens", "max_steps"])
    ['max_steps', 'max_tokens', 'seed']
    """
    return sorted(known, key=lambda name: -SequenceMatcher(None, wrong, name).ratio())


def value_at(data: Any, key: str) -> Any:
    """What plain data says at a dotted key; None where it says nothing.

    >>> value_at({"train": {"max_steps": 5}}, "train.max_steps"), value_at({}, "train.max_steps")
    (5, None)
    """
    for part in key.split("."):
        data = data.get(part) if isinstance(data, Mapping) else getattr(data, part, None)
    return data


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]

"""The small world models that the package brings along, and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentworld_gym.domain.spec import DOMAINS, DomainSpec, Form, Profile

BUNDLED = Path(__file__).resolve().parent.parent / "models"

TINY_SAMPLING: Mapping[str, Any] = {"temperature": 0.0, "thinking": False, "max_tokens": 2048}
"""How a bundled model samples. Its limit of tokens leaves room for a screen of more than a hundred elements."""

TINY_PROFILE: Profile = "compact"
"""The prompts that a bundled model reads."""


def tiny_form(spec: DomainSpec) -> Form | None:
    """Return the form in which a bundled model writes observations; None is the form of the spec."""
    return "change" if spec.turn.restates else None


def tiny_model(domain: str | None = None) -> Path | None:
    """Return the folder of a bundled small world model, if there is one.

    Args:
        domain: The domain that the model shall know; a model of that domain alone is preferred. None asks for the model
            of all seven domains.
    """
    if domain is not None and domain not in DOMAINS:
        return None
    folders = [BUNDLED / "tiny"] if domain is None else [BUNDLED / f"tiny-{domain}", BUNDLED / "tiny"]
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)


def is_bundled(handle: str) -> bool:
    """Return whether the handle of a model names a bundled one, by name or by folder.

    >>> is_bundled("tiny"), is_bundled(f"transformers:{tiny_model()}"), is_bundled("transformers:runs/mine/model")
    (True, True, False)
    """
    kind, _, path = handle.partition(":")
    return handle == "tiny" or (kind == "transformers" and BUNDLED in Path(path).expanduser().resolve().parents)

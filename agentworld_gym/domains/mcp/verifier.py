"""The rules of MCP: JSON as the tool returns it, compared by value."""

from __future__ import annotations

import re

from agentworld_gym.base.documents.plain_json import read_unique
from agentworld_gym.kit.matching.compare import normalised
from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(r'"status": ?"error"|^(?:\d+ validation errors?|Error)\b')


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that JSON is predicted as JSON with the same keys at the top, by its values and not its layout."""
    true, predicted = _keys(truth.text), _keys(prediction)
    if true is None:
        return {}
    checks = {"json": predicted is not None, "keys": true == predicted}
    if all(span.kind == "deterministic" for span in truth.spans):
        checks["content"] = normalised("mcp", prediction) == normalised("mcp", truth.text)
    return checks


def _keys(text: str) -> list[str] | None:
    """Return the keys at the top of a JSON object, an empty list for another value, None for what is no JSON or repeats
    a key.
    """
    try:
        value = read_unique(text)
    except (ValueError, RecursionError):
        return None
    return sorted(value) if isinstance(value, dict) else []


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""

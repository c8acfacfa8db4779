"""Writes parsed actions in the syntaxes of dialects, as a world model sees them: the inverse of the readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domain.spec import Syntax

WRITERS: Mapping[Syntax, Callable[[Any], str]] = {}
"""The writer of each syntax that needs one. An action of any other syntax is shown as JSON or as it was written."""

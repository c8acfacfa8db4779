"""How observations of a dialect are read in the first dialect of their domain, in which checks are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Translation:
    """How the observations of a dialect are read in the first dialect, and what they do not tell."""

    translate: Callable[[str, Any], str]
    """The function that writes what an action showed in the first dialect, as far as it tells; it takes the observation
    and the action as its parser read it."""

    untold: re.Pattern[str]
    """The words of a pattern that asks for what the dialect never shows."""

    readings: Callable[[str, Any], tuple[str, ...]] = lambda translated, _: (translated,)
    """The function that returns what a translated observation of an action may stand for, where the dialect leaves it
    open. There is nothing where it does not tell what the first dialect would show."""

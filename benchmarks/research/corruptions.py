"""Seeded mistakes in a true observation, which a verifier has to notice.

A verifier that passes the truth may still pass everything. So each verifier is tried on corrupted truth as well: the
share of corruptions that it passes says how much its rewards can be trusted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from agentworld_gym.recipe.rl.verifiers.truth import Truth

_WORD = re.compile(r"[A-Za-z][a-z]{2,}")


def corruptions(truth: Truth, seed: int) -> Iterator[tuple[str, str]]:
    """Yield corrupted observations by the name of the mistake; mistakes that the text has no room for are left out.

    - `digit`: a digit is another one.
    - `line`: a line is gone.
    - `names`: two words have changed places.
    - `state`: the text is what was on the screen before, or was shown last.
    - `metadata`, `pre-existing`: a piece of that kind is of another kind, or empty.

    All but the last two touch deterministic content.
    """
    for name, corrupt in _MISTAKES.items():
        text = corrupt(truth, random.Random(f"{seed}/{name}/{truth.row.id}/{truth.row.turn_idx}"))
        if text is not None and text != truth.text:
            yield name, text


def _is_fixed(truth: Truth, start: int, end: int) -> bool:
    """Whether a piece of the text is deterministic as a whole."""
    return not any(span.start < end and start < span.end for span in truth.spans if span.kind != "deterministic")


def _digit(truth: Truth, rng: random.Random) -> str | None:
    places = [at for at, letter in enumerate(truth.text) if letter in "0123456789" and _is_fixed(truth, at, at + 1)]
    if not places:
        return None
    at = rng.choice(places)
    other = rng.choice([digit for digit in "123456789" if digit != truth.text[at]])
    return truth.text[:at] + other + truth.text[at + 1 :]


def _line(truth: Truth, rng: random.Random) -> str | None:
    lines = [match for match in re.finditer(r"(?m)^.+$", truth.text) if _is_fixed(truth, match.start(), match.end())]
    if len(lines) < 2:
        return None
    gone = rng.choice(lines)
    return (truth.text[: gone.start()] + truth.text[gone.end() + 1 :]).rstrip("\n")


def _names(truth: Truth, rng: random.Random) -> str | None:
    words = [match for match in _WORD.finditer(truth.text) if _is_fixed(truth, match.start(), match.end())]
    pairs = [(one, other) for one, other in pairwise(words) if one[0] != other[0]]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    text = truth.text
    return text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]


def _state(truth: Truth, rng: random.Random) -> str | None:
    return rng.choice((truth.before, truth.shown[0]))


def _metadata(truth: Truth, rng: random.Random) -> str | None:
    return _replaced(truth, rng, "metadata", "some time ago\nor so")


def _pre_existing(truth: Truth, rng: random.Random) -> str | None:
    return _replaced(truth, rng, "pre-existing", "")


def _replaced(truth: Truth, rng: random.Random, kind: str, by: str) -> str | None:
    spans = [span for span in truth.spans if span.kind == kind and truth.text[span.start : span.end].strip()]
    if not spans:
        return None
    span = rng.choice(spans)
    return truth.text[: span.start] + by + truth.text[span.end :]


_MISTAKES: Mapping[str, Callable[[Truth, random.Random], str | None]] = {
    "digit": _digit,
    "line": _line,
    "names": _names,
    "state": _state,
    "metadata": _metadata,
    "pre-existing": _pre_existing,
}

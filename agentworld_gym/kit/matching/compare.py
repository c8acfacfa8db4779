"""All that tells how close a predicted observation is to the true one, without a judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

from agentworld_gym.core.screens import observations_of, read_screen, screen_of
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.kit.matching.gaps import SpanLike, fixed_pieces, gaps_of, right_gaps

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Kind


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a predicted observation compares with the true one.

    Attributes:
        exact: equal character for character.
        normalised: equal but for what means nothing (`agentworld_gym.kit.matching.compare.normalised`).
        deterministic: exact where content is deterministic; spans of other kinds may hold anything of about as many
            lines, and are found by the fixed text around them.
        similarity: edit similarity over tokens, 0 to 1.
        tree: F1 of the elements of a screen, their references and indices apart; None where the truth shows no screen.
        valid: has the form of the domain.
        kinds: for each kind of content in the truth, whether all of it is right: deterministic content exact,
            pre-existing content and metadata plausible (`agentworld_gym.kit.matching.plausibility`).
    """

    exact: bool
    normalised: bool
    deterministic: bool
    similarity: float
    tree: float | None
    valid: bool
    kinds: Mapping[Kind, bool]


def match(domain: str, predicted: str, truth: str, spans: Sequence[SpanLike] = (), before: str = "") -> MatchResult:
    """Compare a predicted observation with the true one; never fails, whatever the texts.

    White space around an observation decides nothing, as in the benchmark: the prediction is given that of the truth.

    Args:
        domain: its id in this package.
        predicted: what a world model says.
        truth: what really appeared.
        spans: the pieces of the truth that are not deterministic.
        before: the observation before it, which says for example what the prompt looks like.

    >>> from agentworld_gym.core.engines import Span
    >>> found = match("terminal", "date\\nMon May 4\\n$", "date\\nFri May 8\\n$", [Span(5, 14, "metadata")])
    >>> found.exact, found.deterministic, dict(found.kinds)
    (False, True, {'deterministic': True, 'metadata': True})
    """
    predicted = _framed(predicted, truth)
    gaps = gaps_of(truth, spans)
    fixed = not gaps or any(piece.strip() for piece in fixed_pieces(truth, gaps))
    if predicted == truth:
        kinds: dict[Kind, bool] = {"deterministic": True} if fixed else {}
        kinds |= {gap.kind: True for gap in gaps}
        return MatchResult(True, True, True, 1.0, 1.0 if shows(domain, truth) else None, True, kinds)
    elements = _elements(domain, truth)
    right, others = right_gaps(predicted, truth, gaps)
    kinds = {"deterministic": right} if fixed else {}
    return MatchResult(
        exact=False,
        normalised=normalised(domain, predicted) == normalised(domain, truth),
        deterministic=right,
        similarity=similarity(predicted.strip(), truth.strip()),
        tree=None if elements is None else f1(_elements(domain, predicted) or [], elements),
        valid=is_valid(domain, predicted, truth, before),
        kinds=kinds | others,
    )


def _framed(predicted: str, truth: str) -> str:
    """The prediction between the white space that stands around the truth; one that says nothing stays as it is."""
    said, core = predicted.strip(), truth.strip()
    if not said or not core:
        return truth if not said and not core else predicted
    start = truth.index(core)
    return truth[:start] + said + truth[start + len(core) :]


def _elements(domain: str, observation: str) -> list[Hashable] | None:
    """What a screen shows, element by element, without what actions name them by; of a page also title and address.

    None where no screen is shown.
    """
    if not shows(domain, observation):
        return None
    elements: list[Hashable] = [
        (node.role, node.name, node.text, node.description, node.box, node.flags, node.depth)
        for node in read_screen(domain, observation)
    ]
    screen = screen_of(domain)
    identity = () if screen is None else tuple(screen.identity(observation))
    return [*elements, identity] if identity else elements


_TOKEN = re.compile(r"[^\W\d_]+|\d+|\s+|.", re.DOTALL)
LONGEST = 20_000
"""Tokens of a differing middle beyond which order no longer counts, so that the cost stays bounded."""


def similarity(one: str, other: str) -> float:
    """The edit similarity of two texts, 0 to 1: tokens in a longest common subsequence, over the mean length.

    Only insertions and deletions of tokens are edits, so that this is 1 minus their number over that of all tokens.
    It is symmetric, and 1 for equal texts alone.

    >>> similarity("total 12 files", "total 13 files"), similarity("", ""), similarity("a", "b")
    (0.8, 1.0, 0.0)
    """
    if one == other:
        return 1.0
    first, second = _TOKEN.findall(one), _TOKEN.findall(other)
    total = len(first) + len(second)
    start = _common(first, second)
    first, second = first[start:], second[start:]
    end = _common(first[::-1], second[::-1])
    first, second = first[: len(first) - end], second[: len(second) - end]
    if max(len(first), len(second)) > LONGEST:
        inner = min((Counter(first) & Counter(second)).total(), max(len(first), len(second)) - 1)
    else:
        inner = longest_common(first, second)
    return 2 * (start + end + inner) / total


def f1(given: Iterable[Hashable], right: Iterable[Hashable]) -> float:
    """F1 of some items against the right ones, in any order; repeated items count as often as they stand there.

    >>> f1("abc", "abd"), f1("", "")
    (0.6666666666666666, 1.0)
    """
    mine, theirs = Counter(given), Counter(right)
    total = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / total if total else 1.0


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of a longest common subsequence.

    >>> longest_common("AGCAT", "GAC")
    2
    """
    # rapidfuzz compares the hashes of tokens; numbers in their place make the result exact.
    numbers: dict[Hashable, int] = {}
    for token in (*first, *second):
        numbers.setdefault(token, len(numbers))
    return LCSseq.similarity([numbers[token] for token in first], [numbers[token] for token in second])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many tokens both begin with."""
    for place, (mine, theirs) in enumerate(zip(first, second, strict=False)):
        if mine != theirs:
            return place
    return min(len(first), len(second))


_HEADINGS = re.compile(r"(?m)^### [^\n]*")


def normalised(domain: str, text: str) -> str:
    """Return a text without what means nothing, for a comparison.

    In every domain: the kind of line ends, blanks at the end of a line, runs of blanks within one (an indentation
    stays, and so do the tabs of a table), empty lines around the text and repeated ones within. In tools' answers also
    the order of keys and the spacing of JSON, in search also letter case.

    >>> normalised("terminal", "a   b \\r\\n\\n\\n\\n$ "), normalised("mcp", '{"b": 1,"a":2}')
    ('a b\\n\\n$', '{"a": 2, "b": 1}')
    """
    return observations_of(domain).normalised(text)


def is_valid(domain: str, predicted: str, truth: str, before: str = "") -> bool:
    """Return whether a prediction has the form that is due where the truth stands, whatever it says.

    Due is: something, where the truth is something; a screen whose every line can be read, where the truth shows one;
    the same kind of JSON; the prompt of the same user and host at the end; the same labels of a tool's envelope;
    numbered lines; hits that count from 1.

    >>> truth = "dev@box:/srv$ pwd\\ndev@box:/srv$"
    >>> is_valid("terminal", "dev@box:~$ ls\\ndev@box:~$", truth), is_valid("terminal", "dev@box:~$ ls\\n", truth)
    (True, False)
    """
    if not predicted.strip() or not truth.strip():
        return not predicted.strip() and not truth.strip()
    screen = screen_of(domain)
    if screen is None:
        return observations_of(domain).has_form(predicted, truth, before)
    if not shows(domain, truth):
        return not _HEADINGS.search(truth) or bool(_HEADINGS.search(predicted))
    return shows(domain, predicted) and screen.is_readable(predicted)

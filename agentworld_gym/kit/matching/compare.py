"""All that tells how close a predicted observation is to the true one, without a judge."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentworld_gym.core.screens import read_screen, screen_of
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.kit.matching.forms import is_valid, normalised
from agentworld_gym.kit.matching.gaps import SpanLike, fixed_pieces, gaps_of, right_gaps
from agentworld_gym.kit.matching.similarity import f1, similarity

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Kind


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a predicted observation compares with the true one.

    Attributes:
        exact: equal character for character.
        normalised: equal but for what means nothing (`agentworld_gym.kit.matching.forms.normalised`).
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

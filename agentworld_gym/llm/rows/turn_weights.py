r"""How much each turn of a session counts in continual pre-training: seven classes by what an observation adds.

The classes and their shares are those of Qwen-AgentWorld (arXiv 2606.24597). Over the sets of lower-cased tokens of an
action, A, and of what it showed, O:

    overlap |A∩O| / |A|     novelty |O∖A| / |O|     Jaccard |A∩O| / |A∪O|     ratio: tokens shown / tokens of the action

What the paper leaves open is settled so:

- **Tokens** are words: runs of letters, digits and underscores. They are the same whatever model is trained; pieces of
  a byte-pair vocabulary would overlap by chance, and punctuation is common to any two texts of JSON.
- **Precedence**: the first class that holds, in the order of `CLASSES`. An echo is a boilerplate of higher overlap, so
  it comes first; both come before `transform`, which is left with answers that are shorter than the action and share
  little with it. The other classes are all kept whole, so that their order moves no weight.
- **Short** is an observation of at most `SHORT` tokens. One without any is an `action`: that nothing is shown is news.
- **Share per turn**: the rule `share` gives all tokens of a turn the share of its class as their weight; `draw` keeps
  a turn whole or not at all, by a draw from its session's id and its number. Both expect the same loss; the first has
  no variance of its own, and is the default. `equal` weighs all turns alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Regex, Strict

TurnClass = Literal["echo", "boilerplate", "transform", "action", "expansion", "retrieval", "other"]
Rule = Literal["share", "draw", "equal"]


CLASSES: tuple[TurnClass, ...] = ("echo", "boilerplate", "transform", "action", "expansion", "retrieval", "other")
"""The classes in the order in which they are tried."""

SHARES: Mapping[TurnClass, float] = {
    "echo": 0.05,
    "boilerplate": 0.1,
    "transform": 0.5,
    "action": 1.0,
    "expansion": 1.0,
    "retrieval": 1.0,
    "other": 1.0,
}
"""The share of each class that is learned."""

SHORT = 12
"""The most tokens of a short observation."""

_TOKEN = re.compile(r"\w+")


class Weighting(Strict):
    """The rule by which turns are weighed."""

    rule: Rule = "share"
    """How turns count: by the `share` of their class, by a `draw` with that share, or all `equal`."""

    seed: int = 0
    """The seed of the draws."""

    by_action: dict[str, dict[Regex, Annotated[float, Field(ge=0, le=1)]]] = Field(default_factory=dict)
    """Factors for the turns of some actions, by domain: a regular expression that is searched for in the action, and
    its factor. The first expression that is found holds. What no model can foresee teaches it little but its format."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The four statistics of a turn, which lie between 0 and 1 except for `ratio`, and the number of tokens shown."""

    overlap: float
    """The share of the action's tokens that the observation holds."""

    novelty: float
    """The share of the observation's tokens that the action does not hold."""

    jaccard: float
    """The share of all their tokens that both hold."""

    ratio: float
    """The number of tokens of the observation for each token of the action."""

    shown: int
    """The number of tokens of the observation."""


def overlap(action: str, observation: str) -> Overlap:
    """Compute the statistics of a turn. The overlap of an empty action is 0, the novelty of an empty observation is 1.

    >>> overlap("cat notes.txt", "CAT notes.txt\\nbuy milk")
    Overlap(overlap=1.0, novelty=0.4, jaccard=0.6, ratio=1.6666666666666667, shown=5)
    """
    asked, shown = _TOKEN.findall(action.lower()), _TOKEN.findall(observation.lower())
    before, after = set(asked), set(shown)
    common, both = len(before & after), len(before | after)
    return Overlap(
        overlap=common / len(before) if before else 0.0,
        novelty=1 - common / len(after) if after else 1.0,
        jaccard=common / both if both else 0.0,
        ratio=len(shown) / max(len(asked), 1),
        shown=len(shown),
    )


def classify(action: str, observation: str) -> TurnClass:
    """Return the class of a turn.

    >>> classify("cat notes.txt", "milk, bread, two lemons and the tickets for Friday, which Lea wants to see")
    'retrieval'
    >>> classify('{"text": "see you at nine"}', '{"text": "see you at nine"}'), classify("rm a.txt", "")
    ('echo', 'action')
    """
    statistics = overlap(action, observation)
    if not statistics.shown:
        return "action"
    if statistics.novelty < 0.5:
        if statistics.overlap >= 0.7 and statistics.novelty < 0.3:
            return "echo"
        if statistics.overlap >= 0.5:
            return "boilerplate"
        return "transform" if statistics.ratio < 1 else "other"
    if statistics.ratio <= 1 or statistics.shown <= SHORT:
        return "action"
    if statistics.overlap >= 0.5 and statistics.ratio > 1.5:
        return "expansion"
    return "retrieval" if statistics.novelty >= 0.6 else "other"


def turn_weights(
    name: str, actions: Sequence[str], answers: Sequence[str], weighting: Weighting, domain: str = ""
) -> list[float]:
    """Return the weight of each turn of a session of that name, from 0 to 1.

    >>> turn_weights("a", ["echo hello world", "ls"], ["hello world", "notes.txt"], Weighting())
    [0.1, 1.0]
    """
    scales = weighting.by_action.get(domain, {})
    weights = []
    for turn, (action, answer) in enumerate(zip(actions, answers, strict=True), 1):
        share = 1.0 if weighting.rule == "equal" else SHARES[classify(action, answer)]
        if weighting.rule == "draw":
            share = float(random.Random(f"{weighting.seed}/{name}/{turn}").random() < share)
        weights.append(share * next((scale for pattern, scale in scales.items() if re.search(pattern, action)), 1.0))
    return weights

"""The nearest recorded step: a baseline that needs no model.

A world model that does not beat it has learned nothing that a look-up table does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.screens.history import History
from agentworld_gym.sessions.row import Row

BUCKETS = 4096
"""The number of columns that words are hashed into."""

STATE_SHARE = 0.2
"""The weight of the state's similarity beside the action's: the action decides, and the state breaks ties."""

MOST = 20_000
"""The most recorded steps that are looked through."""

_WORD = re.compile(r"\w+|[^\w\s]")
_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class StepContext:
    """An action, and what was there before it."""

    action: str
    """The action."""

    last: str
    """What was shown last."""

    state: str
    """The state in words."""


def step_contexts(row: Row) -> Iterator[StepContext]:
    """Yield the context of each turn of a session; its state is the initial one and the screen as it stands.

    >>> row = Row(task="terminal", id="a", system_str="", prompt=["ls"], response=["x"], current_prompt="ls",
    ...           turn_idx=1, total_turns=1, actions=["ls"], observations=["x"], initial_state={"cwd": "/srv"})
    >>> list(step_contexts(row))
    [StepContext(action='ls', last='', state='cwd /srv ')]
    """
    begun = " ".join(f"{name} {value}" for name, value in row.initial_state.items())
    history = History[str](row.domain, row.first_observation)
    for action, observation in zip(row.actions, row.observations, strict=True):
        yield StepContext(action, history.observation, f"{begun} {history.screen}")
        history.append(action, observation)


class NearestStep:
    """Answers with the recorded step whose action and state share most words with the asked one (Jaccard index).

    In a domain whose observation begins with the echo of the action and ends with a prompt, both are put right, which
    only helps this baseline.

    Args:
        spec: The domain.
        rows: Recorded sessions of the training split.
    """

    def __init__(self, spec: DomainSpec, rows: Iterable[Row]) -> None:
        self._echoes = "keystroke_batch" in spec.action.syntax
        steps = (step for row in rows for step in zip(step_contexts(row), row.observations, strict=True))
        kept = list(islice(steps, MOST))
        self._observations = [observation for _, observation in kept]
        self._actions = _bags([context.action for context, _ in kept])
        self._states = _bags([context.state for context, _ in kept])

    def answer(self, asked: Sequence[StepContext]) -> list[str]:
        """Return an observation for each context; its last one where nothing is recorded."""
        if not self._observations:
            return [context.last for context in asked]
        observations = []
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            score = _jaccard(_bags([context.action for context in some]), self._actions)
            score += STATE_SHARE * _jaccard(_bags([context.state for context in some]), self._states)
            observations += [self._observations[place] for place in score.argmax(1)]
        return [_dressed(text, one) if self._echoes else text for text, one in zip(observations, asked, strict=True)]


def _bags(texts: Sequence[str]) -> NDArray[np.float32]:
    bags = np.zeros((len(texts), BUCKETS), dtype=np.float32)
    for row, text in enumerate(texts):
        bags[row, [crc32(word.encode("utf-8", "surrogatepass")) % BUCKETS for word in set(_WORD.findall(text))]] = 1
    return bags


def _jaccard(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    both = left @ right.T
    either = left.sum(1)[:, None] + right.sum(1)[None] - both
    index: NDArray[np.float32] = both / np.maximum(either, 1)
    return index


def _dressed(observation: str, context: StepContext) -> str:
    """Return the observation with the echo of the action behind the prompt that was seen last, and that prompt."""
    prompt = context.last.rsplit("\n", 1)[-1]
    lines = observation.split("\n")
    lines[0] = f"{prompt} {context.action}"
    if len(lines) > 1:
        lines[-1] = prompt
    return "\n".join(lines)

"""Answers in the state form that may be wrong in any way: operations on the paths of a state, with odd values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.llm.prompting.state_answers import StateAnswers

ABSURD = {
    "open brackets": "x = " + "[" * 20_000,
    "deep value": "x = " + '{"a":' * 20_000 + "1" + "}" * 20_000,
    "deep path": "a/" * 20_000 + "a = 1",
    "infinite": "x = 1e999",
    "no number": "x = NaN",
}
"""Answers that are wrong in every domain."""


def paths(value: Any, path: str = "") -> list[str]:
    """The paths of all values of a state."""
    if isinstance(value, dict):
        return [inner for key in value for inner in [f"{path}{key}", *paths(value[key], f"{path}{key}/")]]
    if isinstance(value, list):
        named = [entry.get("id", number) if isinstance(entry, dict) else number for number, entry in enumerate(value)]
        return [
            inner
            for name, entry in zip(named, value, strict=True)
            for inner in [f"{path}{name}", *paths(entry, f"{path}{name}/")]
        ]
    return []


def operations(state: Any, places: Sequence[str], words: Sequence[str], keys: Sequence[str]) -> st.SearchStrategy[str]:
    """Operations on a state.

    Args:
        state: The state.
        places: Paths beside those that the state has.
        words: Texts that values are made of.
        keys: Keys of the objects among the values.
    """
    values = st.recursive(
        st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.sampled_from(words),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=4),
        max_leaves=6,
    ).map(json.dumps)
    where = st.sampled_from(["..", ".", *places, *paths(state)])
    return (
        st.builds("{} = {}".format, where, values)
        | st.builds("{} += {}".format, where, values)
        | st.builds("{}{} {}".format, st.sampled_from("+^"), where, values)
        | st.builds("{}{}".format, st.sampled_from("->"), where)
    )


def printed_state(answers: StateAnswers, before: str, answer: str, action: str | None = None) -> str | None:
    """The state after an answer, which its view has printed; None where it is an answer error. All else is a fault."""
    try:
        state = answers.read(None, before, answer, action)
        answers.printed(state)
    except AnswerError:
        return None
    return state

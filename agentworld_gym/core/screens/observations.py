"""How the observations of a domain are compared, and how those of a dialect are read in its first one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentworld_gym.base.documents.plain_json import read_unique

_BLANKS = re.compile(r"(?<=\S) {2,}")
_EMPTY_LINES = re.compile(r"\n{3,}")


class Observations:
    """The observations of a domain of text. A domain overrides what is different there.

    >>> Observations().normalised("a   b \\r\\n\\n\\n\\n$ ")
    'a b\\n\\n$'
    >>> Observations().has_form('{"a": 1}', '{"b": 2}', ""), Observations().has_form("no", '{"b": 2}', "")
    (True, False)
    """

    lists_act = False
    """Whether an empty list is an action: to wait, and look again."""

    def normalised(self, text: str) -> str:
        """Return a text without what means nothing in a comparison.

        That is the kind of line ends, blanks at the end of a line, runs of blanks within one (an indentation stays,
        and so do the tabs of a table), empty lines around the text, and repeated ones within.
        """
        lines = (_BLANKS.sub(" ", line.rstrip()) for line in text.replace("\r\n", "\n").split("\n"))
        return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")

    def has_form(self, predicted: str, truth: str, before: str) -> bool:
        """Whether a prediction has the form that is due where the truth stands: JSON of the same kind.

        Args:
            predicted: The prediction, which is not empty.
            truth: The true observation, which is not empty.
            before: The observation before.
        """
        due, found = json_value(truth), json_value(predicted)
        return due is None or (found is not None and type(found[0]) is type(due[0]))

    def is_whole(self, text: str, first: str, asks: bool) -> bool:
        """Whether an observation is one of this domain by itself, whatever the truth is.

        Args:
            text: The observation.
            first: The first observation of the episode.
            asks: Whether the action before it only asks.
        """
        return True

    def behind_repetition(self, before: str, observation: str) -> str:
        """Return an observation without that end of the one before with which it begins again."""
        return observation

    def output(self, observation: str) -> str:
        """Return an observation without what every observation begins with, such as a prompt."""
        return observation


def json_value(text: str) -> tuple[Any] | None:
    """Return a JSON value as the one item of a tuple; None where the text is none, or an object in it holds a key
    twice.

    >>> json_value('{"a": 1}'), json_value("a")
    (({'a': 1},), None)
    """
    stripped = text.strip()
    if not stripped or stripped[0] not in "[{":
        return None
    try:
        return (read_unique(stripped),)
    except (ValueError, RecursionError):
        return None


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

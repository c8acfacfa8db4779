"""Actions and screens in plain words, without syntax, references, indices or coordinates, for agents that read
words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.screens.locate import Locator, compiled, has_locator
from agentworld_gym.core.screens.node import ScreenNode

_KEYS = re.compile(r'"(?:name|arguments|element|ref|action_type|index|x|y)": ')
_SYNTAX = re.compile(
    r"\b(?:pyautogui|Agent|subprocess|browser)[._]|[{}()\[\]\"'=,;\\]|\b(?:startRef|endRef|new_values)\b"
)
_SHOWN = frozenset(("checked", "selected", "expanded", "focused", "active", "disabled", "pressed"))


class PlainWords:
    """Writes the actions and screens of an episode in plain words; texts of other domains stay as they are.

    >>> words = PlainWords("android")
    >>> words.of_action('{"action_type": "click", "index": @{Switch after \\'6:30 AM\\'}}')
    'click Switch after 6:30 AM'
    >>> words.of_screen("", [ScreenNode("Switch", "Alarm", flags=("checked",))])
    'Switch Alarm checked'
    >>> words.of_screen("", [ScreenNode("Switch", "Alarm", flags=("checked",)), ScreenNode("Button", "Save")])
    'Button Save'
    """

    def __init__(self, domain: str) -> None:
        self._screen = screen_of(domain)
        self._before: frozenset[str] = frozenset()

    def of_action(self, action: str) -> str:
        """Write an entry of a menu in plain words."""
        if self._screen is None:
            return action
        pieces = compiled(action) if has_locator(action) else (action,)
        words = [_describe_locator(piece) if isinstance(piece, Locator) else _bare(piece) for piece in pieces]
        return " ".join(" ".join(words).split()) or action

    def of_screen(self, observation: str, nodes: Sequence[ScreenNode]) -> str:
        """Write an observation: the elements that are on the screen and were not on the one before, each on a line.

        Args:
            observation: The observation; one without a screen, such as an error, stays as it is.
            nodes: The elements of the last screen.
        """
        if self._screen is None:
            return observation
        lines = list(dict.fromkeys(_lines(observation, self._screen.identity(observation), nodes)))
        fresh = [line for line in lines if line not in self._before]
        self._before = frozenset(lines)
        return "\n".join(fresh)


def _lines(observation: str, identity: Sequence[str], nodes: Sequence[ScreenNode]) -> Iterable[str]:
    if "### Error" in observation or "Action error" in observation or observation.startswith("Traceback"):
        yield observation[:300]
    if identity and identity[0]:
        address, *rest = identity
        yield f"{' '.join(rest)} {address.partition('://')[2]}"
    for node in nodes:
        parts = dict.fromkeys(part for part in (node.name, node.text, node.description) if part)
        states = [flag for flag in node.flags if flag in _SHOWN]
        if parts or states:
            yield " ".join((node.role, *parts, *states))


def _describe_locator(locator: Locator) -> str:
    patterns = [f"{pattern.role or ''} {pattern.name or ''}" for pattern in (locator.pattern, *locator.after)]
    return " after ".join(patterns)


def _bare(text: str) -> str:
    return _SYNTAX.sub(" ", _KEYS.sub(" ", text))

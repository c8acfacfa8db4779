"""Actions and screens in plain words, for agents that read words: no syntax, references, indices or coordinates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agentworld_gym.screens import GRAPHICAL
from agentworld_gym.screens.locate import Locator, compiled, has_locator
from agentworld_gym.screens.node import Node
from agentworld_gym.screens.web import location

_KEYS = re.compile(r'"(?:name|arguments|element|ref|action_type|index|x|y)": ')
_SYNTAX = re.compile(r"\b(?:pyautogui|subprocess|browser)[._]|[{}()\[\]\"'=,;\\]|\b(?:startRef|endRef|new_values)\b")
_SHOWN = frozenset(("checked", "selected", "expanded", "focused", "active", "disabled", "pressed"))


class Words:
    """What an episode's actions and screens say; texts of the other domains stay as they are.

    >>> words = Words("android")
    >>> words.of_action('{"action_type": "click", "index": @{Switch after \\'6:30 AM\\'}}')
    'click Switch after 6:30 AM'
    >>> words.of_screen("", [Node("Switch", "Alarm", flags=("checked",))])
    'Switch Alarm checked'
    >>> words.of_screen("", [Node("Switch", "Alarm", flags=("checked",)), Node("Button", "Save")])
    'Button Save'
    """

    def __init__(self, domain: str) -> None:
        self._graphical = domain in GRAPHICAL
        self._before: frozenset[str] = frozenset()

    def of_action(self, action: str) -> str:
        """An entry of a menu."""
        if not self._graphical:
            return action
        pieces = compiled(action) if has_locator(action) else (action,)
        words = [_told(piece) if isinstance(piece, Locator) else _bare(piece) for piece in pieces]
        return " ".join(" ".join(words).split()) or action

    def of_screen(self, observation: str, nodes: Sequence[Node]) -> str:
        """An observation: what is on the screen and was not on the one before, an element a line.

        `nodes` are those of the last screen; an observation without one, such as an error, is told as it is.
        """
        if not self._graphical:
            return observation
        lines = list(dict.fromkeys(_lines(observation, nodes)))
        fresh = [line for line in lines if line not in self._before]
        self._before = frozenset(lines)
        return "\n".join(fresh)


def _lines(observation: str, nodes: Sequence[Node]) -> Iterable[str]:
    if "### Error" in observation or "Action error" in observation or observation.startswith("Traceback"):
        yield observation[:300]
    url, title = location(observation)
    if url:
        yield f"{title} {url.partition('://')[2]}"
    for node in nodes:
        parts = dict.fromkeys(part for part in (node.name, node.text, node.description) if part)
        states = [flag for flag in node.flags if flag in _SHOWN]
        if parts or states:
            yield " ".join((node.role, *parts, *states))


def _told(locator: Locator) -> str:
    patterns = [f"{pattern.role or ''} {pattern.name or ''}" for pattern in (locator.pattern, *locator.after)]
    return " after ".join(patterns)


def _bare(text: str) -> str:
    return _SYNTAX.sub(" ", _KEYS.sub(" ", text))

"""Reads the screens of the graphical domains: pure functions of an observation, the same for every world.

>>> nodes = read_screen("android", '[ 3] | android.widget.Button | desc="Save" | bounds=[0,0][40,20]')
>>> nodes[0].role, nodes[0].label, nodes[0].box.centre
('Button', 'Save', (20, 10))
>>> resolve('{"action_type": "click", "index": @{Button \\'Save\\'}}', nodes)
'{"action_type": "click", "index": 3}'
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentworld_gym.core.registration import find_domain, resolved
from agentworld_gym.core.screens.locate import NotOnScreen, has_locator, put_in, resolve, resolve_if_shown
from agentworld_gym.core.screens.node import Box, ScreenNode
from agentworld_gym.core.screens.observations import Observations, Translation
from agentworld_gym.core.screens.place import Place, place_at
from agentworld_gym.core.screens.screen import Screen

__all__ = [
    "Box",
    "NotOnScreen",
    "Observations",
    "Place",
    "Screen",
    "ScreenNode",
    "Translation",
    "has_locator",
    "is_graphical",
    "observations_of",
    "place_at",
    "read_screen",
    "resolve",
    "resolve_if_shown",
    "screen_of",
    "stand_in",
    "translation_of",
]


def is_graphical(domain: str) -> bool:
    """Return whether the observations of a domain are screens of elements.

    >>> is_graphical("web"), is_graphical("terminal"), is_graphical("chess")
    (True, False, False)
    """
    found = find_domain(domain)
    return found is not None and found.screen is not None


def screen_of(domain: str) -> Screen | None:
    """Return the reader of the screens of a domain; None where it is not graphical."""
    found = find_domain(domain)
    return None if found is None or found.screen is None else _made(found.screen)


def observations_of(domain: str) -> Observations:
    """Return what compares the observations of a domain.

    >>> observations_of("search").normalised("Hello"), observations_of("chess").normalised("Hello")
    ('hello', 'Hello')
    """
    found = find_domain(domain)
    return Observations() if found is None or found.observations is None else _made(found.observations)


def translation_of(domain: str, dialect: str) -> Translation | None:
    """Return how a dialect is read in the first one of its domain; None where it shows all that the first one does."""
    found = find_domain(domain)
    reference = None if found is None else found.translations.get(dialect)
    return None if reference is None else resolved(reference)


def read_screen(domain: str, observation: str) -> list[ScreenNode]:
    """Return the elements that an observation shows, in the order of its lines.

    Lines that cannot be read are passed over. There are no elements in an observation without a screen, such as an
    error or a list of tabs, or in a domain that is not graphical.
    """
    screen = screen_of(domain)
    return [] if screen is None else screen.read(observation)


def stand_in(domain: str, action: str) -> str:
    """Return an action as it could look on some screen, to see whether it can be read.

    >>> stand_in("desktop", "pyautogui.click(@{push-button 'Save'})"), stand_in("swe", "git show stash@{0}")
    ('pyautogui.click(1, 1)', 'git show stash@{0}')
    """
    screen = screen_of(domain)
    return action if screen is None else put_in(action, screen.stand_in)


@lru_cache(maxsize=64)
def _made(reference: str) -> Any:
    """Make what a reference makes, once: it has no state."""
    return resolved(reference)()

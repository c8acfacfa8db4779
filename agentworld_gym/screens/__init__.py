"""Reads the screens of the graphical domains: pure functions of an observation, the same for every world.

>>> nodes = read_screen("android", '[ 3] | android.widget.Button | desc="Save" | bounds=[0,0][40,20]')
>>> nodes[0].role, nodes[0].label, nodes[0].box.centre
('Button', 'Save', (20, 10))
>>> resolve('{"action_type": "click", "index": @{Button \\'Save\\'}}', nodes)
'{"action_type": "click", "index": 3}'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentworld_gym.screens import android, desktop, web
from agentworld_gym.screens.locate import NotOnScreen, has_locator, resolve
from agentworld_gym.screens.node import Box, Node

__all__ = ["GRAPHICAL", "Box", "Node", "NotOnScreen", "has_locator", "read_screen", "resolve"]

GRAPHICAL: Mapping[str, Callable[[str], list[Node]]] = {
    "web": web.read,
    "desktop": desktop.read,
    "android": android.read,
}
"""The graphical domains, each with the reader of its observations."""


def read_screen(domain: str, observation: str) -> list[Node]:
    """Return the elements that an observation shows, in the order of its lines.

    Lines that cannot be read are passed over. There are no elements in an observation without a screen, such as an
    error or a list of tabs, or in a domain that is not graphical.
    """
    reader = GRAPHICAL.get(domain)
    return [] if reader is None else reader(observation)

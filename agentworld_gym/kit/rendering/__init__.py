"""Pictures of what an observation shows; they are drawn from its text alone, so that a dream can be looked at too.

The pictures need the extra `render`.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from agentworld_gym.core.screens import is_graphical, screen_of
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.kit.rendering.canvas import Pixels, RenderingUnavailable, pillow

MODAL = "\n### Modal state\n"
"""The heading that takes the place of a page while a dialog of the browser is open."""

__all__ = ["Pixels", "RenderingUnavailable", "from_png", "latest", "picture"]


def picture(domain: str, observation: str, scale: float = 1.0) -> Pixels:
    """Draw what a person would see, as an array (height, width, 3) of bytes.

    A desktop has 1920 by 1080 pixels, a phone 1080 by 2400, a web page 1280 by 800 or more. A text is 1200 pixels wide.

    Args:
        domain: The domain, such as `web`; a text domain is drawn as a terminal.
        observation: The text that the agent was shown.
        scale: The scale of the picture that is returned.

    Raises:
        RenderingUnavailable: Pillow is not installed.

    >>> picture("android", '[ 0] | android.widget.Button | text="OK" | bounds=[0,0][200,90]', 0.1).shape
    (240, 108, 3)
    """
    screen = screen_of(domain)
    if screen is not None and shows(domain, observation):
        return screen.draw(observation, scale)
    from agentworld_gym.kit.rendering import transcript

    return transcript.draw(observation).pixels(scale)


def from_png(data: bytes) -> Pixels:
    """Read a screenshot as an array (height, width, 3).

    Raises:
        RenderingUnavailable: Pillow is not installed.
    """
    pillow()
    from PIL import Image

    return np.asarray(Image.open(BytesIO(data)).convert("RGB"), np.uint8).copy()


def latest(domain: str, observations: Sequence[str]) -> str:
    """Return the last observation that shows a screen, with the dialog that has opened over it since, or the last
    one."""
    if is_graphical(domain):
        for observation in reversed(observations):
            if shows(domain, observation):
                _, opened, dialog = observations[-1].partition(MODAL)
                return observation if MODAL in observation else observation + opened + dialog
    return observations[-1]

"""Drawings of the screens of a run, small and only so many that the page stays light."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from io import BytesIO

from agentworld_gym.core.screens.sight import shows
from agentworld_gym.kit.rendering import RenderingUnavailable, picture

SCALE = 0.4
QUALITY = 60
"""The quality of WebP, in which such a drawing takes 5 to 10 kB."""


@dataclass
class Screens:
    """Draws each different screen once, until there are enough.

    >>> screens = Screens(limit=0)
    >>> screens.number("android", '[ 0] | android.widget.Button | text="OK" | bounds=[0,0][200,90]')
    >>> screens.skipped
    1
    """

    limit: int
    """The most screens that are drawn."""

    drawn: dict[str, int] = field(default_factory=dict)
    """The number of each observation that was drawn."""

    images: list[str] = field(default_factory=list)
    """The drawings as WebP in base64, by number."""

    left_out: set[str] = field(default_factory=set)
    """The observations that were not drawn because there were enough, or because Pillow is missing."""

    @property
    def skipped(self) -> int:
        """How many different screens were not drawn."""
        return len(self.left_out)

    def number(self, domain: str, observation: str) -> int | None:
        """Return the number of the drawing of an observation; None where it shows no screen or is not drawn."""
        if observation in self.drawn:
            return self.drawn[observation]
        if not shows(domain, observation):
            return None
        if len(self.images) >= self.limit:
            self.left_out.add(observation)
            return None
        try:
            self.images.append(_webp(domain, observation))
        except RenderingUnavailable:
            self.limit = 0
            self.left_out.add(observation)
            return None
        return self.drawn.setdefault(observation, len(self.images) - 1)


def _webp(domain: str, observation: str) -> str:
    pixels = picture(domain, observation, SCALE)
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", quality=QUALITY)
    return b64encode(buffer.getvalue()).decode()

"""What `render` returns of an episode: its texts, and pictures of one size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.core.screens import is_graphical, screen_of
from agentworld_gym.core.screens.protocols import Pictured
from agentworld_gym.envs.episodes.episode import Episode

Pixels = NDArray[np.uint8]


class Pictures:
    """The pictures of one environment. All have one size, because a film takes no frames of several sizes.

    A drawing has the size that its domain's `Screen.frame` names. Where none is named, and of screenshots, the first
    picture has the size of all. A picture is cut at its bottom and at its right side, and padded there with its edge.
    """

    def __init__(self) -> None:
        self._first: tuple[int, int] | None = None

    def of(self, episode: Episode) -> Pixels:
        """Return a picture of an episode: a screenshot where its world makes one, or else a drawing of the last screen.

        Raises:
            RenderingUnavailable: Pillow is not installed.
        """
        from agentworld_gym.kit.rendering import from_png, latest

        screenshot = episode.session.screenshot() if isinstance(episode.session, Pictured) else None
        if screenshot is not None:
            return self._fitted(from_png(screenshot), None)
        domain = episode.task.domain
        return self.drawn(domain, latest(domain, episode.observations) if is_graphical(domain) else transcript(episode))

    def drawn(self, domain: str, text: str) -> Pixels:
        """Return a drawing of an observation, or of a text.

        Raises:
            RenderingUnavailable: Pillow is not installed.
        """
        from agentworld_gym.kit.rendering import picture

        screen = screen_of(domain)
        return self._fitted(picture(domain, text), None if screen is None else screen.frame)

    def _fitted(self, pixels: Pixels, frame: tuple[int, int] | None) -> Pixels:
        if frame is None:
            self._first = self._first or (pixels.shape[1], pixels.shape[0])
            frame = self._first
        width, height = frame
        if pixels.shape[:2] == (height, width):
            return pixels
        kept = pixels[:height, :width]
        return np.pad(kept, ((0, height - kept.shape[0]), (0, width - kept.shape[1]), (0, 0)), mode="edge")


def transcript(episode: Episode) -> str:
    """Return an episode as a person reads it."""
    lines = [episode.observations[0]]
    for action, observation in zip(episode.actions, episode.observations[1:], strict=True):
        lines += [f"> {action}", observation]
    return "\n".join(lines)

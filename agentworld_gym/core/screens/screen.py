"""How the observations of one graphical domain are read and drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.core.screens.place import Place


class Screen(ABC):
    """The screens of one graphical domain. It has no state, so that one object serves all episodes."""

    stand_in: str
    """What stands for the name of an element where an action is only read, and not played."""

    example: str
    """An action that calls an element by its name."""

    look_tool: str | None = None
    """The tool that only shows the screen again; None where the domain has none."""

    frame: tuple[int, int] | None = None
    """The width and the height, in pixels, that all frames of an environment have. None takes those of its first."""

    numbers_things = False
    """Whether the engine tells windows and apps apart by small numbers that no agent sees."""

    gestures: tuple[str, ...] = ()
    """What a person does at a point of the drawing, the usual gesture first; none where a click means nothing."""

    keys: Mapping[str, str] = MappingProxyType({})
    """Actions that need no point, by what a person calls them, such as `Back`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def read(self, observation: str) -> list[ScreenNode]:
        """Return the elements that an observation shows, in the order of its lines; lines that are none are passed
        over.
        """

    @abstractmethod
    def targets(self, parsed: Any) -> Iterator[str | tuple[int, int]]:
        """Yield what an action points at: handles as text, positions as pairs of pixels.

        Args:
            parsed: The action as its parser read it.
        """

    def handles(self, parsed: Any) -> Iterator[str]:
        """Yield the handles that an action names, whether or not they are on the screen.

        Args:
            parsed: The action as its parser read it.
        """
        return (target for target in self.targets(parsed) if isinstance(target, str))

    @abstractmethod
    def is_readable(self, observation: str) -> bool:
        """Whether every line of a screen is an element, or something else that belongs there."""

    @abstractmethod
    def draw(self, observation: str, scale: float) -> NDArray[np.uint8]:
        """Draw what a person would see, as an array (height, width, 3).

        Raises:
            RenderingUnavailable: Pillow is not installed.
        """

    @abstractmethod
    def draw_as_text(self, observation: str, width: int) -> str:
        """Draw the elements with characters, at most `width` characters wide."""

    def places(self, observation: str) -> list[Place]:
        """Return where the drawing shows elements, those that lie on top last.

        Raises:
            RenderingUnavailable: Only the drawing tells, and Pillow is not installed.
        """
        return [Place(node.box, node) for node in self.read(observation) if node.box is not None]

    def gesture(self, name: str, place: Place | None, x: int, y: int) -> str | None:
        """Return a gesture at a point as an action in the first dialect; None where it means nothing there.

        Args:
            name: One of `gestures`.
            place: What is at the point; None where nothing is.
            x: The column of the point, in pixels of the drawing at scale 1.
            y: The row of the point.
        """
        return None

    def write(self, place: Place | None, text: str) -> str | None:
        """Return as an action that a text is written, or chosen, at a place; None where that cannot be.

        Args:
            place: Where; None writes where the cursor is.
            text: The text.
        """
        return None

    def is_blank(self, observation: str) -> bool:
        """Whether an observation without elements shows a screen all the same: an empty one."""
        return False

    def without_report(self, observation: str) -> str:
        """Return the part of an observation that shows the screen, without what the tool reported."""
        return observation

    def identity(self, observation: str) -> Sequence[str]:
        """Return what names a screen beside its elements, such as the address and the title of a page."""
        return ()

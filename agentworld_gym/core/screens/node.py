"""One element of a screen, as an observation describes it."""

from __future__ import annotations

from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in pixels.

    >>> Box(10, 20, 31, 40).centre
    (25, 40)
    """

    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[int, int]:
        """The centre, on whole pixels."""
        return self.x + self.width // 2, self.y + self.height // 2


class ScreenNode(NamedTuple):
    """One element of a screen.

    `role` is the ARIA role (web), the `tag` (desktop) or the class without its package (Android). `name` is the
    accessible name, `text` the content or value, and `description` the content description. An action names the element
    by its `handle`, which is a reference (web) or an index (Android), or else by its `box`. `flags` are states and
    attributes in the order of the observation, such as `checked`, `level=2` or `url=/cart`. `line` is the number of its
    line, counted from 0.
    """

    role: str
    name: str = ""
    text: str = ""
    description: str = ""
    handle: str | int | None = None
    box: Box | None = None
    flags: tuple[str, ...] = ()
    depth: int = 0
    line: int = 0

    @property
    def label(self) -> str:
        """What the element is called: its name, or else its text, or else its description."""
        return self.name or self.text or self.description

    @property
    def target(self) -> str | None:
        """How an action names the element: by reference, index, or `x, y` of its centre; None if nothing can.

        >>> ScreenNode("push-button", box=Box(0, 0, 10, 20)).target
        '5, 10'
        >>> ScreenNode("Switch", handle=7).target, ScreenNode("text").target
        ('7', None)
        """
        if self.handle is not None:
            return str(self.handle)
        return None if self.box is None else "{}, {}".format(*self.box.centre)

    def value(self, flag: str) -> str | None:
        """Return the value of a flag; None where there is no such flag.

        >>> ScreenNode("heading", flags=("level=2",)).value("level")
        '2'
        """
        start = flag + "="
        return next((item[len(start) :] for item in self.flags if item.startswith(start)), None)

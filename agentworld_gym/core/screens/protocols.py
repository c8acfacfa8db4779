"""What a session may show besides the text of its observation."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Translated(Protocol):
    """A session that knows its observation in the first dialect of the domain, whatever dialect it speaks."""

    @property
    def in_first_dialect(self) -> str:
        """What the world shows at this moment, in the first dialect."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """A session, or what stands behind it, that can make a picture of its own."""

    def screenshot(self) -> bytes | None:
        """Return the picture as a PNG file; None where there is none at this moment."""
        ...

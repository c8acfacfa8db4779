"""Ctrl-C at chosen moments."""

from __future__ import annotations

import signal
import sys


def pressed() -> None:
    """It raises KeyboardInterrupt here."""
    signal.raise_signal(signal.SIGINT)


def lost() -> None:
    """It raises KeyboardInterrupt in a finalizer, which loses it."""
    shown, sys.unraisablehook = sys.unraisablehook, lambda raised: None
    try:
        _Dropped()
    finally:
        sys.unraisablehook = shown


class _Dropped:
    def __del__(self) -> None:
        pressed()

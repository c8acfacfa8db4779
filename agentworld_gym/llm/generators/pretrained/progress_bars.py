"""Loading and saving models without the progress bars of transformers, which would mix with our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """Run a block in which transformers shows no progress bar; afterwards it shows them again if it did before."""
    from transformers.utils import logging

    bars: Any = logging
    enabled = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            bars.enable_progress_bar()

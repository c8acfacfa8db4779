"""Work that breaks its process in the way it is asked to."""

from __future__ import annotations

import os
import time


def broken(how: str) -> str:
    """End the process, hang, raise an error, or take all memory; or do none of it."""
    if how == "abort":
        os.abort()
    if how == "exit":
        os._exit(3)
    if how == "hang":
        time.sleep(600)
    if how == "raise":
        raise ValueError("so")
    if how == "greed":
        return "x" * (1 << 33)
    return "done"

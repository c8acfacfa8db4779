"""Records sessions of which one ends its process, as a defect of a library in native code would."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.agents.collect import recording_file
from agentworld_gym.core.domain.spec import load_spec

DEADLY = 5
"""The number of the session."""

_record = recording_file._record


def record(setting: Any, at_a_time: int, numbers: Sequence[int]) -> list[dict[str, Any] | None]:
    """Play sessions one after the other, up to the deadly one."""
    if DEADLY in numbers:
        os.abort()
    return _record(setting, at_a_time, numbers)


def main(out: str, episodes: str, workers: str) -> None:
    """Record sessions of the terminal into a file."""
    recording_file._record = record
    recording_file.collect([load_spec("terminal")], Path(out), int(episodes), 5, workers=int(workers))


if __name__ == "__main__":
    main(*sys.argv[1:])

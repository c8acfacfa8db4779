"""What one tree does in the current folder: `python -m trees.worker PHASE SIZE [WORK …]`, `PYTHONPATH` naming it."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import agentworld_gym
from trees import commands, dreams, faces, served, sessions
from trees.sizes import SIZES, Size

PHASES: Mapping[str, Mapping[str, Callable[[Size], None]]] = {
    "make": {
        "describe": commands.describe,
        "faces": faces.show,
        "record": sessions.record,
        "collect": commands.collect,
        "samples": commands.samples,
        "rollouts": commands.rollouts,
        "dreams": dreams.play,
        "models": commands.models,
    },
    "again": {"replay": sessions.replay, "go_on": commands.go_on},
    "served": {"ask": served.ask},
}
"""What a tree does alone, what it does with the files of the other tree in `given`, and what asks a server."""


def main() -> None:
    """Do the works of a phase, all or those named; one that fails leaves its error, and the next one begins."""
    phase, size, *chosen = sys.argv[1:]
    commands.environment()
    print(f"{phase}: {Path(agentworld_gym.__file__).parent}", flush=True)
    for name, work in PHASES[phase].items():
        if chosen and name not in chosen:
            continue
        began, used = time.perf_counter(), time.process_time()
        try:
            work(SIZES[size])
        except Exception as error:  # the rest is still worth comparing
            traceback.print_exc()
            Path(f"failed {name}.txt").write_text(f"{type(error).__name__}: {error}\n", encoding="utf-8")
        print(
            f"{name}: {time.perf_counter() - began:.1f} s, {time.process_time() - used:.1f} s of the processor",
            flush=True,
        )


if __name__ == "__main__":
    main()

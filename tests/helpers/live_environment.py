"""A small text environment, for tests of live worlds: a corridor with a lamp at its end."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from typing import Any

EPISODES: list[int] = []
"""The seeds of the episodes so far, to see what is left of them."""


class Corridor:
    """A corridor: the lamp is `length` doors away, to the east or to the west."""

    def __init__(self, length: int = 2) -> None:
        self.length = length

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin at the start."""
        EPISODES.append(seed or 0)
        self.goal = self.length if (seed or 0) % 2 else -self.length
        self.place, self.notes = 0, list[str]()
        told = f"Corridor {seed}. Episode {len(EPISODES)}."
        return (options or {}).get("greeting", told), self._info()

    def _info(self) -> dict[str, Any]:
        return {"admissible_commands": ["east", "west", *(["take lamp"] if self.place == self.goal else [])]}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Walk, take the lamp, or do one of the things that no environment should."""
        match action.split():
            case ["east" | "west" as way]:
                self.place += 1 if way == "east" else -1
            case ["take", "lamp"] if self.place == self.goal:
                return "You have the lamp.", 1.0, True, False, {"admissible_commands": [], "won": True}
            case ["fall"]:
                return "You fall.", -1.0, True, False, {"won": False}
            case ["write", *words]:
                self.notes += words
            case ["log", word]:
                with open(os.path.expanduser("~/log.txt"), "a+", encoding="utf-8") as file:
                    file.write(word)
                    file.seek(0)
                    return file.read(), 0.0, False, False, self._info()
            case ["raise"]:
                raise RuntimeError("the corridor collapses")
            case ["die"]:
                os.kill(os.getpid(), 9)
            case ["hang"]:
                time.sleep(600)
            case ["eat"]:
                self.held = [b"x" * (1 << 20) for _ in range(2000)]
            case ["print"]:
                print("hello")
            case ["infinity"]:
                return "far", float("inf"), False, False, {}
            case ["read", path]:
                return "yes" if os.path.exists(path) else "no", 0.0, False, False, self._info()
            case ["keep"]:
                return tempfile.mkdtemp(prefix="corridor-"), 0.0, False, False, self._info()
            case ["time"]:
                return f"{time.time_ns()}", 0.0, False, False, self._info()
        return f"Place {self.place}. Notes: {' '.join(self.notes)}.", 0.0, False, False, self._info()


def make(length: int = 2) -> Corridor:
    """Make a corridor."""
    return Corridor(length)


class Crowded(Corridor):
    """A corridor at whose start so much can be done that a recording does not hold it."""

    def _info(self) -> dict[str, Any]:
        crowd = [] if self.place else [f"say {n}" for n in range(40)]
        return {"admissible_commands": [*super()._info()["admissible_commands"], "fall", *crowd]}


def threaded(length: int = 2) -> Corridor:
    """Make a corridor beside a thread, so that its process cannot be copied."""
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    return Corridor(length)


class Plain:
    """An environment that takes a seed and no options."""

    def reset(self, seed: int | None = None) -> str:
        """Tell the seed."""
        return f"Seed {seed}."

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """End at once."""
        return action, 0.0, True, False, {}


class Broken(Corridor):
    """A corridor that cannot begin every third episode."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin, or raise."""
        if (seed or 0) % 3 == 0:
            raise RuntimeError("no such corridor")
        return super().reset(seed, options)


def broken() -> Broken:
    """Make one."""
    return Broken()


def plain() -> Plain:
    """Make one."""
    return Plain()

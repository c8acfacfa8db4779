"""Games of TextWorld by seed and level, which are made and compiled once."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import textworld
from textworld.generator import Game, compile_game, make_game

SIZES = {1: (1, 4, 2), 2: (2, 6, 3), 3: (3, 8, 4)}
"""How many rooms and things a game of a level has, and how many commands its quest takes."""


@lru_cache(maxsize=64)
def game_of(seed: int, level: int) -> Game:
    """Make a game; equal arguments give equal games. This takes about a second."""
    options = textworld.GameOptions()
    options.seeds = seed
    options.nb_rooms, options.nb_objects, options.quest_length = SIZES[level]
    return make_game(options)


def story_of(seed: int, level: int) -> Path:
    """Return the compiled file of a game, which is kept in the user's cache."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentworld-textworld"
    story = root / f"{level}-{seed}" / "game.z8"
    if not story.exists():
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root) as folder:
            options = textworld.GameOptions()
            options.path, options.seeds = f"{folder}/new/game.z8", seed
            compile_game(game_of(seed, level), options)
            try:
                Path(folder, "new").rename(story.parent)
            except OSError:  # Another process was faster.
                if not story.exists():
                    raise
    return story

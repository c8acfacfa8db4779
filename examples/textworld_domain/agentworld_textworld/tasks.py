"""The tasks: play a game to its end."""

from __future__ import annotations

import random
from collections.abc import Mapping

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks import Family, TaskDraft
from agentworld_textworld.games import game_of

WON = "*** The End ***"
GAMES = {"train": 0, "validation": 1, "test": 2}
"""No two splits share a game: the seed of a game, modulo their number, is that of the split."""


def quest(rng: random.Random, level: int, split: Split) -> TaskDraft:
    """Draft the task of a game: its quest, with the commands of the walkthrough."""
    seed = rng.randrange(10**6) * len(GAMES) + GAMES[split]
    game = game_of(seed, level)
    expert = tuple(game.metadata["walkthrough"])
    names = sorted(info.name for info in game.infos.values() if info.name)
    nouns = [name for name in names if name not in ("I", "P")]
    wrong = [f"{verb} {noun}" for noun in nouns for verb in ("examine", "take", "drop")]
    rng.shuffle(wrong)
    return TaskDraft(
        instruction=game.objective,
        state={"game": seed, "level": level, "names": nouns},
        hidden={"facts": [str(fact) for fact in sorted(game.world.facts, key=str)]},
        success=(Check(observation=Expect(contains=WON), when="end"),),
        expert=expert,
        distractors=("look", "inventory", "go north", "go east", *wrong),
    )


FAMILIES: Mapping[str, Family] = {"quest": quest}

"""What a check of a world found."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.domains.mcp.synth.similarity import ALIKE, Profile, similarity


@dataclass(frozen=True)
class Examined:
    """One world that was checked."""

    profile: Profile | None
    """What it is compared by; None where it cannot be loaded."""

    name: str
    """The name of the world."""

    tables: int = 0
    """How many tables there are."""

    tools: int = 0
    """How many tools there are."""

    answered: int = 0
    """How many tools answered a call that should be right with a result."""

    tasks: int = 0
    """How many tasks there are."""

    held: int = 0
    """How many tasks hold: their solution was replayed, and their verifier tells it from what is less."""

    unproved: int = 0
    """How many tasks have no recorded solution; of these only the start was tried."""

    problems: tuple[str, ...] = ()
    """What fails."""


def alike_worlds(worlds: list[Examined]) -> list[str]:
    """Return the pairs of worlds that are too much alike, in words."""
    profiles = [world.profile for world in worlds if world.profile is not None]
    pairs = [(one, other) for place, one in enumerate(profiles) for other in profiles[:place]]
    degrees = [(one, other, similarity(one, other)) for one, other in pairs]
    return [
        f"{one.name} is too much like {other.name} ({degree:.2f})" for one, other, degree in degrees if degree >= ALIKE
    ]

"""A domain of somebody else: a row of lamps, each with a switch."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentworld_gym import Domain, register_domain
from agentworld_gym.agents.policies.exploring import Explorer
from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.engines import Controls, Engine, Scalar, Span
from agentworld_gym.core.tasks import TaskDraft

COLOURS = ("amber", "blue", "coral", "green", "ivory", "lilac", "pink", "red", "teal", "white")


class Lamps:
    """Lamps that are on or off. `push COLOUR` turns one over, `look` shows all of them."""

    spans: tuple[Span, ...] = ()

    def __init__(self, lamps: Mapping[str, bool], observation: str = "") -> None:
        self._lamps = dict(lamps)
        self.observation = observation or self._shown()

    @classmethod
    def start(
        cls,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls | None = None,
        hidden: Mapping[str, Any] | None = None,
    ) -> Lamps:
        return cls(state["lamps"])

    def act(self, action: str) -> str:
        verb, _, colour = action.partition(" ")
        if verb == "push" and colour in self._lamps:
            self._lamps[colour] = not self._lamps[colour]
            self.observation = f"{colour} is {self._word(colour)}"
        else:
            self.observation = self._shown() if action == "look" else f"there is no {action}"
        return self.observation

    def state(self) -> dict[str, Scalar]:
        return {f"lamps/{colour}": on for colour, on in self._lamps.items()}

    def fork(self) -> Lamps:
        return Lamps(self._lamps, self.observation)

    def close(self) -> None:
        pass

    def _word(self, colour: str) -> str:
        return "on" if self._lamps[colour] else "off"

    def _shown(self) -> str:
        return "\n".join(f"{colour}: {self._word(colour)}" for colour in self._lamps)


class Pusher(Explorer):
    """Pushes lamps, of which some are not there."""

    def see(self, action: str, observation: str) -> None:
        pass

    def draft(self) -> str:
        return "look" if self.chance(0.3) else f"push {self.rng.choice(COLOURS)}"


def light(rng: random.Random, level: int, split: Split) -> TaskDraft:
    """Turn one to three lamps on."""
    lamps = dict.fromkeys(sorted(rng.sample(COLOURS, 5)), False)
    wanted = sorted(rng.sample(list(lamps), level))
    return TaskDraft(
        instruction=f"Turn on: {', '.join(wanted)}.",
        state={"lamps": lamps},
        success=tuple(Check(probe="look", expect=Expect(contains=f"{colour}: on")) for colour in wanted),
        expert=tuple(f"push {colour}" for colour in wanted),
        distractors=("look", *(f"push {colour}" for colour in COLOURS if colour not in wanted)),
    )


FAMILIES = {"light": light}


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    return Lamps


DOMAIN = Domain(
    id="lamp",
    env_id="AgentWorld/Lamp-v0",
    spec=Path(__file__).with_name("lamp.yaml"),
    engine="lamp_domain:open_engine",
    families="lamp_domain:FAMILIES",
    explorer="lamp_domain:Pusher",
    session_formats={"night-log": "lamp_domain.night_log:FORMAT"},
)
register_domain(DOMAIN)

"""An episode seen through its menu: its actions as numbered choices, its observations as vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.checks.checks import output_of
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.plain_words import PlainWords
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks.family import COMPOSED
from agentworld_gym.envs.text_encoder import Memory, TextEncoder, Vector


class Menu:
    """One episode seen through its menu: choices become action texts, observations become vectors.

    A task without a menu offers the domain's example actions. In a graphical domain an entry is on offer while its
    element is on the screen.

    Where the world tells which actions can be done, those are on offer. The entries of the task's menu keep their
    places; others take the free ones as they come up, and then those of entries that have not been on offer longest.

    Args:
        encoder: The encoder that makes vectors of texts.
        domain: The domain.
        task: The task.
        observation: The first observation.
        offered: The actions that can be done, where the world tells them.

    Raises:
        SpecError: The task is a composed one.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        domain: DomainSpec,
        task: Task,
        observation: str,
        offered: Sequence[str] | None = None,
    ) -> None:
        if task.level in COMPOSED:
            raise SpecError("options", "level", task.level, "1 to 3: menus of composed tasks are too long for vectors")
        self.encoder, self.task = encoder, task
        self.actions = task.menu or (*domain.action.examples[: encoder.max_menu - 1], "finish")
        self._offered = offered
        if offered is not None:
            self._fixed = len(task.menu)
            self.actions = (*task.menu, *_others(offered, task.menu))[: encoder.max_menu] or ("finish",)
            self._absent = [0] * len(self.actions)
        self._output = re.compile(domain.observation.output) if domain.observation.output else None
        self._sight, self._words = Sight(domain.id, [observation]), PlainWords(domain.id)
        output = output_of(observation.removeprefix(task.instruction).lstrip(), self._output)
        entries = [self._words.of_action(entry) for entry in self.actions]
        self.memory: Memory = encoder.begin(task.instruction, entries, self._words.of_screen(output, self._sight.nodes))
        self._look()

    def _look(self) -> None:
        """Find out what is on offer; where nothing is, `finish` is."""
        self.offers = self._sight.offers(self.actions)
        if self._offered is not None:
            known = set(self._offered)
            self.offers = tuple([entry if entry in known or entry == "finish" else None for entry in self.actions])
        if not any(self.offers):
            self.offers = ("finish", *self.offers[1:])
        self.memory.offered = tuple([entry is not None for entry in self.offers])

    def entry(self, choice: int) -> int:
        """Return the entry that a choice means; a choice that `masks()` rules out means the next entry on offer."""
        count = len(self.actions)
        places = (place % count for place in range(choice % count, choice % count + count))
        return next(place for place in places if self.offers[place] is not None)

    def action(self, choice: int) -> str:
        """Return the action of a choice."""
        return self.offers[self.entry(choice)] or "finish"

    def observe(self, choice: int, observation: str, offered: Sequence[str] | None = None) -> None:
        """Take in the observation that a choice led to.

        Args:
            choice: The choice.
            observation: The observation.
            offered: The actions that can be done now, where the world tells them; None where that has not changed.
        """
        entry = self.entry(choice)
        self._sight.see(observation)
        words = self._words.of_screen(output_of(observation, self._output), self._sight.nodes)
        self.encoder.update(self.memory, entry, words)
        if offered is not None and self._offered is not None:
            self._offered = offered
            self._make_room(offered)
        self._look()

    def _make_room(self, offered: Sequence[str]) -> None:
        """Give each action that can be done a place in the menu, as far as there are places."""
        known = set(offered)
        self._absent = [
            0 if action in known else count + 1 for action, count in zip(self.actions, self._absent, strict=True)
        ]
        for action in _others(offered, self.actions):
            place = len(self.actions)
            if place == self.encoder.max_menu:
                gone = [place for place in range(self._fixed, place) if self._absent[place]]
                if not gone:
                    return
                place = max(gone, key=lambda one: self._absent[one])
            self.actions = (*self.actions[:place], action, *self.actions[place + 1 :])
            self._absent[place : place + 1] = [0]
            self.encoder.place(self.memory, place, self._words.of_action(action))

    def vector(self, out: Vector | None = None) -> Vector:
        """Return what the agent sees as a vector, written to `out` if that is given."""
        return self.encoder.encode(self.memory, out)

    def masks(self) -> NDArray[np.bool_]:
        """Return which choices are possible."""
        masks = np.zeros(self.encoder.max_menu, np.bool_)
        masks[: len(self.actions)] = self.memory.offered
        return masks


def _others(offered: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the actions that are not known yet, each once."""
    return [action for action in dict.fromkeys(offered) if action not in known]

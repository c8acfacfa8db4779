"""Free agents: they do what people and language models do in a domain, whatever its tasks ask for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from agentworld_gym.domain.task import Task
from agentworld_gym.policies.exploring.free.swe import free_coder
from agentworld_gym.policies.exploring.free.terminal import free_lines
from agentworld_gym.screens.sight import ActionStream

FREE: Mapping[str, Callable[[Task, random.Random, int], ActionStream]] = {
    "swe": free_coder,
    "terminal": free_lines,
}
"""The free agent of each domain that has one, as a function of a task, random numbers, and how many actions to take."""

"""What other domains may use of repositories: the engine, and how tasks break, repair and test a repository.

Another domain imports nothing else of this one; `.importlinter` holds it.
"""

from agentworld_gym.domains.swe.domain import versions
from agentworld_gym.domains.swe.engine import SweEngine
from agentworld_gym.domains.swe.engine.machine import SweMachine
from agentworld_gym.domains.swe.engine.tools import read_call
from agentworld_gym.domains.swe.tasks.actions import call, edit, fix, read, shell
from agentworld_gym.domains.swe.tasks.checks import SUITE, prints, suite_passes
from agentworld_gym.domains.swe.tasks.repairs import PYTHON
from agentworld_gym.domains.swe.tasks.repository import (
    ROOT,
    Mutation,
    Repository,
    draw_repository,
    listing,
    templates,
)

__all__ = [
    "PYTHON",
    "ROOT",
    "SUITE",
    "Mutation",
    "Repository",
    "SweEngine",
    "SweMachine",
    "call",
    "draw_repository",
    "edit",
    "fix",
    "listing",
    "prints",
    "read",
    "read_call",
    "shell",
    "suite_passes",
    "templates",
    "versions",
]

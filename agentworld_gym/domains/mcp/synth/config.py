"""The settings of a run."""

from __future__ import annotations

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.mcp.synth.draft import BackendName


class SynthConfig(Strict):
    """What is made, and what a world has to have.

    >>> SynthConfig(worlds=3).tasks
    10
    """

    backend: BackendName = "declarative"
    """The form of the implementation: `declarative` (YAML and SQL) or `awm` (FastAPI code that runs in a sandbox)."""

    worlds: int = Field(default=10, ge=1)
    """How many worlds are begun. Those of which all tries of a stage fail are given up."""

    tasks: int = Field(default=10, ge=1, le=50)
    """How many tasks each world is asked for."""

    fewest_tables: int = Field(default=3, ge=1)
    """The fewest tables of a world."""

    fewest_tools: int = Field(default=6, ge=2)
    """The fewest tools of a world."""

    fewest_tasks: int = Field(default=1, ge=1)
    """How many tasks of a world have to hold for the world to be kept."""

    tries: int = Field(default=5, ge=1)
    """How often an answer is asked for before its world, or its task, is given up."""

    batch: int = Field(default=10, ge=1)
    """How many scenarios are asked for at a time."""

    about: str | None = None
    """What the worlds shall be about, in words; None leaves it to the generator."""

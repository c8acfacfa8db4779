"""Recordings of other systems, read into this project's rows. What cannot be mapped is counted and named."""

from agentworld_gym.recipe.importers.conversation import ImportTally
from agentworld_gym.recipe.importers.importer import FORMATS, Importer

__all__ = ["FORMATS", "ImportTally", "Importer"]

"""Recordings of other systems, read into this project's rows. What cannot be mapped is counted and named."""

from agentworld_gym.recipe.importers.conversation import ImportTally
from agentworld_gym.recipe.importers.importer import Importer, format_names

__all__ = ["ImportTally", "Importer", "format_names"]

"""Finds the data that comes with the package: the specs of the domains and the prompts."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from agentworld_gym.base.errors import SpecError


@lru_cache(maxsize=8)
def data_folder(name: str) -> Path:
    """Return the folder of shipped data that is called `domain_specs` or `prompts`.

    In an installed wheel it lies inside the package; a checkout keeps it at the top level.

    Raises:
        SpecError: There is no such folder.
    """
    packaged = Path(str(resources.files("agentworld_gym"))) / name
    checkout = packaged.resolve().parent.parent / name
    for folder in (packaged, checkout):
        if folder.is_dir():
            return folder
    raise SpecError(packaged, name, None, "the data folder of the package; reinstall agentworld-gym")

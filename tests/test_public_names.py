"""What a package lists as its own can be imported from it, also where that happens at the first use."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import pytest

import agentworld_gym

PACKAGES = [found.name for found in walk_packages(agentworld_gym.__path__, "agentworld_gym.") if found.ispkg]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_listed_name_can_be_imported(name: str) -> None:
    package = import_module(name)
    assert [one for one in getattr(package, "__all__", ()) if not hasattr(package, one)] == []

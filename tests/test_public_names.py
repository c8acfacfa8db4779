"""What a package lists as its own can be imported from it, also where that happens at the first use."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import agentworld_gym


def missing_names(package: str) -> Iterator[str]:
    """The names that a package lists and lacks; those that need an extra which is not installed do not count."""
    try:
        found = import_module(package)
        for name in getattr(found, "__all__", ()):
            if not hasattr(found, name):
                yield f"{package}.{name}"
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("agentworld_gym"):
            raise


def test_every_listed_name_can_be_imported() -> None:
    packages = [found.name for found in walk_packages(agentworld_gym.__path__, "agentworld_gym.") if found.ispkg]
    assert len(packages) > 100
    assert [name for package in packages for name in missing_names(package)] == []

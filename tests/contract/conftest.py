"""What every domain has to keep, those of installed packages too: `python -m pytest tests/contract -k NAME`.

A test takes the name of a domain as `domain`, of one with an engine as `grounded`, and of one with a view as `viewed`.
"""

from __future__ import annotations

import pytest

from agentworld_gym.core.registration import Domain, all_domains

NEEDS = {"domain": "id", "grounded": "engine", "viewed": "view"}
"""The field that a domain has to have, by the name of the argument."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for argument, field in NEEDS.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, [one.id for one in all_domains().values() if has(one, field)])


def has(domain: Domain, field: str) -> bool:
    return getattr(domain, field) is not None

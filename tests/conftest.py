"""Shared by all tests. The markers `slow` and `vllm` are declared in setup.cfg; a bare `pytest` leaves both out."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

# Before anything imports torch: several test processes share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Programs that tests start read the compiled modules of the package, instead of compiling all of them once more.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no verdict that depends on how busy the machine is. `make test-all` tries more.
settings.register_profile("deterministic", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=300)
settings.load_profile("deterministic")

SLOW_ROOMS = ("cli", "domains", "evaluation", "integrations", "recipe")
"""The rooms whose tests play whole domains, start programs, train models or import heavy libraries."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast",
        action="store_true",
        help=f"the first case of each test only, and none of the rooms {', '.join(SLOW_ROOMS)}",
    )


def pytest_collection() -> None:
    # Hardly anything of a million objects that are collected and imported becomes garbage.
    gc.disable()


def pytest_collection_finish() -> None:
    # They live to the end, so no later search for garbage looks at them again.
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    # `make test-vllm` collects that folder alone.
    if item.get_closest_marker("vllm") and item.path.parent.name != "with_vllm":
        raise pytest.UsageError(f"{item.nodeid}: a test of vLLM lies in tests/with_vllm")


# After the filter by markers: a test whose first case is slow has another first case.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--fast"):
        return
    first: dict[str, pytest.Item] = {}
    for item in items:
        room = item.path.relative_to(config.rootpath / "tests").parts[0]
        # Files at the top look at the whole: packaging, docs, two trees, notebooks.
        if room not in SLOW_ROOMS and not room.endswith(".py"):
            first.setdefault(item.nodeid.partition("[")[0], item)
    chosen = list(first.values())
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen

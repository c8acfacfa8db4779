"""Which domains have an engine, and what it is built on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentworld_gym.engines import Engine


@dataclass(frozen=True)
class EngineEntry:
    """One engine: how to load it, under which variants, and the libraries that decide what it prints.

    `load` takes the variant and returns the engine; `variants` begins with the default one.
    """

    load: Callable[[str], Engine]
    libraries: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("",)


def _terminal(variant: str) -> Engine:
    from agentworld_gym.engines.terminal import TerminalEngine

    return TerminalEngine()


def _search(variant: str) -> Engine:
    from agentworld_gym.engines.search.machine import SearchMachine

    return SearchMachine


def _mcp(variant: str) -> Engine:
    from agentworld_gym.engines.mcp import ToolMachine

    return ToolMachine


def _swe(variant: str) -> Engine:
    from agentworld_gym.engines.swe import SweEngine

    return SweEngine(variant)


ENGINES: dict[str, EngineEntry] = {
    "mcp": EngineEntry(_mcp),
    "search": EngineEntry(_search, libraries=("bm25s", "numpy")),
    "swe": EngineEntry(_swe, libraries=("bashkit", "pydantic-monty"), variants=("auto", "bubblewrap", "monty")),
    "terminal": EngineEntry(_terminal, libraries=("bashkit",)),
}


def has_engine(domain: str) -> bool:
    """Whether a domain has a grounded world.

    >>> has_engine("terminal"), has_engine("chess")
    (True, False)
    """
    return domain in ENGINES


def load_engine(domain: str, variant: str = "") -> Engine:
    """The engine of a domain.

    Raises:
        KeyError: the domain has none, or the engine has no such variant.
    """
    entry = ENGINES[domain]
    if variant and variant not in entry.variants:
        raise KeyError(variant)
    return entry.load(variant or entry.variants[0])

"""The catalog of engines: which domains have one, how it is loaded, and which libraries it is built on."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.domain.index import Index
from agentworld_gym.domain.view import View
from agentworld_gym.engines import Engine
from agentworld_gym.fingerprint import Part, digest_of, installed


@dataclass(frozen=True)
class EngineEntry:
    """One engine of the catalog."""

    load: Callable[[str], Engine]
    """A function that takes the name of a variant and returns the engine."""
    libraries: tuple[str, ...] = ()
    """The packages that decide what the engine prints; their versions enter the world's fingerprint."""
    variants: tuple[str, ...] = ("",)
    """The names of the variants, the default one first."""
    versions: Callable[[str], dict[str, str]] = lambda variant: {}
    """A function that takes the name of the loaded variant and returns the versions of other parts, by name."""
    view: Callable[[], View] | None = None
    """A function that returns the view of the domain; None where it has none."""
    index: Callable[[], Index] | None = None
    """A function that returns the index of the domain's pages; None where it has none."""
    scenarios: tuple[str, ...] = ()
    """Other domains whose data in `scenarios/<domain>` of the specs the engine uses beside its own."""


def _android(variant: str) -> Engine:
    from agentworld_gym.engines.android import AndroidMachine

    return AndroidMachine


def _android_view() -> View:
    from agentworld_gym.engines.android import AndroidView

    return AndroidView()


def _terminal(variant: str) -> Engine:
    from agentworld_gym.engines.terminal import TerminalEngine

    return TerminalEngine()


def _terminal_view() -> View:
    from agentworld_gym.engines.terminal.view import TerminalView

    return TerminalView()


def _search(variant: str) -> Engine:
    from agentworld_gym.engines.search.machine import SearchMachine

    return SearchMachine


def _search_index() -> Index:
    from agentworld_gym.engines.search.web_index import SearchIndex

    return SearchIndex()


def _desktop(variant: str) -> Engine:
    from agentworld_gym.engines.desktop import DesktopMachine

    return DesktopMachine


def _desktop_view() -> View:
    from agentworld_gym.engines.desktop import DesktopView

    return DesktopView()


def _mcp(variant: str) -> Engine:
    from agentworld_gym.engines.mcp import ToolMachine

    return ToolMachine


def _mcp_view() -> View:
    from agentworld_gym.engines.mcp.view import ToolView

    return ToolView()


def _swe(variant: str) -> Engine:
    from agentworld_gym.engines.swe import SweEngine

    return SweEngine(variant)


def _swe_view() -> View:
    from agentworld_gym.engines.swe.view import SweView

    return SweView()


def _web(variant: str) -> Engine:
    if variant == "chromium":
        from agentworld_gym.engines.web.chromium.machine import ChromiumEngine

        return ChromiumEngine()
    from agentworld_gym.engines.web.machine import WebMachine

    return WebMachine


def _web_view() -> View:
    from agentworld_gym.engines.web.view import WebView

    return WebView()


def _web_versions(variant: str) -> dict[str, str]:
    versions = _sqlite(variant)
    if variant == "chromium":
        from agentworld_gym.engines.web.chromium.machine import chromium_version

        versions |= {"chromium": chromium_version(), "playwright": installed("playwright")}
    return versions


def _sqlite(variant: str) -> dict[str, str]:
    import sqlite3

    return {"sqlite": sqlite3.sqlite_version}


def _python(variant: str) -> dict[str, str]:
    return {"python": platform.python_version()} if variant == "bubblewrap" else {}


ENGINES: dict[str, EngineEntry] = {
    "android": EngineEntry(_android, view=_android_view),
    "desktop": EngineEntry(
        _desktop, libraries=("bashkit", "jinja2", "lxml"), scenarios=("web",), versions=_sqlite, view=_desktop_view
    ),
    "mcp": EngineEntry(_mcp, versions=_sqlite, view=_mcp_view),
    "search": EngineEntry(_search, libraries=("bm25s", "numpy"), versions=_sqlite, index=_search_index),
    "swe": EngineEntry(
        _swe,
        libraries=("bashkit", "pydantic-monty"),
        variants=("auto", "bubblewrap", "monty"),
        versions=_python,
        view=_swe_view,
    ),
    "terminal": EngineEntry(_terminal, libraries=("bashkit",), view=_terminal_view),
    "web": EngineEntry(
        _web, libraries=("jinja2", "lxml"), variants=("", "chromium"), versions=_web_versions, view=_web_view
    ),
}


def has_engine(domain: str) -> bool:
    """Return whether a domain has a grounded world.

    >>> has_engine("terminal"), has_engine("chess")
    (True, False)
    """
    return domain in ENGINES


def load_engine(domain: str, variant: str = "") -> Engine:
    """Load the engine of a domain.

    Args:
        domain: the name of the domain, such as `terminal`.
        variant: one of the engine's variants; the default variant if it is empty.

    Raises:
        KeyError: the domain has no engine, or the engine has no such variant.
    """
    entry = ENGINES[domain]
    if variant and variant not in entry.variants:
        raise KeyError(variant)
    return entry.load(variant or entry.variants[0])


def load_view(domain: str) -> View | None:
    """Load the view of a domain, which prints the screens of structured states; None where it has none.

    >>> load_view("search") is None
    True
    """
    entry = ENGINES.get(domain)
    return None if entry is None or entry.view is None else entry.view()


def has_view(domain: str) -> bool:
    """Return whether a domain has a view.

    >>> has_view("web"), has_view("search")
    (True, False)
    """
    return domain in ENGINES and ENGINES[domain].view is not None


def load_index(domain: str) -> Index | None:
    """Load the index of a domain, which ranks and prints the pages of its tasks; None where it has none.

    >>> load_index("terminal") is None
    True
    """
    entry = ENGINES.get(domain)
    return None if entry is None or entry.index is None else entry.index()


def parts_of(domain: str, variant: str = "") -> dict[str, Part]:
    """Return what the engine of a domain is made of, for a fingerprint: its data, and versions by name.

    >>> sorted(parts_of("search"))
    ['bm25s', 'numpy', 'scenarios', 'sqlite']
    """
    entry = ENGINES[domain]
    parts = {"scenarios": Part(_scenarios_digest((domain, *entry.scenarios)), True)}
    parts |= {library: Part(installed(library), True) for library in entry.libraries}
    return parts | {name: Part(version, True) for name, version in entry.versions(variant).items()}


@lru_cache(maxsize=len(ENGINES))
def _scenarios_digest(domains: tuple[str, ...]) -> str:
    """Return the digest of the data that the engine's episodes are made of, as it was at the first call.

    The files beside the folders of the domains are shared by all of them.
    """
    folder = data_folder("domain_specs") / "scenarios"
    folders = [folder.iterdir(), *((folder / domain).rglob("*") for domain in domains)]
    files = sorted(path for paths in folders for path in paths if path.is_file())
    return digest_of([[path.relative_to(folder).as_posix(), path.read_bytes().hex()] for path in files])

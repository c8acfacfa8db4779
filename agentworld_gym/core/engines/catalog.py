"""The engines, views and indices of the domains, and what they are made of."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.fingerprint import Part, digest_of, installed
from agentworld_gym.core.domain.index import IndexBuilder
from agentworld_gym.core.domain.view import View
from agentworld_gym.core.engines import Engine
from agentworld_gym.core.registration import Domain, all_domains, find_domain


def engine_names() -> tuple[str, ...]:
    """Return the names of the domains that have an engine, in alphabetical order.

    >>> engine_names()[:3]
    ('android', 'desktop', 'mcp')
    """
    return tuple(sorted(name for name, domain in all_domains().items() if domain.engine is not None))


def has_engine(domain: str) -> bool:
    """Return whether a domain has a grounded world.

    >>> has_engine("terminal"), has_engine("chess")
    (True, False)
    """
    found = find_domain(domain)
    return found is not None and found.engine is not None


def load_engine(domain: str, variant: str = "") -> Engine:
    """Load the engine of a domain.

    Args:
        domain: the name of the domain, such as `terminal`.
        variant: one of the engine's variants; the default variant if it is empty.

    Raises:
        KeyError: the domain has no engine, or the engine has no such variant.
    """
    found = _with_engine(domain)
    if variant and variant not in found.variants:
        raise KeyError(variant)
    engine: Engine = found.part("engine")(variant or found.variants[0])
    return engine


def load_view(domain: str) -> View | None:
    """Load the view of a domain, which prints the screens of structured states; None where it has none.

    >>> load_view("search") is None
    True
    """
    found = find_domain(domain)
    view: View | None = None if found is None or found.view is None else found.part("view")()
    return view


def has_view(domain: str) -> bool:
    """Return whether a domain has a view.

    >>> has_view("web"), has_view("search")
    (True, False)
    """
    found = find_domain(domain)
    return found is not None and found.view is not None


def load_index(domain: str) -> IndexBuilder | None:
    """Load the index of a domain, which ranks and prints the pages of its tasks; None where it has none.

    >>> load_index("terminal") is None
    True
    """
    found = find_domain(domain)
    index: IndexBuilder | None = None if found is None or found.index is None else found.part("index")()
    return index


def parts_of(domain: str, variant: str = "") -> dict[str, Part]:
    """Return what the engine of a domain is made of, for a fingerprint: its data, and versions by name.

    >>> sorted(parts_of("search"))
    ['bm25s', 'numpy', 'scenarios', 'sqlite']
    """
    found = _with_engine(domain)
    parts = {"scenarios": Part(_scenarios_digest((domain, *found.scenarios)), True)}
    parts |= {library: Part(installed(library), True) for library in found.libraries}
    versions: dict[str, str] = {} if found.versions is None else found.part("versions")(variant)
    return parts | {name: Part(version, True) for name, version in versions.items()}


def libraries_of(domain: str) -> tuple[str, ...]:
    """Return the packages that decide what the engine of a domain shows.

    >>> libraries_of("terminal")
    ('bashkit',)

    Raises:
        KeyError: The domain has no engine.
    """
    return _with_engine(domain).libraries


def _with_engine(domain: str) -> Domain:
    """Return a domain that has an engine.

    Raises:
        KeyError: There is no such domain, or it has none.
    """
    found = find_domain(domain)
    if found is None or found.engine is None:
        raise KeyError(domain)
    return found


@lru_cache(maxsize=64)
def _scenarios_digest(domains: tuple[str, ...]) -> str:
    """Return the digest of the data that the engine's episodes are made of, as it was at the first call.

    The files beside the folders of the domains are shared by all of them.
    """
    folder = data_folder("domain_specs") / "scenarios"
    folders = [folder.iterdir(), *((folder / domain).rglob("*") for domain in domains)]
    files = sorted(path for paths in folders for path in paths if path.is_file())
    return digest_of([[path.relative_to(folder).as_posix(), path.read_bytes().hex()] for path in files])

"""What a task's state says about the sites, and the databases that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.web.engine.sites.database import Image
from agentworld_gym.domains.web.engine.sites.site import Site, load_site, site_names
from agentworld_gym.kit.tables.database import open_image, quoted
from agentworld_gym.kit.tables.insert import with_rows
from agentworld_gym.kit.tables.row_file import Size

STATE = "task state"


class _State(Strict):
    open: str
    sites: dict[str, dict[str, Any] | None] | None = None
    seed: int | None = None
    size: Size = "small"
    now: str | None = Field(default=None, pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    signed_in: dict[str, str | int] = Field(default_factory=dict)


@dataclass(frozen=True)
class SiteState:
    """The sites in play, their stated rows, and the rest of the state."""

    sites: tuple[Site, ...]
    tables: Mapping[str, Mapping[str, Any]]
    open: str
    seed: int
    size: Size
    now: str | None
    signed_in: Mapping[str, str | int]


def read_state(state: Mapping[str, Any], seed: int) -> SiteState:
    """Return what a state says. `seed` is the seed of the rows where the state names none.

    Raises:
        SpecError: The state is wrong. The error names the key, its value and what was expected.
    """
    stated = validated(_State, dict(state), STATE)
    tables = dict.fromkeys(site_names(), None) if stated.sites is None else stated.sites
    if not tables:
        raise SpecError(STATE, "sites", {}, f"at least one of {', '.join(site_names())}")
    sites = tuple(load_site(name) for name in tables)
    by_name = {site.name: rows or {} for site, rows in zip(sites, tables.values(), strict=True)}
    try:
        address = urlsplit(stated.open)
        is_site = address.scheme == "http" and address.netloc in {site.about.host for site in sites}
    except ValueError:
        is_site = False
    if not is_site:
        hosts = ", ".join(f"http://{site.about.host}/…" for site in sites)
        raise SpecError(STATE, "open", stated.open, f"an address on one of the sites in play: {hosts}")
    for name in stated.signed_in:
        if name not in by_name:
            raise SpecError(STATE, f"signed_in.{name}", stated.signed_in[name], f"one of {', '.join(by_name)}")
    chosen = seed if stated.seed is None else stated.seed
    return SiteState(sites, by_name, stated.open, chosen, stated.size, stated.now, stated.signed_in)


def seeded_images(state: SiteState) -> dict[str, Image]:
    """Return the database of every site.

    Raises:
        SpecError: Stated rows do not fit, or a visitor is signed in who has no account.
    """
    images: dict[str, Image] = {}
    for site in state.sites:
        tables = state.tables[site.name]
        if tables:
            images[site.name] = Image(_with_given(site, tables, state), site.keys)
        else:
            images[site.name] = _shared(site.name, str(site.folder), state.size, state.seed)
        user = state.signed_in.get(site.name)
        if user is not None:
            row = images[site.name].database.reading().execute(site.about.accounts.user, {"user": user}).fetchone()
            if row is None:
                raise SpecError(STATE, f"signed_in.{site.name}", user, "the key of an account")
    return images


@lru_cache(maxsize=64)
def _shared(name: str, folder: str, size: Size, seed: int) -> Image:
    """Return the databases of a state; sessions that begin with the same rows share them."""
    site = load_site(folder)
    return Image(site.generated(size, seed), site.keys)


def _with_given(site: Site, tables: Mapping[str, Any], state: SiteState) -> bytes:
    """Return the rows of a seed with some tables replaced, without generated rows that refer to missing ones."""
    key = f"sites.{site.name}"
    for table in tables:
        if table not in site.keys:
            raise SpecError(STATE, f"{key}.{table}", tables[table], f"one of the tables {', '.join(site.keys)}")
    if set(tables) == set(site.keys):
        return with_rows(site.empty, site.keys, tables, STATE, key)
    emptied = _without(site.generated(state.size, state.seed), tables)
    connection = open_image(with_rows(emptied, site.keys, tables, STATE, key, references=False))
    try:
        # A row may go before those that refer to it; the check finds them in the next round.
        connection.execute("PRAGMA foreign_keys = OFF")
        while dangling := connection.execute("PRAGMA foreign_key_check").fetchall():
            for table, rowid, parent, _ in dangling:
                if table in tables or rowid is None:
                    raise SpecError(
                        STATE, f"{key}.{table}", rowid, f"rows that refer to rows of {parent} that are there"
                    )
                connection.execute(f"DELETE FROM {quoted(table)} WHERE rowid = ?", (rowid,))
        return connection.serialize()
    finally:
        connection.close()


def _without(image: bytes, tables: Iterable[str]) -> bytes:
    connection = open_image(image)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        for table in tables:
            connection.execute(f"DELETE FROM {quoted(table)}")
        return connection.serialize()
    finally:
        connection.close()

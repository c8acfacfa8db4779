"""All sites of one session: hosts, cookies, sign-ins, static files, and the faults on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from jinja2 import TemplateError

from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Response
from agentworld_gym.domains.web.engine.sites.concerned_rows import Concerned, concerned_by
from agentworld_gym.domains.web.engine.sites.database import Store, image_of, rows_of, sequences
from agentworld_gym.domains.web.engine.sites.faults import BAD_GATEWAY, SAFE_REQUESTS, FaultyRequest
from agentworld_gym.domains.web.engine.sites.initial_state import SiteState, read_state, seeded_images
from agentworld_gym.domains.web.engine.sites.printing import STATIC, plain_failure, printed_page, static
from agentworld_gym.domains.web.engine.sites.request_handler import (
    SESSION,
    SiteAnswer,
    Visit,
    answer,
    loading,
    parsed_query,
)
from agentworld_gym.domains.web.engine.sites.site import Site, load_site, site_folder
from agentworld_gym.kit.tables.database import SeededTokens

NO_CONTROLS = Controls()
MAX_URL, MAX_FORM, MAX_FIELDS = 4_000, 64_000, 200
"""The largest number of characters in a URL and in a form, and of fields in a form."""


class Sites:
    """The internet of one session: the sites in play, each with a database of its own.

    >>> sites = Sites.start({"open": "http://shop.example/"}, seed=1)
    >>> sites.fetch(HttpRequest("GET", "http://shop.example/nothing-here")).status
    404
    >>> print(sites.fetch(HttpRequest("GET", "http://nowhere.example/")))
    None
    """

    def __init__(self, state: SiteState, stores: Mapping[str, Store], seed: int, controls: Controls) -> None:
        self._state = state
        self._hosts = {site.about.host: site for site in state.sites}
        self._stores = dict(stores)
        self._controls = controls
        self._tokens = SeededTokens(seed)
        self._sessions: dict[str, tuple[str, Any, int]] = {}
        self._visits = 0
        self._failed = self._slow = ""
        self.cookies: Mapping[str, Mapping[str, str]] = {
            site.about.host: {SESSION: self._signed_in(site, state.signed_in[site.name])}
            for site in state.sites
            if site.name in state.signed_in
        }
        """The cookies that the browser has at the start, by host."""

    @classmethod
    def start(
        cls,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = NO_CONTROLS,
        hidden: Mapping[str, Any] = MappingProxyType({}),
    ) -> Sites:
        """Return the sites in the state that a task states; `hidden` is ignored.

        Args:
            state: `sites` (rows by table by site; a table that is not named has rows from a seed; without the key all
                sites exist), `open` (the first URL), `seed` and `size` of the generated rows, `now`, and `signed_in`
                (the key of an account by site).
            seed: The seed of the session tokens, and of the rows where the state names no seed.
            controls: The faults in force.
            hidden: Ignored.

        Raises:
            SpecError: The state is wrong. The error names the key, its value and what was expected.
        """
        stated = read_state(state, seed)
        return cls(stated, {name: Store(image) for name, image in seeded_images(stated).items()}, seed, controls)

    @property
    def opening(self) -> str:
        """The first URL."""
        return self._state.open

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that exist."""
        return tuple(self._hosts)

    def fetch(self, request: HttpRequest) -> Response | None:
        """Answer a request; None where no site has the host.

        Raises:
            ConnectionReset: The connection broke (the control `intermittent-errors`).
        """
        url = _valid(request.url[: MAX_URL + 1])
        try:
            parts = urlsplit(url)
            host = parts.netloc.lower().removesuffix(":80")
        except ValueError:
            return None
        site = self._hosts.get(host)
        if site is None or parts.scheme != "http":
            return None
        path = parts.path or "/"
        if path.startswith(STATIC):
            return static(site, path.removeprefix(STATIC))
        visit = self._visit(site, path, request)
        if len(request.url) > MAX_URL:
            return plain_failure(visit, 414)
        if len(request.form) > MAX_FIELDS or sum(len(name) + len(text) for name, text in request.form) > MAX_FORM:
            return plain_failure(visit, 413)
        return self._answered(visit, url, parts.query)

    def printed(self, url: str, user: Any, told: Mapping[str, Any]) -> Response:
        """Return the page at an address as the rows have it. No request is made: see `printed_page`.

        Raises:
            LookupError: No site has the host, or no page is shown there.
            sqlite3.Error, ValueError, OverflowError, TypeError, jinja2.TemplateError: There is no such page.
        """
        site = self._hosts[urlsplit(url).netloc.lower().removesuffix(":80")]
        image, now = self._stores[site.name].image(), self._state.now or site.about.now
        return printed_page(site, image, now, self._controls, url, user, told)

    def concerned(self, method: str, url: str, form: tuple[tuple[str, str], ...], user: Any) -> Concerned:
        """Return what a request gives, and the rows that it reads or writes; nothing is done: see `concerned_by`."""
        parts = urlsplit(url)
        site = self._hosts.get(parts.netloc.lower().removesuffix(":80"))
        if site is None:
            return Concerned()
        path = parts.path or "/"
        faults = FaultyRequest(NO_CONTROLS, site.about.host, path, 0)
        query, store = parsed_query(parts.query), self._stores[site.name]
        return concerned_by(Visit(site, store, faults, method, path, query, form, {}, user, self.now(site.name)))

    def now(self, name: str) -> str:
        """Return the time of a site, by its name; empty where there is none."""
        site = next((site for site in self._hosts.values() if site.name == name), None)
        return self._state.now or (site.about.now if site is not None else "")

    def visible_state(self) -> dict[str, Any]:
        """Return what pages are printed from as plain JSON data: the rows, the time, and the controls in force."""
        sites = [site.name if site.folder.parent == site_folder() else str(site.folder) for site in self._state.sites]
        web: dict[str, Any] = {"sites": sites}
        if self._state.now is not None:
            web["now"] = self._state.now
        strengths = {name: self._controls.strength(name) for name in self._controls.strengths}
        if any(strengths.values()):
            web |= {"controls": strengths, "control_seed": self._controls.seed}
        return {"web": web, "data": {name: rows_of(store.image()) for name, store in self._stores.items()}}

    def name_of(self, host: str) -> str:
        """Return the name of the site at a host; empty where there is none."""
        site = self._hosts.get(host.lower().removesuffix(":80"))
        return site.name if site is not None else ""

    def users(self, cookies: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """Return who is signed in, by the name of the site, to a browser with these cookies."""
        found = {}
        for host, site in self._hosts.items():
            name, user, _ = self._sessions.get(cookies.get(host, {}).get(SESSION, ""), ("", None, 0))
            if name == site.name and user is not None:
                found[name] = user
        return found

    def hidden_state(self) -> dict[str, Any]:
        """Return what only requests need, as plain JSON data: sessions and counters."""
        state = self._state
        return {
            "open": state.open,
            "seed": state.seed,
            "size": state.size,
            "signed_in": dict(state.signed_in),
            "tokens": [self._tokens.seed, self._tokens.count],
            "sessions": {token: list(session) for token, session in sorted(self._sessions.items())},
            "visits": self._visits,
            "failed": self._failed,
            "slow": self._slow,
            "sequences": {name: sequences(store.image()) for name, store in self._stores.items()},
        }

    @classmethod
    def restore(cls, shown: Mapping[str, Any], kept: Mapping[str, Any]) -> Sites:
        """Return the sites of a plain state. Without what is kept they are good for nothing but to show pages.

        Raises:
            SpecError, sqlite3.Error, LookupError, TypeError, ValueError, AttributeError: There are no such sites.
        """
        web = shown["web"]
        sites = tuple(load_site(name) for name in web["sites"])
        seed, size = kept.get("seed", 0), kept.get("size", "small")
        signed_in = {} if kept else shown["users"]
        state = SiteState(sites, {}, kept.get("open", ""), seed, size, web.get("now"), signed_in)
        last = kept.get("sequences", {})
        stores = {
            site.name: Store(image_of(str(site.folder), shown["data"][site.name], last.get(site.name, {})))
            for site in sites
        }
        controls = Controls(web.get("controls", {}), web.get("control_seed", 0))
        found = cls(state, stores, 0, controls)
        if kept:
            found._state = replace(state, signed_in=kept["signed_in"])
            found._tokens = SeededTokens(*kept["tokens"])
            found._sessions = {token: tuple(session) for token, session in kept["sessions"].items()}
            found._visits, found._failed, found._slow = kept["visits"], kept["failed"], kept["slow"]
        return found

    def state(self) -> dict[str, Scalar]:
        """Return all stored values by `site/table/key/column`."""
        return {
            f"{name}/{field}": value
            for name, store in self._stores.items()
            for field, value in store.image().fields.items()
        }

    def fork(self) -> Sites:
        """Return an exact copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._stores = {name: store.fork() for name, store in self._stores.items()}
        twin._sessions = dict(self._sessions)
        twin._tokens = self._tokens.copy()
        return twin

    def close(self) -> None:
        """Free the databases. It may be called twice."""
        for store in self._stores.values():
            store.close()

    def _visit(self, site: Site, path: str, request: HttpRequest) -> Visit:
        self._visits += 1
        method = "POST" if request.method == "POST" else "GET"
        form = tuple((_valid(name), _valid(text)) for name, text in request.form[:MAX_FIELDS])
        faults = FaultyRequest(self._controls, site.about.host, path, self._visits)
        token = request.cookies.get(SESSION, "")
        name, user, born = self._sessions.get(token, ("", None, 0))
        if name != site.name:
            user = None
        elif (
            self._visits - born > SAFE_REQUESTS and faults.strikes("session-expired") and site.is_private(method, path)
        ):
            del self._sessions[token]
            user = None
        now = self._state.now or site.about.now
        return Visit(site, self._stores[site.name], faults, method, path, (), form, request.cookies, user, now)

    def _answered(self, visit: Visit, url: str, query: str) -> Response:
        if visit.method == "GET":
            again = url == self._failed
            self._failed = ""
            if not again and visit.faults.strikes("intermittent-errors"):
                self._failed = url
                if visit.faults.resets():
                    raise ConnectionReset(url)
                return Response(502, BAD_GATEWAY)
            again = url == self._slow
            self._slow = ""
            if not again and visit.site.find("GET", visit.path) and visit.faults.strikes("slow-loading"):
                self._slow = url
                return loading(visit)
        try:
            visit = _with_query(visit, query)
            answered = answer(visit)
        except (sqlite3.Error, OverflowError, ValueError, TypeError, LookupError, TemplateError):
            return plain_failure(visit, 500)
        return self._with_session(visit, answered)

    def _with_session(self, visit: Visit, answered: SiteAnswer) -> Response:
        response, account = answered.response, answered.account
        if account is None:
            return response
        self._sessions.pop(visit.cookies.get(SESSION, ""), None)
        token = "" if account == "" else self._signed_in(visit.site, account)
        cookies = {**response.cookies, SESSION: token}
        return replace(response, cookies=cookies)

    def _signed_in(self, site: Site, user: Any) -> str:
        token = self._tokens.make(32)
        self._tokens.made.clear()
        self._sessions[token] = (site.name, user, self._visits)
        return token


def _with_query(visit: Visit, query: str) -> Visit:
    return replace(visit, query=parsed_query(query)) if query else visit


def _valid(text: str) -> str:
    """Return a text that can be written as UTF-8, without null characters."""
    return str(text).encode("utf-8", "replace").decode().replace("\x00", "")

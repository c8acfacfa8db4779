"""Pages as they are printed from the rows of their site, without a request."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from jinja2 import TemplateError

from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.web.engine.http import Response
from agentworld_gym.domains.web.engine.sites.database import Image, Store
from agentworld_gym.domains.web.engine.sites.faults import BAD_GATEWAY, FaultyRequest
from agentworld_gym.domains.web.engine.sites.request_handler import (
    FAILURES,
    Visit,
    failure,
    flash_cookie,
    loading,
    parsed_query,
    printed,
)
from agentworld_gym.domains.web.engine.sites.site import Site, load_site

STATIC = "/static/"
CACHED = 64
"""The number of printed pages that are kept."""
_READ = ("flash", "alert", "sent", "errors", "loading", "status", "visit")


def printed_page(
    site: Site, image: Image, now: str, controls: Controls, url: str, user: Any, told: Mapping[str, Any]
) -> Response:
    """Return the page at an address as the rows of its site have it.

    Args:
        site: The site.
        image: Its rows.
        now: The time.
        controls: The faults in force.
        url: The address.
        user: The key of the account that is signed in; None for none.
        told: What else the page was made from: `flash` or `alert` (a message to the visitor), `sent` and `errors` (the
            fields and the errors of a form that is shown again), `loading`, `status` (that of an error page which
            address and rows do not explain), and `visit` (the number of the request, under controls).

    Raises:
        LookupError: No page is shown there.
        sqlite3.Error, ValueError, OverflowError, TypeError, jinja2.TemplateError: There is no such page.
    """
    strengths = {name: controls.strength(name) for name in controls.strengths}
    read = {key: told[key] for key in _READ if key in told}
    return _printed(str(site.folder), image, now, compact([strengths, controls.seed]), url, user, compact(read))


@lru_cache(maxsize=CACHED)
def _printed(folder: str, image: Image, now: str, controls: str, url: str, user: Any, read: str) -> Response:
    site, told, (strengths, seed) = load_site(folder), json.loads(read), json.loads(controls)
    parts = urlsplit(url)
    path = parts.path or "/"
    if path.startswith(STATIC):
        return static(site, path.removeprefix(STATIC))
    cookies: dict[str, str] = {}
    for kind, name in (("status", "flash"), ("alert", "alert")):
        if name in told:
            cookies = flash_cookie(kind, told[name])
    faults = FaultyRequest(Controls(strengths, seed), site.about.host, path, told.get("visit", 0))
    method, form = ("POST", pairs_of(told["sent"])) if "sent" in told else ("GET", ())
    visit = Visit(site, Store(image), faults, method, path, parsed_query(parts.query), form, cookies, user, now)
    if told.get("loading"):
        return loading(replace(visit, query=()))
    status = told.get("status")
    if status is not None:
        without = replace(visit, query=()) if status in (413, 414, 500) else visit
        return Response(502, BAD_GATEWAY) if status == 502 else plain_failure(without, status)
    return printed(visit, told.get("errors"))


def plain_failure(visit: Visit, status: int) -> Response:
    """Return an error page, without the style of the site where its templates fail."""
    try:
        return failure(visit, status)
    except (sqlite3.Error, TemplateError):
        title, text = FAILURES[status]
        return Response(status, f"<!DOCTYPE html>\n<title>{title}</title>\n<h1>{status} {title}</h1>\n<p>{text}</p>\n")


def static(site: Site, name: str) -> Response:
    """Return a static file of a site."""
    text = site.static.get(unquote(name))
    return Response(404, "Not found\n") if text is None else Response(200, text)


def pairs_of(sent: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a form that a plain state has as an object, or as pairs where a name comes twice."""
    pairs = tuple((name, text) for name, text in (sent.items() if isinstance(sent, Mapping) else sent))
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise TypeError("fields are sent as texts")
    return pairs


def plain_pairs(form: tuple[tuple[str, str], ...]) -> dict[str, str] | list[list[str]]:
    """Return the fields of a form as a plain state has them: the inverse of `pairs_of`."""
    fields = dict(form)
    return fields if len(fields) == len(form) else [list(pair) for pair in form]

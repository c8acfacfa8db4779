"""A visitor of the sites without a browser: keeps cookies, follows redirects, reads links and forms. And a shop."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.web.engine.http import HttpRequest, Internet, Response
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.site import load_site, site_names

Form = tuple[str, str, tuple[tuple[str, str], ...]]
"""Method, action, and the fields as they stand."""


class Visitor:
    """One person with one browser's cookies on one site."""

    def __init__(self, internet: Internet, host: str) -> None:
        self.internet, self.base = internet, f"http://{host}/"
        self.cookies: dict[str, str] = {}
        self.url = self.base
        self.response = Response(200)

    def get(self, path: str) -> str:
        """Open a page and follow redirects; its text."""
        return self._go("GET", path, ())

    def post(self, path: str, form: Iterable[tuple[str, str]] = (), **fields: str) -> str:
        """Send a form and follow redirects; the text of the page that comes."""
        return self._go("POST", path, (*form, *fields.items()))

    @property
    def status(self) -> int:
        """Of the last page."""
        return self.response.status

    @property
    def path(self) -> str:
        """Path and query of the last page."""
        return "/" + self.url.removeprefix(self.base)

    @property
    def said(self) -> str:
        """What the page says in its status or alert."""
        found = re.findall(r'<(p|div) role="(?:status|alert)"[^>]*>(.*?)</\1>', self.response.body, re.DOTALL)
        return html.unescape(re.sub(r"<[^>]*>|\s+", " ", " ".join(text for _, text in found))).strip()

    @property
    def heading(self) -> str:
        """The main heading."""
        found = re.search(r"<h1>(.*?)</h1>", self.response.body)
        return html.unescape(found[1]) if found else ""

    def sign_in(self, state: Mapping[str, Scalar], site: str, user: str) -> None:
        """With the password that the state knows."""
        self.post("/login", username=user, password=str(state[f"{site}/users/{user}/password"]))

    def _go(self, method: str, path: str, form: tuple[tuple[str, str], ...]) -> str:
        url = urljoin(self.base, path)
        for _ in range(6):
            response = self.internet.fetch(HttpRequest(method, url, form, dict(self.cookies)))
            assert response is not None
            for name, value in response.cookies.items():
                self.cookies.pop(name, None)
                if value:
                    self.cookies[name] = value
            if response.location is None:
                break
            assert response.status == 302
            url, method, form = urljoin(url, response.location), "GET", ()
        self.url, self.response = url, response
        return response.body


@dataclass
class Page:
    """What a page offers."""

    links: list[str]
    forms: list[Form]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, str, list[tuple[str, str]]]] = []
        self._inside = False
        self._select = self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(of["href"])
        elif tag == "form":
            self.forms.append((of.get("method", "get").upper(), of.get("action", ""), []))
            self._inside = True
        elif self._inside and tag == "input" and "name" in of:
            if of.get("type") not in ("checkbox", "radio") or "checked" in of:
                self.forms[-1][2].append((of["name"], of.get("value", "")))
        elif self._inside and tag == "select":
            self._select = of["name"]
            self.forms[-1][2].append((of["name"], ""))
        elif self._inside and tag == "option" and "selected" in of and self._select:
            self.forms[-1][2][-1] = (self._select, of.get("value", ""))
        elif self._inside and tag == "textarea":
            self._area = of["name"]
            self.forms[-1][2].append((of["name"], ""))
        elif self._inside and tag == "button" and "formaction" in of:
            method, _, fields = self.forms[-1]
            self.forms.append((method, of["formaction"], fields))

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1][2][-1] = (self._area, data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        elif tag == "textarea":
            self._area = ""


def read(body: str) -> Page:
    """The links and forms of a page."""
    reader = _Reader()
    reader.feed(body)
    return Page(reader.links, [(method, action, tuple(fields)) for method, action, fields in reader.forms])


NAMES = site_names()

SHOP: dict[str, Any] = {
    "users": [
        {"username": "ana", "name": "Ana Lee", "email": "ana@example.com", "password": "pw"},
        {"username": "bob", "name": "Bob Ray", "email": "bob@example.com", "password": "pw"},
    ],
    "categories": [{"slug": "kitchen", "name": "Kitchen"}],
    "products": [
        {"product_id": 1, "name": "Kettle", "category": "kitchen", "price": 30.0, "stock": 4, "colour": "red"},
        {"product_id": 2, "name": "Mug", "category": "kitchen", "price": 9.5, "stock": 0},
        {"product_id": 3, "name": "Pan", "category": "kitchen", "price": 20.0, "stock": 9},
    ],
    "coupons": [
        {"code": "TEN", "percent": 10, "minimum": 40, "ends_on": "2026-05-01"},
        {"code": "OLD", "percent": 50, "ends_on": "2026-01-01"},
    ],
    "orders": [
        {"order_id": 7, "username": "ana", "status": "delivered", "placed_at": "2026-02-01T10:00:00Z", "name": "Ana",
         "street": "Road 1", "postcode": "12345", "city": "Ulm", "total": 60.0},
        {"order_id": 8, "username": "bob", "status": "processing", "placed_at": "2026-03-01T10:00:00Z", "name": "Bob",
         "street": "Road 2", "postcode": "12345", "city": "Ulm", "total": 30.0},
    ],
    "order_lines": [
        {"order_id": 7, "product_id": 1, "quantity": 2, "unit_price": 30.0},
        {"order_id": 8, "product_id": 1, "quantity": 1, "unit_price": 30.0},
    ],
    "reviews": [], "cart": [], "checkouts": [], "returns": [], "wishlist": [],
}  # fmt: skip


def start(name: str = "shop", *, controls: Controls | None = None, **state: Any) -> Sites:
    host = load_site(name).about.host
    return Sites.start(
        {"open": f"http://{host}/", "sites": {name: {}}, **state}, seed=5, controls=controls or Controls()
    )


def shop(controls: Controls | None = None, user: str = "ana") -> tuple[Sites, Visitor]:
    """A small shop that is stated whole, and a visitor who is signed in."""
    sites = start(sites={"shop": SHOP}, signed_in={"shop": user} if user else {}, controls=controls)
    visitor = Visitor(sites, "shop.example")
    visitor.cookies = dict(sites.cookies.get("shop.example", {}))
    return sites, visitor


def accounts(sites: Sites, name: str) -> list[str]:
    return [
        key.split("/")[2] for key in sites.state() if key.startswith(f"{name}/users/") and key.endswith("/password")
    ]

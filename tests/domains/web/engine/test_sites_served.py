"""The sites under controls and hostile input, and on loopback."""

from __future__ import annotations

import http.client
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from web_visitor import NAMES, SHOP, Visitor, accounts, shop, start

from agentworld_gym.cli.app import app
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Response
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.http_server import SiteServer
from agentworld_gym.domains.web.engine.sites.site import load_site


def test_a_dialog_opens_with_every_page() -> None:
    _, visitor = shop(Controls({"unexpected-dialog": 1.0}))
    bodies = {visitor.get(path) for path in ("/", "/orders", "/cart", "/wishlist", "/account", "/returns")}
    assert all(body.count("<dialog data-modal") == 1 and "data-closes" in body for body in bodies)
    titles = {title for body in bodies for title in re.findall(r'id="notice-title">(.*?)<', body)}
    assert len(titles) > 1
    with suspended():
        assert "<dialog" not in visitor.get("/")


def test_a_slow_page_comes_when_it_is_asked_for_again() -> None:
    _, visitor = shop(Controls({"slow-loading": 1.0}))
    visitor.post("/wishlist/add", product_id="1")
    assert visitor.response.refresh
    assert 'role="progressbar"' in visitor.response.body
    assert '<meta http-equiv="refresh" content="1">' in visitor.response.body
    assert "Kettle" not in visitor.response.body
    visitor.get(visitor.path)
    assert not visitor.response.refresh
    assert (visitor.heading, visitor.said) == ("Kettle", "Added to your wish list.")


def test_opening_a_page_fails_once() -> None:
    sites, _ = shop(Controls({"intermittent-errors": 1.0}))
    kinds = set()
    for number in range(1, 9):
        request = HttpRequest("GET", f"http://shop.example/products?page={number}")
        try:
            response = sites.fetch(request)
            assert response is not None and response.status == 502
            kinds.add("502")
        except ConnectionReset:
            kinds.add("reset")
        again = sites.fetch(request)
        assert again is not None and again.status == 200
    assert kinds == {"502", "reset"}


def test_a_session_ends_and_one_signs_in_again() -> None:
    _, visitor = shop(Controls({"session-expired": 1.0}))
    for _ in range(4):
        visitor.get("/orders")
        assert visitor.heading == "Your orders"
    assert "Sign out" in visitor.get("/products")
    visitor.get("/orders")
    assert visitor.heading == "Sign in"
    visitor.post("/login", username="ana", password="pw", next="/orders")
    assert visitor.heading == "Your orders"


def test_menus_and_lists_change_their_order() -> None:
    _, visitor = shop(Controls({"reordered-menu": 1.0}), user="ana")
    _, calm = shop()
    menu = lambda body: re.findall(r'<a href="/(orders|returns|wishlist|account)">', body)  # noqa: E731
    assert menu(calm.get("/")) == ["orders", "returns", "wishlist", "account"]
    orders = [menu(visitor.get("/")) for _ in range(5)]
    assert all(sorted(order) == sorted(menu(calm.get("/"))) for order in orders)
    assert menu(calm.get("/")) not in orders
    assert len({tuple(order) for order in orders}) > 1


def test_lists_have_shorter_pages() -> None:
    sites = start(controls=Controls({"pagination": 1.0}), seed=1)
    visitor = Visitor(sites, "shop.example")
    assert len(re.findall(r"<h3>", visitor.get("/products"))) == 5
    with suspended():
        assert len(re.findall(r"<h3>", visitor.get("/products"))) == 8


def test_sql_and_templates_in_what_is_typed_are_texts() -> None:
    sites, visitor = shop()
    evil = "'; DROP TABLE orders; -- {{ 7 * 7 }} {% for x in y %} <script>alert(1)</script>"
    visitor.get(f"/products?q={evil}")
    assert visitor.status == 200
    visitor.post("/account", name=evil, email="a@b.example", street="{{ user }}", postcode="", city="")
    assert visitor.status == 200
    assert "<script>alert" not in visitor.response.body
    assert "{{ 7 * 7 }}" in visitor.response.body
    assert sites.state()["shop/users/ana/name"] == evil
    assert "shop/orders/7/status" in sites.state()
    visitor.post("/login", username="ana' --", password="' OR '1'='1")
    assert "Wrong user name or password." in visitor.said


def test_huge_forms_and_addresses_are_refused() -> None:
    _, visitor = shop()
    visitor.post("/account", name="x" * 70_000)
    assert visitor.status == 413
    visitor.post("/account", [("name", "x")] * 500)
    assert visitor.status == 413
    visitor.get("/products?q=" + "x" * 9_000)
    assert visitor.status == 414
    visitor.post("/account", name="x" * 100, email="a@b.example")
    assert "Name must have at most 80 characters." in visitor.said


def test_static_files_are_those_of_the_site_only() -> None:
    sites, _ = shop()
    for name, status in (
        ("site.css", 200),
        ("look.css", 200),
        ("../site.yaml", 404),
        ("%2e%2e/site.yaml", 404),
        ("", 404),
    ):
        response = sites.fetch(HttpRequest("GET", f"http://shop.example/static/{name}"))
        assert response is not None and response.status == status


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["'", "%00", "\x00", "\ud800", "{{x}}", "9" * 40, "-1", "1e400", "[[a|b]]"]
)
PATHS = st.sampled_from([route.path for name in NAMES for route in load_site(name).about.routes])


@settings(max_examples=600, deadline=None)
@given(
    host=st.sampled_from([f"{name}.example" for name in NAMES]) | TEXTS,
    method=st.sampled_from(["GET", "POST", "PUT", ""]),
    path=PATHS,
    holes=TEXTS,
    query=st.lists(st.tuples(st.sampled_from(["q", "page", "next", "sort", "quote", "reply"]), TEXTS), max_size=3),
    form=st.lists(
        st.tuples(
            st.sampled_from(["text", "quantity", "issue", "message", "to", "headline", "product_id", "rating", "x"]),
            TEXTS,
        ),
        max_size=5,
    ),
    cookies=st.dictionaries(st.sampled_from(["session", "flash"]), TEXTS, max_size=2),
    signed=st.booleans(),
)
def test_whatever_is_sent_is_answered(
    host: str,
    method: str,
    path: str,
    holes: str,
    query: list[tuple[str, str]],
    form: list[tuple[str, str]],
    cookies: dict[str, str],
    signed: bool,
) -> None:
    sites = _everything().fork()
    if signed:
        cookies = {**cookies, **sites.cookies.get(host, {})}
    url = f"http://{host}{re.sub('{[^}]*}', lambda _: holes, path)}?" + "&".join(
        f"{name}={value}" for name, value in query
    )
    response = sites.fetch(HttpRequest(method, url, tuple(form), cookies))
    assert response is None or (isinstance(response, Response) and response.status != 500)
    if response is not None and response.location is not None:
        assert re.fullmatch(r"/(?!/)[^\s\\]*", response.location)
        assert response.location.isascii()


def _everything(cache: list[Sites] = []) -> Sites:  # noqa: B006
    if not cache:
        empty = Sites.start({"open": "http://shop.example/", "seed": 1}, seed=0)
        first = {name: accounts(empty, name)[0] for name in NAMES}
        cache.append(Sites.start({"open": "http://shop.example/", "seed": 1, "signed_in": first}, seed=0))
    return cache[0]


def test_real_browsers_are_served_on_loopback() -> None:
    sites = start(sites={"shop": SHOP, "wiki": {}})
    with SiteServer(sites) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)

        def ask(method: str, path: str, host: str, body: str | None = None, **headers: str) -> http.client.HTTPResponse:
            connection.request(method, path, body, {"Host": host, **headers})
            return connection.getresponse()

        answer = ask("GET", "/", "shop.example")
        assert answer.status == 200 and b"Fernhill Home" in answer.read()
        assert b"Harbour Handbook" in ask("GET", "/", f"wiki.localhost:{server.port}").read()
        answer = ask("GET", "/static/look.css", "shop.example")
        assert answer.getheader("Content-Type") == "text/css; charset=utf-8" and answer.read()
        answer = ask("POST", "/login", "shop.example", "username=ana&password=pw&next=/orders")
        cookies = answer.headers.get_all("Set-Cookie") or []
        assert (answer.status, answer.getheader("Location"), answer.read()) == (302, "/orders", b"")
        session = next(cookie.partition(";")[0] for cookie in cookies if cookie.startswith("session="))
        assert b"Order 7" in ask("GET", "/orders", "shop.example", Cookie=session).read()
        answer = ask("GET", "/", "evil.example")
        assert answer.status == 404 and answer.read()
        answer = ask("POST", "/login", "shop.example", **{"Content-Length": "99999999"})
        assert answer.status == 413


def test_a_reset_is_a_reset_on_loopback() -> None:
    sites = start(controls=Controls({"intermittent-errors": 1.0}))
    with SiteServer(sites) as server:
        failures = 0
        for number in range(12):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            try:
                connection.request("GET", f"/products?page={number}", headers={"Host": "shop.example"})
                assert connection.getresponse().status == 502
            except ConnectionError:
                failures += 1
            finally:
                connection.close()
        assert 0 < failures < 12


def test_the_command_refuses_what_is_not_there() -> None:
    result = CliRunner().invoke(app, ["web", "serve", "--site", "bazaar"])
    assert result.exit_code == 2

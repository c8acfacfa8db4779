"""The sites of the Web domain: every route, accounts, states, data files and forks."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from web_visitor import NAMES, SHOP, Visitor, accounts, read, shop, start

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.web.engine.http import HttpRequest
from agentworld_gym.domains.web.engine.sites.site import load_site, site_folder


def test_there_are_five_sites_and_each_has_a_look_of_its_own() -> None:
    assert set(NAMES) >= {"forum", "mail", "shop", "tracker", "wiki"}
    looks = [start(name).fetch(HttpRequest("GET", f"http://{name}.example/static/look.css")) for name in NAMES]
    assert len({look.body for look in looks if look is not None}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_address_that_a_site_links_to_answers_and_every_form_reaches_a_route(name: str) -> None:
    """A crawl as a guest and as every account: follows all links, and sends each form as it stands on a fork."""
    site = load_site(name)
    sites = start(name, seed=1)
    fields = sites.state()
    seen: set[tuple[str, str]] = set()
    for user in [None, *accounts(sites, name)]:
        visitor = Visitor(sites.fork(), site.about.host)
        if user is not None:
            visitor.sign_in(fields, name, user)
        todo, done, asked = ["/"], set(), set()
        while todo and len(done) < 120:
            path = todo.pop(0)
            body = visitor.get(path)
            assert visitor.status in (200, 403), (user, path)
            _follows_the_contract(body)
            seen |= _routes(site, "GET", path) | _routes(site, "GET", visitor.path)
            page = read(body)
            for link in page.links:
                if link.startswith("/") and (link := re.sub(r"page=\d+", "page=1", link)) not in done:
                    done.add(link)
                    todo.append(link)
            for method, action, form in page.forms:
                if method == "GET" and (action, *form) not in asked:
                    asked.add((action, *form))
                    todo.append(f"{action}?{urlencode([(field, value or 'e') for field, value in form])}")
                if method == "POST" and "/logout" not in action:
                    twin = Visitor(visitor.internet.fork(), site.about.host)
                    twin.cookies = dict(visitor.cookies)
                    twin.post(action, form)
                    assert twin.status in (200, 403), (user, path, action, form)
                    seen |= _routes(site, "POST", action)
    wanted = {("GET" if route.get else "POST", route.path) for route in site.about.routes} - {("POST", "/logout")}
    unreached = {route for route in wanted - seen if route not in RARE}
    assert not unreached


RARE = {
    ("POST", "/cart/coupon/remove"),
    ("GET", "/checkout/delivery"),
    ("GET", "/checkout/payment"),
    ("GET", "/checkout/review"),
    ("POST", "/checkout/delivery"),
    ("POST", "/checkout/payment"),
    ("POST", "/checkout/review"),
    ("GET", "/labels/{label}"),
    ("POST", "/milestones/{milestone_id:int}/reopen"),
    ("POST", "/moderation/{report_id:int}/dismiss"),
    ("POST", "/moderation/{report_id:int}/remove"),
    ("POST", "/threads/{thread_id:int}/reopen"),
}
"""Routes that need a state which the generated rows may not have; they have tests of their own below."""


def _routes(site: Any, method: str, path: str) -> set[tuple[str, str]]:
    found = site.find(method, path.partition("?")[0])
    return {(method, found[0].route.path)} if found else set()


def _follows_the_contract(body: str) -> None:
    """What the in-process browser and a real one show alike: no inline scripts or styles, and fields with names."""
    assert "style=" not in body
    assert not re.search(r"<script(?! src)", body)
    assert not re.search(r"\bon\w+=", body)
    for control in re.findall(r"<(?:input|select|textarea)\b[^>]*>", body):
        labelled = re.search(r'\bid="([^"]*)"', control)
        assert (
            'type="hidden"' in control
            or "aria-label" in control
            or (labelled and f'for="{labelled[1]}"' in body)
        ), control  # fmt: skip
    ids = re.findall(r'\bid="([^"]*)"', body)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", NAMES)
def test_pages_of_the_full_size_answer_too(name: str) -> None:
    sites = start(name, size="full")
    visitor = Visitor(sites, load_site(name).about.host)
    assert "<h1>" in visitor.get("/")
    assert len(sites.state()) > len(start(name).state())


@pytest.mark.parametrize("name", NAMES)
def test_many_seeds_make_rows_and_equal_seeds_equal_rows(name: str) -> None:
    states = [start(name, seed=seed).state() for seed in range(12)]
    assert states[3] == start(name, seed=3).state()
    assert len({tuple(state.items()) for state in states}) == 12


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_password_is_refused_and_the_right_one_admits(name: str) -> None:
    sites = start(name)
    visitor = Visitor(sites, load_site(name).about.host)
    user = accounts(sites, name)[0]
    visitor.post("/login", username=user, password="wrong")
    assert "Wrong user name or password." in visitor.said
    assert f'value="{user}"' in visitor.response.body
    visitor.sign_in(sites.state(), name, user)
    assert visitor.said == "You are signed in."
    assert "Sign out" in visitor.response.body
    visitor.get("/")
    assert visitor.said == ""
    visitor.post("/logout")
    assert visitor.said == "You are signed out."
    assert "Sign out" not in visitor.response.body


def test_a_page_behind_the_login_is_returned_to() -> None:
    _, visitor = shop(user="")
    visitor.get("/orders?status=delivered")
    assert visitor.heading == "Sign in"
    assert visitor.said == "Please sign in to continue."
    (form,) = [form for method, action, form in read(visitor.response.body).forms if action == "/login"]
    visitor.post("/login", username="Ana", password="pw", next=dict(form)["next"])
    assert visitor.path == "/orders?status=delivered"


def test_one_comes_back_on_the_same_site_only() -> None:
    _, visitor = shop(user="")
    for away in ("//evil.example/", "http://evil.example/", "/\\evil.example"):
        visitor.post("/login", username="ana", password="pw", next=away)
        assert visitor.url.startswith("http://shop.example/")


def test_pages_of_others_are_forbidden_and_unknown_ones_are_not_found() -> None:
    _, visitor = shop()
    assert visitor.get("/orders/7") and visitor.status == 200
    visitor.get("/orders/8")
    assert (visitor.status, visitor.heading) == (403, "403 Forbidden")
    visitor.post("/orders/8/cancel")
    assert visitor.status == 403
    for path in ("/orders/99", "/nothing", "/products/x", "/products/99999999999"):
        visitor.get(path)
        assert visitor.status == 404
    visitor.get("/cart/add")
    assert visitor.status == 405


def test_a_session_is_of_one_site_and_a_made_up_token_is_of_none() -> None:
    sites = start(sites={"shop": SHOP, "wiki": {}}, signed_in={"shop": "ana"})
    for cookies in (sites.cookies["shop.example"], {"session": "0" * 32}):
        response = sites.fetch(HttpRequest("GET", "http://wiki.example/watched", cookies=cookies))
        assert response is not None and response.status == 302


def test_rows_that_are_given_replace_those_from_the_seed() -> None:
    sites = start(sites={"shop": {"wishlist": [], "reviews": []}}, seed=2)
    fields, made = sites.state(), start(seed=2).state()
    assert not any(key.startswith(("shop/wishlist/", "shop/reviews/")) for key in fields)
    assert {key: value for key, value in made.items() if key.startswith("shop/products/")}.items() <= fields.items()


def test_made_rows_that_refer_to_what_is_gone_are_dropped() -> None:
    products = SHOP["products"]
    fields = start(sites={"shop": {"products": products, "categories": SHOP["categories"]}}, seed=2).state()
    assert {key.split("/")[2] for key in fields if key.startswith("shop/products/")} == {"1", "2", "3"}
    assert not any(key.startswith("shop/order_lines/") for key in fields)


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"open": "http://nowhere.example/"}, "open"),
        ({"open": "https://shop.example/"}, "open"),
        ({"sites": {"bazaar": {}}}, "sites"),
        ({"sites": {}}, "sites"),
        ({"sites": {"shop": {"goods": []}}}, "sites.shop.goods"),
        ({"sites": {"shop": {"products": [{"nmae": "x"}]}}}, "sites.shop.products.0.nmae"),
        ({"sites": {"shop": {"products": [{"name": "x"}]}}}, "sites.shop.products.0"),
        (
            {"sites": {"shop": {**SHOP, "cart": [{"username": "zoe", "product_id": 1, "quantity": 1}]}}},
            "sites.shop.cart.1",
        ),
        ({"signed_in": {"shop": "nobody-of-this-name"}}, "signed_in.shop"),
        ({"signed_in": {"bank": "ana"}}, "signed_in.bank"),
        ({"now": "yesterday"}, "now"),
        ({"size": "huge"}, "size"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_state_names_its_key(state: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError) as caught:
        start(**state)
    assert caught.value.file == "task state"
    assert caught.value.key.startswith(key)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda data: data["routes"][0].update(get="no-slash"), "routes.0.get"),
        (lambda data: data["routes"][0].update(colour="red"), "routes.0.colour"),
        (lambda data: data["routes"][0].update(template="nothing.html"), "routes.0"),
        (lambda data: data["routes"][0]["data"].update(x={"rows": "SELECT nothing FROM nowhere"}), "routes.0"),
        (lambda data: data["routes"][0]["data"].update(x={"rows": "DELETE FROM pages"}), "routes.0.data.x.rows"),
        (lambda data: data["routes"][0].update(title="{{ broken"), "routes.0"),
        (lambda data: data.update(host="Shop!"), "host"),
    ],
)
def test_a_wrong_site_names_file_and_key(tmp_path: Path, change: Any, key: str) -> None:
    shutil.copytree(site_folder() / "wiki", tmp_path / "copy")
    shutil.copytree(site_folder() / "_common", tmp_path / "_common")
    file = tmp_path / "copy" / "site.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    change(data)
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_site(str(tmp_path / "copy"))
    assert caught.value.file == str(file)
    assert caught.value.key.startswith(key)


@pytest.mark.parametrize("name", NAMES)
def test_a_fork_goes_on_exactly_alike_and_apart(name: str) -> None:
    rng = random.Random(7)
    strengths = dict.fromkeys(("slow-loading", "session-expired", "reordered-menu", "unexpected-dialog"), 0.2)
    sites = start(name, controls=Controls(strengths, seed=3))
    visitor = Visitor(sites, load_site(name).about.host)
    visitor.sign_in(sites.state(), name, accounts(sites, name)[0])
    before = sites.state()
    for _ in range(25):
        page = read(visitor.get(rng.choice(read(visitor.get("/")).links or ["/"])))
        forms = [form for form in page.forms if form[1] != "/logout"]
        twin = Visitor(visitor.internet.fork(), load_site(name).about.host)
        twin.cookies = dict(visitor.cookies)
        if forms:
            method, action, form = rng.choice(forms)
            went = [
                (one.post(action, form) if method == "POST" else one.get(action), one.url) for one in (visitor, twin)
            ]
        else:
            went = [(one.get("/"), one.url) for one in (visitor, twin)]
        assert went[0] == went[1]
        assert visitor.cookies == twin.cookies
        assert visitor.internet.state() == twin.internet.state()
        assert visitor.get("/") == twin.get("/")
        if rng.random() < 0.5:
            visitor.internet = twin.internet
    assert start(name).state() == before


def test_what_one_session_writes_no_other_one_sees() -> None:
    first, ana = shop()
    twin = first.fork()
    ana.post("/wishlist/add", product_id="1")
    assert "shop/wishlist/ana,1/username" in first.state()
    assert "shop/wishlist/ana,1/username" not in twin.state()
    assert "shop/wishlist/ana,1/username" not in shop()[0].state()
    first.close()
    first.close()


def test_rows_that_refer_to_rows_that_refer_to_what_is_gone_go_too() -> None:
    made = start().state()
    name = next(field.split("/")[2] for field in made if field.startswith("shop/users/"))
    columns = [field.split("/")[3] for field in made if field.startswith(f"shop/users/{name}/")]
    row = {"username": name, **{column: made[f"shop/users/{name}/{column}"] for column in columns}}
    kept = start(sites={"shop": {"users": [row], "cart": []}}).state()
    assert {field.split("/")[2] for field in kept if field.startswith("shop/users/")} == {name}
    assert len(kept) < len(made)

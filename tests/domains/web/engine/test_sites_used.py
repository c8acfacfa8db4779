"""What one does on the sites: orders, returns, searches, bulk changes, pages, mail and moderation."""

from __future__ import annotations

import re

from web_visitor import SHOP, Visitor, accounts, read, shop, start


def test_an_order_from_the_cart_to_the_history() -> None:
    sites, visitor = shop()
    visitor.get("/checkout/review")
    assert (visitor.path, visitor.said) == ("/cart", "Your cart is empty.")
    visitor.post("/cart/add", product_id="1", quantity="5")
    assert (visitor.path, visitor.said) == ("/products/1", "There are not that many in stock.")
    visitor.post("/cart/add", product_id="1", quantity="1")
    assert (visitor.path, visitor.said) == ("/cart", "Added to your cart.")
    visitor.post("/cart", coupon="ten")
    assert "below the minimum of the coupon ten" in visitor.said
    visitor.post("/cart", coupon="OLD")
    assert "has expired" in visitor.said
    visitor.post("/cart/update", product_id="1", quantity="2")
    visitor.post("/cart", coupon="ten")
    assert "€54.00" in visitor.response.body
    visitor.post("/cart/coupon/remove")
    assert "€60.00" in visitor.response.body
    visitor.post("/cart", coupon="TEN")
    visitor.post("/checkout/address", name="Ana Lee", street="", postcode="1", city="Ulm")
    assert "Street and number is required." in visitor.said
    assert "Postcode must have 4 or 5 digits." in visitor.said
    assert 'value="Ulm"' in visitor.response.body
    visitor.post("/checkout/address", name="Ana Lee", street="Road 1", postcode="1234", city="Ulm")
    assert visitor.path == "/checkout/delivery"
    visitor.post("/checkout/delivery", delivery="rocket")
    assert "Please choose a delivery." in visitor.said
    visitor.post("/checkout/delivery", delivery="express")
    visitor.post("/checkout/payment", payment="card", card="1234")
    assert "Card number must have 16 digits." in visitor.said
    visitor.post("/checkout/payment", payment="card", card="1234 5678 1234 5678")
    visitor.post("/checkout/review")
    assert "The terms of sale must be ticked." in visitor.said
    visitor.post("/checkout/review", terms="1")
    assert visitor.said == "Thank you. Your order 9 is placed."
    fields = sites.state()
    assert fields["shop/orders/9/total"] == 63.9
    assert fields["shop/order_lines/9,1/quantity"] == 2
    assert fields["shop/products/1/stock"] == 2
    assert not any(key.startswith(("shop/cart/", "shop/checkouts/")) for key in fields)
    visitor.post("/orders/9/cancel")
    assert sites.state()["shop/orders/9/status"] == "cancelled"
    assert sites.state()["shop/products/1/stock"] == 4


def test_a_return_needs_a_delivered_order_and_a_reason() -> None:
    sites, visitor = shop()
    visitor.post("/orders/7/return/1", quantity="3", reason="", refund="store credit")
    assert "Please choose a reason." in visitor.said
    visitor.post("/orders/7/return/1", quantity="3", reason="damaged", refund="original payment")
    assert "You bought only 2." in visitor.said
    visitor.post("/orders/7/return/1", quantity="1", reason="damaged", refund="original payment")
    assert visitor.said == "Your return 1 of Kettle is requested."
    assert sites.state()["shop/returns/1/reason"] == "damaged"
    visitor.get("/orders/7/return/1")
    assert visitor.said == "A return of this item is already requested."
    _, bob = shop(user="bob")
    bob.get("/orders/8/return/1")
    assert bob.said == "Only what was delivered can be returned."


def test_products_are_searched_filtered_and_sorted() -> None:
    _, visitor = shop(user="")
    names = lambda path: re.findall(r"<h3><a[^>]*>(.*?)</a>", visitor.get(path))  # noqa: E731
    assert names("/products") == ["Kettle", "Mug", "Pan"]
    assert names("/products?sort=price-desc") == ["Kettle", "Pan", "Mug"]
    assert names("/products?q=RED") == ["Kettle"]
    assert names("/products?max=20&stock=1") == ["Pan"]
    assert names("/products?sort=nonsense&max=abc&page=99") == ["Kettle", "Mug", "Pan"]
    assert names("/products?q=sofa") == []
    assert "No products match." in visitor.response.body


def test_long_lists_have_pages() -> None:
    products = [{"product_id": n, "name": f"Cup {n:02}", "category": "kitchen", "price": 1.0} for n in range(1, 21)]
    sites = start(sites={"shop": {**SHOP, "products": products, "orders": [], "order_lines": []}})
    visitor = Visitor(sites, "shop.example")
    seen: list[str] = []
    path: str | None = "/products?q=cup"
    while path:
        body = visitor.get(path)
        seen += re.findall(r"Cup \d\d", body)
        following = re.search(r'<a href="([^"]*)">Next</a>', body)
        path = following[1].replace("&amp;", "&") if following else None
    assert seen == [f"Cup {n:02}" for n in range(1, 21)]


def test_several_rows_are_changed_at_once() -> None:
    sites = start("tracker", seed=1, signed_in={})
    visitor = Visitor(sites, "tracker.example")
    fields = sites.state()
    boss = next(u for u in accounts(sites, "tracker") if fields[f"tracker/users/{u}/role"] == "maintainer")
    visitor.sign_in(fields, "tracker", boss)
    open_ones = [key.split("/")[2] for key, value in fields.items() if key.endswith("/status") and value == "open"][:2]
    visitor.post("/", [("issue", number) for number in open_ones], set_status="closed", set_priority="urgent")
    assert visitor.said == "2 issues changed."
    for number in open_ones:
        assert sites.state()[f"tracker/issues/{number}/status"] == "closed"
        assert sites.state()[f"tracker/issues/{number}/priority"] == "urgent"
    visitor.post("/", set_status="closed")
    assert "Select at least one of the issues." in visitor.said


def test_a_milestone_closes_when_its_issues_are_closed() -> None:
    user = {"username": "ana", "name": "Ana", "password": "pw", "role": "maintainer"}
    issue = {"issue_id": 5, "title": "It is broken", "author": "ana", "milestone_id": 1, "opened_at": "2026-03-01"}
    tables = {"users": [user], "milestones": [{"milestone_id": 1, "title": "One", "due_on": "2026-04-01"}]}
    rows = {**tables, "issues": [issue], "labels": [], "issue_labels": [], "comments": []}
    sites = start("tracker", sites={"tracker": rows}, signed_in={"tracker": "ana"})
    visitor = Visitor(sites, "tracker.example")
    visitor.cookies = dict(sites.cookies["tracker.example"])
    visitor.post("/milestones/1/close")
    assert visitor.said == "This milestone still has open issues."
    visitor.post("/issues/5/close", reason="duplicate", duplicate_of="5")
    assert "Please give the number of the other issue." in visitor.said
    visitor.post("/issues/5/close", reason="done")
    visitor.post("/milestones/1/close")
    assert visitor.said == "The milestone is closed."
    visitor.post("/milestones/1/reopen")
    assert sites.state()["tracker/milestones/1/closed"] == 0


def test_a_wiki_page_is_edited_compared_moved_and_restored() -> None:
    sites = start("wiki", seed=1)
    fields = sites.state()
    visitor = Visitor(sites, "wiki.example")
    admin = next(u for u in accounts(sites, "wiki") if fields[f"wiki/users/{u}/role"] == "admin")
    visitor.sign_in(fields, "wiki", admin)
    visitor.get("/wiki/Expenses/edit")
    based_on = re.search(r'based_on" value="(\d+)"', visitor.response.body)
    assert based_on is not None
    visitor.post("/wiki/Expenses/edit", text="Ask [[Nobody]] first.", summary="Short", based_on=based_on[1])
    assert visitor.said == "The page is saved."
    assert '<a href="/wiki/Nobody">Nobody</a>' in visitor.response.body
    visitor.post("/wiki/Expenses/edit", text="Too late, this one.", summary="Short", based_on=based_on[1])
    assert "Somebody else has changed this page" in visitor.said
    visitor.get("/wiki/Expenses/history")
    differences = re.findall(r'href="([^"]*/diff/[^"]*)"', visitor.response.body)
    assert "<ins>Ask [[Nobody]] first.</ins>" in visitor.get(differences[0])
    visitor.post("/wiki/Expenses/move", headline="Costs", summary="Better word")
    assert visitor.heading == "Costs"
    assert "Redirected from Expenses." in visitor.get("/wiki/Expenses")
    visitor.post(f"/wiki/Costs/revision/{based_on[1]}")
    assert visitor.said == "The old version is restored."


def test_mail_is_sent_with_rules_and_attachments_and_read() -> None:
    sites = start("mail", seed=1)
    fields = sites.state()
    ana, bob = accounts(sites, "mail")[:2]
    visitor, other = Visitor(sites, "mail.example"), Visitor(sites, "mail.example")
    visitor.sign_in(fields, "mail", ana)
    other.sign_in(fields, "mail", bob)
    other.post("/rules", looks_at="subject", contains="crane", folder="archive")
    visitor.post("/compose", to="nobody", subject="", text="x")
    assert "To must hold one or more addresses" in visitor.said
    visitor.post("/compose", to=f"{bob}@mail.example", subject="The Crane", text="It is **red**.")
    assert visitor.said == "Your message is sent."
    other.get("/folders/archive")
    (link,) = [link for link in read(other.response.body).links if link.startswith("/messages/")][:1]
    number = link.rpartition("/")[2]
    assert sites.state()[f"mail/messages/{number}/is_read"] == 0
    assert "<strong>red</strong>" in other.get(link)
    assert sites.state()[f"mail/messages/{number}/is_read"] == 1
    visitor.get(link)
    assert visitor.status == 403
    other.post("/settings/labels", label="Cranes")
    other.post(f"/messages/{number}/label", label="Cranes")
    assert "The Crane" in other.get("/labels/Cranes")


def test_a_moderator_removes_a_reported_post() -> None:
    sites = start("forum", seed=1)
    fields = sites.state()
    visitor = Visitor(sites, "forum.example")
    visitor.sign_in(
        fields, "forum", next(u for u in accounts(sites, "forum") if fields[f"forum/users/{u}/role"] != "member")
    )
    reports = [key.split("/")[2] for key, value in fields.items() if key.endswith("/status") and value == "open"]
    visitor.post(f"/moderation/{reports[0]}/remove")
    visitor.post(f"/moderation/{reports[1]}/dismiss")
    after = sites.state()
    assert after[f"forum/posts/{fields[f'forum/reports/{reports[0]}/post_id']}/deleted"] == 1
    assert after[f"forum/reports/{reports[1]}/status"] == "dismissed"
    visitor.post("/threads/41/close")
    visitor.get("/threads/41/reply")
    assert visitor.said == "This thread is closed."
    visitor.post("/threads/41/reopen")
    visitor.post("/threads/41/reply", text="In time")
    assert visitor.said == "Your reply is published."
